//! Lists of phrases, and an index that finds all those that stand in a text at once.

use std::collections::HashMap;

use super::folded::{is_unspaced, words};

/// The shortest phrase that may be part of a word of an identifier, in bytes.
const LONG: usize = 8;

/// The shortest phrase of several words that may be written as one word, in bytes.
const JOINED: usize = 5;

/// How a word is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Whole,
    Start,
    End,
    Anywhere,
}

/// One word of a phrase.
#[derive(Debug, Clone)]
struct Part {
    text: String,
    place: Place,
}

impl Part {
    fn of(pattern: &str) -> Part {
        let (rest, open) = pattern.strip_prefix('*').map_or((pattern, false), |rest| (rest, true));
        let (text, ends) = rest.strip_suffix('*').map_or((rest, false), |text| (text, true));
        let place = match (open, ends) {
            (false, false) => Place::Whole,
            (false, true) => Place::Start,
            (true, false) => Place::End,
            (true, true) => Place::Anywhere,
        };
        Part { text: words(text).concat(), place }
    }

    fn is_in(&self, word: &str) -> bool {
        match self.place {
            Place::Whole => word == self.text,
            Place::Start => word.starts_with(&self.text),
            Place::End => word.ends_with(&self.text),
            Place::Anywhere => word.contains(&self.text),
        }
    }
}

/// A phrase, and the list that it is in.
#[derive(Debug)]
struct Phrase {
    parts: Vec<Part>,
    list: usize,
}

/// A section of a vocabulary: a name, the phrases that speak for it, and those that speak against it.
#[derive(Debug)]
pub struct Entry {
    pub name: String,
    pub phrases: Vec<String>,
    pub unless: Vec<String>,
}

/// Reads a vocabulary. The format is explained at the head of `fields.txt`.
pub fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut against = false;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            entries.push(Entry { name: name.to_owned(), phrases: Vec::new(), unless: Vec::new() });
            against = false;
            continue;
        }
        let line = line.strip_prefix("unless:").map_or(line, |rest| {
            against = true;
            rest
        });
        let Some(entry) = entries.last_mut() else { continue };
        let list = if against { &mut entry.unless } else { &mut entry.phrases };
        list.extend(line.split(',').map(str::trim).filter(|phrase| !phrase.is_empty()).map(str::to_owned));
    }
    entries
}

/// Lists of phrases with an index.
#[derive(Debug, Default)]
pub struct Lexicon {
    phrases: Vec<Phrase>,
    lists: usize,
    /// By the first word of a phrase.
    whole: HashMap<String, Vec<usize>>,
    /// By the first letter of a phrase whose first word may go on.
    start: HashMap<char, Vec<usize>>,
    /// Phrases whose first word may begin with something else.
    open: Vec<usize>,
    /// Phrases of several plain words, by the words written as one.
    joined: HashMap<String, Vec<usize>>,
    /// Plain phrases that count within a word of an identifier, written as one word.
    within: Vec<(String, usize)>,
    /// Phrases of a language that does not separate words.
    unspaced: Vec<(String, usize)>,
}

impl Lexicon {
    /// Adds a list, and returns its number.
    pub fn add(&mut self, phrases: &[String]) -> usize {
        let list = self.lists;
        self.lists += 1;
        for phrase in phrases {
            self.add_phrase(phrase, list);
        }
        list
    }

    fn add_phrase(&mut self, text: &str, list: usize) {
        let at = self.phrases.len();
        let parts: Vec<Part> = text.split(' ').map(Part::of).collect();
        let Some(first) = parts.first() else { return };
        if is_unspaced(text) {
            self.unspaced.push((words(text).concat(), at));
        } else {
            match (first.place, first.text.chars().next()) {
                (Place::Whole, _) => self.whole.entry(first.text.clone()).or_default().push(at),
                (Place::Start, Some(letter)) => self.start.entry(letter).or_default().push(at),
                _ => self.open.push(at),
            }
            if parts.iter().all(|part| part.place == Place::Whole) {
                let joined: String = parts.iter().map(|part| part.text.as_str()).collect();
                if parts.len() > 1 && joined.len() >= JOINED {
                    self.joined.entry(joined.clone()).or_default().push(at);
                }
                if joined.len() >= LONG {
                    self.within.push((joined, at));
                }
            }
        }
        self.phrases.push(Phrase { parts, list });
    }

