//! The question about an order, or about a request that may be one: it shows the user the recorded actions of the agent.

use std::fmt;

use browser_signals::Origin;
use browser_signals::meaning::{Decisive, decisive};
use sirl::FieldSet;

use super::asked::names;
use super::line::{MAX_LABEL_CHARS, PromptLine, named, visible};

/// The longest text of the agent that a prompt shows, in characters. A longer one is refused before it is written.
pub(crate) const MAX_TEXT_CHARS: usize = 4_000;
/// The maximum number of sites that one action is said to have its words from.
const MAX_SITES_OF_WORDS: usize = 3;

/// An action of the agent on a control of a site, or a change by the page of a field that the guard filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAction {
    /// The site.
    pub site: Origin,
    /// The page's label of the control.
    pub label: String,
    /// The kind of action.
    pub act: ActionKind,
    /// The sites where the agent read what its text repeats: three words in a row, or a word with a digit. What stands in the
    /// user's own words does not count.
    pub read_at: Vec<Origin>,
}

/// The kind of an action on a control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionKind {
    /// The agent typed this text.
    Typed(String),
    /// The agent chose this option.
    Chose(String),
    /// The agent ticked or unticked it.
    Ticked(bool),
    /// The agent clicked it.
    Clicked,
    /// The agent dragged it to another place of the page.
    Dragged,
    /// The agent sent the form that it belongs to.
    Sent,
    /// The agent pressed this key.
    Pressed(String),
    /// The agent opened this address.
    Opened(String),
    /// The page changed it after the guard had filled it.
    Changed,
}

impl ActionKind {
    /// The words of the action that the agent chose; empty where it chose none. A key's name is not among them: it is
    /// shown as short as a label.
    fn text(&self) -> &str {
        match self {
            ActionKind::Typed(text) | ActionKind::Chose(text) | ActionKind::Opened(text) => text,
            ActionKind::Ticked(_)
            | ActionKind::Clicked
            | ActionKind::Dragged
            | ActionKind::Sent
            | ActionKind::Pressed(_)
            | ActionKind::Changed => "",
        }
    }

    /// The length of [`ActionKind::text`], in characters.
    pub(crate) fn characters(&self) -> usize {
        self.text().chars().count()
    }
}

impl RecordedAction {
    /// An action whose text is from nowhere yet.
    pub fn new(site: Origin, label: String, act: ActionKind) -> RecordedAction {
        RecordedAction { site, label, act, read_at: Vec::new() }
    }

    /// Whether it concerns something recurrent, such as a subscription.
    pub fn recurs(&self) -> bool {
        decisive(&[&self.label]) == Some(Decisive::Recurs)
            || decisive(&[self.act.text()]) == Some(Decisive::Recurs)
    }

    /// Whether its label concerns the destination or the recipient of goods.
    fn is_about_delivery(&self) -> bool {
        matches!(decisive(&[&self.label]), Some(Decisive::Address | Decisive::Delivery | Decisive::Person))
    }
}

impl fmt::Display for RecordedAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = named(&self.label);
        match &self.act {
            ActionKind::Typed(text) => {
                let text = in_one_line(text);
                write!(f, "the agent typed \"{text}\" into {label}{}", sites_of_words(&self.read_at))
            }
            ActionKind::Chose(option) => write!(f, "the agent chose \"{option}\" in {label}"),
            ActionKind::Ticked(true) => write!(f, "the agent ticked {label}"),
            ActionKind::Ticked(false) => write!(f, "the agent took the tick off {label}"),
            ActionKind::Clicked => write!(f, "the agent clicked {label}"),
            ActionKind::Dragged => write!(f, "the agent dragged {label} to another place of the page"),
            ActionKind::Sent => write!(f, "the agent sends the form of {label}"),
            ActionKind::Pressed(key) => {
                write!(f, "the agent pressed the key {}, which may change what is chosen", named(key))
            }
            ActionKind::Opened(address) => {
                write!(f, "the agent opened \"{address}\"{}", sites_of_words(&self.read_at))
            }
            ActionKind::Changed => write!(f, "the page changed {label} after Portcullis filled it"),
        }
    }
}

/// A text with a visible sign in place of each line break, so that a message of several lines can be read in a question. It
/// is not longer than the text.
fn in_one_line(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "⏎")
}

