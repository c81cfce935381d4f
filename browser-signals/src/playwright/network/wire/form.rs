//! An entry of a body, and bodies of the format `application/x-www-form-urlencoded`.

use std::borrow::Cow;
use std::ops::Range;

use url::form_urlencoded;
use zeroize::Zeroizing;

/// One field of a body.
pub(super) struct Entry<'b> {
    pub name: Cow<'b, str>,
    pub value: Cow<'b, str>,
    /// The position of the encoded value in the body.
    pub span: Range<usize>,
}

/// The pairs of a body, in order. Bytes that are not UTF-8 are replaced, so that the value equals no placeholder.
pub(super) fn entries(body: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    let mut next = 0;
    body.split(|byte| *byte == b'&').filter_map(move |pair| {
        let start = next;
        next += pair.len() + 1;
        let equals = pair.iter().position(|byte| *byte == b'=')?;
        let (name, value) = form_urlencoded::parse(pair).next()?;
        Some(Entry { name, value, span: start + equals + 1..start + pair.len() })
    })
}

/// A value as browsers write it.
pub(super) fn encoded(value: &str) -> Zeroizing<Vec<u8>> {
    // Each byte becomes three at most: the buffer never grows and leaves no copy behind.
    let mut out = Zeroizing::new(Vec::with_capacity(value.len() * 3));
    for part in form_urlencoded::byte_serialize(value.as_bytes()) {
        out.extend_from_slice(part.as_bytes());
    }
    out
}
