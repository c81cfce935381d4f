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

/// What an order costs besides its goods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The tax on the goods, in percent.
    pub tax: u8,
    /// The price of the one way of delivery, in cents. None where the buyer chooses between two.
    pub delivery: Option<u32>,
    /// What the shop adds to each order, in cents.
    pub fee: u32,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms { tax: 8, delivery: None, fee: 0 }
    }
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
