//! What an order, or a request that may be one, holds of the agent's doing: as the user is told of it.

use std::fmt;

use browser_signals::Origin;
use browser_signals::meaning::{Decisive, decisive};

use super::Line;
use super::visible::visible;

/// The longest label that is shown, in characters.
const LONGEST_LABEL: usize = 80;

/// One thing that the agent set at a site, or that became of what the guard filled there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// The site.
    pub site: Origin,
    /// What the page calls the control.
    pub label: String,
    /// What was done with it.
    pub act: Act,
}

/// What was done with a control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// The agent typed this.
    Typed(String),
    /// The agent chose this.
    Chose(String),
    /// The agent set a tick, or took it away.
    Ticked(bool),
    /// The agent clicked it.
    Clicked,
    /// The agent sent the form that it belongs to.
    Sent,
    /// The agent pressed this key.
    Pressed(String),
    /// The agent opened this address.
    Opened(String),
    /// The page changed it after the guard had filled it.
    Changed,
}

impl Deed {
    /// Whether it is about something that comes again, such as a subscription.
    pub fn recurs(&self) -> bool {
        let said = match &self.act {
            Act::Typed(text) | Act::Chose(text) | Act::Opened(text) => text,
            _ => "",
        };
        decisive(&[&self.label]) == Some(Decisive::Recurs) || decisive(&[said]) == Some(Decisive::Recurs)
    }
}

impl Deed {
    /// Whether its label speaks of where goods go or who gets them.
    fn is_of_goods(&self) -> bool {
        matches!(decisive(&[&self.label]), Some(Decisive::Address | Decisive::Delivery | Decisive::Person))
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = match visible(&self.label, LONGEST_LABEL) {
            label if label.is_empty() => "something without a name".to_owned(),
            label => format!("\"{label}\""),
        };
        match &self.act {
            Act::Typed(text) => write!(f, "the agent typed \"{text}\" into {label}"),
            Act::Chose(option) => write!(f, "the agent chose \"{option}\" in {label}"),
            Act::Ticked(true) => write!(f, "the agent ticked {label}"),
            Act::Ticked(false) => write!(f, "the agent took the tick off {label}"),
            Act::Clicked => write!(f, "the agent clicked {label}"),
            Act::Sent => write!(f, "the agent sends the form of {label}"),
            Act::Pressed(key) => {
                write!(f, "the agent pressed the key {key}, which may change what is chosen")
            }
            Act::Opened(address) => write!(f, "the agent opened \"{address}\""),
            Act::Changed => write!(f, "the page changed {label} after Portcullis filled it"),
        }
    }
}

/// What goes out with an order, or with a request that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The site that is paid, or that the request goes to.
    pub site: Origin,
    /// Where requests go that wait for the answer; none beside a payment.
    pub waiting: Vec<Waiting>,
    /// The address that the guard filled, if it filled one.
    pub address: Vec<FilledAddress>,
    /// What the agent set, and what the page changed.
    pub deeds: Vec<Deed>,
    /// Texts of the agent that the user said no to, or that were stopped by such a no. The guard stops them where they stand
    /// readable; a page has seen them all the same.
    pub refused: Vec<Deed>,
    /// Lines of the page that speak of something that comes again. The page's words.
    pub page_says: Vec<String>,
}

/// Where a request goes that waits for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The site.
    pub to: Origin,
    /// The path there, as the page wrote it.
    pub path: String,
}

/// A record that the guard fills an address from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledAddress {
    /// The record, such as `address:home`.
    pub record: String,
    /// How far that is.
    pub state: Filling,
}

/// How far an address is filled. For the user alone: the agent is not told what a page shows of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filling {
    /// The same question asks to fill it.
    Asked,
    /// It is filled, and the page that was read last does not show it.
    NotShown,
    /// It is filled, and the page that was read last shows it.
    Shown,
}

impl Order {
    /// What is asked, without the site.
    pub fn act(&self) -> String {
        let act = if self.waiting.is_empty() {
            "order what is set there, from:"
        } else {
            "send what the agent set, to:"
        };
        act.to_owned()
    }

    /// The lines that say what goes out. Those that decide where goods go, who gets them or what recurs warn.
    pub fn details(&self) -> Vec<Line> {
        let waiting = self
            .waiting
            .iter()
            .map(|it| Line::plain(format!("it goes to {}{}", it.to, visible(&it.path, LONGEST_LABEL))));
        // A chat that waits is no order.
        let is_order = self.waiting.is_empty() || self.deeds.iter().any(Deed::is_of_goods);
        let none = (is_order && self.address.is_empty()).then(|| {
            let text = "Portcullis filled no address: the goods go where the site or the agent says";
            Line::warning(text.to_owned())
        });
        let address = self.address.iter().map(|FilledAddress { record, state }| {
            let filled = match state {
                Filling::Asked => "is filled by Portcullis in this order, if you agree",
                Filling::NotShown => {
                    "was filled by Portcullis in this order; the page that was read last does not show it"
                }
                Filling::Shown => "was filled by Portcullis in this order; the page shows it",
            };
            Line::plain(format!("your {record} {filled}"))
        });
        let deeds = self.deeds.iter().map(|deed| {
            let text = match (deed.recurs(), deed.site == self.site) {
                (true, _) => format!("this may come again and cost again: {deed}"),
                (false, true) => deed.to_string(),
                (false, false) => format!("{deed}, at {}", deed.site),
            };
            let warns = deed.recurs() || deed.is_of_goods() || deed.act == Act::Changed;
            if warns { Line::warning(text) } else { Line::plain(text) }
        });
        let refused = self
            .refused
            .iter()
            .map(|deed| Line::warning(format!("this was stopped, and the page may still send it: {deed}")));
        let recurs = (!self.page_says.is_empty()).then(|| {
            Line::warning("the page speaks of something that may come again and cost again".to_owned())
        });
        let says = self.page_says.iter().cloned().map(Line::quoted);
        waiting.chain(none).chain(address).chain(deeds).chain(refused).chain(recurs).chain(says).collect()
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.waiting.is_empty() {
            return write!(f, "order from {} what is set there", self.site);
        }
        write!(f, "send to {} what the agent set", self.site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deed(label: &str, act: Act) -> Deed {
        Deed { site: Origin::parse("https://shop.example").unwrap(), label: label.to_owned(), act }
    }

    fn order(deeds: Vec<Deed>) -> Order {
        let site = Origin::parse("https://shop.example").unwrap();
        Order {
            site,
            waiting: Vec::new(),
            address: Vec::new(),
            deeds,
            refused: Vec::new(),
            page_says: Vec::new(),
        }
    }

    fn said(order: &Order) -> String {
        order.details().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_order_says_where_the_goods_go_and_what_recurs() {
        let ticked = deed("Monthly subscription", Act::Ticked(true));
        let mut order = order(vec![deed("Quantity", Act::Chose("2".into())), ticked]);
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
    fn a_message_that_waits_is_no_order() {
        let mut order = order(vec![deed("Message", Act::Typed("hello".into()))]);
        order.waiting.push(Waiting { to: order.site.clone(), path: "/chat".into() });
        assert_eq!(order.to_string(), "send to https://shop.example what the agent set");
        let lines = ["it goes to https://shop.example/chat", "the agent typed \"hello\" into \"Message\""];
        assert_eq!(said(&order), lines.join("\n"));
    }
}
