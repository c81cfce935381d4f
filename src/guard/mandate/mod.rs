//! A mandate: the user's yes, given with the task, to one purchase within bounds that stand in the user's own words.
//!
//! Where the policy says `unless mandated`, it takes the place of the question about the payment. It holds only while nothing happened
//! that the user's words do not name; in every other case the question is asked as without it. The policy still has to grant the
//! purchase, the score of what the agent was told can take the mandate back, and the browser's payment request carries the amount that
//! is checked.
//!
//! | module | subject |
//! |---|---|
//! | `acts` | whether the user's words name what the agent sets |
//! | `lines` | whether the page's lines name the item and explain the amount |
//! | `words` | the words of such lines |

mod acts;
mod lines;
mod words;

use std::fmt;

use browser_signals::{Observed, Origin, Snapshot, Verb};
use sirl::{Kind, Money};

use crate::consent::SeenOffer;
use crate::consent::order::{FilledAddress, Filling, RecordedAction};
use crate::intake::{Intake, Wish};
pub(crate) use lines::{amount_as_written, greatest_amount, stated_total};

/// The user's yes to one purchase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mandate {
    payee: Origin,
    ceiling: Money,
    wish: Wish,
    /// The record that the goods go to.
    record: String,
    /// The price of one, as the first page with the item named it, in minor units.
    price: Option<u64>,
    /// Why it holds no more, if it does not.
    ended: Option<NotCovered>,
}

/// Why a mandate does not cover a purchase. It is for the user alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotCovered {
    /// It was used: it is for one purchase.
    Used,
    /// The user was asked about a payment before, whatever they answered.
    Asked,
    /// The user refused a request in which something of the task was to leave.
    Refused,
    /// The payee, the currency or the amount is another one.
    OutOfBounds,
    /// The agent or the page set something that the user's words do not name.
    SetMore,
    /// The page does not show the address of the mandate, filled by the guard, and no other.
    OtherAddress,
    /// The page speaks of a cost that comes again.
    Recurs,
    /// The page's lines name another item, another number or price, or do not add up to the amount.
    OtherLines,
    /// The shop did not sign what it offers.
    Unsigned,
}

impl fmt::Display for NotCovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotCovered::Used => "the purchase that you agreed to with the task was made or tried already",
            NotCovered::Asked => "you were asked about a payment in this task before",
            NotCovered::Refused => "you refused to send something in this task",
            NotCovered::OutOfBounds => "this is not within what you agreed to with the task",
            NotCovered::SetMore => "more was set on this site than your words name",
            NotCovered::OtherAddress => {
                "the page does not show that it goes to the address that you agreed to with the task"
            }
            NotCovered::Recurs => "the page speaks of a cost that comes again",
            NotCovered::OtherLines => {
                "the page does not add up to what you agreed to with the task: see its lines"
            }
            NotCovered::Unsigned => "the shop does not sign what it offers",
        })
    }
}

/// An order as the guard sees it, before the payment.
pub struct SeenOrder<'a> {
    /// The origin of the page that asks for the payment.
    pub payee: &'a Origin,
    /// The amount that is claimed.
    pub amount: Option<Money>,
    /// The text of the payee's page that the agent read last, as a person sees it.
    pub page: &'a str,
    /// The addresses that the guard filled there.
    pub addresses: &'a [FilledAddress],
    /// Whether the page shows the street of the mandate's record, and its postal code or city.
    pub shows_address: bool,
    /// The recorded actions.
    pub actions: &'a [RecordedAction],
    /// Whether an action waits to be shown.
    pub is_unseen: bool,
    /// Whether the page speaks of a recurrent cost.
    pub recurs: bool,
}

/// An offer of a shop for an order by its own protocol, before it is bought. One that the shop did not sign is never covered.
pub struct ShopOffer<'a> {
    /// The shop.
    pub shop: &'a Origin,
    /// What it signed.
    pub offer: &'a SeenOffer,
    /// The records that the goods go to.
    pub records: &'a [String],
    /// The recorded actions on its pages.
    pub actions: &'a [RecordedAction],
    /// Whether an action waits to be shown.
    pub is_unseen: bool,
    /// Whether the shop's page or the offer speaks of a recurrent cost.
    pub recurs: bool,
}

impl Mandate {
    /// The mandate that the user's own words can give: one site, one item, a ceiling, and one address that the goods go to. `records`
    /// are the records that would supply the address.
    pub fn of(intake: &Intake, records: &[String]) -> Option<Mandate> {
        let ([payee], [record]) = (intake.origins.as_slice(), records) else { return None };
        let buys = intake.kinds.contains(&Kind::Purchase);
        let (ceiling, wish) = (intake.budget.filter(|_| buys)?, intake.wish.clone()?);
        Some(Mandate {
            payee: payee.clone(),
            ceiling,
            wish,
            record: record.clone(),
            price: None,
            ended: None,
        })
    }

