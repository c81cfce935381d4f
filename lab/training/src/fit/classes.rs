//! Classes of words, learned from text without labels.
//!
//! Each word is moved to the class in which the bigrams of classes make the text most likely, until few words move:
//! the exchange algorithm (Martin, Liermann, Ney 1998). Words with similar neighbours come together: verbs that begin
//! an instruction, names of towns, ends of mail addresses.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use classifier::{FeatureSink, Features, Normalised, Reach, WordClass, WordClasses};

use crate::{CorpusPart, Document, hash};

/// Options for learning classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassOptions {
    /// The largest number of words.
    pub words: usize,
    /// The smallest number of different sentences with a word.
    pub least: usize,
    /// The number of fine classes.
    pub fine: usize,
    /// The number of coarse classes, at most 256.
    pub coarse: usize,
    /// The number of rounds in which each word may move.
    pub rounds: usize,
}

impl Default for ClassOptions {
    fn default() -> ClassOptions {
        ClassOptions { words: 16_000, least: 4, fine: 512, coarse: 64, rounds: 7 }
    }
}

/// The tokens of a sentence: their hashes, and which of them are words.
#[derive(Default)]
struct Tokens {
    all: Vec<(u32, bool)>,
}

impl FeatureSink for Tokens {
    fn token(&mut self, _: Range<usize>) {}

    fn identity(&mut self, number: u32, word: bool) {
        self.all.push((number, word));
    }

    fn feature(&mut self, _: Reach, _: u32) {}
}

/// The shortest sentence in bytes that counts.
const SHORTEST: usize = 8;
/// The indices of the sentence border and of all rare words among the words.
const BORDER: usize = 0;
const RARE: usize = 1;

/// Learns classes from the words of the training part. A sentence that occurs in several documents counts once. The
/// same documents give the same classes.
pub fn learn(documents: &[Document], options: &ClassOptions) -> WordClasses {
    let sentences = sentences(documents);
    let mut counts: HashMap<(u32, bool), usize> = HashMap::new();
    for token in sentences.iter().flatten() {
        *counts.entry(*token).or_default() += 1;
    }
    let mut frequent: Vec<((u32, bool), usize)> =
        counts.into_iter().filter(|(_, count)| *count >= options.least).collect();
    frequent.sort_by_key(|(token, count)| (std::cmp::Reverse(*count), *token));
    frequent.truncate(options.words);
    let places: HashMap<(u32, bool), usize> =
        frequent.iter().enumerate().map(|(at, (token, _))| (*token, at + RARE + 1)).collect();
    let mut pairs: HashMap<(usize, usize), i64> = HashMap::new();
    for sentence in &sentences {
        let mut before = BORDER;
        let tokens = sentence.iter().map(|token| places.get(token).copied().unwrap_or(RARE));
        for now in tokens.chain([BORDER]) {
            // A repeated word would count as evidence that its class follows itself, whatever the class.
            if now != before {
                *pairs.entry((before, now)).or_default() += 1;
            }
            before = now;
        }
    }
    let neighbours = Neighbours::new(frequent.len() + RARE + 1, pairs);
    let fine = exchange(&neighbours, options.fine, options.rounds);
    let coarse = exchange(&neighbours, options.coarse.min(256), options.rounds);
    let classes = fine.into_iter().zip(coarse).skip(RARE + 1);
    let words = frequent.into_iter().zip(classes).filter(|(((_, word), _), _)| *word);
    WordClasses::new(
        words
            .map(|(((number, _), _), (fine, coarse))| {
                (number, WordClass { fine: fine as u16, coarse: coarse as u8 })
            })
            .collect(),
    )
}

/// Returns the different sentences of the training part.
fn sentences(documents: &[Document]) -> Vec<Vec<(u32, bool)>> {
    let features = Features::new(*Features::BITS.start());
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for document in documents.iter().filter(|one| one.part == CorpusPart::Training) {
        let folded = Normalised::new(&document.text);
        for sentence in folded.text().split_inclusive(['\n', '.', '!', '?']) {
            if sentence.len() >= SHORTEST && seen.insert(hash(sentence)) {
                let mut tokens = Tokens::default();
                features.visit(sentence, &mut tokens);
                found.push(tokens.all);
            }
        }
    }
    found
}

/// The words before and after each word, with their counts.
struct Neighbours {
    behind: Vec<Vec<(usize, i64)>>,
    before: Vec<Vec<(usize, i64)>>,
}

