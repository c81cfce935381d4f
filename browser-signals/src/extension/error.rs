//! Why the extension did not carry out a request.

use std::time::Duration;

use super::report::Malformed;

/// Why the extension did not carry out a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionError {
    /// The connection is gone: the worker was stopped, the browser was closed.
    #[error("the extension is gone")]
    Gone,
    /// It did not answer in time.
    #[error("the extension did not answer in time")]
    Slow,
    /// Its answer is none of an extension of this version.
    #[error("the extension's answer cannot be read")]
    Malformed,
    /// No tab is in front, or the tab in front is of no site of the task.
    #[error("the tab in front is of no site of the task")]
    NotOfTask,
    /// The document or a control is gone.
    #[error("the page has changed")]
    Stale,
    /// The form, its destination, or a control's value differs from the decision.
    #[error("the page diverted the values, and they were cleared")]
    Diverted,
    /// A control is not visible.
    #[error("a control is not visible")]
    Occluded,
    /// A control cannot hold its value.
    #[error("a control cannot hold its value")]
    NotApplicable,
    /// The filter withheld the page's text.
    #[error("the text of the page was withheld")]
    TextWithheld,
    /// The extension evaluated the policy itself, on its present observation, and came to another decision.
    #[error("the extension's preview of the policy disagrees")]
    Disagrees,
    /// The page's egress cannot be restricted.
    #[error("the page's egress cannot be restricted")]
    Egress,
    /// A page of the site was open earlier, outside of the task, and may have left a worker running that could receive the
    /// values.
    #[error("a page that was open earlier may have left a worker running for another {} seconds", .0.as_secs())]
    EarlierPage(Duration),
    /// The browser did not open a window.
    #[error("the browser opened no window")]
    NoWindow,
    /// The values were sent, and their arrival was not confirmed.
    #[error("the extension did not say whether the values arrived")]
    Unconfirmed,
}

impl From<Malformed> for ExtensionError {
    fn from(_: Malformed) -> ExtensionError {
        ExtensionError::Malformed
    }
}
