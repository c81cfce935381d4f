//! Distillation: learning a hidden Markov model from the texts of a language model.
//!
//! Draw [`Sequences`] from the language model ([`sample_rollouts`]), initialise the latent states ([`start`]), and train
//! with a [`Trainer`], in one process, in shards ([`ShardCounts`]),
//! or in shards and blocks of rows ([`BlockCounts`]). Its parts can be used separately where several machines share the work: an [`Expectation`] turns
//! [`Parameters`] and sequences into [`Statistics`], which add up in any order to the same bits, and [`maximise`] turns
//! those into the next parameters.
//!
//! Expectation-maximisation for hidden Markov models is Baum et al. 1970; the stepwise form is Cappe and Moulines
//! 2009; a schedule of growing portions, pseudocounts and token dropout are what Ctrl-G (Zhang et al. 2024) and
//! TRACE (Yidou-Weng et al. 2025) train with.

mod bytes;
mod checkpoint;
mod error;
mod expectation;
mod forward_backward;
mod maximise;
mod options;
mod parameters;
mod rollouts;
mod rows;
mod schedule;
mod sequences;
mod shards;
pub mod start;
mod statistics;
mod totals;
mod trainer;

pub use error::DistilError;
pub use expectation::{Expectation, Likelihood};
pub use forward_backward::Dropout;
pub use maximise::{Counts, Rules, Successors, maximise};
pub use options::{Options, Pruned, RemainingTime, Report, Sparse};
pub use parameters::{Parameters, Real};
pub use rollouts::{DrawError, HmmSampler, Rollouts, read_features, sample_rollouts};
pub use rows::{BlockCounts, NewRows};
pub use schedule::{Schedule, Stage, StepSize};
pub use sequences::{MISSING, Sequences, Width, tokens_from_bytes};
pub use shards::ShardCounts;
pub use statistics::Statistics;
pub use totals::Totals;
pub use trainer::Trainer;