impl Neighbours {
    fn new(words: usize, pairs: HashMap<(usize, usize), i64>) -> Neighbours {
        let mut pairs: Vec<((usize, usize), i64)> = pairs.into_iter().collect();
        pairs.sort_unstable();
        let mut neighbours = Neighbours { behind: vec![Vec::new(); words], before: vec![Vec::new(); words] };
        for ((one, other), count) in pairs {
            if let Some(list) = neighbours.behind.get_mut(one) {
                list.push((other, count));
            }
            if let Some(list) = neighbours.before.get_mut(other) {
                list.push((one, count));
            }
        }
        neighbours
    }
}

/// The neighbours of one word, by class.
struct ByClass {
    behind: Vec<(usize, i64)>,
    before: Vec<(usize, i64)>,
    all_behind: i64,
    all_before: i64,
}

impl ByClass {
    fn new(behind: &[(usize, i64)], before: &[(usize, i64)], class: &[usize]) -> ByClass {
        let summed = |words: &[(usize, i64)]| {
            let mut of: Vec<(usize, i64)> = words
                .iter()
                .filter_map(|(word, count)| class.get(*word).map(|class| (*class, *count)))
                .collect();
            of.sort_unstable();
            of.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0 };
                same
            });
            of
        };
        let (behind, before) = (summed(behind), summed(before));
        let sum = |of: &[(usize, i64)]| of.iter().map(|(_, count)| count).sum();
        let (all_behind, all_before) = (sum(&behind), sum(&before));
        ByClass { behind, before, all_behind, all_before }
    }
}

/// The counts of words of one class after those of another.
struct Table {
    classes: usize,
    /// The counts of each class after each class, and before it.
    behind: Vec<i64>,
    before: Vec<i64>,
    /// The sums of the rows.
    all_behind: Vec<i64>,
    all_before: Vec<i64>,
    /// `n ln n` of small numbers.
    logs: Vec<f64>,
}

impl Table {
    fn new(classes: usize) -> Table {
        let log = |n: u32| if n < 2 { 0.0 } else { f64::from(n) * f64::from(n).ln() };
        Table {
            classes,
            behind: vec![0; classes * classes],
            before: vec![0; classes * classes],
            all_behind: vec![0; classes],
            all_before: vec![0; classes],
            logs: (0..1 << 16).map(log).collect(),
        }
    }

    /// Adds a word to a class, or removes it with the sign -1.
    fn put(&mut self, word: &ByClass, class: usize, sign: i64) {
        let add = |cells: &mut [i64], at: usize, count: i64| {
            if let Some(cell) = cells.get_mut(at) {
                *cell += sign * count;
            }
        };
        for (other, count) in &word.behind {
            add(&mut self.behind, class * self.classes + other, *count);
            add(&mut self.before, other * self.classes + class, *count);
        }
        for (other, count) in &word.before {
            add(&mut self.before, class * self.classes + other, *count);
            add(&mut self.behind, other * self.classes + class, *count);
        }
        add(&mut self.all_behind, class, word.all_behind);
        add(&mut self.all_before, class, word.all_before);
    }

    /// Returns the growth of `n ln n` from `n` to `n + more`.
    fn growth(&self, n: i64, more: i64) -> f64 {
        let log = |n: i64| {
            let large = || n as f64 * (n as f64).ln();
            usize::try_from(n).ok().and_then(|at| self.logs.get(at).copied()).unwrap_or_else(large)
        };
        log(n + more) - log(n)
    }

    /// Returns the best class for a word that is in none.
    fn best(&self, word: &ByClass, old: usize) -> usize {
        let rows = self.behind.chunks_exact(self.classes).zip(self.before.chunks_exact(self.classes));
        let sums = self.all_behind.iter().zip(&self.all_before);
        let mut best = (f64::NEG_INFINITY, old);
        for (class, ((behind, before), (all_behind, all_before))) in rows.zip(sums).enumerate() {
            let mut gain =
                -self.growth(*all_behind, word.all_behind) - self.growth(*all_before, word.all_before);
            // Pairs within the class are counted from both sides, in one cell.
            let mut own = 0;
            for (row, neighbours) in [(behind, &word.behind), (before, &word.before)] {
                for (other, count) in neighbours {
                    if *other == class {
                        own += count;
                    } else {
                        gain += self.growth(row.get(*other).copied().unwrap_or_default(), *count);
                    }
                }
            }
            gain += self.growth(behind.get(class).copied().unwrap_or_default(), own);
            if gain > best.0 + 1e-9 {
                best = (gain, class);
            }
        }
        best.1
    }
}

