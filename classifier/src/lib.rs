//! Finds sensitive values and attacks in untrusted text.
//!
//! | module | subject |
//! |---|---|
//! | `detect` | [`Detectors`] of personal data and secrets; [`mask()`] replaces their findings |
//! | `unfold` | [`Normalised`] and [`Unfolded`]: normalises a text, and decodes what is hidden in it |
//! | `judge` | [`LinearClassifier`]: small models that give a window of text a [`Risk`] |
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
//! The library does no I/O, reads no clock, and has no global state.

mod detect;
mod judge;
mod unfold;

pub use detect::{
    BuildError, Confidence, ConfidenceError, Detector, Detectors, Finding, SensitiveKind, is_role_address,
    mask, normal_form,
};
pub use judge::{
    AttributeFileError, Calibrated, Contribution, FeatureSink, Features, Judgement, LinearClassifier,
    MentionAware, ModelError, Parameters, Quotation, Reach, Risk, Safety, ScoreError, SparseAttribute,
    Suspect, TokenAttribute, Window, WindowClassifier, WindowPlace, WordClass, WordClasses, highest_risk,
    overrides, quotations, sweep, sweep_unfolded, windows,
};
pub use unfold::{Decoded, Disguise, HiddenCounts, Normalised, Unfolded};

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
