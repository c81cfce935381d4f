//! What a user is asked, in words.

use std::fmt;

use browser_signals::site::parts_of_host;
use browser_signals::{Container, Origin};
use policy_dfa::{ConsentScope, VerbKind};
use sirl::{Field, FieldSet, Kind, Money};
use zeroize::Zeroizing;

use super::order::Order;
use super::visible::visible;
use super::{Answer, Answered, FormPlace, OpenPages, Ticket};

/// The longest line that is shown, in characters.
const LONGEST_LINE: usize = 2000;

/// One thing the user is asked about. Origins are shown in ASCII.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// To open a container in which data may be released, for these origins only.
    Container {
        /// Its tier.
        tier: Container,
        /// The only origins it may go to.
        origins: Vec<Origin>,
        /// What holds for pages that are open already, where it is no container, but tabs of the user's own browser.
        own_browser: Option<OpenPages>,
    },
    /// To let fields go to a site.
    Release {
        /// The kind of request.
        kind: Kind,
        /// The fields.
        fields: FieldSet,
        /// The site that asks: the origin of the form's own frame.
        to: Origin,
        /// Where the form is sent, if a page was looked at.
        sent_to: Option<Origin>,
        /// The records that supply the fields, such as `address:home`.
        records: Vec<String>,
        /// The form, if a page was looked at.
        form: Option<FormPlace>,
    },
    /// To pay.
    Pay {
        /// Who is paid.
        payee: Origin,
        /// How much, exactly.
        amount: Money,
        /// The card's record, such as `card:personal`.
        card: Option<String>,
        /// What the page says is bought. The page's words: not checked by anybody.
        page_says: Vec<String>,
    },
    /// To let what the agent set go out: with a payment, or with requests that wait.
    Order(Order),
    /// To let the model read words of the user's prompt that may be a value.
    Reveal {
        /// What they may be.
        field: Field,
        /// The words.
        words: Quoted,
    },
    /// To let the agent do something that the task did not plan.
    Verb {
        /// The verb.
        verb: VerbKind,
        /// On which page.
        page: Option<Origin>,
        /// Where it leads, if it leads somewhere.
        goes_to: Option<Origin>,
    },
}

impl Asked {
    /// The origin that asks or is paid.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Asked::Container { origins, .. } => origins.first(),
            Asked::Release { to, .. } => Some(to),
            Asked::Pay { payee, .. } => Some(payee),
            Asked::Order(order) => Some(&order.site),
            Asked::Reveal { .. } => None,
            Asked::Verb { page, .. } => page.as_ref(),
        }
    }

    /// The sites that it is about: who asks or is paid, and where it leads.
    pub fn sites(&self) -> Vec<SiteName> {
        let origins: Vec<&Origin> = match self {
            Asked::Container { origins, .. } => origins.iter().collect(),
            Asked::Release { to, sent_to, .. } => {
                std::iter::once(to).chain(sent_to.iter().filter(|sent| *sent != to)).collect()
            }
            Asked::Pay { payee, .. } => vec![payee],
            Asked::Order(order) => vec![&order.site],
            Asked::Reveal { .. } => Vec::new(),
            Asked::Verb { page, goes_to, .. } => page.iter().chain(goes_to).collect(),
        };
        origins.into_iter().map(SiteName::of).collect()
    }

    /// What is asked, without the sites: they stand in lines of their own.
    pub fn act(&self) -> String {
        match self {
            Asked::Container { tier, own_browser: None, .. } => {
                format!("open a {} container that can go only to:", tier.as_str())
            }
            Asked::Container { tier, own_browser: Some(_), .. } => format!(
                "read the tab in front, and ask there for your data, up to {}, while it shows:",
                tier.as_str()
            ),
            Asked::Release { kind, fields, .. } => {
                format!("fill your {} ({}) into a form of:", kind.as_str(), names(*fields))
            }
            Asked::Pay { amount, .. } => format!("pay {amount} to:"),
            Asked::Order(order) => order.act(),
            Asked::Reveal { .. } => self.to_string(),
            Asked::Verb { verb, page, .. } => {
                let on = if page.is_some() { " on:" } else { "" };
                format!("let the agent {}{on}", verb.as_str())
            }
        }
    }

    /// Lines that belong to the first: where it goes, from which record, what the page says. Those that warn are shown
    /// before everything else.
    pub fn details(&self) -> Vec<Line> {
        match self {
            Asked::Container { own_browser: Some(pages), .. } => pages.lines(),
            Asked::Container { .. } | Asked::Reveal { .. } => Vec::new(),
            Asked::Order(order) => order.details(),
            Asked::Verb { goes_to, .. } => {
                goes_to.iter().map(|to| Line::plain(format!("it goes to {to}"))).collect()
            }
            Asked::Release { kind, sent_to, records, form, .. } => {
                let warned = form.as_ref().and_then(|form| form.exposed);
                let warned = warned.map(|exposed| Line::warning(exposed.to_string()));
                let into = match form {
                    Some(form) => format!("into {form}"),
                    None => "into one form for it; another form is asked about".to_owned(),
                };
                let sent = sent_to.iter().map(|origin| Line::plain(format!("it is sent to {origin}")));
                let from = format!("from your {}", records.join(", "));
                let from = (!records.is_empty()).then(|| Line::plain(from));
                let after = (*kind == Kind::Login).then(|| {
                    let text =
                        "once logged in, the agent reads what the account shows, such as your stored address and orders";
                    Line::plain(text.to_owned())
                });
                warned.into_iter().chain([Line::plain(into)]).chain(sent).chain(from).chain(after).collect()
            }
            Asked::Pay { card, page_says, .. } => {
                let with = card.iter().map(|card| Line::plain(format!("with your {card}")));
                with.chain(page_says.iter().map(|line| Line::quoted(line.clone()))).collect()
            }
        }
    }
}

