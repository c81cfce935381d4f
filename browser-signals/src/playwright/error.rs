//! Why a step of the bridge failed.

use crate::address::AddressRefused;

/// Why a step failed. No message holds text of a page or a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BridgeError {
    /// Node, Playwright's server or Chromium is missing.
    #[error("the browser's parts are not installed: {0}; run `cargo xtask setup`")]
    NotInstalled(String),
    /// The browser did not start.
    #[error("the browser did not start: {0}")]
    Launch(String),
    /// There is no screen to show a window on.
    #[error("there is no display to show the consent page on; use the terminal")]
    NoDisplay,
    /// An argument that the bridge does not pass on.
    #[error("the browser argument `{0}` is refused: only arguments of language and looks are passed on")]
    Argument(String),
    /// The browser or the tab is gone.
    #[error("the browser is gone")]
    Lost,
    /// The address, or one that it led to, is not opened.
    #[error("the address was refused: {0}")]
    Refused(AddressRefused),
    /// The text is no address.
    #[error("the page could not be reached")]
    Unreachable,
    /// The document, the node or its form is no longer the one that was decided about.
    #[error("the page changed since it was looked at")]
    Stale,
    /// A click would hit something else.
    #[error("the element is covered, hidden or off the screen")]
    Occluded,
    /// The form, its destination or a control is not what was decided about, or the page changed a value.
    #[error("the page diverted the step")]
    Diverted,
    /// The control does not take this: no such option, or not editable.
    #[error("the element does not take this")]
    NotApplicable,
    /// No element of the last read has this handle.
    #[error("no element has this handle; read the page again")]
    UnknownRef,
    /// A selector that the browser cannot read.
    #[error("the browser cannot read this selector")]
    Selector,
    /// A selector that does not name one element.
    #[error("the selector fits {0} elements of the page; it has to fit one")]
    NotOne(u64),
    /// The text filter refused or failed.
    #[error("the page's text was withheld")]
    TextWithheld,
    /// The browser did not answer in time.
    #[error("the browser did not answer in time")]
    Timeout,
    /// The values of a fill went, and the browser did not say what became of them.
    #[error("the browser did not say whether the values arrived")]
    Unconfirmed,
    /// The browser refused a command.
    #[error("the browser refused the command {0}")]
    Protocol(String),
}
