//! A checkout by protocol, without I/O. The guard tells a shop what is wanted, by UCP (the Universal Commerce Protocol). The shop signs the
//! checkout that it offers. The guard compares it with what the user agreed to, and signs two mandates of AP2 (the Agent Payments
//! Protocol): one for the checkout and one for its payment. The shop verifies them.
//!
//! [`Preparing`], [`Confirming`] and [`Completing`] are the steps of an order: each says which [`Call`] is to be sent, and takes what came
//! back. [`Recovering`] finds out after a crash what became of one.
//!
//! The types lead through these steps in this order, and none can be left out: [`SignedCheckout::verify`] gives a
//! [`VerifiedCheckout`] only under the shop's key, [`VerifiedCheckout::agreed`] gives an [`AgreedCheckout`] only where it equals the
//! [`Agreement`], and only an [`AgreedCheckout`] can be signed for.
//!
//! ```compile_fail,E0308
//! use checkout_protocols::{Signer, VerifiedCheckout};
//!
//! fn skips_the_comparison(signer: &Signer<'_>, checkout: VerifiedCheckout) {
//!     let _ = signer.authorise(checkout, "nonce", &mut || [0; 16]);
//! }
//! ```
//!
//! ```
//! use checkout_protocols::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (shop, surface, agent) = (SigningKey::from_bytes(&[3; 32])?, SigningKey::from_bytes(&[1; 32])?, SigningKey::from_bytes(&[2; 32])?);
//! # let offer = serde_json::json!({"id": "c", "merchant": {"id": "m", "name": "Kettles"}, "status": "ready_for_complete", "currency": "USD",
//! #     "line_items": [{"id": "l", "item": {"id": "kettle", "title": "Kettle", "price": 1900}, "quantity": 1, "totals": [{"type": "subtotal", "amount": 1900}, {"type": "total", "amount": 1900}]}],
//! #     "totals": [{"type": "subtotal", "amount": 1900}, {"type": "total", "amount": 1900}]});
//! # let offer = offer.as_object().cloned().unwrap_or_default();
//! # let payee = Merchant { id: "m".into(), name: "Kettles".into(), website: None };
//! # let line = AgreedLine { item: "kettle".into(), title: "Kettle".into(), quantity: 1.try_into()?, price: 1900 };
//! # let total = Amount { amount: 1900, currency: Currency::try_from("USD".to_owned())? };
//! # let instrument = Instrument { id: "card".into(), kind: "card".into(), description: None };
//! # let agreement = Agreement { payee: payee.clone(), lines: vec![line], total, address: None, delivery: vec![], buyer: None, instrument, shown: vec![] };
//! # let mut jwk = shop.public().to_jwk();
//! # jwk["kid"] = "2026".into();
//! # let profile = serde_json::json!({"ucp": {"version": "2026-04-08", "services": {"dev.ucp.shopping": [{"transport": "rest", "endpoint": "https://kettles.example/ucp"}]},
//! #     "capabilities": {"dev.ucp.shopping.checkout": [{"version": "2026-04-08"}], "dev.ucp.shopping.ap2_mandate": [{"version": "2026-04-08"}]}}, "signing_keys": [jwk]}).to_string();
//! // The shop signs its offer, and the guard verifies it under the key of the profile that it fetched from the shop.
//! let profile = Profile::read(profile.as_bytes(), &"https://kettles.example/".parse()?)?;
//! let offer = sign_checkout(&shop, "2026", offer)?;
//! let checkout = SignedCheckout::compact(&offer).verify(&profile)?;
//! // The guard compares it with what the user agreed to, and signs. A real guard's salts are random.
//! let agreed = checkout.agreed(&agreement, 1_800_000_000)?;
//! let signer = Signer { surface: &surface, agent: &agent };
//! let mandates = signer.authorise(agreed, "n", &mut || [7; 16])?;
//! // The shop sells once.
//! let shop = Shop { merchant: &payee, surfaces: &KeySet::of(surface.public()) };
//! let checkout = SignedCheckout::compact(&offer).verify(&profile)?;
//! let expected = Expected { checkout: &checkout, nonce: "n", now: 1_800_000_010 };
//! let mut used = UsedMandates::default();
//! assert_eq!(shop.accept(&mandates, &expected, &mut used)?.total.amount, 1900);
//! assert_eq!(shop.accept(&mandates, &expected, &mut used), Err(MandateFault::Used));
//! # Ok(())
//! # }
//! ```
//!
//! It trades generality for certainty. It knows one algorithm (ES256), chains of exactly two tokens, and the members of a checkout that it
//! can compare; a checkout with any other member (instalments, split payments, loyalty) is refused. UCP and AP2 do not fit each
//! other in their published forms, so one reading is fixed here: the shop's signature is a compact JSON Web Signature over the canonical
//! JSON (RFC 8785) of the checkout without its member `ap2`; UCP's `merchant_authorization` is the same signature with its
//! payload left out; and a mandate's `checkout_jwt` is the compact form.
//!
//! Many shops take no mandates: those that speak UCP's first form (2026-01-11), and later ones without AP2. There a token of a payment handler
//! pays. The same comparisons hold, but nothing proves afterwards what the shop offered: [`Offered::is_signed`] tells them apart, and
//! [`UnsignedOrder`] is the type of such an order. A shop whose profile offers mandates is never paid by a token.
//!
//! There is no network and no clock here: times are seconds since 1970, and random bytes are given.
//!
//! | module | subject |
//! |---|---|
//! | `json` | JSON as it is signed |
//! | `keys` | keys on the curve P-256, and their JSON form |
//! | `jws` | JSON Web Signatures in compact form |
//! | `sd_jwt` | tokens whose claims are disclosed one by one (RFC 9901) |
//! | `profile` | how a shop is spoken to, and its keys |
//! | `checkout` | the checkout that a shop signs |
//! | `agreement` | the comparison of a checkout with what the user agreed to |
//! | `address` | who buys, and where the goods go |
//! | `claims` | the claims of mandates |
//! | `agent` | who calls: the guard's profile, and the signature of each call (RFC 9421) |
//! | `call` | one call to a shop, and what comes back |
//! | `answer` | a shop's answer: a checkout that it signed, or why there is none |
//! | `order` | from what is wanted to what the shop offers |
//! | `offer` | what the user is asked about, and the second look |
//! | `completion` | from the yes to the end, also after a crash |
//! | `unsigned` | orders at shops that sign nothing |
//! | `first_form` | the form of the protocol of 2026-01-11 |
//! | [`acp`] | the same order in the shapes of ACP 2026-04-17, not run against a server |
//! | `receipt` | the shop's receipt |
//! | `signing` | the guard's side: the two mandates |
//! | `verification` | the shop's side: what it checks before it sells |

