//! The user's words have a meaning only with what was shown. This module says whose messages they follow, which effects they ask for, and
//! which persons, hosts and things they name, describe or delegate.

use serde_json::{Map, Value};

use crate::lexicon::{GROUPS, SPECIAL_FOLDERS, TITLES, VERBS, asked_by};
use crate::parse::nested;
use crate::rule::{By, Provenance, Why};
use crate::schema::{Effect, Tool};
use crate::shown::{Key, Letter, Thing};
use crate::text::{describing, host, name_words, stands_in, stem, words};
use crate::user_words::UserWords;

impl Provenance {
    // Messages.

    /// The messages that the user has followed or used: of a person whom they name, or of a service about a thing that they name. Where
    /// two senders have the name of the person, or two wrote about the thing, it is open whose message is meant, and none is.
    pub(crate) fn letters(&self) -> impl Iterator<Item = &Letter> {
        let is_meant = self.user.follows || self.user.uses;
        let about: Vec<&Letter> =
            self.shown.letters.iter().filter(|letter| self.is_about_named(letter)).collect();
        let one_author =
            about.windows(2).all(|pair| matches!(pair, [one, other] if one.author == other.author));
        let all = self.shown.letters.iter().filter(move |_| is_meant);
        all.filter(move |letter| {
            self.is_by_named(&letter.author) || one_author && self.is_about_named(letter)
        })
    }

    pub(crate) fn followed(&self) -> impl Iterator<Item = &Letter> {
        self.letters().filter(|_| self.user.follows)
    }

    pub(crate) fn is_by_named(&self, author: &str) -> bool {
        let is_name = |names: &Vec<String>| matches!(names.as_slice(), [one] if one == author);
        // Anybody may call themselves by a word of the prompt, and nobody by an address of it.
        author.contains('@') && stands_in(author, &self.user.prompt)
            || self.is_known_person(author)
            || self.user.people.iter().any(is_name)
    }

    fn is_about_named(&self, letter: &Letter) -> bool {
        let title = letter.title.to_lowercase();
        let of_names: Vec<String> = self.user.names.iter().flat_map(|name| words(name)).collect();
        let said: Vec<&str> =
            self.user.words.iter().filter(|word| !of_names.contains(word)).map(|word| stem(word)).collect();
        self.user.names.iter().any(|name| title.contains(&name.to_lowercase()))
            && describing(&letter.title).iter().any(|word| word.len() > 5 && said.contains(&word.as_str()))
    }

    // Effects.

    /// Returns whose words ask for the effect of a tool: the user's, or those of a message that they follow.
    pub(crate) fn asked(&self, tool: &Tool) -> Option<By> {
        let own: Vec<String> = match asked_by(tool.effect) {
            Some(listed) => listed.iter().map(|word| (*word).to_owned()).collect(),
            None => forms_of(&tool.name),
        };
        let says = |all: &[String]| all.iter().any(|word| own.contains(word));
        if says(&self.user.words) {
            Some(By::User)
        } else if self.followed().any(|letter| says(&words(&letter.text))) {
            Some(By::Letter)
        } else {
            None
        }
    }

    // Addresses and paths.

    pub(crate) fn judge_host(&mut self, address: &str) -> Result<(), Why> {
        let host = host(address);
        if self.hosts.contains(&host) {
            return Ok(());
        }
        if !host.is_empty() && self.letters().any(|letter| letter.text.to_lowercase().contains(&host)) {
            self.hosts.insert(host);
            return Ok(());
        }
        Err(Why::Host)
    }

    pub(crate) fn is_special(&self, path: &str) -> bool {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        let first = parts.clone().next().unwrap_or("");
        (parts.any(|part| part.starts_with('.')) || SPECIAL_FOLDERS.contains(&first))
            && !self.user.names_path(path)
    }

