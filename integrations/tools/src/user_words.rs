//! The user's own words are read once for a task, into the hosts, paths, names and people that they name.

use std::collections::BTreeSet;

use crate::lexicon::{BEGINNING, EMPTY, FOLLOWING, MESSAGES, NUMBERING, READING, USING, VERBS};
use crate::text::{host, name_words, owned_names, paths, web_addresses, words};

/// The words of a task.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserWords {
    pub prompt: String,
    pub words: Vec<String>,
    pub hosts: BTreeSet<String>,
    pub paths: Vec<String>,
    /// Names with an owner.
    pub names: BTreeSet<String>,
    /// Persons, each with one or two names.
    pub people: BTreeSet<Vec<String>>,
    /// True if what a person wrote is to be followed.
    pub follows: bool,
    /// True if something in a message is to be used.
    pub uses: bool,
}

impl UserWords {
    pub fn read(prompt: &str) -> UserWords {
        let said = words(prompt);
        let has = |any: &[&str]| said.iter().any(|word| any.contains(&word.as_str()));
        let about_messages = has(MESSAGES);
        UserWords {
            hosts: web_addresses(prompt).into_iter().map(host).collect(),
            paths: paths(prompt).into_iter().map(|path| path.trim_end_matches('/').to_owned()).collect(),
            names: owned_names(prompt).into_iter().map(str::to_owned).collect(),
            people: people(prompt),
            follows: about_messages && has(FOLLOWING),
            uses: about_messages && has(USING),
            prompt: prompt.to_owned(),
            words: said,
        }
    }

    /// Returns true if one of these words is the user's.
    pub fn has(&self, any: &[&str]) -> bool {
        self.words.iter().any(|word| any.contains(&word.as_str()))
    }

