//! SIRL, the sensitive information request language.
//!
//! A model that needs a user's data, or wants a purchase made, writes a short block of typed
//! requests; the guard answers each with one `GRANT` or `DENY` line.
//!
//! | module | subject |
//! |---|---|
//! | [`kind`] | kinds of requests |
//! | [`field`] | the data fields and their tiers |
//! | [`claim`] | the model's claims about the page (never evidence) |
//! | [`pointers`] | the controls that a model points at (never evidence) |
//! | [`items`] | the items that a purchase names |
//! | [`money`] | exact amounts |
//! | [`request`] | requests and their block; announced requests and their plan |
//! | [`schema`] | the kinds and fields that a deployment declares |
//! | [`stream`] | blocks and plans in text that is still being written |
//! | [`reply`] | the guard's answers |
//! | [`limits`] | limits on length and characters |
//! | `names` | the vocabulary's words, shown and parsed |
//! | [`error`] | errors in a text, with their place |
//! | [`grammar`] | the texts that a model may write, as an automaton and for other tools |
//! | [`mask`] | the tokens that a model may write next |
//!
//! [`parse_block`], [`find_block`], [`parse_plan`] and [`parse_reply`] parse text, and [`Scanner`] a stream;
//! `to_string` prints the canonical form, whose values are strict JSON. `spec/sirl.md` has the grammar.

pub mod claim;
pub mod error;
pub mod field;
mod form;
pub mod grammar;
pub mod items;
pub mod kind;
pub mod limits;
pub mod mask;
pub mod money;
mod names;
mod parse;
pub mod pointers;
mod print;
pub mod reply;
pub mod request;
pub mod schema;
pub mod stream;

pub use claim::{Claim, ClaimKey};
pub use error::{ParseError, ParseErrorKind};
pub use field::{Field, FieldSet, Tier};
pub use grammar::{Grammar, GrammarError, Recognizer, State};
pub use items::Items;
pub use kind::{Kind, KindSet};
pub use mask::{Mask, MaskInfo, MaskTable, Vocabulary, VocabularyError};
pub use money::{Currency, Money};
pub use names::UnknownName;
pub use parse::{find_block, parse_block, parse_block_with, parse_plan, parse_plan_with, parse_reply};
pub use pointers::Pointers;
pub use reply::{Delivered, PurchaseMethod, Reply};
pub use request::{Anticipated, Block, Plan, Request};
pub use schema::{Schema, SchemaError, SchemaErrorKind};
pub use stream::{Event, Scanner};

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
