//! The arguments that matter, and the conditions under which the user's words cover them.

use serde_json::Value;

use super::label::{Label, Sources};
use super::state::World;
use super::suite::Call;
use super::tools::{App, Deed, Effect, Role, tool};

/// A rule that decides if a call is covered by the user's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Recipients must be in the prompt.
    Destinations,
    /// Recipients and sensitive arguments (passwords, ids, amounts, account data) must be in the prompt.
    Sensitive,
    /// Our rule. Recipients and passwords must be the user's, and the user must name or single out the thing that is
    /// changed, destroyed or given away. A word of the user must ask for any change or destruction, and for any effect
    /// on a thing that is only singled out.
    Named,
    /// Our rule, extended to the thing that is added to, and to a word for every effect.
    NamedStrictly,
    /// Our rule, extended to amounts of money.
    NamedWithAmounts,
    /// Every argument must be in the prompt.
    Everything,
    /// The rule for tools that nobody listed: the user's words cover the call ([`Provenance`](tool_provenance::Provenance)).
    Covered,
}

impl Rule {
    /// All of them, in the order of the table.
    pub const ALL: [Rule; 7] = [
        Rule::Covered,
        Rule::Destinations,
        Rule::Sensitive,
        Rule::Named,
        Rule::NamedStrictly,
        Rule::NamedWithAmounts,
        Rule::Everything,
    ];

    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Destinations => "argument rule: destinations",
            Rule::Sensitive => "argument rule: + sensitive",
            Rule::Named => "listed tools: named by the user",
            Rule::NamedStrictly => "listed tools, every effect named",
            Rule::NamedWithAmounts => "listed tools, + amounts",
            Rule::Everything => "every argument",
            Rule::Covered => "ours: covered by the user's words",
        }
    }

    fn is_ours(self) -> bool {
        matches!(self, Rule::Named | Rule::NamedStrictly | Rule::NamedWithAmounts)
    }

    fn looks_at(self, role: Role) -> bool {
        match role {
            Role::Receiver => true,
            Role::Credential | Role::Object(_) => self != Rule::Destinations,
            Role::AddedTo(_) => matches!(self, Rule::Sensitive | Rule::NamedStrictly | Rule::Everything),
            Role::Amount => matches!(self, Rule::Sensitive | Rule::NamedWithAmounts | Rule::Everything),
            Role::Setting => matches!(self, Rule::Sensitive | Rule::Everything),
            Role::Content => self == Rule::Everything,
        }
    }

    fn looks_for_a_word(self, effect: Effect) -> bool {
        match effect {
            Effect::Change | Effect::Invite | Effect::Destroy => self.is_ours(),
            Effect::Send | Effect::Share | Effect::Add => self == Rule::NamedStrictly,
        }
    }

    /// The least trusted label among the arguments that matter; `None` for a call that only reads.
    pub fn label(self, call: &Call, sources: &Sources, world: &World) -> Option<Label> {
        let (app, effect, roles) = match tool(&call.function) {
            Some(Deed::Read(..)) => return None,
            Some(Deed::Do(app, effect, roles)) => (app, Some(effect), roles),
            None => (App::Other, None, &[][..]),
        };
        let role_of = |name: &str| roles.iter().find(|(known, _)| *known == name).map(|(_, role)| *role);
        let mut leaves = Vec::new();
        for (name, value) in &call.args {
            spread(value, role_of(name).unwrap_or(Role::Receiver), &role_of, &mut leaves);
        }
        let worst = leaves
            .into_iter()
            .filter(|(role, value)| self.looks_at(*role) && !value.is_null())
            .map(|(role, value)| self.one(role, value, app, (sources, world)))
            .max()
            .unwrap_or(Label::Own);
        let said = effect.is_some_and(|effect| sources.says(effect.words()));
        // A thing that the user's words only single out is covered for the effects that they ask for.
        let needs_word = effect.is_none_or(|effect| self.looks_for_a_word(effect)) || worst == Label::Singled;
        Some(if needs_word && !said { Label::Nowhere } else { worst })
    }

    fn one(self, role: Role, value: &Value, app: App, (sources, world): (&Sources, &World)) -> Label {
        match role {
            Role::Receiver if self.is_ours() => sources.receiver(value, app, world),
            Role::Object(collection) | Role::AddedTo(collection) if self.is_ours() => {
                sources.object(value, collection, world)
            }
            _ => sources.text(value, app),
        }
    }
}

/// The single values of an argument. A part of a structured argument has the role of its own name if that is listed.
fn spread<'a>(
    value: &'a Value,
    role: Role,
    role_of: &dyn Fn(&str) -> Option<Role>,
    leaves: &mut Vec<(Role, &'a Value)>,
) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| spread(item, role, role_of, leaves)),
        Value::Object(parts) => {
            parts.iter().for_each(|(name, part)| spread(part, role_of(name).unwrap_or(role), role_of, leaves))
        }
        leaf => leaves.push((role, leaf)),
    }
}
