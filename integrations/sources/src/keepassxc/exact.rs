//! The questions that prove which origin an entry belongs to.
//!
//! KeePassXC gives an entry to a host if the host's text *ends* in the entry's host and both have the same registrable
//! domain by KeePassXC's own list: `login.shop.example` gets the entries of `shop.example`, and `notlogin.shop.example`
//! those of `login.shop.example`. An entry without a port fits every port. The scheme counts unless the user turned
//! that off. The answer has no address. So further questions find what else an entry is given to:
//!
//! | question for `https://login.shop.example:8443` | an entry that comes |
//! |---|---|
//! | `https://portcullis-check-…zogin.shop.example:8443` | belongs to a shorter host, such as a parent |
//! | `https://login.shop.example` | belongs to port 443 |
//! | `portcullis://login.shop.example:8443` | is given to every scheme |
//!
//! The first host is random, the host's first letter is gone, and all other endings of the host are kept. So one
//! question covers every parent, by whatever list of suffixes, and no remembered decision of the user exists for it.
//!
//! An entry that does not come is proof only if nothing else withholds it. KeePassXC asks the user about each entry
//! and host, unless that is turned off, and withholds what is refused. From 2.7.7 on "no logins" means that no entry
//! fits. Where it does not, or where other entries came, one more question below the host, which nobody has decided
//! on, must bring the entry, and faster than a person answers: then no decision of a person is in play. A search that
//! finds nothing says how long a search takes.

use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::time::Duration;

use browser_signals::{Origin, Site};

use super::KeePassXcError;
use super::message::random;

/// The longest label and the longest host of DNS.
const LONGEST_LABEL: usize = 63;
const LONGEST_HOST: usize = 253;

/// The time in which no person answers a question that has just appeared.
pub(super) const FASTER_THAN_A_PERSON: Duration = Duration::from_millis(250);

/// The most that is added for the search itself. A database whose search takes longer proves nothing without the attribute.
pub(super) const LONGEST_SEARCH: Duration = Duration::from_millis(500);

/// The address that an origin's logins are asked for by. The port is always there: an entry that names port 443 is
/// given only where it is asked for.
pub(super) fn address(origin: &Origin) -> String {
    format!("{}://{}:{}", origin.scheme(), origin.host(), origin.port())
}

/// The questions about one origin. The host in each is random as far as it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Questions {
    /// Every entry comes whose scheme is not compared.
    pub(super) scheme: String,
    /// Every entry of a shorter host comes. An IP address has none.
    pub(super) shorter: Option<String>,
    /// Every entry comes that has no port. The default port needs no proof.
    pub(super) port: Option<String>,
    /// No entry comes, after a search through all of them.
    pub(super) nothing: String,
    below: Option<String>,
}

impl Questions {
    /// Makes the questions. There is `None` for a host with which they prove nothing.
    pub(super) fn new(origin: &Origin) -> Result<Option<Questions>, KeePassXcError> {
        let random: [u8; 6] = random()?;
        let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Questions::with(origin, &random))
    }

    fn with(origin: &Origin, random: &str) -> Option<Questions> {
        let (host, port) = (origin.host(), origin.port());
        let is_address = host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok();
        let (shorter, below) = if is_address {
            (None, None)
        } else {
            let below = host_of(&format!("portcullis-check-{random}"), &format!(".{host}"))?;
            (Some(shorter(host, random)?), Some(format!("https://{below}:{port}")))
        };
        Some(Questions {
            scheme: format!("portcullis://{host}:{port}"),
            shorter: shorter.map(|shorter| format!("https://{shorter}:{port}")),
            port: (port != 443).then(|| format!("https://{host}")),
            // The ending is as random, since an entry of a whole unlisted ending would fit every host below it.
            nothing: format!("https://portcullis-check-{random}.z{random}:{port}"),
            below,
        })
    }

    /// The questions that must bring entries which no decision of a person withholds. Nothing is below an IP
    /// address, so its entries are asked for by their numbers.
    pub(super) fn controls(&self, uuids: &HashSet<&str>) -> Vec<String> {
        match &self.below {
            Some(below) => vec![below.clone()],
            None => uuids.iter().map(|uuid| format!("keepassxc://by-uuid/{uuid}")).collect(),
        }
    }
}

