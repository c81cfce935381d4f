//! The public suffix list, searched in its text.
//!
//! The list is a file in which each line is a name and what the list says of it, in the order of the names. A search halves the
//! text until it is at a line. So nothing is generated, compiled or kept at run time.
//!
//! The algorithm is that of <https://github.com/publicsuffix/list/wiki/Format>. The file says where it is from and how it is
//! renewed.

/// A name and its marks on each line, in the order of the names' bytes. The lines before begin with `#`, which sorts before any
/// name.
const LIST: &str = include_str!("public_suffix.txt");

/// The most labels of a name in the list. The rest of a longer host is not looked up.
const MOST_LABELS: usize = 7;

/// The owner of a suffix, who gives out the names below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A registry, such as that of `co.uk`.
    Registry,
    /// A company below a name of its own, such as that of `github.io`.
    Company,
}

/// The public suffix of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Suffix<'a> {
    /// The end of the host, without the dot before it.
    pub(super) text: &'a str,
    /// `None` if the list does not know it: then it is the last label.
    pub(super) owner: Option<Owner>,
}

/// A registrable domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Domain<'a> {
    /// The end of the host: one label, a dot, and the suffix.
    pub(super) text: &'a str,
    pub(super) suffix: Suffix<'a>,
}

/// The registrable domain of a name in lower-case ASCII: one label below its public suffix. A dot at the end stays.
pub(super) fn domain(host: &str) -> Option<Domain<'_>> {
    let suffix = suffix(host)?;
    let above = host.strip_suffix(suffix.text)?.strip_suffix('.').filter(|above| !above.is_empty())?;
    let start = above.rfind('.').map_or(0, |dot| dot + 1);
    Some(Domain { text: host.get(start..)?, suffix })
}

/// The public suffix of a name in lower-case ASCII. A dot at the end stays.
pub(super) fn suffix(host: &str) -> Option<Suffix<'_>> {
    let name = host.strip_suffix('.').unwrap_or(host);
    let ends = name.rmatch_indices('.').map(|(dot, _)| dot + 1).chain([0]);
    let mut ends = ends.take(MOST_LABELS).peekable();
    let (mut start, mut owner) = (*ends.peek()?, None);
    // The owner of the names one label below the end before, and where that end begins.
    let (mut below, mut parent) = (None, start);
    for end in ends {
        let (mut own, mut next) = (below, None);
        for mark in name.get(end..).and_then(marks).unwrap_or_default().split(' ') {
            match mark {
                "r" => own = Some(Owner::Registry),
                "c" => own = Some(Owner::Company),
                "r*" => next = Some(Owner::Registry),
                "c*" => next = Some(Owner::Company),
                "!" => return Some(Suffix { text: host.get(parent..)?, owner: below }),
                _ => {}
            }
        }
        if own.is_some() {
            (start, owner) = (end, own);
        }
        (below, parent) = (next, end);
    }
    let text = host.get(start..).filter(|text| !text.is_empty())?;
    Some(Suffix { text, owner })
}

