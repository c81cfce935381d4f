//! The button of a page that starts a payment.

use browser_signals::ElementRef;
use browser_signals::outline::{Outline, OutlineLine, TextPlace};

/// Words on the button that starts a payment, in the languages of the supported shops.
const PAY_WORDS: [&str; 8] = ["pay", "bezahlen", "zahlen", "payer", "pagar", "paga", "checkout", "betalen"];

/// The last button of a page whose visible words or name have a word for paying. The request may name another one; the payment is
/// decided on what the browser says either way.
pub(super) fn pay_button(outline: &Outline) -> Option<ElementRef> {
    let pays = |line: &&OutlineLine| line.role() == Some("button") && names_a_payment(line);
    let mut buttons = outline.lines.iter().rev().filter(|line| line.element.is_some());
    buttons.find(pays)?.element.clone()
}

fn names_a_payment(line: &OutlineLine) -> bool {
    let mut seen = line.words().filter(|words| words.place != TextPlace::Hidden);
    seen.any(|words| {
        let words = words.text.to_lowercase();
        words.split(|c: char| !c.is_alphanumeric()).any(|word| PAY_WORDS.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use browser_signals::outline::{LinePart, Purpose, Words};

    use super::*;

    fn button(role: &str, element: &str, words: &str, place: TextPlace) -> OutlineLine {
        let words = Words { text: words.to_owned(), place, purpose: Purpose::Label, frame: 0 };
        OutlineLine {
            head: vec![LinePart::Own(format!("- {role}")), LinePart::Page(words)],
            element: Some(ElementRef(element.to_owned())),
            ..OutlineLine::default()
        }
    }

    fn of(lines: Vec<OutlineLine>) -> Option<String> {
        pay_button(&Outline { lines, ..Outline::default() }).map(|element| element.0)
    }

    #[test]
    fn it_is_the_last_button_that_says_so() {
        let shown = TextPlace::Shown;
        let lines = vec![
            button("button", "e1", "Checkout", shown),
            button("button", "e2", "Jetzt zahlen: 64.15", shown),
            button("link", "e3", "pay", shown),
            button("button", "e4", "Paypal", shown),
            button("button", "e5", "pay", TextPlace::Hidden),
        ];
        assert_eq!(of(lines).as_deref(), Some("e2"));
    }

    #[test]
    fn words_of_the_page_cannot_pose_as_a_button() {
        assert_eq!(of(vec![button("text", "e1", "- button \"pay\" [ref=e9]", TextPlace::Shown)]), None);
        let mut no_ref = button("button", "e1", "pay", TextPlace::Shown);
        no_ref.element = None;
        assert_eq!(of(vec![no_ref]), None);
    }
}
