//! What a tab refused, for the record.

/// Something that a page tried and the bridge refused, or that befell the tab. No text of the page in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageEvent {
    /// An alert, a confirmation, a prompt or a question before leaving was dismissed.
    DialogDismissed,
    /// A new window was closed before it loaded anything.
    PopupRefused,
    /// A download was refused.
    DownloadRefused,
    /// A file chooser was not opened.
    FileChooserRefused,
    /// A request was stopped; the word says why.
    RequestBlocked {
        /// One of a closed list: `scheme`, `private_host`, `outside_task`, `destination`, `body_unread`,
        /// `socket`, `wire_redirect`, or a word of the egress guard.
        reason: &'static str,
    },
    /// The page's process crashed.
    Crashed,
    /// A sealed wire is over.
    WireEnded {
        /// The number that it was given.
        request: u64,
        /// How it ended.
        end: WireEnd,
    },
}

/// How a sealed wire ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireEnd {
    /// Its values went out, once.
    Sent,
    /// Its time was up, or it was withdrawn: nothing went out but placeholders.
    Expired,
    /// Another document took the place of its own: nothing went out but placeholders.
    DocumentGone,
    /// A later one took its controls: nothing went out but placeholders.
    Replaced,
}