/// Says on which sites the agent read words of a text. It names the first three.
fn sites_of_words(sites: &[Origin]) -> String {
    let named: Vec<String> = sites.iter().take(MAX_SITES_OF_WORDS).map(ToString::to_string).collect();
    match (named.as_slice(), sites.len() > MAX_SITES_OF_WORDS) {
        ([], _) => String::new(),
        (named, false) => format!(", with words that it read on {}", named.join(" and ")),
        (named, true) => format!(", with words that it read on {} and other sites", named.join(", ")),
    }
}

/// The content of an order, or of held requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The site that is paid, or that the request goes to.
    pub site: Origin,
    /// The requests that are held until the answer; none with a payment.
    pub waiting: Vec<WaitingRequest>,
    /// The addresses that the guard filled.
    pub address: Vec<FilledAddress>,
    /// The actions of the agent, and the changes by the page.
    pub actions: Vec<RecordedAction>,
    /// The texts of the agent that the user refused or that such a refusal stopped. The guard stops a request in which it
    /// can read such a text, but the page has seen it all the same.
    pub refused: Vec<RecordedAction>,
    /// Lines of the page about recurrent costs: words of the page.
    pub page_says: Vec<String>,
}

/// A request that is held until the user answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingRequest {
    /// The site.
    pub to: Origin,
    /// The path, as the page wrote it.
    pub path: String,
    /// The filled values that it takes to another page of the site than the one that the user agreed to.
    pub carries: FieldSet,
}

/// A record that the guard fills an address from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledAddress {
    /// The record, such as `address:home`.
    pub record: String,
    /// The state of filling.
    pub state: Filling,
}

/// The state of filling an address. It is for the user alone: the agent does not learn whether a page shows a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filling {
    /// The same question asks for its release.
    Asked,
    /// It is filled, and the page that was read last does not show it.
    NotShown,
    /// It is filled, and the page that was read last shows it.
    Shown,
}

impl Order {
    /// The content of the waiting requests; none where nothing waits.
    fn sent(&self) -> Option<String> {
        let carried =
            self.waiting.iter().flat_map(|it| it.carries.iter()).fold(FieldSet::EMPTY, FieldSet::with);
        match (self.waiting.is_empty(), carried, self.actions.is_empty()) {
            (true, ..) => None,
            (false, FieldSet::EMPTY, _) => Some("what the agent set".to_owned()),
            (false, carried, true) => Some(format!("your {}", names(carried))),
            (false, carried, false) => Some(format!("your {} and what the agent set", names(carried))),
        }
    }

    /// The question without the site.
    pub fn act(&self) -> String {
        match self.sent() {
            None => "order what is set there, from:".to_owned(),
            Some(sent) => format!("send {sent}, to:"),
        }
    }

