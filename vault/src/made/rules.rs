//! The rules of a form about the new password that it takes.

use browser_signals::page_words::MAX_RULE_CHARS;
use browser_signals::password_rules::{CharacterSet, MAX_REQUIRED, PasswordRules};
use browser_signals::{Control, Snapshot};
use policy_dfa::Placement;
use sirl::Field;

/// The most patterns that are read. A form has one, or the same one twice.
const MOST_PATTERNS: usize = 3;

/// What the controls of one form accept together as a new password, by their attributes `minlength`, `maxlength`, `pattern` and
/// `passwordrules`. All of it is the page's word.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewPasswordRules {
    /// The fewest characters.
    pub(super) least: u32,
    /// The most characters.
    pub(super) most: Option<u32>,
    /// How often the same character may follow itself.
    pub(super) max_consecutive: Option<u32>,
    /// Sets of characters, of each of which one must be used.
    pub(super) required: Vec<CharacterSet>,
    /// The only characters that may be used, if the page names any.
    pub(super) allowed: Option<CharacterSet>,
    /// The patterns, each once.
    pub(super) patterns: Vec<String>,
}

impl NewPasswordRules {
    /// The rules of these controls together.
    pub fn of<'a>(controls: impl Iterator<Item = &'a Control>) -> NewPasswordRules {
        controls.fold(NewPasswordRules::default(), NewPasswordRules::and)
    }

    /// The rules of the controls of a form that take the new password.
    pub fn of_placed(page: &Snapshot, placements: &[Placement]) -> NewPasswordRules {
        let takes = |control: &&Control| {
            let placed = |one: &Placement| one.field == Field::NewPassword && one.node == control.node;
            placements.iter().any(placed)
        };
        NewPasswordRules::of(page.controls.iter().filter(takes))
    }

    fn and(mut self, control: &Control) -> NewPasswordRules {
        let it = &control.words;
        let is_whole = it.password_rules.chars().count() <= MAX_RULE_CHARS;
        let stated =
            if is_whole { PasswordRules::parse(&it.password_rules) } else { PasswordRules::default() };
        self.least = [it.min_length, stated.least].into_iter().flatten().fold(self.least, u32::max);
        self.most = [self.most, it.max_length, stated.most].into_iter().flatten().min();
        self.max_consecutive = [self.max_consecutive, stated.max_consecutive].into_iter().flatten().min();
        // A page that names required characters and no others allows those alone.
        let named = stated.required.iter().fold(stated.allowed, |all, set| all.or(*set));
        if !named.is_empty() {
            self.allowed = Some(self.allowed.map_or(named, |before| before.and(named)));
        }
        for set in stated.required {
            if !self.required.contains(&set) && self.required.len() < MAX_REQUIRED {
                self.required.push(set);
            }
        }
        if !it.pattern.is_empty()
            && !self.patterns.contains(&it.pattern)
            && self.patterns.len() < MOST_PATTERNS
        {
            self.patterns.push(it.pattern.clone());
        }
        self
    }
}
