//! Errors of a prior, its data and its file.

/// Why a prior cannot be trained, used or read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PriorError {
    /// A feature vector of another length.
    #[error("a vector of {found} features was given, but {wanted} are expected")]
    Features {
        /// Features that were given.
        found: usize,
        /// Features that the head or the other rollouts have.
        wanted: usize,
    },
    /// A feature that is not a finite number.
    #[error("feature {place} is {value}, which is not a finite number")]
    NotFinite {
        /// The feature, counted from 0.
        place: usize,
        /// Its value.
        value: f32,
    },
    /// A head for another model.
    #[error("the head is for {found} hidden states, the model has {wanted}")]
    States {
        /// States of the head.
        found: usize,
        /// States of the model.
        wanted: usize,
    },
    /// No possible rollout.
    #[error("{part} holds no rollout whose continuation the model holds to be possible")]
    NoRollouts {
        /// The data set.
        part: &'static str,
    },
    /// A setting outside its range.
    #[error("{setting} is {given}, but must be {wanted}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// The given value.
        given: f64,
        /// The valid values.
        wanted: &'static str,
    },
    /// Bytes that are not the file of a head.
    #[error("the file cannot be read: {problem}")]
    File {
        /// The problem.
        problem: String,
    },
    /// A tensor that is missing or has another shape or type.
    #[error("tensor {tensor:?} is {found}, but {wanted} is expected")]
    Tensor {
        /// Its name.
        tensor: &'static str,
        /// Its state in the file.
        found: String,
        /// The expected tensor.
        wanted: &'static str,
    },
}

/// Why no rollout could be sampled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError<E: std::error::Error + 'static> {
    /// The language model failed.
    #[error("the language model failed")]
    Model(#[source] E),
    /// The language model exposes no features.
    #[error("the language model shows no features; a prior needs them")]
    NoFeatures,
    /// Logits that do not define a distribution.
    #[error("the logits after {tokens} tokens hold a number that is not one, or allow no token")]
    Logits {
        /// The number of tokens read.
        tokens: usize,
    },
    /// A step or a length of 0 tokens.
    #[error("rollouts cannot be taken every 0 tokens, nor be 0 tokens long")]
    Positions,
}
