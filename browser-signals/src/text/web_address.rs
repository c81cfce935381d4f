//! Addresses on the web, as the model is told them.
//!
//! Query, fragment and user info are left out, since they carry what a site knows about a person; so are the segments of the path
//! that are long or look like a key. The path is decoded, so that it is masked as any other text; it must be, before it is told.

use percent_encoding::percent_decode_str;
use url::Url;

use crate::Origin;

/// The longest segment of a path that is told, in bytes.
const LONGEST_SEGMENT: usize = 20;

/// The most segments of a path that are told. One mark stands for all others.
const MOST_SEGMENTS: usize = 12;

/// The most changes between kinds of characters in a segment that is told. Words and numbers of articles have few of them, and
/// keys have many.
const MOST_CHANGES: usize = 3;

/// The mark in the place of a segment that is not told.
const OMITTED: &str = "…";

/// The origin and the path of an address; none for one that is not on the web.
pub fn told_address(address: &str) -> Option<String> {
    let url = on_the_web(address)?;
    Some(format!("{}{}", url.origin().ascii_serialization(), path_of(&url)?))
}

/// The path of a page's own address; none where the address is not at the page's origin.
pub fn told_path(page: &str, origin: Option<&Origin>) -> Option<String> {
    let url = on_the_web(page)?;
    if is_at(&url, origin) { path_of(&url) } else { None }
}

/// The address of a link on a page of this address and origin: the path alone where it leads to the page's own origin. None for a link
/// to a place in the page, and for one that does not lead to the web. Without `with_path` the origin is told, and only where it
/// is another one.
pub fn told_link(link: &str, page: &str, origin: Option<&Origin>, with_path: bool) -> Option<String> {
    let url = on_the_web(link)?;
    match (with_path, is_at(&url, origin)) {
        (false, true) => None,
        (false, false) => Some(url.origin().ascii_serialization()),
        (true, true) if leads_into(&url, page) => None,
        // A path that begins with two slashes would read as the address of another host.
        (true, true) => path_of(&url).filter(|path| !path.starts_with("//")).or_else(|| told_address(link)),
        (true, false) => told_address(link),
    }
}

fn on_the_web(address: &str) -> Option<Url> {
    Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

fn is_at(url: &Url, origin: Option<&Origin>) -> bool {
    origin.is_some_and(|origin| Origin::parse(url.as_str()).is_ok_and(|other| other == *origin))
}

/// Whether a link only names a place in the page that it is on.
fn leads_into(link: &Url, page: &str) -> bool {
    let without_fragment = |url: &Url| {
        let mut url = url.clone();
        url.set_fragment(None);
        url
    };
    link.fragment().is_some()
        && Url::parse(page).is_ok_and(|page| without_fragment(&page) == without_fragment(link))
}

fn path_of(url: &Url) -> Option<String> {
    let mut segments = url.path_segments()?;
    let mut path = String::new();
    for segment in segments.by_ref().take(MOST_SEGMENTS) {
        path.push('/');
        path.push_str(&told_segment(segment));
    }
    if segments.next().is_some() {
        path.push('/');
        path.push_str(OMITTED);
    }
    Some(path)
}

fn told_segment(segment: &str) -> String {
    let decoded = percent_decode_str(segment).decode_utf8().unwrap_or(OMITTED.into());
    // A decoded delimiter would read as the end of the segment.
    let is_plain = decoded.len() <= LONGEST_SEGMENT
        && !decoded.contains(|c: char| c.is_control() || matches!(c, '/' | '\\' | '?' | '#'))
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
    #![allow(clippy::expect_used, reason = "tests")]

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
            ("https://a.example/a%5Cb/c%3Fd/e%23f", "https://a.example/…/…/…"),
            (
                "https://a.example/1/2/3/4/5/6/7/8/9/10/11/12/13/14",
                "https://a.example/1/2/3/4/5/6/7/8/9/10/11/12/…",
            ),
            ("http://b%C3%BCcher.example", "http://xn--bcher-kva.example/"),
        ] {
            assert_eq!(told_address(address).as_deref(), Some(told), "{address}");
        }
        for address in ["javascript:alert(1)", "mailto:a@b.example", "about:blank", "", "data:text/html,x"] {
            assert_eq!(told_address(address), None, "{address}");
        }
    }

    #[test]
    fn a_link_is_told_by_what_it_adds_to_the_page() {
        let page = "https://a.example/shop?sort=1";
        let origin = Origin::parse("https://a.example").expect("an origin");
        for (link, told, private) in [
            ("https://a.example/shop/kettle?id=1", Some("/shop/kettle"), None),
            ("https://a.example/", Some("/"), None),
            ("https://a.example/shop?sort=1#top", None, None),
            ("https://a.example/shop?sort=1", Some("/shop"), None),
            ("https://a.example/shop?sort=2#top", Some("/shop"), None),
            ("https://a.example//b.example/x", Some("https://a.example//b.example/x"), None),
            ("https://a.example:8443/x", Some("https://a.example:8443/x"), Some("https://a.example:8443")),
            ("http://a.example/x", Some("http://a.example/x"), Some("http://a.example")),
            ("https://me:word@b.example/x?y", Some("https://b.example/x"), Some("https://b.example")),
            ("javascript:void(0)", None, None),
            ("mailto:a@b.example", None, None),
            ("tel:+4930901820", None, None),
            ("", None, None),
        ] {
            assert_eq!(told_link(link, page, Some(&origin), true).as_deref(), told, "{link}");
            assert_eq!(told_link(link, page, Some(&origin), false).as_deref(), private, "{link}");
        }
        // An opaque page has no own origin.
        assert_eq!(
            told_link("https://a.example/x", page, None, true).as_deref(),
            Some("https://a.example/x")
        );
        assert_eq!(told_path(page, Some(&origin)).as_deref(), Some("/shop"));
        assert_eq!(told_path(page, None), None);
        assert_eq!(told_path("about:blank", Some(&origin)), None);
    }
}
