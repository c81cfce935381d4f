//! Conversion of bytes to text, and to a file with consistent lengths.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Value;

/// The offset of the header of a safetensors file.
const START: usize = 8;

/// The most bytes of numbers in a file. Missing ones are filled with zeros.
const MOST: usize = 1 << 16;

/// Converts the input to text. Invalid UTF-8 becomes U+FFFD, so that a mutation within a character does not lose the
/// rest of the input.
#[must_use]
pub fn text(input: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(input)
}

/// Makes a safetensors file with the lengths that its header names, if it has a header, so that the content of the
/// header is tested and not only its length.
#[must_use]
pub fn with_fitting_lengths(input: &[u8]) -> Option<Vec<u8>> {
    let text = input.get(START..)?;
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let length = values.byte_offset();
    let (header, numbers) = text.split_at_checked(length)?;
    let tensors: Value = serde_json::from_slice(header).ok()?;
    let ends =
        tensors.as_object()?.values().filter_map(|tensor| tensor.get("data_offsets")?.get(1)?.as_u64());
    let end = usize::try_from(ends.max()?).ok()?.min(MOST);
    let mut bytes = u64::try_from(length).ok()?.to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    bytes.extend(numbers.iter().copied().chain(std::iter::repeat(0)).take(end));
    Some(bytes)
}
