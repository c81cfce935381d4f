//! Events of a tab, for the audit log: what the bridge refused, and what happened to the tab.

/// Something that a page tried and the bridge refused, or that happened to the tab. It holds no text of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageEvent {
    /// An alert, a confirmation, a prompt or a question before leaving was dismissed.
    DialogDismissed,
    /// A new window was closed before it loaded anything.
    PopupRefused,
    /// A download was refused, or failed.
    DownloadRefused,
    /// A file chooser was not opened.
    FileChooserRefused,
    /// A request was stopped.
    RequestBlocked {
        /// One of a closed list: `scheme`, `private_host`, `outside_task`, `destination`, `body_unread`,
        /// `socket`, `wire_redirect`, or a reason of the egress guard.
        reason: &'static str,
    },
    /// The page's process crashed.
    Crashed,
    /// A sealed wire has ended.
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
    /// Its values were sent, once.
    Sent,
    /// Its time was up, or it was withdrawn: only placeholders were sent.
    Expired,
    /// Another document replaced its own: only placeholders were sent.
    DocumentGone,
    /// A later wire took its controls: only placeholders were sent.
    Replaced,
}
