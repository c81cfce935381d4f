//! Classes of words, learned from text without labels.
//!
//! Every word is put into the class in which the bigrams of classes say most about the text, again and again until few
//! words move: the exchange algorithm (Martin, Liermann, Ney 1998). Words that stand between like neighbours come
//! together: verbs that begin an order, names of towns, endings of mail addresses.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use classifier::{FeatureSink, Features, Normalised, Reach, WordClass, WordClasses};

use crate::{CorpusPart, Document, hash};

/// How to learn classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassOptions {
    /// Of at most so many words.
    pub words: usize,
    /// Of words that stand at least so often in different sentences.
    pub least: usize,
    /// How many small classes.
    pub fine: usize,
    /// How many large ones, at most 256.
    pub coarse: usize,
    /// How often each word may move.
    pub rounds: usize,
}

impl Default for ClassOptions {
    fn default() -> ClassOptions {
        ClassOptions { words: 16_000, least: 4, fine: 512, coarse: 64, rounds: 7 }
    }
}

/// What a sentence is made of: numbers of words and marks, and which are words.
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

/// A sentence of fewer bytes says nothing of its words' company.
const SHORTEST: usize = 8;
/// The places of a sentence's border and of all rare words among the words.
const BORDER: usize = 0;
const RARE: usize = 1;

/// Learns classes from the words of the training part. A sentence that stands in several documents counts once. The same
/// documents give the same classes.
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
            // A word behind itself would say of each class that it follows itself.
            if now != before {
                *pairs.entry((before, now)).or_default() += 1;
            }
            before = now;
        }
    }
    let company = Company::new(frequent.len() + RARE + 1, pairs);
    let fine = exchange(&company, options.fine, options.rounds);
    let coarse = exchange(&company, options.coarse.min(256), options.rounds);
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

/// The different sentences of the training part.
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

/// What stands behind and before each word, and how often.
struct Company {
    behind: Vec<Vec<(usize, i64)>>,
    before: Vec<Vec<(usize, i64)>>,
}

impl Company {
    fn new(words: usize, pairs: HashMap<(usize, usize), i64>) -> Company {
        let mut pairs: Vec<((usize, usize), i64)> = pairs.into_iter().collect();
        pairs.sort_unstable();
        let mut company = Company { behind: vec![Vec::new(); words], before: vec![Vec::new(); words] };
        for ((one, other), count) in pairs {
            if let Some(list) = company.behind.get_mut(one) {
                list.push((other, count));
            }
            if let Some(list) = company.before.get_mut(other) {
                list.push((one, count));
            }
        }
        company
    }
}

/// The company of one word, by class.
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

/// How often words of one class stand behind those of another.
struct Table {
    classes: usize,
    /// A row for each class: how often each class stands behind it; and before it.
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

    /// Puts a word into a class, or takes it out with the sign -1.
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

    /// What `n ln n` grows by, from `n` by `more`.
    fn growth(&self, n: i64, more: i64) -> f64 {
        let log = |n: i64| {
            let large = || n as f64 * (n as f64).ln();
            usize::try_from(n).ok().and_then(|at| self.logs.get(at).copied()).unwrap_or_else(large)
        };
        log(n + more) - log(n)
    }

    /// The class in which a word that is in none says most.
    fn best(&self, word: &ByClass, old: usize) -> usize {
        let rows = self.behind.chunks_exact(self.classes).zip(self.before.chunks_exact(self.classes));
        let sums = self.all_behind.iter().zip(&self.all_before);
        let mut best = (f64::NEG_INFINITY, old);
        for (class, ((behind, before), (all_behind, all_before))) in rows.zip(sums).enumerate() {
            let mut gain =
                -self.growth(*all_behind, word.all_behind) - self.growth(*all_before, word.all_before);
            // The company in the class itself comes from both sides into one cell.
            let mut own = 0;
            for (row, company) in [(behind, &word.behind), (before, &word.before)] {
                for (other, count) in company {
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

/// The class of every word.
fn exchange(company: &Company, classes: usize, rounds: usize) -> Vec<usize> {
    let classes = classes.max(1);
    // Words come by how frequent they are, so each class begins with as much.
    let mut class: Vec<usize> = (0..company.behind.len()).map(|word| word % classes).collect();
    let mut table = Table::new(classes);
    for (word, behind) in company.behind.iter().enumerate() {
        let by_class = ByClass::new(behind, &[], &class);
        table.put(&by_class, word % classes, 1);
        // The counts before come with those behind; only their sums are a word's own.
        let before = company.before.get(word).into_iter().flatten().map(|(_, count)| count).sum::<i64>();
        if let Some(sum) = table.all_before.get_mut(word % classes) {
            *sum += before;
        }
    }
    for _ in 0..rounds {
        let mut moved = 0;
        // The border and what is rare stay where they are.
        for word in RARE + 1..class.len() {
            let lists = (company.behind.get(word), company.before.get(word), class.get(word).copied());
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
    fn counted(company: &Company, class: &[usize], classes: usize) -> Vec<i64> {
        let mut cells = vec![0; classes * classes];
        for (word, behind) in company.behind.iter().enumerate() {
            for (other, count) in behind {
                cells[class[word] * classes + class[*other]] += count;
            }
        }
        cells
    }

    fn likelihood(company: &Company, class: &[usize], classes: usize) -> f64 {
        let log = |n: i64| if n < 2 { 0.0 } else { n as f64 * (n as f64).ln() };
        let cells = counted(company, class, classes);
        let rows: f64 = cells.chunks(classes).map(|row| log(row.iter().sum())).sum();
        let columns: f64 = (0..classes).map(|at| log(cells.iter().skip(at).step_by(classes).sum())).sum();
        cells.iter().map(|n| log(*n)).sum::<f64>() - rows - columns
    }

    /// Some pairs of 40 words, not at random.
    fn company() -> Company {
        let mut pairs = HashMap::new();
        for one in 0..40_usize {
            for other in 0..40_usize {
                let count = (one * 7 + other * 3) % 11 * usize::from(one % 4 != other % 4) / 3;
                if one != other && count > 0 {
                    pairs.insert((one, other), count as i64);
                }
            }
        }
        Company::new(40, pairs)
    }

    #[test]
    fn no_single_move_says_more_in_the_end() {
        let (company, classes) = (company(), 5);
        let class = exchange(&company, classes, 100);
        let best = likelihood(&company, &class, classes);
        let start: Vec<usize> = (0..40).map(|word| word % classes).collect();
        assert!(best > likelihood(&company, &start, classes));
        for word in RARE + 1..40 {
            for other in 0..classes {
                let mut moved = class.clone();
                moved[word] = other;
                assert!(likelihood(&company, &moved, classes) <= best + 1e-6, "{word} to {other}");
            }
        }
    }

    #[test]
    fn words_of_like_company_share_a_class() {
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
