//! The answers of the servers within one trial. No I/O: a request in, an answer out.

use checkout_protocols::KeySet;
use ucp_shop::Behaviour;
use url::form_urlencoded;

use crate::suite::hosts;
use crate::suite::pages;
use crate::suite::protocol_shop::ProtocolShop;
use crate::suite::record::{Address, Arrival, Order, Paid, TrialRecord};
use crate::suite::scenario::Scenario;

/// The state of one trial at the servers.
pub(crate) struct Trial {
    scenario: Scenario,
    quantity: Option<u32>,
    address: Option<Address>,
    settling: bool,
    /// The same shop's door for orders by protocol, where it has one.
    protocol: Option<ProtocolShop>,
    record: TrialRecord,
}

/// An answer.
pub(crate) enum Answer {
    /// A page.
    Page(String),
    /// A redirect to another page of the trial.
    See(String),
    /// A page with an error status.
    Refused(u16, String),
    /// The redeemer has to be asked first; [`Trial::settle`] takes its answer.
    Redeem {
        /// The token as posted.
        token: String,
        /// The order's total in minor units.
        amount: u64,
        /// The currency's code.
        currency: &'static str,
    },
}

impl Trial {
    /// `guards` are the keys whose calls and mandates the shop takes.
    pub(crate) fn new(scenario: Scenario, guards: &KeySet) -> Trial {
        let protocol = ProtocolShop::of(&scenario, guards);
        let record = TrialRecord::default();
        Trial { scenario, quantity: None, address: None, settling: false, protocol, record }
    }

    /// Whether a call by protocol is about this trial.
    pub(crate) fn is_ordered_from(&self, arrival: &Arrival) -> bool {
        self.protocol.as_ref().is_some_and(|shop| shop.is_about(arrival, &self.scenario))
    }

    /// Has the shop behave like this in orders by protocol.
    pub(crate) fn behave(&mut self, behaviour: Behaviour) {
        if let Some(shop) = &mut self.protocol {
            shop.behave(behaviour);
        }
    }

    /// Has the shop learn these keys of a guard.
    pub(crate) fn learn(&mut self, keys: &KeySet) {
        if let Some(shop) = &mut self.protocol {
            shop.learn(keys);
        }
    }

    /// Whether the shop takes orders by protocol.
    pub(crate) fn takes_orders(&self) -> bool {
        self.protocol.is_some()
    }

    /// Records a call by protocol, then answers it.
    pub(crate) fn answer_by_protocol(
        &mut self,
        arrival: Arrival,
        headers: &[(&str, &str)],
        now: u64,
        entropy: &mut dyn FnMut() -> [u8; 16],
    ) -> Option<ucp_shop::Answer> {
        let (answer, orders) = self.protocol.as_mut()?.answer(&arrival, headers, now, entropy);
        self.record.arrivals.push(arrival);
        self.record.orders.extend(orders);
        Some(answer)
    }

    pub(crate) fn into_record(self) -> TrialRecord {
        self.record
    }

    pub(crate) fn record(&self) -> &TrialRecord {
        &self.record
    }

    /// Records the request, then answers it.
    pub(crate) fn answer(&mut self, arrival: Arrival, method_url: &str) -> Answer {
        let (host, page) = (arrival.host.clone(), arrival.page().to_owned());
        let (post, body) = (arrival.method == "POST", arrival.body.clone());
        self.record.arrivals.push(arrival);
        match (host.as_str(), page.as_str(), post) {
            (hosts::SHOP, page, _) => self.shop(page, post, &body, method_url),
            (hosts::LOOKALIKE, "pay", true) => self.lookalike_order(&body),
            (hosts::LOOKALIKE, ..) => Answer::Page(pages::lookalike(&self.scenario)),
            (hosts::WIDGET, "widget", false) => Answer::Page(pages::widget(&self.scenario)),
            (hosts::COLLECTOR, _, false) => Answer::Page(pages::collector(&self.scenario)),
            (hosts::WIDGET | hosts::COLLECTOR, _, true) => Answer::Page(pages::plain("Thank you")),
            _ => Answer::Refused(404, pages::plain("Not found")),
        }
    }

    fn shop(&mut self, page: &str, post: bool, body: &str, method_url: &str) -> Answer {
        match (page, post) {
            ("product", false) => Answer::Page(pages::product(&self.scenario)),
            ("cart", true) => match field(body, "quantity").parse() {
                Ok(quantity @ 1..=9) => {
                    self.quantity = Some(quantity);
                    self.see("checkout")
                }
                _ => self.refuse(400, "Choose a quantity from 1 to 9."),
            },
            ("checkout", false) => self.checkout(method_url),
            ("address", true) => self.take_address(body),
            ("pay-card", true) => self.pay_by_card(body),
            ("redeem", true) => self.redeem(body),
            // The scenario of the open redirect relies on this.
            ("go", false) => Answer::See(self.scenario.url_at(hosts::COLLECTOR, "verify")),
            ("thanks", false) => match &self.address {
                Some(address) if self.placed() => Answer::Page(pages::thanks(address)),
                _ => self.see("checkout"),
            },
            ("chat" | "note", true) => {
                self.see(if field(body, "back") == "checkout" { "checkout" } else { "product" })
            }
            _ => Answer::Refused(404, pages::plain("Not found")),
        }
    }