    /// Returns true if a path is the one that the user names, or below it.
    pub fn names_path(&self, path: &str) -> bool {
        self.paths.iter().any(|named| {
            path.strip_prefix(named.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Returns true if the user numbers a thing: `the file with ID '13'`, `#13`. A bare number may mean anything.
    pub fn numbers(&self, id: &str) -> bool {
        name_words(&self.prompt)
            .windows(2)
            .any(|pair| matches!(pair, [word, number] if NUMBERING.contains(&word.as_str()) && number == id))
            || self.prompt.split(|c: char| c.is_whitespace() || c == ',').any(|piece| {
                piece.strip_prefix('#').is_some_and(|number| number.trim_end_matches(['.', '?', '!']) == id)
            })
    }

    /// The beginning of a name that the user describes by it: `the channel starting with External`.
    pub fn beginning(&self) -> Option<&str> {
        let lower = self.prompt.to_ascii_lowercase();
        let at = BEGINNING.iter().find_map(|words| lower.find(words).map(|at| at + words.len()))?;
        let word = self.prompt.get(at..)?.split_whitespace().next()?;
        let word = word.trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
        (!word.is_empty()).then_some(word)
    }

    /// The bound of a price: `not more than $100`.
    pub fn bound(&self) -> Option<f64> {
        let lower = self.prompt.to_lowercase();
        let starts = ["exceed", "more than", "at most", "under", "less than", "below", "up to"];
        let after =
            starts.iter().filter_map(|start| lower.split_once(start)).map(|(_, after)| after.trim_start());
        after.filter_map(|after| after.strip_prefix(['$', '€', '£'])).find_map(|after| {
            let number: String = after
                .trim_start()
                .chars()
                .take_while(|c| c.is_ascii_digit() || matches!(c, ',' | '.'))
                .collect();
            number.replace(',', "").trim_end_matches('.').parse().ok()
        })
    }

    /// A superlative and its field, `the most stars`; of a price or rating also `the cheapest`.
    pub fn superlative(&self) -> Option<(bool, &str)> {
        let is = |word: &str, any: &[&str]| any.contains(&word);
        if self.has(&["cheapest"]) {
            return Some((false, "price"));
        }
        self.words.windows(2).find_map(|pair| match pair {
            [word, field] if is(word, &["most", "highest", "largest"]) => Some((true, field.as_str())),
            [word, field] if is(word, &["fewest", "least", "lowest", "smallest"]) => {
                Some((false, field.as_str()))
            }
            _ => None,
        })
    }

    /// The bound that a rating has to pass: `a rating above 4.0`.
    pub fn rating_bound(&self) -> Option<f64> {
        let lower = self.prompt.to_lowercase();
        let (_, after) = lower.split_once("rating")?;
        let number = ["above ", "over ", "higher than ", "more than ", "at least "]
            .iter()
            .find_map(|start| after.split_once(start).map(|(_, number)| number))?;
        let number: String = number.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        number.trim_end_matches('.').parse().ok()
    }

    /// Members that the user means together: `all collaborators in owner/name`.
    pub fn members(&self) -> Option<(&str, &str)> {
        let at = self.words.iter().position(|word| word == "all")?;
        let field =
            self.words.iter().skip(at + 1).find(|word| !matches!(word.as_str(), "the" | "its" | "of"))?;
        Some((field, self.names.iter().next()?))
    }
}

/// Words with a capital that begin no sentence, alone or two together, and names before `'s`.
fn people(prompt: &str) -> BTreeSet<Vec<String>> {
    let common = |word: &str| {
        let word = word.to_lowercase();
        EMPTY.contains(&word.as_str())
            || READING.contains(&word.as_str())
            || VERBS.iter().any(|(verb, _)| *verb == word)
    };
    let tokens: Vec<&str> = prompt.split_whitespace().collect();
    let mut people = BTreeSet::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let begins = at == 0 || tokens.get(at - 1).is_some_and(|before| before.ends_with(['.', '?', '!']));
        let owns = token.ends_with("'s") || token.ends_with("\u{2019}s");
        let Some(first) = name(token) else {
            at += 1;
            continue;
        };
        let ends = token.ends_with([',', '.', '?', '!', ';', ':']) || owns;
        let second =
            tokens.get(at + 1).filter(|_| !ends).and_then(|next| name(next)).filter(|next| !common(next));
        match (common(&first), second) {
            (true, Some(second)) => {
                people.insert(vec![second]);
                at += 2;
            }
            (false, Some(second)) => {
                people.insert(vec![first, second]);
                at += 2;
            }
            (false, None) => {
                if !begins || owns || tokens.get(at + 1).is_some_and(|next| is_verb(next)) {
                    people.insert(vec![first]);
                }
                at += 1;
            }
            (true, None) => at += 1,
        }
    }
    people
}

/// Returns true if a word follows a name as what the person does: `Alice asked`, `John just sent`.
fn is_verb(word: &str) -> bool {
    let word = word.to_lowercase();
    ["just", "has", "have", "asked", "ask", "told", "seems", "sent", "shared", "wants", "needs", "said"]
        .contains(&word.as_str())
        || word.ends_with("ed")
}

/// A token that is a name: letters, the first a capital, the others not.
fn name(token: &str) -> Option<String> {
    let token = token.trim_matches(|c: char| !c.is_alphanumeric());
    let token = token.strip_suffix("'s").or_else(|| token.strip_suffix("\u{2019}s")).unwrap_or(token);
    let mut letters = token.chars();
    let is_name =
        letters.next().is_some_and(char::is_uppercase) && token.len() > 1 && letters.all(char::is_lowercase);
    is_name.then(|| token.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(prompt: &str) -> Vec<String> {
        UserWords::read(prompt).people.into_iter().map(|names| names.join(" ")).collect()
    }

    #[test]
    fn persons_are_words_with_a_capital_within_a_sentence() {
        assert_eq!(
            names("Please transfer it to Alexander Chen. You can ask Bob."),
            ["alexander chen", "bob"]
        );
        assert_eq!(names("Alice asked me to invite her. Check Alice's account."), ["alice"]);
        assert_eq!(names("Create a new repository. Please buy it."), Vec::<String>::new());
    }

    #[test]
    fn bounds_superlatives_and_members_are_read() {
        let words = UserWords::read("Buy shoes, but do not spend more than $1,500.");
        assert_eq!(words.bound(), Some(1500.0));
        assert_eq!(UserWords::read("the one with the most stars").superlative(), Some((true, "stars")));
        let all = UserWords::read("invite all collaborators in me/old as the collaborators");
        assert_eq!(all.members(), Some(("collaborators", "me/old")));
    }
}
