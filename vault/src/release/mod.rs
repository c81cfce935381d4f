//! The methods that release values. Each consumes a grant, whether it succeeds or not.
//!
//! | module | subject |
//! |---|---|
//! | [`error`] | the errors of a release, and the rule on containers |
//! | [`supply`] | the record that supplies a field |
//! | [`open`] | values for a form, a request, a payment or a model |
//! | `order` | values and signing keys for an order by a shop's own protocol |
//!
//! Inside: `asking` (what the placed controls ask for), `placeholder` (text that is in a form in place of a value).

mod asking;
pub mod error;
mod open;
mod order;
mod placeholder;
pub(crate) mod supply;

pub use error::ReleaseError;
pub use open::{ExposedCard, SealedCard, ValuesForModel, WIRE_VALID_MS};
pub use order::{ExposedOrderData, SealedMandate, SealedOrderData};
