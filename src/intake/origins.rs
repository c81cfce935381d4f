//! The web addresses of a prompt.

use std::ops::Range;

use browser_signals::Origin;

/// The spans of web addresses.
pub(super) fn links(prompt: &str) -> Vec<Range<usize>> {
    let mut links = Vec::new();
    let mut from = 0;
    while let Some(at) = prompt.get(from..).and_then(|rest| rest.find("http")) {
        let start = from + at;
        let rest = prompt.get(start..).unwrap_or("");
        let length = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | ')'))
            .unwrap_or(rest.len());
        let end =
            start + rest.get(..length).unwrap_or("").trim_end_matches(['.', ',', ';', ':', '!', '?']).len();
        if rest.starts_with("http://") || rest.starts_with("https://") {
            links.push(start..end);
        }
        from = end.max(start + 4);
    }
    links
}

/// Each origin that a prompt names, where it stands.
pub(super) fn named(prompt: &str) -> Vec<(usize, Origin)> {
    let read = |link: Range<usize>| {
        let origin = Origin::parse(prompt.get(link.clone())?).ok()?;
        Some((link.start, origin))
    };
    links(prompt).into_iter().filter_map(read).collect()
}

/// The origins, each once, in the order of the prompt.
pub(super) fn distinct(named: &[(usize, Origin)]) -> Vec<Origin> {
    let mut origins: Vec<Origin> = Vec::new();
    for (_, origin) in named {
        if !origins.contains(origin) {
            origins.push(origin.clone());
        }
    }
    origins
}

/// Where a login belongs that stands at a byte: the last origin named before it, else the first.
pub(super) fn nearest(named: &[(usize, Origin)], at: usize) -> Option<Origin> {
    let before = named.iter().rev().find(|(start, _)| *start < at);
    before.or_else(|| named.first()).map(|(_, origin)| origin.clone())
}