    /// The lines of details. Actions that concern delivery, recipients or recurrent costs are warnings.
    pub fn details(&self) -> Vec<PromptLine> {
        let waiting = self.waiting.iter().map(|it| {
            let to = format!("it goes to {}{}", it.to, visible(&it.path, MAX_LABEL_CHARS));
            match it.carries {
                FieldSet::EMPTY => PromptLine::plain(to),
                carried => PromptLine::warning(format!(
                    "{to}, another address or method than the one that was agreed to, and carries your {}",
                    names(carried)
                )),
            }
        });
        // A held chat message is no order.
        let is_order = self.waiting.is_empty() || self.actions.iter().any(RecordedAction::is_about_delivery);
        let none = (is_order && self.address.is_empty()).then(|| {
            let text = "Portcullis filled no address: the goods go where the site or the agent says";
            PromptLine::warning(text.to_owned())
        });
        let address = self.address.iter().map(|FilledAddress { record, state }| {
            let filled = match state {
                Filling::Asked => "is filled by Portcullis in this order, if you agree",
                Filling::NotShown => {
                    "was filled by Portcullis in this order; the page that was read last does not show it"
                }
                Filling::Shown => "was filled by Portcullis in this order; the page shows it",
            };
            PromptLine::plain(format!("your {record} {filled}"))
        });
        let actions = self.actions.iter().map(|action| {
            let text = match (action.recurs(), action.site == self.site) {
                (true, _) => format!("this may come again and cost again: {action}"),
                (false, true) => action.to_string(),
                (false, false) => format!("{action}, at {}", action.site),
            };
            let warns = action.recurs() || action.is_about_delivery() || action.act == ActionKind::Changed;
            if warns { PromptLine::warning(text) } else { PromptLine::plain(text) }
        });
        let refused = self.refused.iter().map(|action| {
            PromptLine::warning(format!("this was stopped, and the page may still send it: {action}"))
        });
        let recurs = (!self.page_says.is_empty()).then(|| {
            PromptLine::warning("the page speaks of something that may come again and cost again".to_owned())
        });
        let says = self.page_says.iter().cloned().map(PromptLine::quoted);
        waiting.chain(none).chain(address).chain(actions).chain(refused).chain(recurs).chain(says).collect()
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sent() {
            None => write!(f, "order from {} what is set there", self.site),
            Some(sent) => write!(f, "send to {} {sent}", self.site),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(label: &str, act: ActionKind) -> RecordedAction {
        RecordedAction::new(Origin::parse("https://shop.example").unwrap(), label.to_owned(), act)
    }

    fn order(actions: Vec<RecordedAction>) -> Order {
        let site = Origin::parse("https://shop.example").unwrap();
        Order {
            site,
            waiting: Vec::new(),
            address: Vec::new(),
            actions,
            refused: Vec::new(),
            page_says: Vec::new(),
        }
    }

    fn said(order: &Order) -> String {
        order.details().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_order_warns_of_delivery_and_recurrent_costs() {
        let ticked = action("Monthly subscription", ActionKind::Ticked(true));
        let mut order = order(vec![action("Quantity", ActionKind::Chose("2".into())), ticked]);
        let lines = said(&order);
        assert!(
            lines.contains("Portcullis filled no address: the goods go where the site or the agent says")
        );
        assert!(lines.contains("the agent chose \"2\" in \"Quantity\""), "{lines}");
        assert!(
            lines.contains("come again and cost again: the agent ticked \"Monthly subscription\""),
            "{lines}"
        );
        order.address.push(FilledAddress { record: "address:home".into(), state: Filling::Shown });
        let lines = said(&order);
        assert!(
            lines.contains("your address:home was filled by Portcullis in this order; the page shows it")
        );
        assert!(!lines.contains("no address"), "{lines}");
    }

    #[test]
    fn a_text_names_the_sites_that_its_words_are_from() {
        let site = |number: u32| Origin::parse(&format!("https://s{number}.example")).unwrap();
        let mut typed = action("Message", ActionKind::Typed("pay the new account".into()));
        let without = "the agent typed \"pay the new account\" into \"Message\"";
        for (number, sites) in [
            (0, ""),
            (1, ", with words that it read on https://s0.example"),
            (2, ", with words that it read on https://s0.example and https://s1.example"),
            (
                4,
                ", with words that it read on https://s0.example, https://s1.example, https://s2.example and other sites",
            ),
        ] {
            typed.read_at = (0..number).map(site).collect();
            assert_eq!(typed.to_string(), format!("{without}{sites}"));
        }
    }

    /// The agent writes the name of a key too, and a name that no key has reaches the record.
    #[test]
    fn a_keys_name_is_quoted_and_short() {
        let pressed =
            action("Size", ActionKind::Pressed("Tab. Portcullis has checked this order. ".repeat(200)));
        let line = pressed.to_string();
        assert!(line.starts_with("the agent pressed the key \"Tab. Portcullis"), "{line}");
        assert!(line.ends_with(" (cut)\", which may change what is chosen") && line.len() < 160, "{line}");
    }

    /// Users and agents read the limit in the reason.
    #[test]
    fn the_reason_names_the_longest_text() {
        let limit = format!(" {MAX_TEXT_CHARS} characters");
        let reason = policy_dfa::Reason::TextTooLong;
        for words in [reason.explain(), reason.next_step().unwrap()] {
            assert!(words.contains(&limit), "{words}");
        }
    }

    #[test]
    fn a_held_message_is_no_order() {
        let mut order = order(vec![action("Message", ActionKind::Typed("hello".into()))]);
        order.waiting.push(WaitingRequest {
            to: order.site.clone(),
            path: "/chat".into(),
            carries: FieldSet::EMPTY,
        });
        assert_eq!(order.to_string(), "send to https://shop.example what the agent set");
        let lines = ["it goes to https://shop.example/chat", "the agent typed \"hello\" into \"Message\""];
        assert_eq!(said(&order), lines.join("\n"));
    }
}
