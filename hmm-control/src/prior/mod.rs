//! A prior over the hidden states that knows the context.
//!
//! Plain filtering reads a prompt through the small model's eyes, and the small model sees little (Yidou-Weng et
//! al. 2025, arXiv 2511.16054): what the language model has understood after one sentence, the filter needs many
//! tokens to find out. A [`Prior`] is a small head, a softmax of a linear map, from the language model's own feature
//! vector to a distribution over the hidden states. It takes the place of the filter's belief at a position (the
//! prompt's end, say, or every so many tokens). Transitions, emissions and backward vectors stay as they are and stay
//! shared, and filtering goes on from there. Nothing uses a prior unless it is asked to:
//! `progress.belief = prior.belief(&hmm, features)?` puts its word in place of a [`crate::Progress`]'s own.
//!
//! | module | subject |
//! |---|---|
//! | `head` | [`Prior`]: the head, and its file |
//! | `rollout` | [`Rollout`]: features with the tokens before and after |
//! | `objective` | the likelihood of continuations, which training maximises, and its gradient |
//! | `training` | [`Training`] |
//! | `comparison` | [`Comparison`] with plain filtering |

mod comparison;
mod error;
mod head;
mod objective;
mod rollout;
mod training;

pub use comparison::Comparison;
pub use error::{PriorError, SampleError};
pub use head::Prior;
pub use rollout::{Positions, Rollout};
pub use training::{Epoch, Trained, Training};
