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
    /// An argument that is not accepted.
    #[error("the browser argument `{0}` is refused: only arguments of language and appearance are accepted")]
    Argument(String),
    /// The browser or the tab is gone.
    #[error("the browser is gone")]
    Lost,
    /// The address, or one that it led to, is not opened.
    #[error("the address was refused: {0}")]
    Refused(AddressRefused),
    /// The browser could not load the address.
    #[error("the page could not be reached")]
    Unreachable,
    /// The document, the node or its form is no longer the one that the decision was about.
    #[error("the page changed since it was observed")]
    Stale,
    /// A click would hit something else.
    #[error("the element is covered, hidden or off the screen")]
    Occluded,
    /// The form, its destination or a control differs from the one of the decision, or the page changed a value.
    #[error("the page diverted the step")]
    Diverted,
    /// The control does not accept this value: it has no such option, or is not editable.
    #[error("the element does not accept this")]
    NotApplicable,
    /// No element of the last read has this ref.
    #[error("no element has this ref; read the page again")]
    UnknownRef,
    /// A selector that the browser cannot read.
    #[error("the browser cannot read this selector")]
    Selector,
    /// A selector that does not match exactly one element.
    #[error("the selector matches {0} elements of the page; it has to match one")]
    NotOne(u64),
    /// The text filter refused or failed.
    #[error("the page's text was withheld")]
    TextWithheld,
    /// The browser did not answer in time.
    #[error("the browser did not answer in time")]
    Timeout,
    /// The values of a fill were sent to the browser, and it did not confirm the outcome.
    #[error("the browser did not say whether the values arrived")]
    Unconfirmed,
    /// The browser refused a command.
    #[error("the browser refused the command {0}")]
    Protocol(String),
}