/// A random host with all endings of `host` and not the whole of it.
fn shorter(host: &str, random: &str) -> Option<String> {
    let (label, rest) = host.split_at_checked(host.find('.').unwrap_or(host.len()))?;
    let mut characters = label.chars();
    let first = characters.next()?;
    let mut ending = characters.as_str();
    if label.starts_with("xn--") {
        // KeePassXC compares such a label decoded, so it has no ending in ASCII.
        Site::parse(host).ok()?;
        ending = "";
    }
    // The letter before the ending differs from the first one of the host.
    let letter = if first == 'z' { 'y' } else { 'z' };
    // A long label leaves room for few random digits or none.
    let most = LONGEST_LABEL.min(LONGEST_HOST.checked_sub(rest.len())?);
    let room = most.checked_sub(ending.len() + letter.len_utf8())?;
    let full = format!("portcullis-check-{random}");
    let start = if full.len() <= room { &full } else { random.get(..room.min(random.len()))? };
    host_of(&format!("{start}{letter}{ending}"), rest)
}

fn host_of(label: &str, rest: &str) -> Option<String> {
    (label.len() + rest.len() <= LONGEST_HOST).then(|| format!("{label}{rest}"))
}

/// Tells if "no logins" says that no entry fits. In older versions it also stands for entries that were refused.
pub(super) fn tells_refusals(version: &str) -> bool {
    let mut numbers = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0_u32));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next(), next()) >= (2, 7, 7)
}

#[cfg(test)]
mod tests {
    use browser_signals::Origin;
    use proptest::prelude::*;

    use super::{Questions, address, shorter, tells_refusals};

    fn questions(text: &str) -> Option<Questions> {
        Questions::with(&Origin::parse(text).unwrap(), "0123456789ab")
    }

    #[test]
    fn questions_about_a_host() {
        let asked = questions("https://login.shop.example").unwrap();
        assert_eq!(
            asked.shorter.as_deref(),
            Some("https://portcullis-check-0123456789abzogin.shop.example:443")
        );
        assert_eq!(
            asked.controls(&["0a"].into())[0],
            "https://portcullis-check-0123456789ab.login.shop.example:443"
        );
        assert_eq!(asked.scheme, "portcullis://login.shop.example:443");
        assert_eq!(asked.port, None);
        let asked = questions("https://a.shop.example:8443").unwrap();
        assert_eq!(
            asked.shorter.as_deref(),
            Some("https://portcullis-check-0123456789abz.shop.example:8443")
        );
        assert_eq!(asked.port.as_deref(), Some("https://a.shop.example"));
    }

    #[test]
    fn questions_about_special_hosts() {
        let asked = questions("https://127.0.0.1:8443").unwrap();
        assert_eq!(
            (asked.shorter.as_deref(), &*asked.controls(&["0a"].into())[0]),
            (None, "keepassxc://by-uuid/0a")
        );
        assert_eq!(questions("https://[::1]").unwrap().shorter, None);
        let asked = questions("https://bücher.example").unwrap();
        assert_eq!(asked.shorter.as_deref(), Some("https://portcullis-check-0123456789abz.example:443"));
        assert_eq!(questions("https://bücher.shop.example"), None);
        assert!(questions("https://localhost").unwrap().shorter.unwrap().contains("zocalhost:443"));
        assert_eq!(address(&Origin::parse("https://shop.example").unwrap()), "https://shop.example:443");
    }

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(["2.7.4", "2.7.6", "", "x", "1.9.9"].map(tells_refusals), [false; 5]);
        assert_eq!(["2.7.7", "2.7.10", "2.8.0-snapshot", "3.0"].map(tells_refusals), [true; 4]);
    }

    proptest! {
        /// An entry's host fits the shorter host if it is an ending of the host, and not if it is the host itself.
        #[test]
        fn every_ending_is_kept(labels in prop::collection::vec("[a-z0-9_]([a-z0-9-]{0,61}[a-z0-9])?", 1..4)) {
            let host = labels.join(".");
            prop_assume!(labels.iter().all(|label| !label.starts_with("xn--")) && host.len() < 200);
            let shorter = shorter(&host, "0123456789ab").unwrap();
            prop_assert!(shorter.split('.').all(|label| (1..=63).contains(&label.len())));
            prop_assert!(!shorter.ends_with(&host));
            for at in 1..host.len() {
                // An ending that starts with a dot is no host.
                prop_assert!(host[at..].starts_with('.') || shorter.ends_with(&host[at..]));
            }
        }
    }
}
