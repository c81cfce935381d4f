//! What a person should know of a host before saying yes: that it is written to be taken for another.
//!
//! These are hints for a prompt. They decide nothing, and a host without a warning is not thereby the right
//! one: the prompt shows the ASCII form in any case.

use std::borrow::Cow;
use std::fmt;

use idna::domain_to_unicode;
use unicode_security::{RestrictionLevel, RestrictionLevelDetection, skeleton};

use crate::Origin;
use crate::site::{is_address, is_private_suffix, parts_of_host, registrable};

/// A host longer than this, in bytes, is not read to its end by most people, and the end is what counts.
const LONG: usize = 60;

/// A shorter name is too common a word to be looked for in other hosts, and too short for slips.
const TELLING: usize = 5;

/// One thing that is unusual of a host, or like another host. It prints as a sentence that names the host in
/// ASCII, whatever it is shown as elsewhere; of a long one, the name that somebody registered.
///
/// `host` is always the ASCII form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostWarning {
    /// The host is an IP address: it says nothing about who answers there.
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
    /// The site is a slip or a likeness away from a known one.
    Resembles {
        /// The host.
        host: String,
        /// The known host.
        known: String,
    },
    /// The name of a known site stands in the host of another site.
    BorrowsName {
        /// The host.
        host: String,
        /// The known host.
        known: String,
        /// Whose site it is by its ending.
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

/// A host as a sentence may name it: of one that is too long to be read, the end that says whose it is. What asks shows
/// all of it elsewhere.
fn end_of(host: &str) -> Cow<'_, str> {
    if host.len() <= LONG {
        Cow::Borrowed(host)
    } else {
        Cow::Owned(format!("\u{2026}{}", parts_of_host(host).1))
    }
}

/// What is to be told of an origin, given the origins that the user means: those of the task, and those that
/// logins are bound to.
///
/// An origin is never compared with itself or with another host of its own site; what its host alone says is
/// told whether it is known or not, since a link may have been pasted. Each known host is named at most once.
///
/// ```
/// use browser_signals::{Origin, lookalike};
///
/// let bank = Origin::parse("https://bank.example")?;
/// let page = Origin::parse("https://bank.example.evil.test")?;
/// let told: Vec<String> = lookalike::warnings(&page, &[bank]).iter().map(ToString::to_string).collect();
/// assert_eq!(told, ["bank.example.evil.test has the name of bank.example in it, and belongs to evil.test"]);
/// # Ok::<(), browser_signals::origin::OriginError>(())
/// ```
pub fn warnings(origin: &Origin, known: &[Origin]) -> Vec<HostWarning> {
    let host = origin.host();
    let mut told = Vec::new();
    if is_address(host) {
        told.push(HostWarning::Address { host: host.to_owned() });
    }
    if origin.port() != if origin.scheme() == "https" { 443 } else { 80 } {
        told.push(HostWarning::Port { host: host.to_owned(), port: origin.port() });
    }
    if host.len() > LONG {
        told.push(HostWarning::Long { host: host.to_owned() });
    }
    told.extend(of_letters(host));
    let mut compared: Vec<&str> = Vec::new();
    for known in known.iter().map(Origin::host) {
        if !compared.contains(&known) {
            compared.push(known);
            told.extend(of_likeness(host, known));
        }
    }
    told
}

/// What the letters of a host say.
fn of_letters(host: &str) -> Vec<HostWarning> {
    let (unicode, _) = domain_to_unicode(host);
    if unicode == host {
        // Labels that stand for letters which may not be in a name are shown as they are.
        return Vec::new();
    }
    let mut told = vec![HostWarning::International { host: host.to_owned(), unicode: unicode.clone() }];
    for label in unicode.split('.').filter(|label| !label.is_ascii()) {
        if label.detect_restriction_level() > RestrictionLevel::HighlyRestrictive {
            told.push(HostWarning::MixedScripts { host: host.to_owned(), label: label.to_owned() });
        }
        let looks_like = plain_look(label);
        if looks_like.is_ascii() {
            told.push(HostWarning::Confusable { host: host.to_owned(), looks_like });
        }
    }
    told
}

/// What a host has of a known one, if they are of different sites.
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
    let telling = known_name.len() >= TELLING;
    let borrowed = holds(below, &known_site)
        || (telling && (holds(below, known_name) || (name != known_name && holds(name, known_name))))
        || (telling && name == known_name && is_private_suffix(host));
    borrowed.then(|| HostWarning::BorrowsName { host: host.to_owned(), known: known.to_owned(), belongs_to })
}

/// Whether `text` has `name` between dots, hyphens and its ends, its own dots written as dots or hyphens.
fn holds(text: &str, name: &str) -> bool {
    let parts = |text: &str| text.split(['.', '-']).map(look).collect::<Vec<_>>();
    let (text, name) = (parts(text), parts(name));
    text.windows(name.len()).any(|window| window == name)
}

/// Whether one registrable domain can be taken for the other: drawn alike, or a slip apart.
fn looks_alike(host: (&str, &str), known: (&str, &str)) -> bool {
    let ((name, suffix), (known_name, known_suffix)) = (host, known);
    if name == known_name {
        // The same name under another country's ending is common. A letter lost from the ending is a slip.
        return suffix.len() != known_suffix.len() && slips(suffix, known_suffix, 1);
    }
    let (name, known_name) = (look(name), look(known_name));
    name == known_name
        || match known_name.chars().count() {
            0..TELLING => false,
            TELLING..=8 => slips(&name, &known_name, 1),
            _ => slips(&name, &known_name, 2),
        }
}

/// One text for all names that are drawn alike: the skeleton of what is shown, in small letters, so that a
/// digit and the letter it stands in for are one.
fn look(label: &str) -> String {
    let (unicode, _) = domain_to_unicode(label);
    let drawn: String = skeleton(&unicode).flat_map(char::to_lowercase).collect();
    skeleton(&drawn.replace("vv", "w")).flat_map(char::to_lowercase).collect()
}

/// What a label looks like in plain letters. The skeleton draws `m` as `rn`; a person reads it back.
fn plain_look(label: &str) -> String {
    let drawn: String = skeleton(label).flat_map(char::to_lowercase).collect();
    drawn.replace("rn", "m")
}

/// Whether at most `limit` letters have to be put in, taken out, changed or swapped with the next.
fn slips(one: &str, other: &str, limit: usize) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > limit {
        return false;
    }
    // Rows of the table of distances between beginnings: the one before the last, the last, the next.
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

    use super::slips;

    /// All texts that one slip makes of `text`, over a small alphabet.
    fn one_slip(text: &str) -> Vec<String> {
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
        fn one_slip_is_what_one_change_makes(one in "[abc]{0,5}", other in "[abc]{0,5}") {
            let made = one == other || one_slip(&one).contains(&other);
            prop_assert_eq!(slips(&one, &other, 1), made);
            prop_assert_eq!(slips(&other, &one, 1), made);
        }

        /// Two changes can be told as one more where they meet in the same place, never as fewer.
        #[test]
        fn two_slips_are_at_most_two_changes(one in "[abc]{0,4}", other in "[abc]{0,4}") {
            if slips(&one, &other, 2) {
                let near = one_slip(&one);
                prop_assert!(one == other || near.contains(&other) || near.iter().any(|one| one_slip(one).contains(&other)));
            }
        }
    }
}