/// Names of fields as a person reads them.
fn names(fields: FieldSet) -> String {
    let names: Vec<String> = fields.iter().map(|field| field.as_str().replace('_', " ")).collect();
    names.join(", ")
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Container { tier, origins, own_browser } => {
                let origins: Vec<String> = origins.iter().map(ToString::to_string).collect();
                let (tier, origins) = (tier.as_str(), origins.join(", "));
                if own_browser.is_some() {
                    return write!(
                        f,
                        "read the tab in front while it shows {origins}, and ask there for your data, up to {tier}"
                    );
                }
                write!(f, "open a {tier} container that can go only to {origins}")
            }
            Asked::Release { kind, fields, to, .. } => {
                write!(f, "fill your {} ({}) into a form of {to}", kind.as_str(), names(*fields))
            }
            Asked::Pay { payee, amount, .. } => write!(f, "pay {amount} to {payee}"),
            Asked::Order(order) => write!(f, "{order}"),
            Asked::Reveal { field, words } => {
                let name = field.as_str().replace('_', " ");
                write!(f, "let the model read \"{}\", which may be your {name}", words.as_str())
            }
            Asked::Verb { verb, page, .. } => {
                write!(f, "let the agent {}", verb.as_str())?;
                page.as_ref().map_or(Ok(()), |page| write!(f, " on {page}"))
            }
        }
    }
}

/// Words of the user's own prompt, shown to the user alone. Wiped when dropped, and not in debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct Quoted(Zeroizing<String>);

impl Quoted {
    /// Quotes these words.
    pub fn new(words: &str) -> Quoted {
        Quoted(Zeroizing::new(words.to_owned()))
    }

    /// The words.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Quoted(..)")
    }
}

/// A line of the prompt as a terminal may show it: pages and prompts word a part of it.
fn shown(line: &impl fmt::Display) -> String {
    visible(&line.to_string(), LONGEST_LINE)
}

/// An origin as a person reads it: first the name that somebody registered, then all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteName {
    /// The registered name, which says whose the site is; the host where nobody registers it.
    pub name: String,
    /// The whole origin, where it says more than the name does.
    pub whole: Option<String>,
}

