//! Detectors, unfolding and the linear models, on honest and on disguised texts.
#![allow(clippy::disallowed_methods, reason = "it bounds the time of hostile texts")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod bounds;
mod disguise;
mod honest;
mod kinds;
mod linear;
mod neighbours;
mod properties;
mod shipped_attributes;
mod unfold;
mod vectors;
