//! The layout of a file, as `spec/policy-bytes.md` describes it: its parts, and the words in them.

use sirl::Tier;

use crate::vocabulary::event::Root;
use crate::vocabulary::outcome::{ConsentScope, Delivery};
use crate::vocabulary::reason::Reason;

/// The first bytes of a file.
pub(super) const MAGIC: &[u8; 8] = b"PCPOLICY";
/// The version of the layout that is written, and the only one that is read so far.
pub(super) const VERSION: u32 = 1;
/// The length of the magic, the version and the length.
pub(super) const HEADER: usize = 16;
/// The length of the SHA-256 at the end.
pub(super) const DIGEST: usize = 32;

// The tags of the parts, in their order.
pub(super) const TEXT: &str = "TEXT";
pub(super) const AXES: &str = "AXES";
pub(super) const OUTCOMES: &str = "OUTC";
pub(super) const STATES: &str = "STAT";
pub(super) const ROOTS: &str = "ROOT";
pub(super) const TIERS: &str = "TIER";
pub(super) const THRESHOLDS: &str = "THRE";
pub(super) const SESSION: &str = "SESS";
pub(super) const SITES: &str = "SITE";
/// Only in the file of a policy that names providers.
pub(super) const PROVIDERS: &str = "PROV";
/// Only in the file of a policy whose values keep to their path.
pub(super) const OWN_PATH: &str = "PATH";

/// The consent scope with this word, if there is one. The words are those of the policy language.
pub(super) fn scope_from_word(word: &[u8]) -> Option<ConsentScope> {
    ConsentScope::ALL.into_iter().find(|scope| scope.how_often().as_bytes() == word)
}

/// Every reason with its code.
pub(super) fn reasons() -> impl Iterator<Item = (String, Reason)> {
    Reason::ALL.into_iter().map(|reason| (reason.name(), reason))
}

/// The word of a delivery. A granted verb delivers nothing and has an empty word.
pub(super) fn delivery_word(delivery: Option<Delivery>) -> &'static str {
    delivery.map_or("", Delivery::as_str)
}

/// The two words of a start: the event, and the tier that it needs. A verb needs none.
pub(super) fn start_words(root: Root) -> (&'static str, &'static str) {
    (root.event_name(), root.need().map_or("", Tier::as_str))
}

/// The first index at which two byte strings differ.
pub(super) fn first_difference(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).position(|(a, b)| a != b).unwrap_or(one.len().min(other.len()))
}
