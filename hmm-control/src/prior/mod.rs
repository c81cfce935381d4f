//! A context-aware prior over the hidden states.
//!
//! Plain filtering reads a prompt with the small model alone, which extracts little from it (Yidou-Weng et al. 2025,
//! arXiv 2511.16054): the filter needs many tokens for what the language model encodes after one sentence. A [`Prior`] is
//! a small head, a softmax of a linear map, from the language model's feature vector to a distribution over the hidden
//! states. It replaces the filter's belief at a position (the prompt's end, say, or every so many tokens). Transitions,
//! emissions and backward vectors stay the same and shared, and filtering continues from there. A prior is used only on
//! request: `progress.belief = prior.belief(&hmm, features)?` replaces the belief of a [`crate::Progress`].
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
