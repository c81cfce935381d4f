//! The words on the page.
//!
//! The page shows them as text and nothing else. What a text can still do is pretend: turn round the order of
//! letters, hide some, or push the rest away. So characters that are not seen themselves are replaced here,
//! and long lines are cut.

use std::time::Duration;

use serde_json::{Value, json};

use super::desk::{LOOK_FIRST, Takes};
use crate::consent::visible::visible;
use crate::consent::{Answer, Asked, ConsentPrompt, HandOver, SiteName, Warning, Weight};

/// The most characters of a line that says what is asked, before the rest is cut. An origin has 253.
const LONGEST_LINE: usize = 2_000;
/// The most characters of a line of details, which a page may have written.
const LONGEST_DETAIL: usize = 300;
/// The most lines of the page's under one thing that is asked. The guard's own are all shown.
const MOST_QUOTED: usize = 12;

/// What a question says.
pub(super) struct Words {
    title: String,
    /// What happens when the time is up.
    lapse: &'static str,
    /// What is said in the end of something that has no answer to repeat.
    ended: Option<&'static str>,
    phrase: Option<String>,
    card: Option<String>,
    warnings: Vec<String>,
    asked: Vec<Shown>,
}

/// One thing that is asked, as it is shown.
struct Shown {
    act: String,
    sites: Vec<SiteName>,
    /// The guard's lines.
    plain: Vec<String>,
    /// The page's.
    quoted: Vec<String>,
}

impl Words {
    /// The words of a prompt; `card` where its security code is asked for.
    pub fn of(prompt: &ConsentPrompt, card: Option<&str>, phrase: Option<&str>) -> Words {
        let warnings = prompt.warnings().iter().map(|warning| visible(warning, LONGEST_LINE)).collect();
        let card = card.map(|card| visible(card, LONGEST_DETAIL));
        let (title, lapse) = match &card {
            None => ("The agent needs your consent to".to_owned(), "Without an answer it is no."),
            Some(card) => (
                format!("Security code of your {card}, to:"),
                "Without a code the payment is tried without one.",
            ),
        };
        Words {
            title,
            lapse,
            ended: None,
            phrase: shown(phrase),
            card,
            warnings,
            asked: prompt.asked.iter().map(Shown::of).collect(),
        }
    }

    /// The words of an offer to go on by hand.
    pub fn by_hand(offer: &HandOver, phrase: Option<&str>) -> Words {
        let title = "You can go on by hand".to_owned();
        Words::told(title, "Without an answer the agent's part is over.", &offer.to_string(), phrase)
    }

    /// The words of a warning.
    pub fn warning(warning: &Warning, phrase: Option<&str>) -> Words {
        let title = "A warning; nothing is asked of you".to_owned();
        Words::told(title, "Nothing waits for you.", &warning.to_string(), phrase)
    }

    fn told(title: String, lapse: &'static str, text: &str, phrase: Option<&str>) -> Words {
        let act = visible(text, LONGEST_LINE);
        let asked = vec![Shown { act, sites: Vec::new(), plain: Vec::new(), quoted: Vec::new() }];
        let ended = Some("You can close this window.");
        Words { title, lapse, ended, phrase: shown(phrase), card: None, warnings: Vec::new(), asked }
    }

    /// The words for the page's script, with `left` of the question's time.
    pub fn to_json(&self, subject: &str, takes: &Takes, left: Duration) -> Value {
        let asked: Vec<Value> = self.asked.iter().map(Shown::to_json).collect();
        let choices: Vec<Value> = match takes {
            Takes::Answers(answers) => {
                answers.iter().map(|answer| choice(*answer, &label(*answer))).collect()
            }
            Takes::Code => vec![choice(Answer::No, "Go on without a code")],
            Takes::ByHand => vec![
                choice(Answer::No, "Let the agent go on, and read the page"),
                choice(Answer::Once, "I have finished by hand"),
            ],
            Takes::Notice => vec![choice(Answer::No, "I have read it")],
        };
        json!({
            "subject": subject,
            "title": self.title,
            "lapse": self.lapse,
            "ended": self.ended,
            "leaving": !matches!(takes, Takes::ByHand),
            "phrase": self.phrase,
            "card": self.card,
            "warnings": self.warnings,
            "asked": asked,
            "choices": choices,
            "left": u64::try_from(left.as_millis()).unwrap_or(0),
            "look": u64::try_from(LOOK_FIRST.as_millis()).unwrap_or(u64::MAX),
        })
    }
}

/// What the page says in the end.
pub(super) fn ending(said: Option<Answer>) -> String {
    match said {
        Some(answer) => format!("You said {answer}. You can close this window."),
        None => "The code is used for this payment and not stored. You can close this window.".to_owned(),
    }
}

/// The user's own phrase, if there is one.
fn shown(phrase: Option<&str>) -> Option<String> {
    phrase.filter(|it| !it.trim().is_empty()).map(|it| visible(it, LONGEST_DETAIL))
}

fn choice(answer: Answer, label: &str) -> Value {
    json!({ "word": answer.as_str(), "label": label, "yes": answer.agrees() })
}

fn label(answer: Answer) -> String {
    let text = answer.to_string();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

impl Shown {
    fn of(asked: &Asked) -> Shown {
        let lines = asked.details();
        let of = |weight: Weight| {
            let lines = lines.iter().filter(move |line| line.weight == weight);
            lines.map(|line| visible(&line.text, LONGEST_DETAIL)).collect::<Vec<String>>()
        };
        let mut quoted = of(Weight::Quoted);
        if let Some(more @ 1..) = quoted.len().checked_sub(MOST_QUOTED) {
            quoted.truncate(MOST_QUOTED);
            quoted.push(format!("({more} more lines are not shown)"));
        }
        let act = visible(&asked.act(), LONGEST_LINE);
        Shown { act, sites: asked.sites(), plain: of(Weight::Plain), quoted }
    }

    fn to_json(&self) -> Value {
        let Shown { act, sites, plain, quoted } = self;
        let sites: Vec<Value> =
            sites.iter().map(|site| json!({ "name": site.name, "whole": site.whole })).collect();
        json!({ "act": act, "sites": sites, "plain": plain, "quoted": quoted })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consent::visible::is_unseen;

    #[test]
    fn a_line_cannot_turn_or_hide() {
        assert_eq!(visible("Käse, 3 €, 茶", 300), "Käse, 3 €, 茶");
        assert_eq!(visible("a\u{202E}b\u{200B}c\nd\u{0}", 300), "a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}");
        assert_eq!(visible("e\u{301}\u{308}\u{301}x", 300), "e\u{301}\u{308}\u{FFFD}x", "a pile of marks");
        assert_eq!(visible(&"x".repeat(400), 300), "x".repeat(300) + " (cut)");
    }

    #[test]
    fn endings_say_what_was_said() {
        assert_eq!(ending(Some(Answer::Once)), "You said yes, this once. You can close this window.");
        assert_eq!(ending(Some(Answer::No)), "You said no. You can close this window.");
        assert_eq!(label(Answer::Never), "No, never on this site");
    }

    proptest! {
        #[test]
        fn nothing_unseen_is_left(text in any::<String>()) {
            prop_assert!(!visible(&text, 50).chars().any(is_unseen));
        }
    }
}