/// Returns the class of every word.
fn exchange(neighbours: &Neighbours, classes: usize, rounds: usize) -> Vec<usize> {
    let classes = classes.max(1);
    // Words are in order of frequency, so all classes begin with about the same count.
    let mut class: Vec<usize> = (0..neighbours.behind.len()).map(|word| word % classes).collect();
    let mut table = Table::new(classes);
    for (word, behind) in neighbours.behind.iter().enumerate() {
        let by_class = ByClass::new(behind, &[], &class);
        table.put(&by_class, word % classes, 1);
        // The counts before and after a word are added; only their sums belong to the word.
        let before = neighbours.before.get(word).into_iter().flatten().map(|(_, count)| count).sum::<i64>();
        if let Some(sum) = table.all_before.get_mut(word % classes) {
            *sum += before;
        }
    }
    for _ in 0..rounds {
        let mut moved = 0;
        // The border and the rare words stay in their classes.
        for word in RARE + 1..class.len() {
            let lists = (neighbours.behind.get(word), neighbours.before.get(word), class.get(word).copied());
            let (Some(behind), Some(before), Some(old)) = lists else { continue };
            let by_class = ByClass::new(behind, before, &class);
            table.put(&by_class, old, -1);
            let new = table.best(&by_class, old);
            table.put(&by_class, new, 1);
            if let Some(class) = class.get_mut(word) {
                moved += usize::from(new != old);
                *class = new;
            }
        }
        if moved * 50 < class.len() {
            break;
        }
    }
    class
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "tests")]
    use super::*;

    /// The counts of a table from nothing.
    fn counted(neighbours: &Neighbours, class: &[usize], classes: usize) -> Vec<i64> {
        let mut cells = vec![0; classes * classes];
        for (word, behind) in neighbours.behind.iter().enumerate() {
            for (other, count) in behind {
                cells[class[word] * classes + class[*other]] += count;
            }
        }
        cells
    }

    fn likelihood(neighbours: &Neighbours, class: &[usize], classes: usize) -> f64 {
        let log = |n: i64| if n < 2 { 0.0 } else { n as f64 * (n as f64).ln() };
        let cells = counted(neighbours, class, classes);
        let rows: f64 = cells.chunks(classes).map(|row| log(row.iter().sum())).sum();
        let columns: f64 = (0..classes).map(|at| log(cells.iter().skip(at).step_by(classes).sum())).sum();
        cells.iter().map(|n| log(*n)).sum::<f64>() - rows - columns
    }

    /// Some pairs of 40 words, not at random.
    fn neighbours() -> Neighbours {
        let mut pairs = HashMap::new();
        for one in 0..40_usize {
            for other in 0..40_usize {
                let count = (one * 7 + other * 3) % 11 * usize::from(one % 4 != other % 4) / 3;
                if one != other && count > 0 {
                    pairs.insert((one, other), count as i64);
                }
            }
        }
        Neighbours::new(40, pairs)
    }

    #[test]
    fn no_single_move_improves_the_result() {
        let (neighbours, classes) = (neighbours(), 5);
        let class = exchange(&neighbours, classes, 100);
        let best = likelihood(&neighbours, &class, classes);
        let start: Vec<usize> = (0..40).map(|word| word % classes).collect();
        assert!(best > likelihood(&neighbours, &start, classes));
        for word in RARE + 1..40 {
            for other in 0..classes {
                let mut moved = class.clone();
                moved[word] = other;
                assert!(likelihood(&neighbours, &moved, classes) <= best + 1e-6, "{word} to {other}");
            }
        }
    }

    #[test]
    fn words_with_similar_neighbours_share_a_class() {
        let (verbs, things) = (["send", "mail", "show", "give"], ["report", "letter", "invoice", "ticket"]);
        let mut text = String::new();
        for verb in verbs {
            for thing in things {
                text.push_str(&format!(
                    "Please {verb} us the {thing} today.\nA {thing} is what they {verb} me.\n"
                ));
            }
        }
        let documents = [Document::harmless("test", CorpusPart::Training, text)];
        let options = ClassOptions { words: 100, least: 1, fine: 8, coarse: 8, rounds: 20 };
        let classes = learn(&documents, &options);
        let class = |word: &str| {
            let mut tokens = Tokens::default();
            Features::new(8).visit(word, &mut tokens);
            classes.of(tokens.all[0].0).map(|class| class.fine)
        };
        assert!(verbs.iter().all(|verb| class(verb).is_some() && class(verb) == class(verbs[0])));
        assert!(things.iter().all(|thing| class(thing) == class(things[0])));
        assert_ne!(class(verbs[0]), class(things[0]));
        assert_eq!(class("elsewhere"), None);
    }
}
