//! The words on the page.
//!
//! The page shows them as plain text. A text can still deceive: it can reverse the order of letters, hide some, or push the
//! rest out of sight. So invisible characters are replaced here, and long lines are truncated.

use std::time::Duration;

use serde_json::{Value, json};

use crate::consent::{
    Answer, Asked, AskedCode, ConsentPrompt, HandOver, LineStyle, MIN_READING_TIME, SiteName, Warning,
    WhichAccount, visible,
};

/// The most characters of a title.
const MAX_TITLE_CHARS: usize = 300;
/// The most lines with words of the page for one thing that is asked. The guard's own lines are all shown.
const MAX_QUOTED_LINES: usize = 12;

/// The replies that a question accepts.
#[derive(Clone)]
pub(super) enum Accepts {
    /// One of these answers.
    Answers(Vec<Answer>),
    /// A code, or no.
    Code(AskedCode),
    /// One of so many accounts, or no.
    Account {
        /// Their number.
        count: usize,
    },
    /// The report that the user finished manually, or no.
    HandOver,
    /// The confirmation that it was read.
    Notice,
}

/// The content of a question.
pub(super) struct PageContent {
    title: String,
    /// The consequence when the time is up.
    lapse: &'static str,
    /// The closing text of a message, which has no answer to repeat.
    ended: Option<&'static str>,
    phrase: Option<String>,
    code: Option<AskedCode>,
    /// The accounts that the user chooses among.
    accounts: Vec<String>,
    warnings: Vec<String>,
    asked: Vec<ShownQuestion>,
}

/// One thing that is asked, as it is shown.
struct ShownQuestion {
    act: String,
    sites: Vec<SiteName>,
    /// The lines of the guard.
    plain: Vec<String>,
    /// The lines of the page.
    quoted: Vec<String>,
}

impl PageContent {
    /// The content of a prompt, or of the question for a code that goes with it.
    pub fn of(prompt: &ConsentPrompt, accepts: &Accepts, phrase: Option<&str>) -> PageContent {
        let of_guard = LineStyle::Warning.max_chars();
        let warnings = prompt.warnings().iter().map(|warning| visible(warning, of_guard)).collect();
        let code = if let Accepts::Code(code) = accepts { Some(code.clone()) } else { None };
        let (title, lapse) = match &code {
            None => ("The agent needs your consent to".to_owned(), "Without an answer it is no."),
            Some(code) => (visible(&format!("{}, to:", code.request()), MAX_TITLE_CHARS), code.without()),
        };
        PageContent {
            title,
            lapse,
            ended: None,
            phrase: shown(phrase),
            code,
            accounts: Vec::new(),
            warnings,
            asked: prompt.asked.iter().map(ShownQuestion::of).collect(),
        }
    }

    /// The content of an offer to finish manually.
    pub fn hand_over(offer: &HandOver, phrase: Option<&str>) -> PageContent {
        let title = "You can go on by hand".to_owned();
        PageContent::message(title, "Without an answer the agent's part is over.", &offer.to_string(), phrase)
    }

    /// The content of a warning.
    pub fn warning(warning: &Warning, phrase: Option<&str>) -> PageContent {
        let title = "A warning; nothing is asked of you".to_owned();
        PageContent::message(title, "Nothing waits for you.", &warning.to_string(), phrase)
    }

    /// The content of the choice among accounts.
    pub fn accounts(which: &WhichAccount, phrase: Option<&str>) -> PageContent {
        let title = which.title();
        let lapse = "Without a choice nothing is filled in.";
        let accounts = which.shown().unwrap_or_default();
        let mut content = PageContent::message(title, lapse, &which.question(), phrase);
        // The accounts are lines of the question too, which have to be in view before a choice counts.
        if let Some(asked) = content.asked.first_mut() {
            asked.plain.clone_from(&accounts);
        }
        PageContent { ended: None, accounts, ..content }
    }

    fn message(title: String, lapse: &'static str, text: &str, phrase: Option<&str>) -> PageContent {
        let act = visible(text, LineStyle::Plain.max_chars());
        let asked = vec![ShownQuestion { act, sites: Vec::new(), plain: Vec::new(), quoted: Vec::new() }];
        let ended = Some("You can close this window.");
        let (accounts, warnings) = (Vec::new(), Vec::new());
        PageContent { title, lapse, ended, phrase: shown(phrase), code: None, accounts, warnings, asked }
    }

    /// The content for the page's script; `left` is the question's remaining time.
    pub fn to_json(&self, subject: &str, accepts: &Accepts, left: Duration) -> Value {
        let asked: Vec<Value> = self.asked.iter().map(ShownQuestion::to_json).collect();
        let choices: Vec<Value> = match accepts {
            Accepts::Answers(answers) => {
                answers.iter().map(|answer| choice(*answer, &label(*answer))).collect()
            }
            Accepts::Code(_) => vec![choice(Answer::No, "Go on without a code")],
            Accepts::Account { .. } => vec![choice(Answer::No, "None of them")],
            Accepts::HandOver => vec![
                choice(Answer::No, "Let the agent go on, and read the page"),
                choice(Answer::Once, "I have finished by hand"),
            ],
            Accepts::Notice => vec![choice(Answer::No, "I have read it")],
        };
        json!({
            "subject": subject,
            "title": self.title,
            "lapse": self.lapse,
            "ended": self.ended,
            "leaving": !matches!(accepts, Accepts::HandOver),
            "phrase": self.phrase,
            "code": self.code.as_ref().map(entry),
            "warnings": self.warnings,
            "asked": asked,
            "choices": choices,
            "accounts": self.accounts,
            "left": u64::try_from(left.as_millis()).unwrap_or(0),
            "look": u64::try_from(MIN_READING_TIME.as_millis()).unwrap_or(u64::MAX),
        })
    }
}

