//! A shop of our own that sells by protocol. It speaks UCP (the Universal Commerce Protocol, version 2026-04-08) over REST, signs each
//! checkout that it answers with, and sells only by AP2's mandates, which it verifies with `checkout_protocols`.
//!
//! Nobody pays real money here. The shop takes *test money*: its payment handler is named `dev.portcullis.test_money`, and the
//! [ledger](Shop::ledger) is the only record of what is sold and paid.
//!
//! [`Shop::in_first_form`] is the same shop as most shops are today: it speaks the first form of the protocol, and signs nothing.
//!
//! The shop has no network, no clock and no randomness. Whoever serves it gives it each [`Request`] with the time and random bytes, and
//! sends the [`Answer`]. It can be told to [behave](Shop::behave) as a hostile or broken shop would, so that a guard can be tested
//! against shops that cheat.
//!
//! ```
//! use checkout_protocols::{KeySet, SigningKey};
//! use ucp_shop::{Method, Product, Request, Shop};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (key, surface) = (SigningKey::from_bytes(&[3; 32])?, SigningKey::from_bytes(&[1; 32])?);
//! let kettle = Product { id: "kettle".into(), title: "Kettle".into(), price: 1900, stock: 10 };
//! let mut shop = Shop::new("https://kettles.example".parse()?, key, KeySet::of(surface.public()), vec![kettle]);
//! let headers = [
//!     ("UCP-Agent", "profile=\"https://guard.example/profile\""),
//!     ("Content-Type", "application/json"),
//!     ("Idempotency-Key", "5d3f0a52c1e94d0f8a77b1"),
//! ];
//! let body = br#"{"line_items":[{"item":{"id":"kettle"},"quantity":2}]}"#;
//! let request = Request { method: Method::Post, path: "/ucp/v1/checkout-sessions", headers: &headers, body };
//! // A real caller's bytes are random.
//! let answer = shop.answer(&request, 1_800_000_000, &mut || [7; 16]);
//! assert_eq!(answer.status, 201);
//! assert!(shop.ledger().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! | module | subject |
//! |---|---|
//! | `http` | requests and answers |
//! | `refusal` | calls that are refused by their HTTP status |
//! | `idempotency` | the answers that a repeated call gets again |
//! | `catalogue` | what is sold, and the ways of delivery |
//! | `address` | buyers and addresses, as the shop is told them |
//! | `names` | names that nobody can guess |
//! | `body` | the bodies of calls |
//! | `order` | what a session's buyer wants, found in the catalogue |
//! | `offer` | the checkout that the shop offers |
//! | `written` | the JSON of an offer |
//! | `behaviour` | shops that cheat, and shops that break |
//! | `profile` | the profile in which the shop says how it is spoken to |
//! | `first_form` | the same shop in UCP's first form, without signatures |
//! | `receipt` | AP2's receipts |
//! | `ledger` | what is sold for test money |
//! | `session` | a checkout session and its states |
//! | `trade` | who the shop is: its keys, its goods, its offers |
//! | `completion` | the checks before a sale, and the sale |
//! | `shop` | the calls |

mod address;
mod behaviour;
mod body;
mod catalogue;
mod completion;
mod first_form;
mod http;
mod idempotency;
mod ledger;
mod names;
mod offer;
mod order;
mod profile;
mod receipt;
mod refusal;
mod session;
mod shop;
mod trade;
mod written;

pub use address::{Address, Buyer};
pub use behaviour::{Behaviour, ELSEWHERE};
pub use catalogue::{Product, Terms};
pub use first_form::TEST_TOKEN;
pub use http::{Answer, Method, Request};
pub use ledger::{Sale, SoldLine};
pub use profile::{ENDPOINT_PATH, HANDLER, HANDLER_ID};
pub use shop::Shop;
