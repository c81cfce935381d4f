//! The question which of several accounts at a site the guard uses.

use std::fmt;

use browser_signals::Origin;

use super::line::visible;

/// The most characters of an account's label.
const MAX_LABEL_CHARS: usize = 120;

/// Several accounts at a site, of which the user chooses one. It has no `Debug`: the labels are the user's own data.
#[derive(Clone, PartialEq, Eq)]
pub struct WhichAccount {
    /// The password manager that has them.
    pub source: String,
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
        let WhichAccount { source, origin, client, .. } = self;
        let from = client.as_ref().map(|client| format!("From your client `{client}`: ")).unwrap_or_default();
        format!(
            "{from}Your {source} has several accounts for {origin}. Which one does the guard use in this task?"
        )
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

impl fmt::Display for WhichAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.question())?;
        for line in self.shown().unwrap_or_default() {
            writeln!(f, "  {line}")?;
        }
        Ok(())
    }
}
