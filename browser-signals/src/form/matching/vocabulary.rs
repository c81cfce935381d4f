//! The words by which pages ask for fields and name their forms. They are kept in `fields.txt` and `forms.txt`.

use std::sync::LazyLock;

use super::asked::Asked;
use super::lexicon::{Counts, Lexicon, entries};

/// A rule: the lists of the phrases that speak for it and against it, and the field. None says that a control takes no field.
#[derive(Debug)]
struct Rule {
    asked: Option<Asked>,
    phrases: usize,
    unless: usize,
}

#[derive(Debug)]
struct Vocabulary {
    lexicon: Lexicon,
    rules: Vec<Rule>,
    confirms: usize,
    present: usize,
    login: usize,
    signup: usize,
    recovery: usize,
    shipping: usize,
    billing: usize,
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut lexicon = Lexicon::default();
    let mut rules = Vec::new();
    for entry in entries(include_str!("fields.txt")) {
        let (phrases, unless) = (lexicon.add(&entry.phrases), lexicon.add(&entry.unless));
        rules.push(Rule { asked: Asked::from_name(&entry.name), phrases, unless });
    }
    let forms = entries(include_str!("forms.txt"));
    let mut list = |name: &str| {
        let entry = forms.iter().find(|entry| entry.name == name);
        lexicon.add(entry.map(|entry| entry.phrases.as_slice()).unwrap_or_default())
    };
    let (confirms, present) = (list("confirms"), list("present"));
    let (login, signup) = (list("login"), list("signup"));
    let (recovery, shipping, billing) = (list("recovery"), list("shipping"), list("billing"));
    Vocabulary { lexicon, rules, confirms, present, login, signup, recovery, shipping, billing }
});

/// What the words of one text say.
#[derive(Debug, Clone)]
pub struct Said(Counts);

impl Said {
    /// Reads words. In an identifier several words may be written as one.
    pub fn of(words: &[String], is_identifier: bool) -> Said {
        Said(VOCABULARY.lexicon.counts(words, is_identifier))
    }

    /// The field that they name. `Some(None)` says: none of a person's fields.
    pub fn field(&self) -> Option<Option<Asked>> {
        let says = |rule: &&Rule| self.0.has(rule.phrases) && !self.0.has(rule.unless);
        VOCABULARY.rules.iter().find(says).map(|rule| rule.asked)
    }

    /// Whether they say that a control repeats another.
    pub fn confirms(&self) -> bool {
        self.0.has(VOCABULARY.confirms)
    }

    /// Returns true if the words name the account's present password.
    pub fn present(&self) -> bool {
        self.0.has(VOCABULARY.present)
    }

    /// How many phrases speak of a login.
    pub fn login(&self) -> u32 {
        self.0.of(VOCABULARY.login)
    }

    /// How many phrases speak of a registration.
    pub fn signup(&self) -> u32 {
        self.0.of(VOCABULARY.signup)
    }

    /// How many phrases speak of a forgotten password.
    pub fn recovery(&self) -> u32 {
        self.0.of(VOCABULARY.recovery)
    }

    /// Whether they speak of the place that goods are sent to.
    pub fn shipping(&self) -> bool {
        self.0.has(VOCABULARY.shipping)
    }

    /// Whether they speak of the place that a bill is sent to.
    pub fn billing(&self) -> bool {
        self.0.has(VOCABULARY.billing)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::is_findable;
    use super::*;

    #[test]
    fn every_phrase_can_be_found_and_every_field_is_known() {
        let fields = entries(include_str!("fields.txt"));
        assert!(fields.len() > 30);
        for entry in fields.iter().chain(&entries(include_str!("forms.txt"))) {
            assert!(!entry.phrases.is_empty(), "{}", entry.name);
            for phrase in entry.phrases.iter().chain(&entry.unless) {
                assert!(is_findable(phrase), "{}: {phrase}", entry.name);
            }
        }
        for entry in fields {
            assert!(entry.name == "none" || Asked::from_name(&entry.name).is_some(), "{}", entry.name);
        }
        for name in ["confirms", "present", "login", "signup", "recovery", "shipping", "billing"] {
            assert!(entries(include_str!("forms.txt")).iter().any(|entry| entry.name == name), "{name}");
        }
    }
}