/// The box for a code.
fn entry(code: &AskedCode) -> Value {
    json!({
        "name": code.name(),
        "note": format!("{}, {}", code.form(), code.use_of()),
        "wrong": format!("The code has {}.", code.form()),
        "least": code.lengths().start(),
        "most": code.lengths().end(),
    })
}

/// The kind of the user's reply.
pub(super) enum Said {
    /// An answer.
    Answer(Answer),
    /// A code.
    Code,
    /// An account, by its number.
    Account(u8),
}

/// The closing text of the page.
pub(super) fn ending(said: &Said) -> String {
    match said {
        Said::Answer(answer) => format!("You said {answer}. You can close this window."),
        Said::Code => "The code is used once and not stored. You can close this window.".to_owned(),
        Said::Account(number) => {
            format!("You chose account {number} for this task. You can close this window.")
        }
    }
}

/// The user's own phrase, if there is one.
fn shown(phrase: Option<&str>) -> Option<String> {
    phrase.filter(|it| !it.trim().is_empty()).map(|it| visible(it, MAX_TITLE_CHARS))
}

fn choice(answer: Answer, label: &str) -> Value {
    json!({ "word": answer.as_str(), "label": label, "yes": answer.agrees() })
}

fn label(answer: Answer) -> String {
    let text = answer.to_string();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

impl ShownQuestion {
    fn of(asked: &Asked) -> ShownQuestion {
        let lines = asked.details();
        let of = |style: LineStyle| {
            let lines = lines.iter().filter(move |line| line.style == style);
            lines.map(|line| visible(&line.text, style.max_chars())).collect::<Vec<String>>()
        };
        let mut quoted = of(LineStyle::Quoted);
        if let Some(more @ 1..) = quoted.len().checked_sub(MAX_QUOTED_LINES) {
            quoted.truncate(MAX_QUOTED_LINES);
            quoted.push(format!("({more} more lines are not shown)"));
        }
        let act = visible(&asked.act(), LineStyle::Plain.max_chars());
        ShownQuestion { act, sites: asked.sites(), plain: of(LineStyle::Plain), quoted }
    }

    fn to_json(&self) -> Value {
        let ShownQuestion { act, sites, plain, quoted } = self;
        let sites: Vec<Value> =
            sites.iter().map(|site| json!({ "name": site.name, "whole": site.whole })).collect();
        json!({ "act": act, "sites": sites, "plain": plain, "quoted": quoted })
    }
}

#[cfg(test)]
mod tests {
    use browser_signals::Origin;
    use policy_dfa::{ConsentScope, Millis};
    use proptest::prelude::*;

    use super::*;
    use crate::consent::answer::{SubjectBuilder, Ticket};
    use crate::consent::line::is_unseen;
    use crate::consent::order::{ActionKind, MAX_TEXT_CHARS, Order, RecordedAction};

    #[test]
    fn a_line_cannot_reverse_or_hide_text() {
        assert_eq!(visible("Käse, 3 €, 茶", 300), "Käse, 3 €, 茶");
        assert_eq!(visible("a\u{202E}b\u{200B}c\nd\u{0}", 300), "a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}");
        assert_eq!(visible("e\u{301}\u{308}\u{301}x", 300), "e\u{301}\u{308}\u{FFFD}x", "a pile of marks");
        assert_eq!(visible(&"x".repeat(400), 300), "x".repeat(300) + " (cut)");
    }

    /// The longest line that an action can make, for the window and for the terminal.
    #[test]
    fn the_longest_text_of_the_agent_is_shown_whole() {
        let site = |letter: &str| {
            Origin::parse(&format!("https://{}.example:65535", [letter; 3].map(|it| it.repeat(63)).join(".")))
                .unwrap()
        };
        let text = "x\n".repeat(MAX_TEXT_CHARS / 2);
        let mut action = RecordedAction::new(site("a"), "l".repeat(400), ActionKind::Typed(text));
        action.read_at = ["b", "c", "d", "e"].map(site).to_vec();
        let order = Order {
            site: site("f"),
            waiting: Vec::new(),
            address: Vec::new(),
            actions: vec![action.clone()],
            refused: vec![action],
            page_says: Vec::new(),
        };
        let ticket = Ticket::new([0; 16], SubjectBuilder::policy(&[0; 32]).finish(), Millis(0));
        let prompt =
            ConsentPrompt::new(vec![Asked::Order(order)], Vec::new(), ConsentScope::EveryTime, ticket);
        let accepts = Accepts::Answers(vec![Answer::No]);
        let window =
            PageContent::of(&prompt, &accepts, None).to_json("s", &accepts, Duration::ZERO).to_string();
        for shown in [window, prompt.to_string()] {
            assert_eq!(shown.matches(&"x⏎".repeat(MAX_TEXT_CHARS / 2)).count(), 2);
            // Each label is cut.
            assert_eq!(shown.matches("(cut)").count(), 2);
            assert_eq!(shown.matches("and other sites").count(), 2);
        }
    }

    #[test]
    fn the_closing_text_repeats_the_answer() {
        assert_eq!(
            ending(&Said::Answer(Answer::Once)),
            "You said yes, this once. You can close this window."
        );
        assert_eq!(ending(&Said::Answer(Answer::No)), "You said no. You can close this window.");
        assert_eq!(label(Answer::Never), "No, never on this site");
    }

    proptest! {
        #[test]
        fn no_invisible_character_is_left(text in any::<String>()) {
            prop_assert!(!visible(&text, 50).chars().any(is_unseen));
        }
    }
}