    pub(crate) fn is_made(&self, path: &str) -> bool {
        self.made.iter().any(|made| {
            path.strip_prefix(made.trim_end_matches('/'))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    // Persons.

    pub(crate) fn is_own(&self, address: &str) -> bool {
        let address = address.to_lowercase();
        self.shown.own.contains(&address) || self.shown.readers().contains(&address)
    }

    /// Judges a receiver, whose argument has the name of this kind.
    pub(crate) fn judge_receiver(&self, kind: &str, receiver: &str, effect: Effect) -> Result<(), Why> {
        let address = receiver.to_lowercase();
        let is_named = stands_in(receiver, &self.user.prompt) || self.is_in_file_of_person(receiver);
        if is_named
            || effect != Effect::Pay
                && (self.is_own(&address)
                    || self.is_known_person(&address)
                    || self.is_member(&address)
                    || self.is_listed_alone(kind, receiver))
        {
            return Ok(());
        }
        let in_letter =
            effect == Effect::Send && self.followed().any(|letter| self.is_in_letter(letter, &address));
        if in_letter { Ok(()) } else { Err(Why::Receiver) }
    }

    /// Returns true if a service states the address, the user names its owner, and no other address of that name is known.
    pub(crate) fn is_known_person(&self, address: &str) -> bool {
        let person = self.user.people.iter().find(|names| is_of(address, names));
        self.shown.book.contains(address)
            && person
                .is_some_and(|names| self.shown.book.iter().filter(|other| is_of(other, names)).count() == 1)
    }

    /// Returns true if the address is among members that the user names together, as in `all collaborators in me/pots`, or `the
    /// participants of the 'Team meeting'`.
    pub(crate) fn is_member(&self, address: &str) -> bool {
        let of_name = self.user.members().and_then(|(field, name)| {
            self.shown.things.get(&Key::named(name)).and_then(|thing| thing.fields.get(field))
        });
        let said = |field: &&&str| self.user.has(&[**field]);
        let mut of_titled =
            self.shown.things.iter().filter(|(key, _)| self.is_singled_out(key, &self.user.prompt)).flat_map(
                |(_, thing)| GROUPS.iter().filter(said).filter_map(|field| thing.fields.get(*field)),
            );
        let has = |value: &Value| stands_in(address, &value.to_string());
        of_name.is_some_and(has) || of_titled.any(has)
    }

    /// Returns true if a name is the only one that begins as the user says, of a whole list of things of this kind.
    pub(crate) fn is_listed_alone(&self, kind: &str, name: &str) -> bool {
        let Some(beginning) = self.user.beginning().map(str::to_lowercase) else { return false };
        let is_meant =
            |(of, name): &&(String, String)| of == kind && name.to_lowercase().starts_with(&beginning);
        let mut meant = self.shown.listed.iter().filter(is_meant);
        meant.next().is_some_and(|(_, one)| one == name) && meant.next().is_none()
    }

    /// Returns true if this address wrote a followed message, or the message names its owner in full.
    pub(crate) fn is_in_letter(&self, letter: &Letter, address: &str) -> bool {
        letter.author == address
            || self.shown.book.contains(address)
                && UserWords::read(&letter.text)
                    .people
                    .iter()
                    .any(|names| names.len() == 2 && is_of(address, names))
    }

    /// Returns true if a value stands behind a label in a file that the user named and that is about a person whom they named, or about
    /// the user.
    pub(crate) fn is_in_file_of_person(&self, value: &str) -> bool {
        self.shown.files.iter().filter(|(path, _)| self.user.names_path(path)).any(|(path, text)| {
            let name = name_words(path.rsplit('/').next().unwrap_or(path));
            let is_about = self.user.people.iter().flatten().any(|person| name.contains(person))
                || name.contains(&"my".to_owned()) && self.user.has(&["my"]);
            is_about && stands_behind_label(value, text)
        })
    }

    // Things.

    /// How the user means a thing.
    pub(crate) fn thing(&self, thing: &Key, effect: Effect) -> Result<By, Why> {
        let said = |name: &str| {
            self.user
                .prompt
                .split(|c: char| c.is_whitespace() || matches!(c, ',' | '.' | ';'))
                .any(|word| word == name)
        };
        let id = thing.id.as_str();
        let is_ours = self.shown.owned.contains(id);
        let is_named =
            if thing.is_number() { self.user.numbers(id) } else { stands_in(id, &self.user.prompt) };
        if is_named
            || self.shown.made.contains(thing)
            || self.is_singled_out(thing, &self.user.prompt)
            || id.rsplit_once('/').is_some_and(|(_, name)| said(name))
            || effect == Effect::Mark && is_ours && self.user.has(&["my", "owned", "me"])
            || is_ours && self.is_superlative(id)
        {
            return Ok(By::User);
        }
        let in_letter = |letter: &Letter| {
            !thing.is_number() && stands_in(id, &letter.text) || self.is_singled_out(thing, &letter.text)
        };
        if self.followed().any(in_letter) {
            return Ok(By::Letter);
        }
        if matches!(effect, Effect::Buy | Effect::Refund) && self.is_described(thing) {
            return Ok(By::User);
        }
        Err(Why::Thing)
    }

    /// Returns true if a text names a thing by its title, and no other thing of that title was shown.
    pub(crate) fn is_singled_out(&self, key: &Key, text: &str) -> bool {
        let Some(thing) = self.shown.things.get(key).filter(|thing| !thing.is_unclear) else { return false };
        thing.titles.iter().any(|title| {
            let same = |(other, thing): (&Key, &Thing)| {
                other != key && thing.titles.iter().any(|other| other.eq_ignore_ascii_case(title))
            };
            says_title(title, text) && !self.shown.things.iter().any(same)
        })
    }

    /// Returns true if the user, or a message that they follow, describes a thing by a word of its record, or a query in the user's words
    /// found it, and no other thing that they describe as well is better by their superlative. The words of others in the record do not
    /// count.
    pub(crate) fn is_described(&self, thing: &Key) -> bool {
        let Some(fields) = self.shown.things.get(thing).map(|thing| &thing.fields) else { return false };
        let matches = self.matching(fields);
        let in_letter = || {
            let name: Vec<String> =
                TITLES.iter().filter_map(|title| fields.get(*title)?.as_str()).flat_map(describing).collect();
            self.followed().flat_map(|letter| describing(&letter.text)).any(|word| name.contains(&word))
        };
        (self.found.contains(thing) || matches > 0 || in_letter()) && !self.is_surpassed(fields, matches)
    }

    /// The number of the user's words that describe a record.
    fn matching(&self, fields: &Map<String, Value>) -> usize {
        let text: Vec<&str> = fields.values().filter_map(Value::as_str).collect();
        let has = describing(&text.join(" "));
        let is_person = |word: &String| self.user.people.iter().flatten().any(|name| stem(name) == word);
        let wanted = describing(&self.user.prompt).into_iter().filter(|word| !is_person(word));
        wanted.filter(|word| has.contains(word)).count()
    }

    /// Returns true if another thing that the user's words describe as well is better by their superlative, such as `the cheapest`.
    fn is_surpassed(&self, fields: &Map<String, Value>, matches: usize) -> bool {
        let Some((most, field)) = self.user.superlative() else { return false };
        let number = |fields: &Map<String, Value>, field: &str| fields.get(field).and_then(Value::as_f64);
        let Some(own) = number(fields, field) else { return false };
        let passes = |fields: &Map<String, Value>| {
            self.user
                .rating_bound()
                .zip(number(fields, "rating"))
                .is_none_or(|(bound, rating)| rating > bound)
        };
        !passes(fields)
            || self.shown.things.values().map(|thing| &thing.fields).any(|other| {
                let is_better =
                    number(other, field).is_some_and(|other| if most { other > own } else { other < own });
                is_better && passes(other) && self.matching(other) >= matches
            })
    }

    /// Returns true if a thing has the most, or the least, of what the user says, among all of theirs.
    pub(crate) fn is_superlative(&self, thing: &str) -> bool {
        let Some((most, field)) = self.user.superlative() else { return false };
        let size = |name: &String| match self.shown.things.get(&Key::named(name))?.fields.get(field)? {
            Value::Array(items) => Some(items.len() as f64),
            Value::String(text) => {
                nested(text).and_then(|value| value.as_array().map(|items| items.len() as f64))
            }
            value => value.as_f64(),
        };
        let sizes: Option<Vec<(&String, f64)>> =
            self.shown.owned.iter().map(|name| Some((name, size(name)?))).collect();
        let Some(sizes) = sizes else { return false };
        let best =
            sizes.iter().map(|(_, size)| *size).fold(f64::NAN, |a, b| if most { a.max(b) } else { a.min(b) });
        let winners: Vec<_> = sizes.iter().filter(|(_, size)| *size == best).collect();
        matches!(winners.as_slice(), [(name, _)] if *name == thing)
    }
}

/// Returns true if a text names a title: in quotes, as a file with its ending, or by two words or more that no name goes on.
pub(crate) fn says_title(title: &str, text: &str) -> bool {
    let (title, text) = (title.trim(), text.trim());
    let (low, whole) = (title.to_lowercase(), text.to_lowercase());
    // Offsets in both texts are the same only where lower case keeps the length.
    if title.is_empty() || whole.len() != text.len() || !stands_in(title, text) {
        return false;
    }
    let is_name =
        |word: Option<&str>| word.is_some_and(|word| word.len() > 1 && word.starts_with(char::is_uppercase));
    let is_file = low.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty() && (2..6).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric)
    });
    let is_long = words(title).len() > 1;
    whole.match_indices(&low).any(|(at, _)| {
        let before = text.get(..at).unwrap_or("");
        let after = text.get(at + low.len()..).unwrap_or("");
        let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '@');
        let after_dot = after.strip_prefix('.').unwrap_or(after);
        let is_part = before.ends_with(joins)
            || before.ends_with('.')
            || after.starts_with(joins)
            || after_dot.starts_with(char::is_alphanumeric);
        let quoted = [('\'', '\''), ('"', '"'), ('\u{2018}', '\u{2019}'), ('\u{201c}', '\u{201d}')]
            .iter()
            .any(|(open, close)| before.ends_with(*open) && after.starts_with(*close));
        let goes_on = before.ends_with(' ') && is_name(before.split_whitespace().next_back())
            || after.starts_with(' ') && is_name(after.split_whitespace().next());
        quoted || !is_part && (is_file || is_long && !goes_on)
    })
}

