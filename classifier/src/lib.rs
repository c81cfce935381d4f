//! Finds sensitive values in text that nobody vouches for, and replaces them.
//!
//! | module | subject |
//! |---|---|
//! | `score` | [`Risk`] and [`Safety`], numbers in `[0, 1]` |
//! | `finding` | [`Detector`], [`Finding`] and [`SensitiveKind`] |
//! | `normalise`, `emoji` | [`Normalised`]: folded text that remembers where it came from |
//! | `confidence` | [`Confidence`] of a finding |
//! | `detectors`, `leads` | [`Detectors`]: one pass over the text, with a validator behind every pattern |
//! | `card`, `iban`, `number`, `checksum` | numbers of cards and accounts |
//! | `phone`, `phone_words`, `email`, `postal_address` | where somebody is reached |
//! | `national_id`, `lettered_id`, `document`, `birth_date`, `date` | what states note of somebody |
//! | `token`, `issuer`, `randomness`, `password`, `one_time_code` | secrets |
//! | `context` | the words around a value |
//! | `normal_form` | [`normal_form()`]: a finding's value in one spelling |
//! | `unfold` | [`Unfolded`]: a text with what is hidden in it brought to light |
//! | `place` | [`Place`]: where on a page a text stood |
//! | `window` | [`WindowClassifier`], [`Calibrated`], [`Judgement`] |
//! | `features`, `word`, `kind` | [`Features`]: what a linear model sees of a text |
//! | `word_classes` | [`WordClasses`]: words that stand in like company |
//! | `linear` | [`LinearClassifier`]: a small model in a file |
//! | `cut` | [`windows()`]: where a text is cut |
//! | `quotation` | [`quotations()`]: what a text quotes, and what it says of it |
//! | `mentions` | [`MentionAware`]: harm that is only quoted does not count |
//! | `sweep` | [`sweep()`]: a whole text judged window by window |
//! | `token_attribute` | [`TokenAttribute`] and [`SparseAttribute`], for the look-ahead |
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

mod birth_date;
mod card;
mod checksum;
mod confidence;
mod context;
mod cut;
mod date;
mod detectors;
mod digit;
mod document;
mod email;
mod emoji;
mod features;
mod finding;
mod iban;
mod issuer;
mod kind;
mod leads;
mod lettered_id;
mod linear;
mod mask;
mod mentions;
mod models;
mod national_id;
mod normal_form;
mod normalise;
mod number;
mod one_time_code;
mod password;
mod phone;
mod phone_words;
mod place;
mod postal_address;
mod quotation;
mod randomness;
mod score;
mod sweep;
mod token;
mod token_attribute;
mod unfold;
mod window;
mod word;
mod word_classes;

pub use confidence::{Confidence, ConfidenceError};
pub use cut::windows;
pub use detectors::{BuildError, Detectors};
pub use email::is_role_address;
pub use features::{FeatureSink, Features, Reach};
pub use finding::{Detector, Finding, SensitiveKind};
pub use linear::{LinearClassifier, ModelError, Parameters};
pub use mask::mask;
pub use mentions::MentionAware;
pub use normal_form::normal_form;
pub use normalise::Normalised;
pub use place::Place;
pub use quotation::{Quotation, quotations};
pub use score::{Risk, Safety, ScoreError};
pub use sweep::{Suspect, highest_risk, sweep, sweep_unfolded};
pub use token_attribute::{AttributeFileError, SparseAttribute, TokenAttribute};
pub use unfold::{Decoded, Disguise, HiddenCounts, Unfolded};
pub use window::{Calibrated, Judgement, Reason, Window, WindowClassifier};
pub use word_classes::{WordClass, WordClasses};
