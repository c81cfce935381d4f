//! Harmless texts in disguise. How a text looks while it is encoded says nothing of what it says: a model that has
//! never seen letters standing alone or bytes in hexadecimal takes them for what they most resemble by chance.

use crate::document::{Document, Part, hash};
use crate::obfuscation::Obfuscation;

/// What reads as another text than it is. Zero-width characters and the like are gone once a text is folded.
const WAYS: [Obfuscation; 5] = [
    Obfuscation::Base64,
    Obfuscation::Hexadecimal,
    Obfuscation::Percent,
    Obfuscation::SpacedOut,
    Obfuscation::Reversed,
];

/// What is encoded of each text, in characters: more says the same over again.
const LENGTH: usize = 240;

/// At most so many in each way.
const MOST: usize = 300;

/// Beginnings of harmless texts of the training part, in each way.
pub fn encoded(documents: &[Document]) -> Vec<Document> {
    let mut chosen: Vec<(u64, &Document)> = documents
        .iter()
        .filter(|one| one.part == Part::Training && one.harmful.is_none())
        .map(|one| (hash(&one.text), one))
        .collect();
    chosen.sort_by(|one, other| (one.0, &one.1.text).cmp(&(other.0, &other.1.text)));
    chosen.dedup_by(|one, other| one.1.text == other.1.text);
    let ways = WAYS.into_iter().cycle();
    let pairs = chosen.into_iter().take(MOST * WAYS.len()).zip(ways);
    pairs
        .map(|((_, one), way)| {
            let beginning: String = one.text.chars().take(LENGTH).collect();
            Document::harmless("encoded", Part::Training, way.apply(&beginning))
        })
        .collect()
}
