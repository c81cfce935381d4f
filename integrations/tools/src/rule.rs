//! The user's words cover a call if they ask for its effect, and name, describe or delegate what it acts on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::parse::result;
use crate::schema::{Effect, Role, Tool};
use crate::shown::{Key, Shown, keys, kind_of};
use crate::text::{describing, host, name_words, stands_in, stem};
use crate::user_words::UserWords;

/// Why the user is asked about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// The tool is not known.
    UnknownTool,
    /// No word of the user's asks for this effect.
    Effect,
    /// The host of an address is not named.
    Host,
    /// A receiver is not named, or two have the name.
    Receiver,
    /// The thing is not named or described.
    Thing,
    /// It is not what was bought before, above the bound, or one more than was asked for.
    Purchase,
    /// The value of a password or key is not the user's.
    Credential,
    /// The account of a login is not the user's, or not one that they point at.
    Login,
    /// A value that goes to a page is not the user's.
    Value,
    /// The path is one that decides who may enter the machine.
    Path,
    /// A message asks to let somebody in, or to give something away.
    Delegated,
    /// Words of somebody whom the user does not name would reach others.
    Content,
}

/// The answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covered {
    /// The user's words cover it.
    Yes,
    /// They do not cover it.
    No(Why),
}

/// The words of a task, and what its calls have shown so far.
pub struct Provenance {
    pub(crate) user: UserWords,
    pub(crate) shown: Shown,
    pub(crate) tools: BTreeMap<String, Tool>,
    /// Paths that the task's own calls made.
    pub(crate) made: BTreeSet<String>,
    /// Numbers of things that were put into a cart.
    pub(crate) ordered: BTreeMap<Key, u64>,
    pub(crate) bought: BTreeSet<Key>,
    /// Hosts that the user's words or a followed message cover.
    pub(crate) hosts: BTreeSet<String>,
    /// Things that a query in the user's own words found.
    pub(crate) found: BTreeSet<Key>,
}

/// How a thing or an effect is the user's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    User,
    Letter,
}

impl Provenance {
    /// Begins a task.
    pub fn new(prompt: &str, tools: impl IntoIterator<Item = Tool>) -> Provenance {
        let user = UserWords::read(prompt);
        let hosts = user.hosts.clone();
        Provenance {
            user,
            shown: Shown::default(),
            tools: tools.into_iter().map(|tool| (tool.name.clone(), tool)).collect(),
            made: BTreeSet::new(),
            ordered: BTreeMap::new(),
            bought: BTreeSet::new(),
            hosts,
            found: BTreeSet::new(),
        }
    }

    /// Takes in the result of a call that was made.
    pub fn note(&mut self, name: &str, arguments: &Map<String, Value>, text: &str) {
        let Some(tool) = self.tools.get(name).cloned() else { return };
        let of = |role: Role| values(&tool, arguments, role);
        match tool.effect {
            Effect::Visit => {
                self.shown
                    .pages
                    .extend(of(Role::Address).iter().map(|address| (host(address), text.to_owned())));
            }
            Effect::Read => match of(Role::Path).first() {
                // The text of a file is its author's, whatever it looks like.
                Some(path) => {
                    self.shown.files.insert(path.clone(), text.to_owned());
                }
                None => self.note_records(&tool, &result(text), arguments),
            },
            Effect::Local => {
                self.made.extend(of(Role::Path));
                let number = of(Role::Amount).first().and_then(|number| number.parse().ok()).unwrap_or(1);
                self.ordered.extend(things(&tool, arguments).into_iter().map(|thing| (thing, number)));
            }
            Effect::Add => self.shown.note_made(&result(text), &kind_of(&tool.name)),
            Effect::Buy => self.bought.extend(things(&tool, arguments)),
            _ => {}
        }
    }

    fn note_records(&mut self, tool: &Tool, value: &Value, arguments: &Map<String, Value>) {
        if value.is_array() || value.is_object() {
            let is_chosen = arguments.values().any(|value| !is_empty(value));
            self.shown.note(value, &kind_of(&tool.name));
            if !is_chosen {
                self.shown.note_list(value, &kind_of(&tool.name));
            }
            let own = self.shown.readers();
            self.shown.note_account(value, is_chosen, &own);
            self.note_found(&values(tool, arguments, Role::Content), &kind_of(&tool.name), value);
        }
    }

    /// Notes the things that a query in the user's own words found.
    fn note_found(&mut self, query: &[String], kind: &str, value: &Value) {
        let asked: Vec<String> = query.iter().flat_map(|text| describing(text)).collect();
        let own = describing(&self.user.prompt);
        if !asked.is_empty() && asked.iter().all(|word| own.contains(word)) {
            gather_keys(value, kind, &mut self.found);
        }
    }

    /// Decides whether the user's words cover a call.
    pub fn covers(&mut self, name: &str, arguments: &Map<String, Value>) -> Covered {
        let Some(tool) = self.tools.get(name).cloned() else { return Covered::No(Why::UnknownTool) };
        match self.judge(&tool, arguments) {
            Ok(()) if tool.effect.reaches_others() && self.carries_words_of_others(&tool, arguments) => {
                Covered::No(Why::Content)
            }
            Ok(()) => Covered::Yes,
            Err(why) => Covered::No(why),
        }
    }

