//! The filter of page text, before anything of it is shown to the model.

use super::outline::Outline;

/// The text may not be shown, or the filter failed; no text is shown then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the page's text was withheld")]
pub struct TextWithheld;

/// Decides which page text is shown to the model, and masks protected parts.
///
/// The bridge passes every text through one of these before it returns it. An error means no text at
/// all, never the unfiltered one.
pub trait TextGuard: Send + Sync {
    /// The text with its protected parts masked; usually by way of [`Outline::render`].
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld>;

    /// Whether the paths of addresses may be told. Otherwise an outline has the origins of links to other origins alone.
    fn tells_paths(&self) -> bool {
        true
    }
}
