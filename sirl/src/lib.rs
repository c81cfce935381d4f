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
//! | [`plan`] | the requests that a model announces, of which nothing is decided |
//! | [`schema`] | which kinds and fields a deployment declares |
//! | [`stream`] | blocks and plans in text that is still being written |
//! | [`reply`] | the guard's answers |
//! | [`limits`] | how much text is read |
//! | [`error`] | what is wrong with a text, and where |
//! | [`grammar`] | what a model may write, as an automaton and for other tools |
//! | [`mask`] | which tokens of a model may stand next |
//!
//! [`parse_block`], [`find_block`], [`parse_plan`] and [`parse_reply`] read text, [`Scanner`] reads a stream; `to_string` prints the canonical form,
//! which is strict JSON inside. `spec/sirl.md` has the grammar.

pub mod claim;
pub mod error;
pub mod field;
pub mod grammar;
pub mod kind;
pub mod limits;
pub mod mask;
pub mod money;
mod parse;
pub mod plan;
mod print;
pub mod reply;
pub mod request;
pub mod schema;
pub mod stream;
mod text;

pub use claim::{Claim, ClaimKey};
pub use error::{ParseError, ParseErrorKind};
pub use field::{Field, FieldSet, Tier};
pub use grammar::{Grammar, GrammarError, Recognizer, State};
pub use kind::Kind;
pub use mask::{Mask, MaskInfo, MaskTable, Vocabulary, VocabularyError};
pub use money::{Currency, Money};
pub use parse::{find_block, parse_block, parse_block_with, parse_plan, parse_plan_with, parse_reply};
pub use plan::{Anticipated, Plan};
pub use reply::{Delivered, Reply};
pub use request::{Block, Request};
pub use schema::{Schema, SchemaError, SchemaErrorKind};
pub use stream::{Event, Scanner};
