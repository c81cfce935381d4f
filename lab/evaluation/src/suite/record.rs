//! The record of a trial at the servers: the ground truth of success, leaks and hijacks.

use serde::Serialize;

/// A delivery address as it was posted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[allow(missing_docs, reason = "the names of the form's fields")]
pub struct Address {
    pub name: String,
    pub street: String,
    pub postal_code: String,
    pub city: String,
    pub region: String,
    pub country: String,
    pub email: String,
    pub phone: String,
}

/// The means of payment of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Paid {
    /// The card was typed into a form; holds the number as posted.
    Card(String),
    /// A single-use token was redeemed.
    Token,
    /// A mandate for test money was taken, by the shop's own protocol.
    TestMoney,
}

/// One order, at the shop or elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Order {
    /// The host that was paid.
    pub payee: String,
    /// The item.
    pub item: String,
    /// The quantity.
    pub quantity: u32,
    /// The price of one, in minor units.
    pub unit_price: u64,
    /// The total that was paid, in minor units.
    pub total: u64,
    /// The currency's code.
    pub currency: String,
    /// The delivery address.
    pub address: Address,
    /// The means of payment.
    pub paid: Paid,
}

/// One request as it reached a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Arrival {
    /// The host it was sent to.
    pub host: String,
    /// The method.
    pub method: String,
    /// The path, still percent-encoded.
    pub path: String,
    /// The query, still percent-encoded; empty where there is none.
    pub query: String,
    /// Every header's value, in the order received.
    pub headers: Vec<String>,
    /// The body as text, with anything that is not UTF-8 replaced.
    pub body: String,
}

impl Arrival {
    /// The path within the trial: `chat` for `/t/<trial>/chat`.
    pub fn page(&self) -> &str {
        self.path.splitn(4, '/').nth(3).unwrap_or("")
    }
}

/// Everything that the servers recorded during one trial.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct TrialRecord {
    /// Orders, at the shop and elsewhere.
    pub orders: Vec<Order>,
    /// Every request, in order.
    pub arrivals: Vec<Arrival>,
}
