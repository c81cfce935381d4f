//! What is sold for test money. The ledger is the only record of a payment: no money moves anywhere.

use std::num::NonZeroU32;

use checkout_protocols::{Amount, Merchant};

use crate::address::{Address, Buyer};

/// A line that was sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoldLine {
    /// The shop's name of the item.
    pub item: String,
    /// The title that people read.
    pub title: String,
    /// The number of pieces.
    pub quantity: NonZeroU32,
    /// The price of a piece, in cents.
    pub price: u32,
}

/// An order that was sold and paid in test money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sale {
    /// The name of the order.
    pub order: String,
    /// The name of the checkout session.
    pub session: String,
    /// Who was paid.
    pub payee: Merchant,
    /// What was sold.
    pub lines: Vec<SoldLine>,
    /// What was paid, in test money.
    pub total: Amount,
    /// Where the goods go.
    pub destination: Address,
    /// Who bought, as far as the shop was told.
    pub buyer: Option<Buyer>,
    /// When, in seconds since 1970.
    pub at: u64,
}
