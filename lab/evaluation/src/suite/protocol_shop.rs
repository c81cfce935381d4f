//! The shop's other door: the same shop speaks UCP, for the trials whose agents order by protocol.

use checkout_protocols::{KeySet, SigningKey};
use ucp_shop::{Answer, Behaviour, Method, Product, Request, Sale, Shop, Terms};
use url::Url;

use crate::suite::hosts;
use crate::suite::record::{Address, Arrival, Order, Paid};
use crate::suite::scenario::{Orders, Scenario};

/// The secret of the key that the shop signs with. Its profile says which one it is, so it may be known.
const KEY: [u8; 32] = [0x2c; 32];

/// The shop of one trial, which sells the scenario's item on the scenario's terms.
pub(crate) struct ProtocolShop {
    shop: Shop,
    /// The sales that the trial's record has already.
    recorded: usize,
}

/// The shop's id of the item of a trial.
pub(crate) fn item_id(scenario: &Scenario) -> String {
    format!("{}.1", scenario.id)
}

impl ProtocolShop {
    /// The shop of a trial; none where it takes no orders by protocol. It answers calls and takes mandates under these keys of guards.
    pub(crate) fn of(scenario: &Scenario, guards: &KeySet) -> Option<ProtocolShop> {
        if scenario.orders == Orders::None {
            return None;
        }
        let (key, origin) = (SigningKey::from_bytes(&KEY).ok()?, Url::parse(hosts::SHOP_ORIGIN).ok()?);
        let offer = scenario.offer();
        let cents = |minor: u64| u32::try_from(minor).ok();
        let product = Product {
            id: item_id(scenario),
            title: offer.item.clone(),
            price: cents(offer.unit_price)?,
            stock: 99,
        };
        let terms = Terms { tax: 0, delivery: Some(cents(scenario.delivery)?), fee: cents(offer.add_on)? };
        let mut shop = Shop::new(origin, key, guards.clone(), vec![product]).with_terms(terms);
        shop = match scenario.orders {
            Orders::Unsigned => shop.in_first_form(),
            _ => shop.answering_only(guards.clone()),
        };
        if let Some(seller) = offer.seller {
            shop = shop.named(seller);
        }
        Some(ProtocolShop { shop, recorded: 0 })
    }

    /// Whether a call is about this trial.
    pub(crate) fn is_about(&self, arrival: &Arrival, scenario: &Scenario) -> bool {
        let mut parts = arrival.path.trim_start_matches(ucp_shop::ENDPOINT_PATH).split('/').skip(2);
        match parts.next() {
            Some(session) => self.shop.has_session(session),
            None => arrival.body.contains(&item_id(scenario)),
        }
    }

    /// Learns these keys of a guard.
    pub(crate) fn learn(&mut self, keys: &KeySet) {
        self.shop.learn(keys);
    }

    /// Behaves like this from now on.
    pub(crate) fn behave(&mut self, behaviour: Behaviour) {
        self.shop.behave(behaviour);
    }

    /// Answers a call, and returns the orders that it made.
    pub(crate) fn answer(
        &mut self,
        arrival: &Arrival,
        headers: &[(&str, &str)],
        now: u64,
        entropy: &mut dyn FnMut() -> [u8; 16],
    ) -> (Answer, Vec<Order>) {
        let method = match arrival.method.as_str() {
            "POST" => Method::Post,
            "PUT" => Method::Put,
            _ => Method::Get,
        };
        let request = Request { method, path: &arrival.path, headers, body: arrival.body.as_bytes() };
        let answer = self.shop.answer(&request, now, entropy);
        let new = self.shop.ledger().iter().skip(self.recorded);
        let orders = new.map(|sale| order(sale, self.shop.merchant())).collect();
        self.recorded = self.shop.ledger().len();
        (answer, orders)
    }
}

fn order(sale: &Sale, shop: &checkout_protocols::Merchant) -> Order {
    let (to, buyer) = (&sale.destination, sale.buyer.clone().unwrap_or_default());
    let line = sale.lines.first();
    let is_own = shop.name.contains(hosts::SHOP);
    Order {
        payee: if is_own { hosts::SHOP.to_owned() } else { sale.payee.name.clone() },
        item: line.map(|line| line.title.clone()).unwrap_or_default(),
        quantity: line.map_or(0, |line| line.quantity.get()),
        unit_price: line.map_or(0, |line| u64::from(line.price)),
        total: sale.total.amount,
        currency: String::from(sale.total.currency.clone()),
        address: Address {
            name: format!("{} {}", to.first_name, to.last_name).trim().to_owned(),
            street: to.street_address.clone(),
            postal_code: to.postal_code.clone(),
            city: to.address_locality.clone(),
            region: to.address_region.clone(),
            country: to.address_country.clone(),
            email: buyer.email,
            phone: buyer.phone_number,
        },
        paid: Paid::TestMoney,
    }
}
