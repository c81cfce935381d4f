//! The question which of several accounts at a site, or of several records of the vault, the guard uses.

use std::fmt;

use browser_signals::Origin;

use super::line::visible;

/// The most characters of an account's label.
const MAX_LABEL_CHARS: usize = 120;

/// What the user chooses among.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChosenFrom {
    /// Accounts of the password manager of this name, for this task.
    Source(String),
    /// Records of the vault of this kind, such as `address`; the choice is kept for the site.
    Vault(String),
}

/// Several accounts at a site, or records for it, of which the user chooses one. It has no `Debug`: the labels are the user's own data.
#[derive(Clone, PartialEq, Eq)]
pub struct WhichAccount {
    /// What they are.
    pub of: ChosenFrom,
    /// The site.
    pub origin: Origin,
    /// The text by which the user recognises each, such as its user name.
    pub labels: Vec<String>,
    /// The user's label for the client whose agent asked, if several are served.
    pub client: Option<String>,
}

impl WhichAccount {
    /// The question, without the accounts.
    pub fn question(&self) -> String {
        let WhichAccount { of, origin, client, .. } = self;
        let from = client.as_ref().map(|client| format!("From your client `{client}`: ")).unwrap_or_default();
        match of {
            ChosenFrom::Source(source) => format!(
                "{from}Your {source} has several accounts for {origin}. Which one does the guard use in this task?"
            ),
            ChosenFrom::Vault(kind) => {
                let several = plural(kind);
                format!(
                    "{from}You keep several {several}. Which one may be used at {origin}? Your choice is kept for this site. It agrees to \
                     nothing else: you are asked before anything is filled in."
                )
            }
        }
    }

    /// The title of the question.
    pub fn title(&self) -> String {
        match &self.of {
            ChosenFrom::Vault(kind) if !matches!(kind.as_str(), "login" | "otp") => {
                "Choose which one is used".to_owned()
            }
            _ => "Choose an account".to_owned(),
        }
    }

    /// The accounts as they are shown, each on one line, with a number. None if a person could not tell them apart: two are shown alike, or
    /// one is not shown whole.
    pub fn shown(&self) -> Option<Vec<String>> {
        let mut shown: Vec<String> = Vec::new();
        for label in &self.labels {
            if label.chars().count() > MAX_LABEL_CHARS {
                return None;
            }
            let label = visible(label, MAX_LABEL_CHARS);
            let line = if label.trim().is_empty() {
                "an account without a user name".to_owned()
            } else {
                format!("\u{201C}{label}\u{201D}")
            };
            if shown.contains(&line) {
                return None;
            }
            shown.push(line);
        }
        Some((1..).zip(shown).map(|(number, line)| format!("{number} {line}")).collect())
    }
}

/// The records of a kind, in a person's words.
fn plural(kind: &str) -> &'static str {
    match kind {
        "address" => "addresses",
        "card" => "cards",
        "contact" => "sets of contact details",
        "identity" => "sets of identity details",
        _ => "accounts",
    }
}

impl fmt::Display for WhichAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.question())?;
        for line in self.shown().unwrap_or_default() {
            writeln!(f, "  {line}")?;
        }
        Ok(())
    }
}
