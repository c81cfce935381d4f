//! Warnings about a host that could be mistaken for another one, for the user to see before they consent.
//!
//! They are hints for a prompt and decide nothing. A host without a warning need not be the right one: the prompt
//! always shows the ASCII form.

use std::borrow::Cow;
use std::fmt;

use idna::domain_to_unicode;
use unicode_security::{RestrictionLevel, RestrictionLevelDetection, skeleton};

use super::origin::Origin;
use super::site::{is_address, is_private_suffix, parts_of_host, registrable};

/// Most people do not read a host that is longer than this, in bytes, to its end, which says whose it is.
const LONG: usize = 60;

/// The shortest distinctive name. Shorter ones are too common to be searched for in other hosts, and too short to be
/// compared for typing errors.
const DISTINCTIVE: usize = 5;

/// An unusual property of a host, or a likeness to another one. It prints as a sentence that names the host in ASCII;
/// of a long host, the registrable domain.
///
/// `host` is always the ASCII form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostWarning {
    /// The host is an IP address, which does not name its owner.
    Address {
        /// The host.
        host: String,
    },
    /// The port is not the default of the scheme.
    Port {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// The host is longer than can be read at a glance.
    Long {
        /// The host.
        host: String,
    },
    /// A label has letters outside ASCII.
    International {
        /// The host.
        host: String,
        /// The host as browsers may show it.
        unicode: String,
    },
    /// One label mixes scripts that no language writes together.
    MixedScripts {
        /// The host.
        host: String,
        /// The label as browsers may show it.
        label: String,
    },
    /// A label of other letters that looks like a plain one.
    Confusable {
        /// The host.
        host: String,
        /// The plain label that it looks like.
        looks_like: String,
    },
    /// The site resembles a known one: it looks alike, or differs by a typing error.
    Resembles {
        /// The host.
        host: String,
        /// The known host.
        known: String,
    },
    /// The host of another site contains the name of a known site.
    BorrowsName {
        /// The host.
        host: String,
        /// The known host.
        known: String,
        /// The site that the host belongs to.
        belongs_to: String,
    },
}

impl fmt::Display for HostWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = end_of(self.host());
        match self {
            HostWarning::Address { .. } => {
                write!(f, "{host} is an address in numbers; it does not say who answers there")
            }
            HostWarning::Port { port, .. } => {
                write!(f, "{host} is asked on port {port}, which is not where its website usually is")
            }
            HostWarning::Long { .. } => {
                write!(f, "{host} is unusually long; whose it is stands at its end")
            }
            HostWarning::International { unicode, .. } => {
                write!(f, "{host} may be shown as \"{unicode}\", with letters outside plain ASCII")
            }
            HostWarning::MixedScripts { label, .. } => {
                write!(f, "{host} mixes letters of several scripts in \"{label}\"")
            }
            HostWarning::Confusable { looks_like, .. } => {
                write!(f, "{host} looks like \"{looks_like}\" when shown, and is another name")
            }
            HostWarning::Resembles { known, .. } => {
                write!(f, "{host} looks much like {known}, and is another site")
            }
            HostWarning::BorrowsName { known, belongs_to, .. } => {
                write!(f, "{host} has the name of {known} in it, and belongs to {belongs_to}")
            }
        }
    }
}

impl HostWarning {
    /// The host, in ASCII.
    fn host(&self) -> &str {
        match self {
            HostWarning::Address { host }
            | HostWarning::Port { host, .. }
            | HostWarning::Long { host }
            | HostWarning::International { host, .. }
            | HostWarning::MixedScripts { host, .. }
            | HostWarning::Confusable { host, .. }
            | HostWarning::Resembles { host, .. }
            | HostWarning::BorrowsName { host, .. } => host,
        }
    }
}