impl SiteName {
    /// The name of an origin.
    pub fn of(origin: &Origin) -> SiteName {
        let (_, name) = parts_of_host(origin.host());
        let whole = origin.to_string();
        let says_more = whole.strip_prefix("https://") != Some(name);
        SiteName { name: name.to_owned(), whole: says_more.then_some(whole) }
    }
}

impl fmt::Display for SiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.whole.iter().try_for_each(|whole| write!(f, "  ({whole})"))
    }
}

/// Whose a line of a question is, and so how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The guard's, before everything else.
    Warning,
    /// The guard's.
    Plain,
    /// The page's: not checked by anybody.
    Quoted,
}

/// A line that belongs to a thing that is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Whose it is.
    pub weight: Weight,
    /// The words.
    pub text: String,
}

impl Line {
    /// A line of the guard's that warns.
    pub fn warning(text: String) -> Line {
        Line { weight: Weight::Warning, text }
    }

    /// A line of the guard's.
    pub fn plain(text: String) -> Line {
        Line { weight: Weight::Plain, text }
    }

    /// A line of the page's.
    pub fn quoted(text: String) -> Line {
        Line { weight: Weight::Quoted, text }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.weight {
            Weight::Warning | Weight::Plain => f.write_str(&self.text),
            Weight::Quoted => write!(f, "the page says: {}", self.text),
        }
    }
}

/// Something the guard noticed that the user should know before answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The agent chose the sites and what it asks for, not the user.
    ChosenByTheAgent,
    /// Something about a host: a look-alike, letters of another script, an IP address.
    Host(String),
    /// The form stands in a frame of another site.
    InFrame {
        /// The site whose name the browser shows.
        top: Origin,
    },
    /// The form is sent to another origin than the one it stands on.
    SentElsewhere {
        /// Where.
        to: Origin,
    },
    /// The form takes a card, and no amount can be checked.
    NoAmount {
        /// What the page says is to be paid. The page's words.
        page_says: Vec<String>,
    },
    /// The agent has been refused this often in this task.
    Refusals(u64),
    /// The agent tried to write something that is in the vault.
    Guessed,
    /// Agents did so this often in earlier tasks.
    GuessedBefore(u64),
    /// The page stands in a tab of the user's own browser.
    OwnBrowser,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::ChosenByTheAgent => {
                f.write_str("the agent chose these sites: see that they are those you mean")
            }
            Notice::Host(text) => f.write_str(text),
            Notice::InFrame { top } => write!(f, "the form stands in a frame inside a page of {top}"),
            Notice::SentElsewhere { to } => write!(f, "the form is sent to another site: {to}"),
            Notice::NoAmount { page_says } => {
                f.write_str("the amount cannot be checked: this site can charge any amount")?;
                match page_says.as_slice() {
                    [] => f.write_str("; the page names no total"),
                    lines => write!(f, "; the page says: {}", lines.join(" / ")),
                }
            }
            Notice::Refusals(1) => f.write_str("the agent was refused once in this task"),
            Notice::Refusals(times) => write!(f, "the agent was refused {times} times in this task"),
            Notice::OwnBrowser => f.write_str(
                "this is a tab of your own browser: rules of the browser keep what a page is given from other sites, and no \
                 proxy does; the site can pass it on",
            ),
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
    /// The things asked about; never empty.
    pub asked: Vec<Asked>,
    /// What the guard noticed.
    pub noticed: Vec<Notice>,
    scope: ConsentScope,
    lasting: bool,
    ticket: Ticket,
}

impl ConsentPrompt {
    /// A prompt. `scope` is how long the policy lets a yes stand.
    pub fn new(
        asked: Vec<Asked>,
        noticed: Vec<Notice>,
        scope: ConsentScope,
        ticket: Ticket,
    ) -> ConsentPrompt {
        ConsentPrompt { asked, noticed, scope, lasting: true, ticket }
    }

    /// The same prompt where nothing can be kept beyond the task: no answer is offered that promises more.
    #[must_use]
    pub fn for_this_task_only(mut self) -> ConsentPrompt {
        self.lasting = false;
        self
    }

