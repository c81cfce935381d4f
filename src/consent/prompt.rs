//! A consent prompt: the things that are asked, the notices, and the answers that are offered.

use std::fmt;

use browser_signals::Origin;
use policy_dfa::ConsentScope;

use super::answer::{Answer, Answered, Ticket};
use super::asked::Asked;
use super::by_form::QuestionTask;
use super::line::{LineStyle, visible};
use super::suspicion::{Concern, Suspicion};
use crate::guard::mandate::NotCovered;

/// A line of the prompt as it was composed.
struct ComposedLine {
    /// The characters before it.
    before: &'static str,
    text: String,
    style: LineStyle,
}

impl ComposedLine {
    /// The line, safe to show on a terminal although the page or the agent chose a part of it.
    fn shown(&self) -> String {
        visible(&self.text, self.style.max_chars())
    }
}

/// An observation of the guard that the user should know before answering.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The user's label of the client whose agent asks, where several clients may.
    Client(String),
    /// The agent, not the user, chose the sites and the kinds of data.
    ChosenByTheAgent,
    /// A property of a host: a look-alike, letters of another script, an IP address.
    Host(String),
    /// The site is on this machine, and what is sent to it is not encrypted.
    InClear {
        /// The site.
        site: Origin,
    },
    /// The form is in a frame of another site.
    InFrame {
        /// The site whose name the browser shows.
        top: Origin,
    },
    /// The form is sent to another origin than its own.
    SentElsewhere {
        /// The origin that it is sent to.
        to: Origin,
    },
    /// The form takes a card, and no amount can be checked.
    NoAmount {
        /// The lines in which the page names an amount: words of the page.
        page_says: Vec<String>,
        /// True if a card was filled there before in this task.
        is_repeated: bool,
    },
    /// The mandate that the user gave with the task does not cover this payment.
    NotMandated(NotCovered),
    /// A one-time code goes to a site that was given no password of its login in this task.
    CodeAlone,
    /// The number of refusals of the agent in this task.
    Refusals(u64),
    /// The agent tried to write a value of the vault.
    Guessed,
    /// The number of such attempts in earlier tasks.
    GuessedBefore(u64),
    /// The page is in a tab of the user's own browser.
    OwnBrowser,
    /// Something in this task looks unsafe.
    Suspicion(Suspicion),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Client(label) => write!(f, "the agent of the client `{label}` asks"),
            Notice::ChosenByTheAgent => {
                f.write_str("the agent chose these sites: see that they are those you mean")
            }
            Notice::Host(text) => f.write_str(text),
            Notice::InClear { site } => {
                write!(f, "{site} is not encrypted, on this machine: another program here may read what is sent")
            }
            Notice::InFrame { top } => write!(f, "the form stands in a frame inside a page of {top}"),
            Notice::SentElsewhere { to } => write!(f, "the form is sent to another site: {to}"),
            Notice::NoAmount { page_says, is_repeated } => {
                f.write_str("the amount cannot be checked: this site can charge any amount")?;
                match page_says.as_slice() {
                    [] => f.write_str("; the page names no total")?,
                    lines => write!(f, "; the page says: {}", lines.join(" / "))?,
                }
                if *is_repeated {
                    f.write_str("; your card was filled here before in this task: see that the site has not charged it")?;
                }
                Ok(())
            }
            Notice::NotMandated(why) => write!(f, "this payment is asked about although you agreed to one: {why}"),
            Notice::CodeAlone => f.write_str(
                "Portcullis gave no password to this site in this task: a site that asks for the code alone may be after the code",
            ),
            Notice::Refusals(1) => f.write_str("the agent was refused once in this task"),
            Notice::Refusals(times) => write!(f, "the agent was refused {times} times in this task"),
            Notice::OwnBrowser => f.write_str(
                "this is a tab of your own browser: rules of the browser keep what a page is given from other sites, and no \
                 proxy does; the site can pass it on",
            ),
            Notice::Suspicion(Suspicion { concern, page, told }) => {
                match (page, told) {
                    (Some(page), true) => write!(f, "a page of {page} that the agent read in this task")?,
                    (Some(page), false) => write!(f, "the page of {page}, which the agent has not read,")?,
                    (None, _) => f.write_str("something that the agent was told in this task")?,
                }
                let looks = match concern {
                    Concern::High => "very unsafe",
                    Concern::Medium => "unsafe",
                    Concern::Low => "somewhat unsafe",
                };
                write!(f, " looks {looks}: words in it read like an attempt to direct the agent, or like a scam")
            }
            Notice::Guessed => f.write_str("the agent wrote something that is in your vault"),
            Notice::GuessedBefore(1) => {
                f.write_str("in an earlier task an agent wrote something that is in your vault")
            }
            Notice::GuessedBefore(times) => {
                write!(f, "in earlier tasks agents wrote {times} times something that is in your vault")
            }
        }
    }
}

