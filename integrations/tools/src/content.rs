//! Words of others in what a call writes.
//!
//! A text that an agent writes may hold what a stranger wrote. Where others will read it, the user sees whose words these are, unless they
//! named their source: the person, the file, the page, or what such words are called, as in `mail Ann the reviews`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::lexicon::BODIES;
use crate::meaning::says_title;
use crate::rule::{Provenance, plain};
use crate::schema::{Role, Tool};
use crate::shown::{Letter, Written};
use crate::text::{name_words, stands_in, stem, words};

/// The number of words in a row that two texts have to share before one counts as taken from the other.
const RUN: usize = 5;

impl Provenance {
    /// Returns true if what a call writes holds words of somebody whom the user does not name.
    pub(crate) fn carries_words_of_others(&self, tool: &Tool, arguments: &Map<String, Value>) -> bool {
        let is_text = |name: &String| matches!(tool.roles.get(name), Some(Role::Content | Role::Value));
        let written: Vec<Vec<String>> = arguments
            .iter()
            .filter(|(name, _)| is_text(name))
            .flat_map(|(_, value)| plain(value))
            .map(|text| words(&text))
            .collect();
        let mut runs: BTreeSet<&[String]> = written.iter().flat_map(|said| said.windows(RUN)).collect();
        self.user.words.windows(RUN).for_each(|own| {
            runs.remove(own);
        });
        let is_taken = |text: &str| words(text).windows(RUN).any(|run| runs.contains(run));
        !runs.is_empty() && self.unnamed_texts().any(is_taken)
    }

    /// The texts whose source the user does not name.
    fn unnamed_texts(&self) -> impl Iterator<Item = &str> {
        let letters = self.shown.letters.iter().filter(|letter| !self.is_named_letter(letter));
        let files = self.shown.files.iter().filter(|(path, _)| !self.is_named_file(path));
        let pages = self.shown.pages.iter().filter(|(host, _)| !self.user.hosts.contains(host));
        let others = self.shown.by_others.iter().filter(|written| !self.is_named_field(written));
        letters
            .map(|letter| letter.text.as_str())
            .chain(files.map(|(_, text)| text.as_str()))
            .chain(pages.map(|(_, text)| text.as_str()))
            .chain(others.map(|written| written.text.as_str()))
    }

    /// Returns true if the user says what such words are called, or the words are those of a thing that they name. The reviews of a named
    /// thing are those of others.
    fn is_named_field(&self, written: &Written) -> bool {
        let is_called = self.user.words.iter().any(|word| stem(word) == stem(&written.field));
        let is_named = || written.titles.iter().any(|title| says_title(title, &self.user.prompt));
        is_called || BODIES.contains(&written.field.as_str()) && is_named()
    }

    fn is_named_letter(&self, letter: &Letter) -> bool {
        self.is_own(&letter.author)
            || self.is_by_named(&letter.author)
            || self.letters().any(|followed| followed == letter)
    }

    fn is_named_file(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem_words = name_words(name.rsplit_once('.').map_or(name, |(stem, _)| stem));
        self.user.names_path(path)
            || stands_in(name, &self.user.prompt)
            || !stem_words.is_empty() && stem_words.iter().all(|word| self.user.words.contains(word))
    }
}