pub mod acp;

mod address;
mod agent;
mod agreement;
mod answer;
mod call;
mod checkout;
mod claims;
mod completion;
mod first_form;
mod json;
mod jws;
mod keys;
mod offer;
mod order;
mod profile;
mod receipt;
mod sd_jwt;
mod signing;
mod unsigned;
mod verification;

pub use address::{Buyer, PostalAddress};
pub use agent::{Agent, CallFault, SignedCall};
pub use agreement::{AgreedCheckout, AgreedLine, Agreement, Difference};
pub use answer::{AnswerFault, ShopCode};
pub use call::{Call, MAX_ANSWER, Method, Reply};
pub use checkout::{CheckoutFault, SignedCheckout, VerifiedCheckout, sign_checkout, sign_json};
pub use claims::{Amount, Currency, Instrument, Merchant, UnknownCurrency};
pub use completion::{Bought, Completing, Completion, Recovering, Recovery};
pub use json::JsonFault;
pub use jws::JwsFault;
pub use keys::{KeyFault, KeySet, PublicKey, SigningKey};
pub use offer::{AgreedOrder, Confirmed, Confirming, Offered, Part};
pub use order::{Credential, OrderFault, PaymentMeans, Preparing, Step, Wanted, Wish};
pub use profile::{PROFILE_PATH, Profile, ProfileFault, Version, agent_profile};
pub use receipt::Receipt;
pub use sd_jwt::TokenFault;
pub use signing::{LIFETIME, Mandates, Signer};
pub use unsigned::{CardFace, PaymentToken, UnsignedOrder};
pub use verification::{Accepted, Expected, MandateFault, Shop, UsedMandates};
