//! `portcullis-mpi` as jobs of `mpirun`: the bytes of one process, a rank that dies, and input that is bad at one rank.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;
mod death;
mod refusals;
mod same_bytes;
