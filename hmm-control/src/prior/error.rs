//! What can be wrong with a prior, its data or its file.

/// Why a prior cannot be trained, used or read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
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
        /// Which feature, counted from 0.
        place: usize,
        /// What it is.
        value: f32,
    },
    /// A head for another model.
    #[error("the head is for {found} hidden states, the model has {wanted}")]
    States {
        /// States that the head knows.
        found: usize,
        /// States of the model.
        wanted: usize,
    },
    /// Nothing to learn from, or to measure on.
    #[error("{part} holds no rollout whose continuation the model holds to be possible")]
    NoRollouts {
        /// Which data.
        part: &'static str,
    },
    /// A setting outside its range.
    #[error("{setting} is {given}, but must be {wanted}")]
    Setting {
        /// Which setting.
        setting: &'static str,
        /// What was given.
        given: f64,
        /// What it may be.
        wanted: &'static str,
    },
    /// Bytes that are not the file of a head.
    #[error("the file cannot be read: {problem}")]
    File {
        /// What is wrong.
        problem: String,
    },
    /// A tensor that is missing or has another shape or type.
    #[error("tensor {tensor:?} is {found}, but {wanted} is expected")]
    Tensor {
        /// Its name.
        tensor: &'static str,
        /// What was found.
        found: String,
        /// What was expected.
        wanted: &'static str,
    },
}

/// Why no rollout could be sampled.
#[derive(Debug, thiserror::Error)]
pub enum SampleError<E: std::error::Error + 'static> {
    /// The language model failed.
    #[error("the language model failed")]
    Model(#[source] E),
    /// The language model shows no features.
    #[error("the language model shows no features; a prior needs them")]
    NoFeatures,
    /// Logits that are no distribution.
    #[error("the logits after {tokens} tokens hold a number that is not one, or allow no token")]
    Logits {
        /// How many tokens had been read.
        tokens: usize,
    },
    /// Positions at every 0 tokens.
    #[error("rollouts cannot be taken every 0 tokens, nor be 0 tokens long")]
    Positions,
}
