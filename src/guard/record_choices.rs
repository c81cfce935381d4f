//! The user's choices among records of the vault that fit a request alike: which address, card or account goes to a site. Each is asked
//! about once and kept in the vault, until a record comes or goes.

use browser_signals::Origin;
use serde::{Deserialize, Serialize};

use crate::consent::{ChosenFrom, WhichAccount};

/// The most bytes of all choices, less than what the vault takes as a state. The oldest choice goes first, and is asked about again.
const MOST: usize = 60_000;

/// Records of one kind that fit a request alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RivalRecords {
    /// The kind of record, such as `address`.
    pub kind: &'static str,
    /// The site that the user is asked about: of a payment in a provider's frame, the shop.
    pub origin: Origin,
    /// The origin that the values go to first.
    pub at: Origin,
    /// Their handles.
    pub handles: Vec<String>,
}

/// A question reached nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreached;

impl RivalRecords {
    /// The question which of them is used. The user named each of them.
    pub fn question(&self, client: Option<String>) -> WhichAccount {
        let RivalRecords { kind, origin, handles, .. } = self;
        let (of, origin) = (ChosenFrom::Vault((*kind).to_owned()), origin.clone());
        let name = |handle: &String| handle.strip_prefix(kind)?.strip_prefix(':').map(str::to_owned);
        let names: Option<Vec<String>> = handles.iter().map(name).collect();
        WhichAccount { of, origin, labels: names.unwrap_or_else(|| handles.clone()), client }
    }
}

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordChoice {
    /// The kind of record, such as `address`.
    pub kind: String,
    /// The origin that the values go to.
    pub origin: Origin,
    /// The handles that the user chose among, sorted.
    pub among: Vec<String>,
    /// The chosen handle.
    pub record: String,
}

impl RecordChoice {
    /// The choice of one of these records.
    pub fn new(kind: &str, origin: &Origin, among: &[String], record: &str) -> RecordChoice {
        let mut among = among.to_vec();
        among.sort_unstable();
        RecordChoice { kind: kind.to_owned(), origin: origin.clone(), among, record: record.to_owned() }
    }
}

/// The choices that a vault stores.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordChoices(Vec<RecordChoice>);

impl RecordChoices {
    /// Reads them as the vault stores them; none where they are damaged, so that the user is asked.
    pub fn from_json(stored: Option<&[u8]>) -> RecordChoices {
        stored.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
    }

    /// As the vault stores them.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The record that the user chose among exactly these.
    pub fn among(&self, kind: &str, origin: &Origin, rivals: &[String]) -> Option<&str> {
        let asked = RecordChoice::new(kind, origin, rivals, "");
        let same = self.at(kind, origin).find(|choice| choice.among == asked.among);
        same.map(|choice| choice.record.as_str()).filter(|record| rivals.iter().any(|rival| rival == record))
    }

    /// The choices at an origin for a kind of record: one for each group of records that fit alike.
    pub fn at(&self, kind: &str, origin: &Origin) -> impl Iterator<Item = &RecordChoice> {
        self.0.iter().filter(move |choice| choice.kind == kind && choice.origin == *origin)
    }

    /// Adds a choice, in the place of an earlier one for the same.
    #[must_use]
    pub fn with(mut self, choice: RecordChoice) -> RecordChoices {
        let is_same = |earlier: &RecordChoice| {
            earlier.kind == choice.kind && earlier.origin == choice.origin && earlier.among == choice.among
        };
        self.0.retain(|earlier| !is_same(earlier));
        self.0.push(choice);
        while self.0.len() > 1 && self.to_json().len() > MOST {
            self.0.remove(0);
        }
        self
    }

    /// Takes the choices for a kind of record at an origin back.
    #[must_use]
    pub fn without(mut self, kind: &str, origin: &Origin) -> RecordChoices {
        self.0.retain(|choice| choice.kind != kind || choice.origin != *origin);
        self
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn handles(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_choice_holds_among_the_same_records_at_its_origin_alone() {
        let (shop, other) =
            (Origin::parse("https://shop.example").unwrap(), Origin::parse("https://other.example").unwrap());
        let two = handles(&["address:work", "address:home"]);
        let chosen = RecordChoices::default().with(RecordChoice::new("address", &shop, &two, "address:work"));
        let stored = chosen.to_json();
        let chosen = RecordChoices::from_json(Some(&stored));
        let swapped = handles(&["address:home", "address:work"]);
        assert_eq!(chosen.among("address", &shop, &swapped), Some("address:work"));
        let three = handles(&["address:home", "address:work", "address:new"]);
        let fewer = handles(&["address:home", "address:gone"]);
        for rivals in [&three, &fewer] {
            assert_eq!(chosen.among("address", &shop, rivals), None);
        }
        assert_eq!(chosen.among("address", &other, &two), None);
        assert_eq!(chosen.among("card", &shop, &two), None);
        let changed = chosen.with(RecordChoice::new("address", &shop, &two, "address:home"));
        assert_eq!(changed.among("address", &shop, &two), Some("address:home"));
        assert_eq!(changed.without("address", &shop), RecordChoices::default());
        for damaged in [None, Some(&b"[{}]"[..]), Some(b"not json")] {
            assert_eq!(RecordChoices::from_json(damaged), RecordChoices::default());
        }
    }

    #[test]
    fn the_oldest_choice_goes_when_there_are_too_many() {
        let rivals = handles(&["address:a", "address:b"]);
        let at = |number: usize| Origin::parse(&format!("https://s{number}.example")).unwrap();
        let all = (0..1000).fold(RecordChoices::default(), |all, number| {
            all.with(RecordChoice::new("address", &at(number), &rivals, "address:a"))
        });
        assert!(all.to_json().len() <= MOST);
        assert_eq!(all.among("address", &at(0), &rivals), None);
        assert_eq!(all.among("address", &at(999), &rivals), Some("address:a"));
    }
}
