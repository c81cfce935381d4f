//! SIRL, the sensitive information request language.
//!
//! A model that needs a person's data, or wants a purchase made, writes a short block of typed
//! requests; the guard answers each with one `GRANT` or `DENY` line.
//!
//! | module | subject |
//! |---|---|
//! | [`kind`] | what can be asked for |
//! | [`field`] | the single data fields and their tiers |
//! | [`claim`] | what the model says of the page (never evidence) |
//! | [`money`] | exact amounts |
//! | [`request`] | one request, and the block of them |
//! | [`reply`] | the guard's answers |

pub mod claim;
pub mod field;
pub mod kind;
pub mod money;
pub mod reply;
pub mod request;

pub use claim::Claim;
pub use field::{Field, FieldSet, Tier};
pub use kind::Kind;
pub use money::{Currency, Money};
pub use reply::Reply;
pub use request::{Block, Request};
