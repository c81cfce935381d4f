//! What a session's buyer wants, found in the catalogue.

use std::num::NonZeroU32;

use crate::address::{Buyer, Destination};
use crate::body::OrderBody;
use crate::catalogue::{Delivery, Product};

/// One line of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) item: String,
    pub(crate) title: String,
    pub(crate) price: u32,
    pub(crate) quantity: NonZeroU32,
}

impl Line {
    /// The price of all its pieces.
    pub(crate) fn total(&self) -> u64 {
        u64::from(self.price) * u64::from(self.quantity.get())
    }
}

/// Why an order has no checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unavailable {
    #[error("Product not found: the shop does not sell one of the items")]
    Item,
    #[error("Insufficient stock: the shop has fewer pieces of one of the items")]
    Stock,
}

impl Unavailable {
    /// UCP's code.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Unavailable::Item => "item_unavailable",
            Unavailable::Stock => "out_of_stock",
        }
    }
}

/// The content of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) lines: Vec<Line>,
    pub(crate) buyer: Option<Buyer>,
    pub(crate) destinations: Vec<Destination>,
    /// The name of the chosen destination, which is one of them.
    pub(crate) destination: Option<String>,
    pub(crate) delivery: Option<Delivery>,
}

impl Order {
    /// Finds what a body wants. A single way of delivery is chosen at once, and so is a single destination.
    pub(crate) fn find(
        body: &OrderBody,
        catalogue: &[Product],
        deliveries: &[Delivery],
    ) -> Result<Order, Unavailable> {
        let mut lines = Vec::new();
        for (index, wanted) in body.line_items.iter().enumerate() {
            let product = catalogue.iter().find(|it| it.id == wanted.item.id).ok_or(Unavailable::Item)?;
            lines.push(Line {
                id: format!("line_{}", index + 1),
                item: product.id.clone(),
                title: product.title.clone(),
                price: product.price,
                quantity: wanted.quantity,
            });
        }
        if !is_in_stock(&lines, catalogue) {
            return Err(Unavailable::Stock);
        }
        let method = body.method();
        let addresses = method.iter().flat_map(|it| &it.destinations).enumerate();
        let destinations: Vec<Destination> = addresses
            .map(|(index, address)| Destination {
                id: format!("dest_{}", index + 1),
                address: address.clone(),
            })
            .collect();
        let destination = match &*destinations {
            [only] => Some(only.id.clone()),
            several => {
                let chosen = method.and_then(|it| it.selected_destination_id.as_ref());
                chosen.filter(|chosen| several.iter().any(|it| it.id == **chosen)).cloned()
            }
        };
        let delivery = match (method, deliveries) {
            (Some(_), [only]) => Some(*only),
            (Some(method), several) => {
                let chosen = method.option();
                several.iter().find(|it| Some(it.id) == chosen).copied()
            }
            (None, _) => None,
        };
        Ok(Order { lines, buyer: body.buyer.clone(), destinations, destination, delivery })
    }
}

/// Whether the shop has all pieces. The lines of one product count together.
pub(crate) fn is_in_stock(lines: &[Line], catalogue: &[Product]) -> bool {
    catalogue.iter().all(|product| {
        let pieces = |line: &&Line| line.item == product.id;
        let wanted: u64 = lines.iter().filter(pieces).map(|line| u64::from(line.quantity.get())).sum();
        wanted <= u64::from(product.stock)
    })
}