    /// The only payee.
    pub fn payee(&self) -> &Origin {
        &self.payee
    }

    /// The most that is paid.
    pub const fn ceiling(&self) -> Money {
        self.ceiling
    }

    /// What is bought.
    pub const fn wish(&self) -> &Wish {
        &self.wish
    }

    /// The record that the goods go to.
    pub fn record(&self) -> &str {
        &self.record
    }

    /// Takes the price of the item from a page of the payee that the agent was told. The first price counts.
    pub fn told(&mut self, origin: &Origin, text: &str) {
        if self.price.is_none() && *origin == self.payee {
            self.price = lines::unit_price(text, &self.wish, self.ceiling.currency);
        }
    }

    /// Takes an action of the agent, before it is carried out.
    pub fn acted(&mut self, verb: &Verb, page: &Observed<Snapshot>, is_filled: bool) {
        if !acts::is_named(verb, page, &self.wish, is_filled) {
            self.end(NotCovered::SetMore);
        }
    }

    /// Ends it. The first reason stays.
    pub fn end(&mut self, why: NotCovered) {
        self.ended.get_or_insert(why);
    }

    /// Whether it covers an order.
    ///
    /// # Errors
    /// The first reason why it does not.
    pub fn covers(&self, order: &SeenOrder<'_>) -> Result<(), NotCovered> {
        if let Some(why) = self.ended {
            return Err(why);
        }
        let amount = order.amount.ok_or(NotCovered::OutOfBounds)?;
        let is_within = amount.currency == self.ceiling.currency && amount.minor <= self.ceiling.minor;
        if *order.payee != self.payee || !is_within {
            return Err(NotCovered::OutOfBounds);
        }
        if order.is_unseen || !order.actions.iter().all(|action| acts::is_named_action(action, &self.wish)) {
            return Err(NotCovered::SetMore);
        }
        let is_shown = |it: &FilledAddress| it.record == self.record && it.state == Filling::Shown;
        if !order.shows_address || order.addresses.is_empty() || !order.addresses.iter().all(is_shown) {
            return Err(NotCovered::OtherAddress);
        }
        if order.recurs {
            return Err(NotCovered::Recurs);
        }
        let price = self.price.ok_or(NotCovered::OtherLines)?;
        let is_explained = lines::explain(order.page, &self.wish, price, amount, self.payee.host());
        is_explained.then_some(()).ok_or(NotCovered::OtherLines)
    }

    /// Whether it covers an offer of a shop: the shop signed it, its one line is the item, in its number, for the price that a page of the shop named,
    /// delivered to the record, and within the ceiling with delivery and taxes. A fee, and what the shop says beside the offer, is something that only the user can judge.
    ///
    /// # Errors
    /// The first reason why it does not.
    pub fn covers_offer(&self, signed: &ShopOffer<'_>) -> Result<(), NotCovered> {
        if let Some(why) = self.ended {
            return Err(why);
        }
        let ShopOffer { shop, offer, records, actions, is_unseen, recurs } = signed;
        let is_within =
            offer.total.currency == self.ceiling.currency && offer.total.minor <= self.ceiling.minor;
        if **shop != self.payee || !is_within {
            return Err(NotCovered::OutOfBounds);
        }
        if *is_unseen || !actions.iter().all(|action| acts::is_named_action(action, &self.wish)) {
            return Err(NotCovered::SetMore);
        }
        if **records != [self.record.as_str()] {
            return Err(NotCovered::OtherAddress);
        }
        if *recurs {
            return Err(NotCovered::Recurs);
        }
        // Without the shop's signature nobody can prove what it offered, so the user has to see it.
        if !offer.is_signed {
            return Err(NotCovered::Unsigned);
        }
        // Whoever sells names the shop's host, or the user is asked about who it is.
        if !offer.seller.to_lowercase().contains(self.payee.host()) {
            return Err(NotCovered::OtherLines);
        }
        let [line] = offer.lines.as_slice() else { return Err(NotCovered::OtherLines) };
        let is_price = self.price == Some(line.price.minor) && !offer.has_other_costs;
        let is_line =
            line.quantity == self.wish.quantity && lines::is_item(&line.title, &self.wish) && is_price;
        if is_line && offer.warnings.is_empty() { Ok(()) } else { Err(NotCovered::OtherLines) }
    }
}
