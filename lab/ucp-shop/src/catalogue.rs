//! What is sold, and the ways of delivery.

/// A product of the shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// The shop's name of it.
    pub id: String,
    /// The title that people read.
    pub title: String,
    /// The price of a piece, in cents of test money. The types of price and stock are small, so that no sum of an order overflows.
    pub price: u32,
    /// The number of pieces that are left.
    pub stock: u16,
}

/// A way of delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) price: u32,
}

/// The ways of delivery that the shop has.
pub(crate) const DELIVERIES: [Delivery; 2] = [
    Delivery { id: "standard", title: "Standard", price: 500 },
    Delivery { id: "express", title: "Express", price: 1500 },
];
