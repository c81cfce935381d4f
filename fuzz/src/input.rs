//! From bytes to text.

use std::borrow::Cow;

/// The input as text. What is not UTF-8 becomes U+FFFD, so that a mutation in the middle of a character
/// does not lose the rest of the input.
#[must_use]
pub fn text(input: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(input)
}
