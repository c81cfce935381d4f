//! The closed lists of words in records that no other crate defines.

#[cfg(feature = "browser")]
use browser_signals::playwright::PageEvent;
use policy_dfa::{Reason, VerbKind};
use sirl::Kind;

use crate::consent::Asked;

/// The subject of a question, a decision or a consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AuditSubject {
    /// Opening a container in which data may be released.
    Container,
    /// A yes with the task to one purchase.
    Mandate,
    /// The recorded actions of the agent, with a payment or with held requests.
    Order,
    /// Words of the prompt that may be a value, for the model to read.
    Words,
    /// A new password, which the guard makes and keeps.
    NewPassword,
    /// A request; a payment counts as a purchase request.
    Request(Kind),
    /// A login at an identity provider for a site of the task.
    SignOn,
    /// Files for a page.
    Upload,
    /// A saved login, for a fresh container.
    Restore,
    /// The keeping of a login that the user made by hand.
    KeepLogin,
    /// A verb.
    Verb(VerbKind),
    /// The text of a page.
    PageText,
    /// A request or navigation that a page starts itself.
    Outgoing,
    /// A tool call of the agent that is neither a request nor a verb.
    Tool,
}

impl AuditSubject {
    /// Its word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            AuditSubject::Container => "container",
            AuditSubject::Mandate => "mandate",
            AuditSubject::Order => "order",
            AuditSubject::Words => "words",
            AuditSubject::NewPassword => "new_password",
            AuditSubject::Request(kind) => kind.as_str(),
            AuditSubject::SignOn => "sign_on",
            AuditSubject::Upload => "upload",
            AuditSubject::Restore => "restore",
            AuditSubject::KeepLogin => "keep_login",
            AuditSubject::Verb(verb) => verb.as_str(),
            AuditSubject::PageText => "page_text",
            AuditSubject::Outgoing => "outgoing",
            AuditSubject::Tool => "tool",
        }
    }
}

impl From<&Asked> for AuditSubject {
    fn from(asked: &Asked) -> AuditSubject {
        match asked {
            Asked::Container { .. } => AuditSubject::Container,
            Asked::Reveal { .. } => AuditSubject::Words,
            Asked::Mandate { .. } => AuditSubject::Mandate,
            Asked::Order(_) => AuditSubject::Order,
            Asked::NewPassword { .. } => AuditSubject::NewPassword,
            Asked::Release { kind, .. } => AuditSubject::Request(*kind),
            Asked::Tell { kind, .. } => AuditSubject::Request(*kind),
            Asked::Pay { .. } | Asked::Buy { .. } => AuditSubject::Request(Kind::Purchase),
            Asked::SignOn { .. } => AuditSubject::SignOn,
            Asked::Upload { .. } => AuditSubject::Upload,
            Asked::Restore { .. } => AuditSubject::Restore,
            Asked::KeepLogin { .. } => AuditSubject::KeepLogin,
            Asked::Verb { verb, .. } | Asked::AtProvider { verb, .. } => AuditSubject::Verb(*verb),
        }
    }
}

/// The decision that a guard would have made where nothing was blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WouldHave {
    /// The user would have been asked.
    Asked,
    /// The action would have been refused, for this reason.
    Denied(Reason),
    /// Some words would have been withheld from the model.
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

    /// The reason of a refusal.
    pub const fn reason(self) -> Option<Reason> {
        match self {
            WouldHave::Denied(reason) => Some(reason),
            WouldHave::Asked | WouldHave::Withheld => None,
        }
    }
}

/// An operation on the vault as a whole. It does not name records of the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
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
    /// A copy was exported.
    Exported,
    /// Records of an export were added.
    Imported,
    /// A backup was restored.
    Restored,
    /// A login that the user made by hand was saved.
    LoginSaved,
    /// A saved login was forgotten.
    LoginForgotten,
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
            VaultAct::LoginSaved => "login_saved",
            VaultAct::LoginForgotten => "login_forgotten",
        }
    }
}

/// The kind of thing that the browser blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockedByBrowser {
    /// A dialog of the page.
    Dialog,
    /// A new window.
    Popup,
    /// A download.
    Download,
    /// A file chooser.
    FileChooser,
    /// A request to an origin that is closed to the container.
    Request,
    /// A release for which the extension's own evaluation of the policy disagreed.
    Preview,
    /// Anything else.
    Other,
}

impl BlockedByBrowser {
    /// Its word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            BlockedByBrowser::Dialog => "dialog",
            BlockedByBrowser::Popup => "popup",
            BlockedByBrowser::Download => "download",
            BlockedByBrowser::FileChooser => "file_chooser",
            BlockedByBrowser::Request => "request",
            BlockedByBrowser::Preview => "preview",
            BlockedByBrowser::Other => "other",
        }
    }
}

#[cfg(feature = "browser")]
impl From<&PageEvent> for BlockedByBrowser {
    fn from(event: &PageEvent) -> BlockedByBrowser {
        match event {
            PageEvent::DialogDismissed => BlockedByBrowser::Dialog,
            PageEvent::PopupRefused => BlockedByBrowser::Popup,
            PageEvent::DownloadRefused => BlockedByBrowser::Download,
            PageEvent::FileChooserRefused => BlockedByBrowser::FileChooser,
            PageEvent::RequestBlocked { .. } => BlockedByBrowser::Request,
            _ => BlockedByBrowser::Other,
        }
    }
}