    /// What the user should know before anything else: what warns of a thing that is asked, and what was noticed.
    pub fn warnings(&self) -> Vec<String> {
        let lines = self.asked.iter().flat_map(Asked::details);
        let warned = lines.filter(|line| line.weight == Weight::Warning).map(|line| line.text);
        let mut all: Vec<String> = Vec::new();
        for warning in warned.chain(self.noticed.iter().map(ToString::to_string)) {
            if !all.contains(&warning) {
                all.push(warning);
            }
        }
        all
    }

    /// Whether something is asked that can be refused for good.
    fn is_about_a_site(&self) -> bool {
        self.asked.iter().any(|asked| matches!(asked, Asked::Release { .. } | Asked::Pay { .. }))
    }

    /// The answer as far as it can stand here.
    fn cut(&self, answer: Answer) -> Answer {
        match answer.within(self.scope) {
            Answer::Site if !self.lasting => Answer::Session,
            Answer::Never if !self.lasting || !self.is_about_a_site() => Answer::No,
            answer => answer,
        }
    }

    /// The answers that are offered, in order. The first is no.
    pub fn choices(&self) -> impl Iterator<Item = Answer> {
        Answer::ALL.into_iter().filter(|answer| self.cut(*answer) == *answer)
    }

    /// What binds an answer to this prompt.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// An answer to this prompt. One that stands longer than the policy allows is cut to what is allowed.
    pub fn answered(&self, answer: Answer) -> Answered {
        Answered::to(&self.ticket, self.cut(answer))
    }
}

impl fmt::Display for ConsentPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "The agent needs your consent to:")?;
        self.warnings().iter().try_for_each(|warning| writeln!(f, "  ! {}", shown(warning)))?;
        for asked in &self.asked {
            writeln!(f, "  - {}", shown(&asked.act()))?;
            asked.sites().iter().try_for_each(|site| writeln!(f, "      {}", shown(site)))?;
            let lines = asked.details();
            let mut rest = lines.iter().filter(|line| line.weight != Weight::Warning);
            rest.try_for_each(|line| writeln!(f, "      {}", shown(line)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::ticket::SubjectOf;
    use super::*;
    use policy_dfa::Millis;

    fn prompt(scope: ConsentScope) -> ConsentPrompt {
        let amount = Money::parse("64.15", sirl::Currency::new("USD").unwrap()).unwrap();
        let payee = Origin::parse("https://shop.example").unwrap();
        let page_says = vec!["1 x kettle".into()];
        let asked = vec![Asked::Pay { payee, amount, card: Some("card:personal".into()), page_says }];
        let ticket = Ticket::new([0; 16], SubjectOf::policy(&[0; 32]).finish(), Millis(0));
        ConsentPrompt::new(asked, vec![Notice::Refusals(2)], scope, ticket)
    }

    #[test]
    fn a_prompt_says_who_how_much_and_what_was_noticed() {
        let text = prompt(ConsentScope::EveryTime).to_string();
        assert!(text.contains("- pay 64.15 USD to:\n      shop.example\n"), "{text}");
        assert!(text.contains("with your card:personal"), "{text}");
        assert!(text.contains("the page says: 1 x kettle"), "{text}");
        assert!(text.contains("! the agent was refused 2 times"), "{text}");
    }

    #[test]
    fn warnings_come_first_and_each_site_in_a_line_of_its_own_with_its_registered_name_first() {
        let origins = ["https://shop.example", "https://shop.example.evil.co.uk:8443", "http://127.0.0.1"];
        let origins = origins.map(|origin| Origin::parse(origin).unwrap()).to_vec();
        let container = Asked::Container { tier: Container::T2, origins, own_browser: None };
        let ticket = Ticket::new([0; 16], SubjectOf::policy(&[0; 32]).finish(), Millis(0));
        let noticed = vec![Notice::ChosenByTheAgent];
        let text = ConsentPrompt::new(vec![container], noticed, ConsentScope::Session, ticket).to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(lines[1], "! the agent chose these sites: see that they are those you mean");
        assert_eq!(lines[2], "- open a T2 container that can go only to:");
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