    fn judge(&mut self, tool: &Tool, arguments: &Map<String, Value>) -> Result<(), Why> {
        let of = |role: Role| values(tool, arguments, role);
        if matches!(tool.effect, Effect::Read | Effect::Confirm) {
            return Ok(());
        }
        of(Role::Address).iter().try_for_each(|address| self.judge_host(address))?;
        let paths = of(Role::Path);
        if paths.iter().any(|path| self.is_special(path)) {
            return Err(Why::Path);
        }
        match tool.effect {
            Effect::Visit | Effect::Local => return Ok(()),
            Effect::Submit => {
                let is_own = |value: &String| stands_in(value, &self.user.prompt) || self.is_own(value);
                return if of(Role::Value).iter().all(is_own) { Ok(()) } else { Err(Why::Value) };
            }
            Effect::Login => return self.judge_login(arguments),
            Effect::Credential => return self.judge_credential(tool, &of(Role::Credential)),
            Effect::Unlisted => return Err(Why::Effect),
            _ => {}
        }
        let by = self.asked(tool);
        if tool.effect == Effect::Destroy && !paths.is_empty() {
            let may =
                |path: &String| self.is_made(path) || by == Some(By::User) && self.user.names_path(path);
            return if paths.iter().all(may) { Ok(()) } else { Err(Why::Thing) };
        }
        let by = by.ok_or(Why::Effect)?;
        let things = things(tool, arguments);
        if tool.effect == Effect::Buy {
            return self.judge_purchase(&things);
        }
        let lets_in = matches!(
            tool.effect,
            Effect::Give | Effect::Invite | Effect::Pay | Effect::Destroy | Effect::Refund
        );
        if lets_in && by == By::Letter {
            return Err(Why::Delegated);
        }
        for thing in &things {
            if self.thing(thing, tool.effect)? == By::Letter && lets_in {
                return Err(Why::Delegated);
            }
        }
        for receiver in named(tool, arguments, Role::Receiver) {
            self.judge_receiver(&receiver.kind, &receiver.value, tool.effect)?;
        }
        let is_bound = !things.is_empty();
        match tool.effect {
            Effect::Destroy if !of(Role::Credential).is_empty() => {
                let names = self.user.has(&["key", "keys", "token", "password"]);
                if by == By::User && names { Ok(()) } else { Err(Why::Credential) }
            }
            Effect::Destroy if !is_bound && by != By::User => Err(Why::Thing),
            Effect::Change if !is_bound => {
                let is_own =
                    |value: &Value| plain(value).iter().all(|text| stands_in(text, &self.user.prompt));
                if arguments.values().filter(|value| !is_empty(value)).all(is_own) {
                    Ok(())
                } else {
                    Err(Why::Value)
                }
            }
            _ => Ok(()),
        }
    }
}

/// The values of the arguments with a role, as texts.
fn values(tool: &Tool, arguments: &Map<String, Value>, role: Role) -> Vec<String> {
    let own = arguments.iter().filter(|(name, _)| tool.roles.get(*name) == Some(&role));
    own.flat_map(|(_, value)| plain(value)).collect()
}

/// A value of an argument.
struct Named {
    /// The kind of thing that the argument's name says: `event` for `event_id`, and for a plain `id` the kind of the tool.
    kind: String,
    value: String,
}

/// The values of the arguments with a role, with the kinds that the names of the arguments say.
fn named(tool: &Tool, arguments: &Map<String, Value>, role: Role) -> Vec<Named> {
    let own = arguments.iter().filter(|(name, _)| tool.roles.get(*name) == Some(&role));
    own.flat_map(|(name, value)| {
        let words = name_words(name);
        let noun = words.iter().rfind(|word| !matches!(word.as_str(), "id" | "ids" | "name" | "full"));
        let kind = noun.map_or_else(|| kind_of(&tool.name), |noun| stem(noun).to_owned());
        plain(value).into_iter().map(|value| Named { kind: kind.clone(), value }).collect::<Vec<_>>()
    })
    .collect()
}

/// The things that a call acts on.
fn things(tool: &Tool, arguments: &Map<String, Value>) -> Vec<Key> {
    named(tool, arguments, Role::Thing).iter().map(|named| Key::new(&named.kind, &named.value)).collect()
}

/// The texts of a value.
pub(crate) fn plain(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(plain).collect(),
        Value::Object(fields) => fields.values().flat_map(plain).collect(),
        other => vec![other.to_string()],
    }
}

fn is_empty(value: &Value) -> bool {
    plain(value).is_empty()
}

fn gather_keys(value: &Value, kind: &str, found: &mut BTreeSet<Key>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather_keys(item, kind, found)),
        Value::Object(fields) => {
            let low = fields.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect();
            found.extend(keys(&low, kind));
            fields.values().for_each(|value| gather_keys(value, kind, found));
        }
        _ => {}
    }
}