/// A host for a sentence: of a long one only the registrable domain. The prompt shows the whole host elsewhere.
fn end_of(host: &str) -> Cow<'_, str> {
    if host.len() <= LONG {
        Cow::Borrowed(host)
    } else {
        Cow::Owned(format!("\u{2026}{}", parts_of_host(host).1))
    }
}

/// The warnings about an origin, given the origins that the user means: those of the task, and those that
/// logins are bound to.
///
/// An origin is never compared with itself or with another host of its own site. Warnings about its host alone are given
/// for a known origin too, since the user may have pasted a link. Each known host is named at most once.
///
/// ```
/// use browser_signals::{Origin, lookalike};
///
/// let bank = Origin::parse("https://bank.example")?;
/// let page = Origin::parse("https://bank.example.evil.test")?;
/// let warnings: Vec<String> = lookalike::warnings(&page, &[bank]).iter().map(ToString::to_string).collect();
/// assert_eq!(warnings, ["bank.example.evil.test has the name of bank.example in it, and belongs to evil.test"]);
/// # Ok::<(), browser_signals::origin::OriginError>(())
/// ```
pub fn warnings(origin: &Origin, known: &[Origin]) -> Vec<HostWarning> {
    let host = origin.host();
    let mut warnings = Vec::new();
    if is_address(host) {
        warnings.push(HostWarning::Address { host: host.to_owned() });
    }
    if origin.port() != if origin.scheme() == "https" { 443 } else { 80 } {
        warnings.push(HostWarning::Port { host: host.to_owned(), port: origin.port() });
    }
    if host.len() > LONG {
        warnings.push(HostWarning::Long { host: host.to_owned() });
    }
    warnings.extend(of_letters(host));
    let mut compared: Vec<&str> = Vec::new();
    for known in known.iter().map(Origin::host) {
        if !compared.contains(&known) {
            compared.push(known);
            warnings.extend(of_likeness(host, known));
        }
    }
    warnings
}

/// The warnings about the letters of a host.
fn of_letters(host: &str) -> Vec<HostWarning> {
    let (unicode, _) = domain_to_unicode(host);
    if unicode == host {
        // Browsers show labels that encode forbidden letters as they are.
        return Vec::new();
    }
    let mut warnings = vec![HostWarning::International { host: host.to_owned(), unicode: unicode.clone() }];
    for label in unicode.split('.').filter(|label| !label.is_ascii()) {
        if label.detect_restriction_level() > RestrictionLevel::HighlyRestrictive {
            warnings.push(HostWarning::MixedScripts { host: host.to_owned(), label: label.to_owned() });
        }
        let looks_like = plain_look(label);
        if looks_like.is_ascii() {
            warnings.push(HostWarning::Confusable { host: host.to_owned(), looks_like });
        }
    }
    warnings
}

/// The warning about a likeness to a known host of another site.
fn of_likeness(host: &str, known: &str) -> Option<HostWarning> {
    let (name, suffix) = registrable(host)?;
    let (known_name, known_suffix) = registrable(known)?;
    if (name, suffix) == (known_name, known_suffix) {
        return None;
    }
    let belongs_to = format!("{name}.{suffix}");
    let known_site = format!("{known_name}.{known_suffix}");
    if looks_alike((name, suffix), (known_name, known_suffix)) {
        return Some(HostWarning::Resembles { host: host.to_owned(), known: known.to_owned() });
    }
    let below = host.strip_suffix(belongs_to.as_str()).unwrap_or_default();
    let distinctive = known_name.len() >= DISTINCTIVE;
    let borrowed = contains_name(below, &known_site)
        || (distinctive
            && (contains_name(below, known_name) || (name != known_name && contains_name(name, known_name))))
        || (distinctive && name == known_name && is_private_suffix(host));
    borrowed.then(|| HostWarning::BorrowsName { host: host.to_owned(), known: known.to_owned(), belongs_to })
}

