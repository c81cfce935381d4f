//! Addresses in a page, as the model is told them.

use percent_encoding::percent_decode_str;
use url::Url;

/// The longest segment of a path that is told, in bytes.
const LONGEST_SEGMENT: usize = 20;

/// The most changes between kinds of characters in a segment that is told. Words and numbers of articles have few of them, and
/// keys have many.
const MOST_CHANGES: usize = 3;

/// The mark in the place of a segment that is not told.
const OMITTED: &str = "…";

/// The origin and the path of an address on the web. Query, fragment and user info are left out, since they carry what a site
/// knows about a person; so are the segments of the path that are long or look like a key. The path is decoded, so that it is
/// masked as any other text; it must be, before it is told.
pub(crate) fn told_address(address: &str) -> Option<String> {
    let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let segments = url.path_segments()?.map(told_segment).collect::<Vec<_>>();
    Some(format!("{}/{}", url.origin().ascii_serialization(), segments.join("/")))
}

fn told_segment(segment: &str) -> String {
    let decoded = percent_decode_str(segment).decode_utf8().unwrap_or(OMITTED.into());
    let is_plain = decoded.len() <= LONGEST_SEGMENT
        && !decoded.contains(|c: char| c.is_control() || c == '/')
        && changes(&decoded) <= MOST_CHANGES;
    if is_plain { decoded.into_owned() } else { OMITTED.to_owned() }
}

/// The number of changes between lower case, upper case and digits. A change from upper to lower case is not counted, since words begin so.
fn changes(segment: &str) -> usize {
    let kinds: Vec<u8> = segment
        .chars()
        .filter_map(|c| match c {
            c if c.is_numeric() => Some(0),
            c if c.is_uppercase() => Some(1),
            c if c.is_alphabetic() => Some(2),
            _ => None,
        })
        .collect();
    let pairs = kinds.iter().zip(kinds.iter().skip(1));
    pairs.filter(|(one, next)| one != next && (**one, **next) != (1, 2)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_without_what_a_site_knows_about_a_person() {
        for (address, told) in [
            ("https://user:word@a.example/", "https://a.example/"),
            ("https://a.example/shop/Kettle-2?session=1#total", "https://a.example/shop/Kettle-2"),
            ("https://a.example:8443/caf%C3%A9/2026/11", "https://a.example:8443/café/2026/11"),
            ("https://a.example/reset/a8F3kQ9zT1", "https://a.example/reset/…"),
            ("https://a.example/a-title-that-is-too-long-to-tell/x", "https://a.example/…/x"),
            ("https://a.example/a%2Fb/%00/%FF", "https://a.example/…/…/…"),
            ("http://b%C3%BCcher.example", "http://xn--bcher-kva.example/"),
        ] {
            assert_eq!(told_address(address).as_deref(), Some(told), "{address}");
        }
        for address in ["javascript:alert(1)", "mailto:a@b.example", "about:blank", "", "data:text/html,x"] {
            assert_eq!(told_address(address), None, "{address}");
        }
    }
}