    /// The numbers of the phrases in a text. In an identifier a long phrase also counts within a word.
    fn phrases_in(&self, text: &[String], is_identifier: bool) -> Vec<usize> {
        let mut found = Vec::new();
        for (at, word) in text.iter().enumerate() {
            let rest = text.get(at..).unwrap_or_default();
            let begins = word.chars().next().and_then(|letter| self.start.get(&letter));
            let candidates = self.whole.get(word).into_iter().chain(begins).flatten().chain(&self.open);
            found.extend(candidates.copied().filter(|candidate| self.stands_at(*candidate, rest)));
            found.extend(self.joined.get(word).into_iter().flatten());
            if is_identifier && word.len() > LONG {
                found.extend(self.within.iter().filter(|(part, _)| word.contains(part)).map(|(_, at)| at));
            }
            if is_unspaced(word) {
                // A sign alone is a word only where it stands alone.
                let has =
                    |part: &str| if part.chars().count() == 1 { word == part } else { word.contains(part) };
                found.extend(self.unspaced.iter().filter(|(part, _)| has(part)).map(|(_, at)| at));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn stands_at(&self, phrase: usize, text: &[String]) -> bool {
        self.phrases.get(phrase).is_some_and(|phrase| {
            phrase.parts.len() <= text.len()
                && phrase.parts.iter().zip(text).all(|(part, word)| part.is_in(word))
        })
    }

    /// For each list, how many of its phrases stand in the text.
    pub fn counts(&self, text: &[String], is_identifier: bool) -> Counts {
        let mut counts = vec![0; self.lists];
        for phrase in self.phrases_in(text, is_identifier) {
            let list = self.phrases.get(phrase).map(|phrase| phrase.list);
            if let Some(count) = list.and_then(|list| counts.get_mut(list)) {
                *count += 1;
            }
        }
        Counts(counts)
    }
}

/// How many phrases of each list stand in a text.
#[derive(Debug, Clone)]
pub struct Counts(Vec<u32>);

impl Counts {
    /// The count of one list.
    pub fn of(&self, list: usize) -> u32 {
        self.0.get(list).copied().unwrap_or(0)
    }

    /// Whether a phrase of the list stands in the text.
    pub fn has(&self, list: usize) -> bool {
        self.of(list) > 0
    }
}

/// Whether one of a few phrases stands in a text.
pub fn says(text: &[String], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        let parts: Vec<Part> = phrase.split(' ').map(Part::of).collect();
        text.windows(parts.len()).any(|run| run.iter().zip(&parts).all(|(word, part)| part.is_in(word)))
    })
}

/// Whether each word of a phrase is one word of a text, so that it can be found.
#[cfg(test)]
pub fn is_findable(phrase: &str) -> bool {
    phrase.split(' ').all(|word| words(word).len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexicon(phrases: &[&str]) -> Lexicon {
        let mut lexicon = Lexicon::default();
        for phrase in phrases {
            lexicon.add(&[(*phrase).to_owned()]);
        }
        lexicon
    }

    #[test]
    fn phrases_are_found_where_they_stand() {
        for (phrase, text, is_identifier, expected) in [
            ("ort", "Ort", false, true),
            ("ort", "Sportart", false, false),
            ("post code*", "Post codes", false, true),
            ("*code", "Postcode", false, true),
            ("*code", "Codes", false, false),
            ("*zipcode*", "myzipcode2", false, true),
            ("card number", "cardnumber", false, true),
            ("card number", "mycardnumberfield", true, true),
            ("card number", "mycardnumberfield", false, false),
            ("card number", "number of card", false, false),
            ("郵便番号*", "郵便番号（必須）", false, true),
            ("名", "名前", false, false),
            ("名", "名", false, true),
        ] {
            let found = lexicon(&[phrase]).counts(&words(text), is_identifier).has(0);
            assert_eq!(found, expected, "{phrase} in {text}");
        }
    }

    #[test]
    fn a_vocabulary_is_read_in_its_order() {
        let read = entries("# note\n[a]\none, two words,\nthree\nunless: four, five\n[b]\nsix\n");
        let told: Vec<String> = read
            .iter()
            .map(|entry| format!("{}: {} / {}", entry.name, entry.phrases.join("+"), entry.unless.join("+")))
            .collect();
        assert_eq!(told, ["a: one+two words+three / four+five", "b: six / "]);
    }
}