/// The marks of a name in the list: `r` and `c` for a suffix of a registry and of a company, the same with a star for all names one
/// label below, `!` for a name that such a star does not mean.
fn marks(name: &str) -> Option<&'static str> {
    // Both are at the start of a line.
    let (mut low, mut high) = (0, LIST.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let before = LIST.get(low..middle)?;
        let start = before.rfind('\n').map_or(low, |end| low + end + 1);
        let line = LIST.get(start..high)?.split('\n').next()?;
        let (found, marks) = line.split_once(' ').unwrap_or((line, ""));
        match name.cmp(found) {
            std::cmp::Ordering::Equal => return Some(marks),
            std::cmp::Ordering::Less => high = start,
            std::cmp::Ordering::Greater => low = start + line.len() + 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
        LIST.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_once(' ').unwrap())
    }

    #[test]
    fn the_search_can_rely_on_the_form_of_the_list() {
        let names: Vec<&str> = lines().map(|(name, _)| name).collect();
        assert!(names.len() > 9_000);
        assert!(names.is_sorted_by(|one, next| one < next));
        let in_names = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
        assert!(LIST.is_ascii() && names.iter().all(|name| name.bytes().all(in_names)));
        assert!(lines().all(|(_, marks)| marks.split(' ').all(|m| ["r", "c", "r*", "c*", "!"].contains(&m))));
        // A star means one label more.
        let most =
            lines().map(|(name, marks)| name.split('.').count() + usize::from(marks.contains('*'))).max();
        assert_eq!(most, Some(MOST_LABELS));
        let header = LIST.lines().take_while(|line| line.starts_with('#')).count();
        assert_eq!(header + names.len(), LIST.lines().count());
    }

    #[test]
    fn every_name_of_the_list_is_found() {
        for (name, found) in lines() {
            assert_eq!(marks(name), Some(found), "{name}");
            assert_eq!(marks(&format!("{name}-")), None);
        }
        for name in ["", "# ", "a", "c", "zzz", "\u{ff}"] {
            assert_eq!(marks(name), None, "{name:?}");
        }
        // The first word of a line before the names means nothing.
        assert_eq!(suffix("#"), Some(Suffix { text: "#", owner: None }));
    }

    /// The vectors of the list's authors, without those that `Origin` normalises before.
    #[test]
    fn the_domain_is_one_label_below_the_suffix() {
        for (host, wanted) in [
            ("", None),
            ("com", None),
            ("example.com", Some("example.com")),
            ("b.example.com", Some("example.com")),
            ("a.b.example.com", Some("example.com")),
            // Endings that are not in the list.
            ("lan", None),
            ("printer.lan", Some("printer.lan")),
            ("a.b.printer.lan", Some("printer.lan")),
            // One rule.
            ("biz", None),
            ("domain.biz", Some("domain.biz")),
            ("a.b.domain.biz", Some("domain.biz")),
            // Rules on two levels.
            ("uk.com", None),
            ("example.uk.com", Some("example.uk.com")),
            ("a.b.example.uk.com", Some("example.uk.com")),
            // A star alone.
            ("mm", None),
            ("c.mm", None),
            ("b.c.mm", Some("b.c.mm")),
            ("a.b.c.mm", Some("b.c.mm")),
            // More levels.
            ("jp", None),
            ("test.jp", Some("test.jp")),
            ("ac.jp", None),
            ("test.ac.jp", Some("test.ac.jp")),
            ("kyoto.jp", None),
            ("test.kyoto.jp", Some("test.kyoto.jp")),
            ("ide.kyoto.jp", None),
            ("a.b.ide.kyoto.jp", Some("b.ide.kyoto.jp")),
            ("c.kobe.jp", None),
            ("a.b.c.kobe.jp", Some("b.c.kobe.jp")),
            // A star with an exception.
            ("city.kobe.jp", Some("city.kobe.jp")),
            ("www.city.kobe.jp", Some("city.kobe.jp")),
            ("ck", None),
            ("test.ck", None),
            ("a.b.test.ck", Some("b.test.ck")),
            ("www.ck", Some("www.ck")),
            ("www.www.ck", Some("www.ck")),
            ("test.k12.ak.us", Some("test.k12.ak.us")),
            ("www.test.k12.ak.us", Some("test.k12.ak.us")),
            ("xn--fiqs8s", None),
            ("shishi.xn--55qx5d.cn", Some("shishi.xn--55qx5d.cn")),
            // The name below the star leads to longer rules and is meant by the star too.
            ("svc.firenet.ch", None),
            ("a.svc.firenet.ch", None),
            ("b.a.svc.firenet.ch", Some("b.a.svc.firenet.ch")),
            // A dot at the end belongs to the suffix.
            ("a.example.com.", Some("example.com.")),
        ] {
            assert_eq!(domain(host).map(|domain| domain.text), wanted, "{host}");
        }
    }

    #[test]
    fn the_owner_of_a_suffix_is_told() {
        for (host, wanted, owner) in [
            ("example.com", "com", Some(Owner::Registry)),
            ("alice.github.io", "github.io", Some(Owner::Company)),
            ("www.ck", "ck", Some(Owner::Registry)),
            ("a.svc.firenet.ch", "a.svc.firenet.ch", Some(Owner::Company)),
            ("printer.lan", "lan", None),
            ("ck", "ck", None),
        ] {
            assert_eq!(suffix(host), Some(Suffix { text: wanted, owner }), "{host}");
        }
    }

    /// The algorithm as the authors of the list write it: of all rules that match, an exception or else the longest counts.
    fn by_the_book(host: &str) -> (usize, Option<Owner>) {
        let labels: Vec<&str> = host.split('.').collect();
        let mut longest = (1, None);
        for (name, marks) in lines() {
            let rule: Vec<&str> = name.split('.').collect();
            if !labels.ends_with(&rule) {
                continue;
            }
            for mark in marks.split(' ') {
                let owner = if mark.starts_with('r') { Owner::Registry } else { Owner::Company };
                let length = rule.len() + usize::from(mark.ends_with('*'));
                if mark == "!" {
                    return (rule.len() - 1, Some(Owner::Registry));
                } else if length <= labels.len() && (length > longest.0 || longest.1.is_none()) {
                    longest = (length, Some(owner));
                }
            }
        }
        longest
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn the_search_agrees_with_the_algorithm_of_the_list(
            below in prop::collection::vec("[a-z]{1,3}|www|xn--p1ai|city", 0..4),
            ending in select(lines().map(|(name, _)| name).collect::<Vec<_>>()),
        ) {
            let host = below.iter().map(String::as_str).chain([ending]).collect::<Vec<_>>().join(".");
            let (labels, owner) = by_the_book(&host);
            let found = suffix(&host).unwrap();
            prop_assert_eq!((found.text.split('.').count(), found.owner), (labels, owner), "{}", host);
            prop_assert!(host.ends_with(found.text));
        }

        #[test]
        fn any_text_is_searched_without_a_panic(text in "[a-z.#\\PC]{0,60}") {
            if let Some(domain) = domain(&text) {
                prop_assert!(text.ends_with(domain.text) && domain.text.ends_with(domain.suffix.text));
            }
        }
    }
}
