//! Orders by the guard's client at the shop, honest and not: what is bought, how often, and what the client says of it.

mod behaviours;
mod buyer;
mod crashes;
mod lost;
mod unsigned;
