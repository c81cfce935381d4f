//! Bodies of the format `multipart/form-data`, as browsers write them (RFC 7578; HTML Standard, "multipart form
//! data"). Anything else is not read.

use std::ops::Range;

use super::form::Entry;

/// The longest boundary (RFC 2046, section 5.1.1).
const LONGEST_BOUNDARY: usize = 70;

/// The boundary that a content type names.
pub(super) fn boundary(parameters: &str) -> Option<&str> {
    let mut named = parameters.split(';').filter_map(|one| one.trim().split_once('='));
    let (_, boundary) = named.find(|(name, _)| name.trim().eq_ignore_ascii_case("boundary"))?;
    let boundary = boundary.trim();
    let bare = boundary.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(boundary);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=?".contains(&byte);
    let fits = (1..=LONGEST_BOUNDARY).contains(&bare.len());
    (fits && bare.bytes().all(plain)).then_some(bare)
}

/// The text fields of a body, in order; none where the body is not what a browser writes.
pub(super) fn entries<'b>(body: &'b [u8], boundary: &str) -> Option<Vec<Entry<'b>>> {
    let delimiter = format!("\r\n--{boundary}");
    let opening = delimiter.get(2..)?.as_bytes();
    let mut at = opening.len();
    if !body.starts_with(opening) {
        return None;
    }
    let mut entries = Vec::new();
    loop {
        let rest = body.get(at..)?;
        if rest == b"--\r\n" || rest == b"--" {
            return Some(entries);
        }
        if !rest.starts_with(b"\r\n") {
            return None;
        }
        let from = at + 2;
        let length = find(body.get(from..)?, delimiter.as_bytes())?;
        let part = from..from + length;
        entries.extend(entry(body, part));
        at = from + length + delimiter.len();
    }
}

/// A part that is a text field: its head holds a name and nothing else.
fn entry(body: &[u8], part: Range<usize>) -> Option<Entry<'_>> {
    let whole = body.get(part.clone())?;
    let head = find(whole, b"\r\n\r\n")?;
    let name = std::str::from_utf8(whole.get(..head)?).ok()?;
    let (header, disposition) = name.split_once(':')?;
    let quoted = disposition.trim().strip_prefix("form-data; name=\"")?.strip_suffix('"')?;
    if !header.eq_ignore_ascii_case("content-disposition") || quoted.contains(['"', '\r', '\n']) {
        return None;
    }
    let span = part.start + head + 4..part.end;
    let value = std::str::from_utf8(body.get(span.clone())?).ok()?;
    Some(Entry { name: unescaped(quoted).into(), value: value.into(), span })
}

/// A name as the page gave it: browsers escape these three characters.
fn unescaped(name: &str) -> String {
    name.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
