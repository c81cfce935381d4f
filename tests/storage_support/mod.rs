//! A disk in memory that loses power, and helpers for tests with it.
#![allow(dead_code, unused_imports, reason = "no test uses all of it")]

mod power;
mod simulated;

pub use power::Order;
pub use simulated::{Fault, SimulatedDisk};

use std::path::Path;

/// The folder of every simulated file.
pub fn folder() -> &'static Path {
    Path::new("/f")
}