/// One prompt. It may ask about several things; there is one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentPrompt {
    /// The things that are asked; never empty.
    pub asked: Vec<Asked>,
    /// The guard's observations.
    pub noticed: Vec<Notice>,
    scope: ConsentScope,
    lasting: bool,
    task: QuestionTask,
    ticket: Ticket,
}

impl ConsentPrompt {
    /// Makes a prompt. `scope` is the longest consent that the policy allows.
    pub fn new(
        asked: Vec<Asked>,
        noticed: Vec<Notice>,
        scope: ConsentScope,
        ticket: Ticket,
    ) -> ConsentPrompt {
        ConsentPrompt { asked, noticed, scope, lasting: true, task: QuestionTask::UNKNOWN, ticket }
    }

    /// The same prompt as a part of a task. Without a task no client's form asks it.
    #[must_use]
    pub fn in_task(mut self, task: QuestionTask) -> ConsentPrompt {
        self.task = task;
        self
    }

    pub(super) fn task(&self) -> QuestionTask {
        self.task
    }

    /// The same prompt without answers that outlive the task, where they could not be stored.
    #[must_use]
    pub fn for_this_task_only(mut self) -> ConsentPrompt {
        self.lasting = false;
        self
    }

    /// The lines that the user should read first: the warnings of the things that are asked, and the guard's observations.
    pub fn warnings(&self) -> Vec<String> {
        let lines = self.asked.iter().flat_map(Asked::details);
        let warned = lines.filter(|line| line.style == LineStyle::Warning).map(|line| line.text);
        let mut all: Vec<String> = Vec::new();
        for warning in warned.chain(self.noticed.iter().map(ToString::to_string)) {
            if !all.contains(&warning) {
                all.push(warning);
            }
        }
        all
    }

    /// The lines of the prompt, in the order in which they are shown.
    fn lines(&self) -> Vec<ComposedLine> {
        let line = |before, text, style| ComposedLine { before, text, style };
        let warnings = self.warnings().into_iter();
        let mut lines: Vec<_> = warnings.map(|warning| line("  ! ", warning, LineStyle::Warning)).collect();
        for asked in &self.asked {
            lines.push(line("  - ", asked.act(), LineStyle::Plain));
            let sites = asked.sites().into_iter();
            lines.extend(sites.map(|site| line("      ", site.to_string(), LineStyle::Plain)));
            let details = asked.details().into_iter().filter(|detail| detail.style != LineStyle::Warning);
            lines.extend(details.map(|detail| line("      ", detail.to_string(), detail.style)));
        }
        lines
    }

    /// The prompt's text; `None` where a line is cut or has something invisible in it.
    pub(super) fn whole_lines(&self) -> Option<String> {
        self.lines().iter().all(|line| line.shown() == line.text).then(|| self.to_string())
    }

    /// Whether something is asked that can be refused permanently.
    fn is_about_a_site(&self) -> bool {
        self.asked.iter().any(|asked| matches!(asked, Asked::Release { .. } | Asked::Pay { .. }))
    }

    /// Limits an answer to what can be offered here.
    fn cut(&self, answer: Answer) -> Answer {
        match answer.within(self.scope) {
            Answer::Site if !self.lasting => Answer::Session,
            Answer::Never if !self.lasting || !self.is_about_a_site() => Answer::No,
            answer => answer,
        }
    }

