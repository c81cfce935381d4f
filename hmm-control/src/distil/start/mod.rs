//! First parameters: where the latent states lie before training.
//!
//! Expectation-maximisation climbs to the nearest top, so the start decides much. In order of what they are worth:
//! clusters of the language model's own states ([`from_features`]; latent variable distillation, Liu et al. 2023),
//! clusters of what stands around each token ([`from_contexts`]), and chance ([`random`]).

mod clusters;
mod kmeans;

pub use clusters::{Clustering, contexts, from_clusters, from_contexts, from_features, random};
pub use kmeans::{Clusters, KMeans};
