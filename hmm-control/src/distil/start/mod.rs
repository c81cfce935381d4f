//! Initial parameters.
//!
//! Expectation-maximisation finds a local optimum, so that the start matters. From best to worst: clusters of the language
//! model's own states ([`from_features`]; latent variable distillation, Liu et al. 2023), clusters of each token's
//! contexts ([`from_contexts`]), and random parameters ([`random`]).

mod clusters;
mod kmeans;

pub use clusters::{Clustering, contexts, from_clusters, from_contexts, from_features, random};
pub use kmeans::{Clusters, KMeans};