    /// The offered answers, in order. The first is no.
    pub fn choices(&self) -> impl Iterator<Item = Answer> {
        Answer::ALL.into_iter().filter(|answer| self.cut(*answer) == *answer)
    }

    /// The ticket that binds an answer to this prompt.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// An answer to this prompt. An answer for longer than the policy allows is limited to what is allowed.
    pub fn answered(&self, answer: Answer) -> Answered {
        Answered::to(&self.ticket, self.cut(answer))
    }

    /// The answer where nobody could be asked: no.
    pub fn answered_by_nobody(&self) -> Answered {
        Answered::by_nobody(&self.ticket)
    }
}

impl fmt::Display for ConsentPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "The agent needs your consent to:")?;
        self.lines().iter().try_for_each(|line| writeln!(f, "{}{}", line.before, line.shown()))
    }
}

#[cfg(test)]
mod tests {
    use browser_signals::Container;
    use policy_dfa::Millis;
    use sirl::Money;

    use super::super::answer::SubjectBuilder;
    use super::*;

    fn prompt(scope: ConsentScope) -> ConsentPrompt {
        let amount = Money::parse("64.15", sirl::Currency::new("USD").unwrap()).unwrap();
        let payee = Origin::parse("https://shop.example").unwrap();
        let page_says = vec!["1 x kettle".into()];
        let asked = vec![Asked::Pay { payee, amount, card: Some("card:personal".into()), page_says }];
        let ticket = Ticket::new([0; 16], SubjectBuilder::policy(&[0; 32]).finish(), Millis(0));
        ConsentPrompt::new(asked, vec![Notice::Refusals(2)], scope, ticket)
    }

    #[test]
    fn a_prompt_names_payee_amount_and_observations() {
        let text = prompt(ConsentScope::EveryTime).to_string();
        assert!(text.contains("- pay 64.15 USD to:\n      shop.example\n"), "{text}");
        assert!(text.contains("with your card:personal"), "{text}");
        assert!(text.contains("the page says: 1 x kettle"), "{text}");
        assert!(text.contains("! the agent was refused 2 times"), "{text}");
    }

    #[test]
    fn warnings_come_first_and_each_site_has_a_line_that_begins_with_its_registered_name() {
        let origins = ["https://shop.example", "https://shop.example.evil.co.uk:8443", "http://127.0.0.1"];
        let origins = origins.map(|origin| Origin::parse(origin).unwrap()).to_vec();
        let container = Asked::Container { tier: Container::T2, origins, own_browser: None };
        let ticket = Ticket::new([0; 16], SubjectBuilder::policy(&[0; 32]).finish(), Millis(0));
        let noticed = vec![Notice::ChosenByTheAgent];
        let text = ConsentPrompt::new(vec![container], noticed, ConsentScope::Session, ticket).to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(lines[1], "! the agent chose these sites: see that they are those you mean");
        assert_eq!(lines[2], "- work on these sites and no others, with your data where you agree:");
        assert_eq!(lines[3], "shop.example");
        assert_eq!(lines[4], "evil.co.uk  (https://shop.example.evil.co.uk:8443)");
        assert_eq!(lines[5], "127.0.0.1  (http://127.0.0.1)");
    }

    #[test]
    fn no_is_offered_first_and_nothing_beyond_the_policy() {
        let offered = |scope| prompt(scope).choices().collect::<Vec<_>>();
        use Answer::{Never, No, Once, Session, Site};
        assert_eq!(offered(ConsentScope::EveryTime), [No, Once, Never]);
        assert_eq!(offered(ConsentScope::Session), [No, Once, Session, Never]);
        assert_eq!(offered(ConsentScope::Site), [No, Once, Session, Site, Never]);
        let task_only = prompt(ConsentScope::Site).for_this_task_only();
        assert_eq!(task_only.choices().collect::<Vec<_>>(), [No, Once, Session]);
        assert_eq!(task_only.answered(Never), task_only.answered(No));
        let prompt = prompt(ConsentScope::EveryTime);
        assert_eq!(prompt.ticket().settle(&prompt.answered(Site), Millis(1)), Once);
    }
}
