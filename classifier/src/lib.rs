//! Finds sensitive values in text that nobody vouches for, and replaces them.
//!
//! | module | subject |
//! |---|---|
//! | `score` | [`Risk`] and [`Safety`], numbers in `[0, 1]` |
//! | `finding` | [`Detector`], [`Finding`] and [`SensitiveKind`] |
//! | `normalise` | [`Normalised`]: folded text that remembers where it came from |
//! | `detectors` | [`Detectors`]: one pass over the text, with a validator behind every pattern |
//! | `card`, `phone`, `phone_words`, `iban`, `email`, `token` | the validators |
//! | `unfold` | [`Unfolded`]: a text with what is hidden in it brought to light |
//! | `place` | [`Place`]: where on a page a text stood |
//! | `window` | [`WindowClassifier`], [`Calibrated`], [`Judgement`] |
//! | `features` | [`Features`]: what a linear model sees of a text |
//! | `linear` | [`LinearClassifier`]: a small model in a file |
//! | `cut` | [`windows()`]: where a text is cut |
//! | `sweep` | [`sweep()`]: a whole text judged window by window |
//! | `token_attribute` | [`TokenAttribute`], for the look-ahead |
//! | `mask` | [`mask()`]: findings replaced by constant markers |
//!
//! ```
//! use classifier::{Detector, Detectors, mask};
//!
//! let detectors = Detectors::standard()?;
//! let text = "Paid with 4111 1111 1111 1111, receipt to ann@example.org, total 64.15 USD";
//! let safe = mask(text, &detectors.detect(text));
//! assert_eq!(safe, "Paid with [card number], receipt to [email], total 64.15 USD");
//! # Ok::<(), classifier::BuildError>(())
//! ```
//!
//! The library does no I/O, reads no clock, and keeps no state outside its values.

mod card;
mod cut;
mod detectors;
mod digit;
mod email;
mod emoji;
mod features;
mod finding;
mod iban;
mod linear;
mod mask;
mod models;
mod normalise;
mod number;
mod phone;
mod phone_words;
mod place;
mod score;
mod sweep;
mod token;
mod token_attribute;
mod unfold;
mod window;

pub use cut::windows;
pub use detectors::{BuildError, Detectors};
pub use features::{FeatureSink, Features, Reach};
pub use finding::{Detector, Finding, SensitiveKind};
pub use linear::{LinearClassifier, ModelError, Parameters};
pub use mask::mask;
pub use normalise::Normalised;
pub use place::Place;
pub use score::{Risk, Safety, ScoreError};
pub use sweep::{Suspect, highest_risk, sweep, sweep_unfolded};
pub use token_attribute::TokenAttribute;
pub use unfold::{Decoded, Disguise, HiddenCounts, Unfolded};
pub use window::{Calibrated, Judgement, Reason, Window, WindowClassifier};
