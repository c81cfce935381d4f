//! Pages composed of the collections' texts, for training and judging a monitor of whole pages.
//!
//! No collection here has whole pages with an attack in the middle of other text and labels for both. So pages are
//! composed: harmless texts of one part in sequence and, in a stated share of the pages, an attack between them. The
//! share of hostile pages on the web is unknown; the shares are a choice, and the calibration refers to them.

use crate::{CorpusPart, Document, hash};

/// The percentage of pages with an injection.
pub const WITH_INJECTION: u64 = 15;
/// The percentage of pages with a scam.
pub const WITH_SCAM: u64 = 10;
/// The smallest and the largest number of texts of a page.
const TEXTS: [u64; 2] = [3, 12];

/// Returns pages, each a list of texts from top to bottom, of harmless and harmful texts of one part. The same texts
/// and seed give the same pages. There are none without harmless texts; without injections or scams those pages are
/// harmless.
///
/// Harmless texts are drawn by source first, so that a large collection does not dominate the pages.
pub fn compose<'a>(
    (injections, scams): (&'a [Document], &'a [Document]),
    part: CorpusPart,
    pages: usize,
    seed: u64,
) -> Vec<Vec<&'a Document>> {
    let like_pages = |one: &&Document| one.part == part && !is_borderline(&one.source);
    let harmless = by_source(injections.iter().filter(like_pages).filter(|one| one.harmful.is_none()));
    let injected = by_source(injections.iter().filter(like_pages).filter(|one| one.harmful.is_some()));
    let scam = by_source(scams.iter().filter(|one| one.part == part && one.harmful.is_some()));
    if harmless.is_empty() {
        return Vec::new();
    }
    (0..pages)
        .map(|number| {
            let mut chance = Chance { seed: format!("page {seed}/{number}"), drawn: 0 };
            let length = TEXTS[0] + chance.below(TEXTS[1] - TEXTS[0] + 1);
            let mut page: Vec<&Document> = (0..length).filter_map(|_| draw(&harmless, &mut chance)).collect();
            let kind = chance.below(100);
            let attack = match kind {
                0..WITH_INJECTION => draw(&injected, &mut chance),
                _ if kind < WITH_INJECTION + WITH_SCAM => draw(&scam, &mut chance),
                _ => None,
            };
            if let Some(attack) = attack {
                let at = usize::try_from(chance.below(length + 1)).unwrap_or(0).min(page.len());
                page.insert(at, attack);
            }
            page
        })
        .collect()
}

/// Returns whether a source only teaches the border: our own lines except outlines and pages, and requests to an
/// assistant, which pages do not contain.
fn is_borderline(source: &str) -> bool {
    source.starts_with("requests/")
        || (source.starts_with("own/") && !["own/pages", "own/outlines"].contains(&source))
}

/// Random numbers that a seed determines.
struct Chance {
    seed: String,
    drawn: u64,
}

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.drawn += 1;
        hash(&format!("{}/{}", self.seed, self.drawn)) % end.max(1)
    }
}

fn by_source<'a>(documents: impl Iterator<Item = &'a Document>) -> Vec<Vec<&'a Document>> {
    let mut sources: std::collections::BTreeMap<&str, Vec<&Document>> = std::collections::BTreeMap::new();
    for one in documents {
        sources.entry(&one.source).or_default().push(one);
    }
    sources.into_values().collect()
}

fn draw<'a>(sources: &[Vec<&'a Document>], chance: &mut Chance) -> Option<&'a Document> {
    let source = sources.get(usize::try_from(chance.below(sources.len() as u64)).ok()?)?;
    source.get(usize::try_from(chance.below(source.len() as u64)).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_of_one_part_and_have_attacks_as_often_as_said() {
        let texts = |harmful: bool| -> Vec<Document> {
            (0..300)
                .map(|number| {
                    let part = [CorpusPart::Training, CorpusPart::Development, CorpusPart::Test][number % 3];
                    let text = format!("text {number}");
                    let source = format!("source {}", number % 7);
                    if harmful && number % 2 == 0 {
                        Document::harmful(&source, part, text)
                    } else {
                        Document::harmless(&source, part, text)
                    }
                })
                .collect()
        };
        let (injections, scams) = (texts(true), texts(true));
        let pages = compose((&injections, &scams), CorpusPart::Development, 2000, 1);
        assert_eq!(pages.len(), 2000);
        assert!(pages.iter().flatten().all(|one| one.part == CorpusPart::Development));
        let attacked = pages.iter().filter(|page| page.iter().any(|one| one.harmful.is_some())).count();
        assert!((420..580).contains(&attacked), "{attacked}");
        let longest = pages.iter().map(Vec::len).max();
        assert_eq!(longest, Some(13));
        let again = compose((&injections, &scams), CorpusPart::Development, 2000, 1);
        let words = |pages: &[Vec<&Document>]| -> Vec<String> {
            pages.iter().map(|page| page.iter().map(|one| one.text.as_str()).collect()).collect()
        };
        assert_eq!(words(&pages), words(&again));
        assert_ne!(words(&pages), words(&compose((&injections, &scams), CorpusPart::Development, 2000, 2)));
        assert!(compose((&[], &scams), CorpusPart::Development, 5, 1).is_empty());
    }
}
