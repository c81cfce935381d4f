//! The analysis of policies: proofs, warnings, explanations, differences and pictures.

pub(crate) mod check;
pub mod diff;
pub(crate) mod explain;
pub(crate) mod lint;
pub mod show;
