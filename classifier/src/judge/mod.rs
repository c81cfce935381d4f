//! Classifiers of text: small linear models over windows of a text.
//!
//! | module | subject |
//! |---|---|
//! | `score` | [`Risk`] and [`Safety`], numbers in `[0, 1]` |
//! | `window` | [`windows()`], [`WindowPlace`], and the traits [`WindowClassifier`] and [`Calibrated`] |
//! | `word` | [`WordClasses`]; the spelling and the hash of a word |
//! | `features` | [`Features`]: the hashed features of a text |
//! | `linear` | [`LinearClassifier`]: a linear model, its file format, and the shipped models |
//! | `quotation` | [`quotations()`]: quotations with the text around them |
//! | `mentions` | [`MentionAware`]: a classifier that ignores harm which is only quoted |
//! | `notices` | sentences of a page that ask an agent to ignore instructions in it |
//! | `overrides` | [`overrides()`]: the well-known sentences that tell an agent to drop its instructions |
//! | `sweep` | [`sweep()`]: judges a whole text window by window |
//! | `token_attribute` | [`TokenAttribute`] and [`SparseAttribute`], for the look-ahead |

mod features;
mod linear;
mod mentions;
mod notices;
mod overrides;
mod quotation;
mod score;
mod sweep;
mod token_attribute;
mod window;
mod word;

pub use features::{FeatureSink, Features, Reach};
pub use linear::{LinearClassifier, ModelError, Parameters};
pub use mentions::MentionAware;
pub use overrides::overrides;
pub use quotation::{Quotation, quotations};
pub use score::{Risk, Safety, ScoreError};
pub use sweep::{Suspect, highest_risk, sweep, sweep_unfolded};
pub use token_attribute::{AttributeFileError, SparseAttribute, TokenAttribute};
pub use window::{Calibrated, Contribution, Judgement, Window, WindowClassifier, WindowPlace, windows};
pub use word::{WordClass, WordClasses};
