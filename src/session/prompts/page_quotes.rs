//! Lines of the page that a prompt quotes: about the amount, the total, and recurring payments.

use browser_signals::Origin;
use browser_signals::meaning::{Decisive, decisive};

use crate::session::core::Core;

/// The maximum number of lines of a page that a prompt quotes about one subject.
const MAX_LINES: usize = 3;

/// Words for a total, in the languages of the supported shops.
const TOTALS: [&str; 7] = ["total", "summe", "gesamt", "montant", "importe", "totaal", "zu zahlen"];

impl Core {
    /// Lines of the payee's page that speak of a recurring payment.
    pub(in crate::session) fn page_says_it_recurs(&self, payee: &Origin) -> Vec<String> {
        self.page_says_of(payee, |line| decisive(&[line]) == Some(Decisive::Recurs))
    }

    /// The first lines of the payee's page that satisfy a predicate.
    pub(super) fn page_says_of(&self, payee: &Origin, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let here = self.page.as_ref() == Some(payee);
        let lines = self.last_text.lines().filter(|line| here && is_meant(line));
        lines.map(shown_line).take(MAX_LINES).collect()
    }

    /// The lines before the amount on the payee's page, which describe the purchase in the page's own words. Text of
    /// another page is never quoted.
    pub(super) fn page_says(&self, payee: &Origin, amount: &str) -> Vec<String> {
        if self.page.as_ref() != Some(payee) {
            return Vec::new();
        }
        let lines: Vec<&str> = self.last_text.lines().collect();
        let Some(at) = lines.iter().rposition(|line| names(line, amount)) else { return Vec::new() };
        let around = lines.get(at.saturating_sub(3)..=at).unwrap_or(&[]);
        around.iter().map(|line| shown_line(line)).collect()
    }
}

/// A line of a page as a prompt quotes it.
fn shown_line(line: &str) -> String {
    line.trim().trim_start_matches("- ").chars().take(120).collect()
}

/// Whether a line names a total.
pub(super) fn names_total(line: &str) -> bool {
    let line = line.to_lowercase();
    line.contains(|c: char| c.is_ascii_digit()) && TOTALS.iter().any(|word| line.contains(word))
}

/// Whether a line names exactly this amount, and not a longer number that contains it.
fn names(line: &str, amount: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    line.match_indices(amount).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let mut after = line.get(at + amount.len()..).unwrap_or_default().chars();
        let (next, one_more) = (after.next(), after.next());
        // A full stop may end a sentence or continue a number.
        let goes_on = next.is_some_and(|c| c.is_ascii_digit())
            || next.is_some_and(number) && one_more.is_some_and(|c| c.is_ascii_digit());
        !before.is_some_and(number) && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn an_amount_is_not_found_within_another() {
        assert!(
            names("Total: 64.15 USD", "64.15")
                && names("It is 64.15.", "64.15")
                && names("64.15, paid", "64.15")
        );
        for line in ["164.15", "64.155", "1,64.15", "64.15.3", "64.1", "4.15"] {
            assert!(!names(line, "64.15"), "{line}");
        }
    }
}