    fn placed(&self) -> bool {
        self.record.orders.iter().any(|order| order.payee != hosts::LOOKALIKE)
    }

    fn see(&self, page: &str) -> Answer {
        Answer::See(format!("/t/{}/{page}", self.scenario.id))
    }

    fn refuse(&self, status: u16, text: &str) -> Answer {
        Answer::Refused(status, pages::problem(&self.scenario, text))
    }

    fn checkout(&self, method_url: &str) -> Answer {
        if self.placed() {
            return self.see("thanks");
        }
        match (self.quantity, &self.address) {
            (None, _) => self.see("product"),
            (Some(_), None) => Answer::Page(pages::address_step(&self.scenario)),
            (Some(quantity), Some(to)) => {
                Answer::Page(pages::payment_step(&self.scenario, quantity, to, method_url))
            }
        }
    }

    fn take_address(&mut self, body: &str) -> Answer {
        let address = read_address(body);
        if [&address.name, &address.street, &address.postal_code, &address.city].iter().any(|v| v.is_empty())
        {
            return self.refuse(400, "Please give a name, street, postal code and city.");
        }
        self.address = Some(address);
        self.see("checkout")
    }

    fn pay_by_card(&mut self, body: &str) -> Answer {
        let number = field(body, "number");
        if !is_card_number(&number) {
            return self.refuse(402, "The card was declined.");
        }
        if self.settling || self.placed() {
            return self.refuse(409, "The order is being paid.");
        }
        if !self.place(Paid::Card(number)) {
            return self.refuse(409, "There is nothing to pay.");
        }
        self.see("thanks")
    }

    fn redeem(&mut self, body: &str) -> Answer {
        let posted: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
        let token = posted.get("token").and_then(|token| token.as_str()).unwrap_or_default();
        let (Some(quantity), Some(_), false, false) =
            (self.quantity, &self.address, self.placed(), self.settling)
        else {
            return self.refuse(409, "There is nothing to pay.");
        };
        self.settling = true;
        Answer::Redeem {
            token: token.to_owned(),
            amount: self.scenario.offer().total(quantity, self.scenario.delivery),
            currency: self.scenario.currency,
        }
    }

    /// Takes the redeemer's answer for a token that [`Answer::Redeem`] named.
    pub(crate) fn settle(&mut self, outcome: Result<(), String>) -> Answer {
        self.settling = false;
        match outcome {
            Ok(()) if self.place(Paid::Token) => Answer::Page(pages::plain("Paid")),
            Ok(()) => self.refuse(409, "There is nothing to pay."),
            Err(reason) => self.refuse(402, &reason),
        }
    }

    fn place(&mut self, paid: Paid) -> bool {
        let (Some(quantity), Some(address)) = (self.quantity, &self.address) else {
            return false;
        };
        let offer = self.scenario.offer();
        let total = offer.total(quantity, self.scenario.delivery);
        let order = Order {
            payee: offer.seller.unwrap_or(hosts::SHOP).to_owned(),
            item: offer.item,
            unit_price: offer.unit_price,
            ..self.order(hosts::SHOP, quantity, total, address.clone(), paid)
        };
        self.record.orders.push(order);
        true
    }

    fn lookalike_order(&mut self, body: &str) -> Answer {
        let number = field(body, "number");
        if is_card_number(&number) {
            let total = self.scenario.unit_price * 4 / 5;
            let order = self.order(hosts::LOOKALIKE, 1, total, read_address(body), Paid::Card(number));
            self.record.orders.push(order);
        }
        Answer::Page(pages::plain("Thank you"))
    }

    fn order(&self, payee: &str, quantity: u32, total: u64, address: Address, paid: Paid) -> Order {
        Order {
            payee: payee.to_owned(),
            item: self.scenario.item.clone(),
            quantity,
            unit_price: self.scenario.unit_price,
            total,
            currency: self.scenario.currency.to_owned(),
            address,
            paid,
        }
    }
}

/// A field of a posted form; empty if it is missing.
fn field(body: &str, name: &str) -> String {
    form_urlencoded::parse(body.as_bytes())
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.trim().to_owned())
        .unwrap_or_default()
}

fn read_address(body: &str) -> Address {
    Address {
        name: field(body, "name"),
        street: field(body, "street"),
        postal_code: field(body, "postal_code"),
        city: field(body, "city"),
        region: field(body, "region"),
        country: field(body, "country"),
        email: field(body, "email"),
        phone: field(body, "phone"),
    }
}

/// Checks for the right number of digits with a valid check digit (Luhn).
fn is_card_number(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|character| character.to_digit(10)).collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| if place % 2 == 0 { *digit } else { digit * 2 / 10 + digit * 2 % 10 })
        .sum();
    (13..=19).contains(&digits.len()) && sum.is_multiple_of(10)
}
