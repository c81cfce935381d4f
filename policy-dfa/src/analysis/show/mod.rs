//! Views of a policy: tables of its rules, and graphs of its automaton.

mod graph;
mod table;

pub use table::{RuleRow, RuleTable};

use crate::automaton::compile::Compiled;
use crate::vocabulary::event::Root;

/// The format of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Tables in plain text.
    Text,
    /// Tables in Markdown.
    Markdown,
    /// A graph for Graphviz.
    Dot,
    /// A flow chart for Mermaid.
    Mermaid,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 4] = [Format::Text, Format::Markdown, Format::Dot, Format::Mermaid];

    /// The name that the command uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Markdown => "markdown",
            Format::Dot => "dot",
            Format::Mermaid => "mermaid",
        }
    }

    /// The format with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.as_str() == name)
    }
}

impl<State> Compiled<State> {
    /// The view of one event: for `Text` and `Markdown` a table of its rules in the order in which they are tried, else
    /// a graph of its automaton. Names are escaped, so that the result is well formed whatever the name of the policy
    /// is.
    ///
    /// ```
    /// use policy_dfa::{EXAMPLE_POLICY, Policy, Root, show::Format};
    /// use sirl::{Kind, Tier};
    ///
    /// let policy = Policy::parse(EXAMPLE_POLICY).unwrap().compile().unwrap();
    /// let table = policy.show(Root::Request(Kind::Address, Tier::T2), Format::Text);
    /// assert!(table.contains("invalid_container"));
    /// ```
    pub fn show(&self, root: Root, format: Format) -> String {
        match format {
            Format::Text => table::text(&self.rule_table(root)),
            Format::Markdown => table::markdown(&self.rule_table(root)),
            Format::Dot => graph::dot(&self.graph(root)),
            Format::Mermaid => graph::mermaid(&self.graph(root)),
        }
    }

    /// Every event that can occur: a kind of request needs one of the tiers of its fields.
    pub fn events(&self) -> impl Iterator<Item = Root> {
        Root::all().filter(|root| self.policy.can_occur(*root))
    }
}
