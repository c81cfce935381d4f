//! The benchmark suite: hostile shop pages, the benign counterpart of each, and the servers that serve them and record what
//! arrives.
//!
//! | module | subject |
//! |---|---|
//! | [`kind`] | the scenarios: places for an attacker's text, and ways in which a page attacks |
//! | [`scenario`] | one instance of a scenario: what to buy, for whom, on which pages |
//! | [`planted`] | the text of an instance, and the page that carries it |
//! | [`persona`] | made-up people |
//! | [`hosts`] | the hosts that are served |
//! | `wordings`, `attacks`, `pages` | the sentences and the markup of the pages |
//! | `shop`, [`servers`], [`record`] | the answers within a trial, the https listener, and what it records |
//! | [`tls`] | a certificate authority for one run |
//! | [`mock_bank`] | a mock bank |

mod attacks;
pub mod hosts;
pub mod kind;
pub mod mock_bank;
pub(crate) mod pages;
pub mod persona;
pub mod planted;
pub(crate) mod protocol_shop;
pub mod record;
pub mod scenario;
pub mod servers;
mod shop;
pub mod tls;
mod wordings;

pub use kind::ScenarioKind;
pub use planted::{Planted, ShopPage};
