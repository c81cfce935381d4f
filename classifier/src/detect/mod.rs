//! Detectors of personal data and secrets.
//!
//! | module | subject |
//! |---|---|
//! | `finding` | [`Detector`], [`Finding`], [`SensitiveKind`] and [`Confidence`] |
//! | `detectors` | [`Detectors`]: all rules in one pass over a normalised text |
//! | `rules` | each rule: a pattern, and the validator of its matches |
//! | `context` | the words around a value |
//! | `neighbours` | text beside a value that says that it is something else |
//! | `digits` | runs of digits, and check digits |
//! | `card` | payment card numbers |
//! | `payment` | bank account numbers |
//! | `contact` | e-mail addresses, phone numbers, postal addresses |
//! | `identity` | national numbers, identity documents, dates of birth |
//! | `secret` | keys and tokens, passwords, one-time codes |
//! | `mask` | [`mask()`] and [`normal_form()`] |

mod card;
mod contact;
mod context;
mod detectors;
mod digits;
mod finding;
mod identity;
mod mask;
mod neighbours;
mod payment;
mod rules;
mod secret;

pub use contact::email::is_role_address;
pub use detectors::{BuildError, Detectors};
pub use finding::{Confidence, ConfidenceError, Detector, Finding, SensitiveKind};
pub use mask::{mask, normal_form};