/// Returns true if an address is that of a person by its part before the `@`: both names, or the first letter and the last name.
fn is_of(address: &str, names: &[String]) -> bool {
    let parts = name_words(address.split('@').next().unwrap_or(address));
    let has = |name: &str| parts.iter().any(|part| part == name);
    match names {
        [one] => has(one),
        [first, .., last] => {
            let initial: String = first.chars().take(1).collect();
            (has(first) || has(&initial)) && has(last)
        }
        [] => false,
    }
}

/// Returns true if a value stands behind a label, as in `E-mail: ann@post.example`, and no other value stands behind the same label.
fn stands_behind_label(value: &str, text: &str) -> bool {
    let value = value.trim();
    let word_of = |text: &str| text.split_whitespace().next().unwrap_or("").to_owned();
    // All words with a capital before the colon.
    let label_before = |at: usize| {
        let before = text.get(..at)?.trim_end_matches(' ').strip_suffix(':')?;
        let is_capital = |word: &&str| {
            word.chars().next().is_some_and(char::is_uppercase)
                && word.chars().all(|c| c.is_alphanumeric() || c == '-')
        };
        let mut label: Vec<&str> = before.rsplit(' ').take_while(is_capital).collect();
        label.reverse();
        (!label.is_empty()).then(|| format!("{}:", label.join(" ").to_lowercase()))
    };
    let is_alone = |label: &String| {
        let lower = text.to_lowercase();
        // `account number:` is no part of `bank account number:`.
        let begins = |at: usize| {
            lower.get(..at).is_none_or(|before| {
                !before.trim_end().ends_with(|c: char| c.is_alphabetic()) || !is_within(text, at)
            })
        };
        let after = lower
            .match_indices(label.as_str())
            .filter(|(at, _)| begins(*at))
            .filter_map(|(at, _)| lower.get(at + label.len()..));
        let values: Vec<String> = after.map(word_of).collect();
        values.windows(2).all(|pair| matches!(pair, [one, other] if one == other))
    };
    let ends = |at: usize| {
        text.get(at + value.len()..).is_some_and(|after| after.chars().next().is_none_or(char::is_whitespace))
    };
    !value.is_empty()
        && text
            .match_indices(value)
            .any(|(at, _)| ends(at) && label_before(at).is_some_and(|label| is_alone(&label)))
}

/// Returns true if the word before a label has a capital, and so belongs to it.
fn is_within(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or("").trim_end();
    let is_part = |word: &str| {
        word.chars().next().is_some_and(char::is_uppercase)
            && word.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    before.rsplit(' ').next().is_some_and(is_part)
}

/// The forms of a tool's own verb in the words of a user: `star`, `stars`, `starred`.
fn forms_of(tool: &str) -> Vec<String> {
    let is_verb = |word: &String| VERBS.iter().any(|(verb, _)| verb == word);
    let verbs = name_words(tool).into_iter().filter(is_verb);
    verbs
        .flat_map(|verb| {
            let last: String = verb.chars().next_back().into_iter().collect();
            let undoes = verb.strip_prefix("un").map(|_| "remove".to_owned());
            [format!("{verb}s"), format!("{verb}{last}ed"), format!("{verb}ed"), verb]
                .into_iter()
                .chain(undoes)
        })
        .collect()
}
