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

    /// The accounts as they are shown, each on one line.
    pub fn shown(&self) -> impl Iterator<Item = String> {
        self.labels.iter().map(|label| visible(label, MAX_LABEL_CHARS))
    }
}

impl fmt::Display for WhichAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.question())?;
        for (number, label) in (1..).zip(self.shown()) {
            writeln!(f, "  {number}  {label}")?;
        }
        Ok(())
    }
}
