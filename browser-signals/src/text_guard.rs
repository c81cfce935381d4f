//! The filter that page text passes before anybody reads it.

use crate::outline::Outline;

/// The text was not fit to be shown, or the filter failed; nothing is shown then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the page's text was withheld")]
pub struct TextWithheld;

/// Decides what a reader of page text is told, and masks what a reader must not see.
///
/// The bridge passes every text through one of these before it hands it out. An error means no text at
/// all, never the unfiltered one.
pub trait TextGuard: Send + Sync {
    /// The text with its protected parts masked; usually by way of [`Outline::render`].
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld>;
}
