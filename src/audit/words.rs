//! The closed lists of words that records use and no other crate has.

#[cfg(feature = "browser")]
use browser_signals::playwright::PageEvent;
use policy_dfa::{Reason, VerbKind};
use sirl::Kind;

use crate::consent::Asked;

/// One thing that a prompt or a consent is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    /// Opening a container in which data may be released.
    Container,
    /// What the agent set, with a payment or with requests that wait.
    Order,
    /// Words of the prompt that may be a value, for the model to read.
    Words,
    /// A request; a purchase is paying.
    Request(Kind),
    /// A verb.
    Verb(VerbKind),
    /// What a page says.
    PageText,
    /// What a page sends, or where it goes by itself.
    Outgoing,
    /// A tool of the agent that is neither a request nor a verb.
    Tool,
}

impl About {
    /// Its word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            About::Container => "container",
            About::Order => "order",
            About::Words => "words",
            About::Request(kind) => kind.as_str(),
            About::Verb(verb) => verb.as_str(),
            About::PageText => "page_text",
            About::Outgoing => "outgoing",
            About::Tool => "tool",
        }
    }
}

impl From<&Asked> for About {
    fn from(asked: &Asked) -> About {
        match asked {
            Asked::Container { .. } => About::Container,
            Asked::Reveal { .. } => About::Words,
            Asked::Order(_) => About::Order,
            Asked::Release { kind, .. } => About::Request(*kind),
            Asked::Pay { .. } => About::Request(Kind::Purchase),
            Asked::Verb { verb, .. } => About::Verb(*verb),
        }
    }
}

/// What a guard would have done where nothing was blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WouldHave {
    /// The user would have been asked.
    Asked,
    /// It would have been refused, for this reason.
    Denied(Reason),
    /// Some of the words would not have been told to the model.
    Withheld,
}

impl WouldHave {
    /// Its word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            WouldHave::Asked => "asked",
            WouldHave::Denied(_) => "denied",
            WouldHave::Withheld => "withheld",
        }
    }

    /// Why it would have been refused.
    pub const fn reason(self) -> Option<Reason> {
        match self {
            WouldHave::Denied(reason) => Some(reason),
            WouldHave::Asked | WouldHave::Withheld => None,
        }
    }
}

/// What was done to the vault as a whole. Which records it holds is not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VaultAct {
    /// It was made.
    Created,
    /// It was unlocked.
    Opened,
    /// It was locked.
    Locked,
    /// A changed vault was written.
    Saved,
    /// Its passphrase was changed.
    PassphraseChanged,
    /// Its data key was replaced.
    Rotated,
    /// A copy left for elsewhere.
    Exported,
    /// Records of an export came in.
    Imported,
    /// A backup took its place.
    Restored,
}

impl VaultAct {
    /// Its word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            VaultAct::Created => "created",
            VaultAct::Opened => "opened",
            VaultAct::Locked => "locked",
            VaultAct::Saved => "saved",
            VaultAct::PassphraseChanged => "passphrase_changed",
            VaultAct::Rotated => "rotated",
            VaultAct::Exported => "exported",
            VaultAct::Imported => "imported",
            VaultAct::Restored => "restored",
        }
    }
}

/// What the browser tried and was kept from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stopped {
    /// A dialog of the page.
    Dialog,
    /// A new window.
    Popup,
    /// A download.
    Download,
    /// A choice of files.
    FileChooser,
    /// A request to where the container may not go.
    Request,
    /// A release: the extension walked the policy itself, and came to another end.
    Preview,
    /// Anything else.
    Other,
}

impl Stopped {
    /// Its word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Stopped::Dialog => "dialog",
            Stopped::Popup => "popup",
            Stopped::Download => "download",
            Stopped::FileChooser => "file_chooser",
            Stopped::Request => "request",
            Stopped::Preview => "preview",
            Stopped::Other => "other",
        }
    }
}

#[cfg(feature = "browser")]
impl From<&PageEvent> for Stopped {
    fn from(event: &PageEvent) -> Stopped {
        match event {
            PageEvent::DialogDismissed => Stopped::Dialog,
            PageEvent::PopupRefused => Stopped::Popup,
            PageEvent::DownloadRefused => Stopped::Download,
            PageEvent::FileChooserRefused => Stopped::FileChooser,
            PageEvent::RequestBlocked { .. } => Stopped::Request,
            _ => Stopped::Other,
        }
    }
}