/// Whether `text` contains `name` between dots, hyphens or its ends; dots of the name may be written as hyphens.
fn contains_name(text: &str, name: &str) -> bool {
    let parts = |text: &str| text.split(['.', '-']).map(look).collect::<Vec<_>>();
    let (text, name) = (parts(text), parts(name));
    text.windows(name.len()).any(|window| window == name)
}

/// Whether one registrable domain can be mistaken for the other: it looks alike, or differs by a typing error.
fn looks_alike(host: (&str, &str), known: (&str, &str)) -> bool {
    let ((name, suffix), (known_name, known_suffix)) = (host, known);
    if name == known_name {
        // The same name under another country's ending is common. A missing letter in the ending is a typing error.
        return suffix.len() != known_suffix.len() && within_distance(suffix, known_suffix, 1);
    }
    let (name, known_name) = (look(name), look(known_name));
    name == known_name
        || match known_name.chars().count() {
            0..DISTINCTIVE => false,
            DISTINCTIVE..=8 => within_distance(&name, &known_name, 1),
            _ => within_distance(&name, &known_name, 2),
        }
}

/// One text for all names that look alike: the skeleton of the shown label in lower case, so that a digit and the letter
/// that it resembles are the same.
fn look(label: &str) -> String {
    let (unicode, _) = domain_to_unicode(label);
    let drawn: String = skeleton(&unicode).flat_map(char::to_lowercase).collect();
    skeleton(&drawn.replace("vv", "w")).flat_map(char::to_lowercase).collect()
}

/// The plain letters that a label looks like. The skeleton writes `m` as `rn`, which is undone here.
fn plain_look(label: &str) -> String {
    let drawn: String = skeleton(label).flat_map(char::to_lowercase).collect();
    drawn.replace("rn", "m")
}

/// Whether the edit distance, with swaps of neighbours, is at most `limit` (optimal string alignment).
fn within_distance(one: &str, other: &str, limit: usize) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > limit {
        return false;
    }
    // Rows of the table of distances between prefixes: the one before the last, the last, the next.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, a) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, b) in other.iter().enumerate() {
            let at = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX - 1);
            let mut best = (at(&last, column) + usize::from(a != b))
                .min(at(&last, column + 1) + 1)
                .min(at(&next, column) + 1);
            let swapped =
                row > 0 && column > 0 && one.get(row - 1) == Some(b) && other.get(column - 1) == Some(a);
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().is_some_and(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::within_distance;

    /// All texts at the distance of one edit from `text`, over a small alphabet.
    fn one_edit(text: &str) -> Vec<String> {
        let letters: Vec<char> = text.chars().collect();
        let mut made = Vec::new();
        for at in 0..=letters.len() {
            let (before, after) = letters.split_at(at);
            let with = |middle: &[char], rest: &[char]| [before, middle, rest].concat().into_iter().collect();
            for put in ['a', 'b', 'c'] {
                made.push(with(&[put], after));
                made.extend(after.get(1..).map(|rest| with(&[put], rest)));
            }
            made.extend(after.get(1..).map(|rest| with(&[], rest)));
            if let [first, second, rest @ ..] = after {
                made.push(with(&[*second, *first], rest));
            }
        }
        made
    }

    proptest! {
        #[test]
        fn a_distance_of_one_is_one_edit(one in "[abc]{0,5}", other in "[abc]{0,5}") {
            let made = one == other || one_edit(&one).contains(&other);
            prop_assert_eq!(within_distance(&one, &other, 1), made);
            prop_assert_eq!(within_distance(&other, &one, 1), made);
        }

        /// Two edits at the same position can count as more, but never as fewer.
        #[test]
        fn a_distance_of_two_is_at_most_two_edits(one in "[abc]{0,4}", other in "[abc]{0,4}") {
            if within_distance(&one, &other, 2) {
                let near = one_edit(&one);
                prop_assert!(one == other || near.contains(&other) || near.iter().any(|one| one_edit(one).contains(&other)));
            }
        }
    }
}
