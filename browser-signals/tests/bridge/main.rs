//! The bridge to a real Chromium.
#![allow(clippy::expect_used, reason = "a test may fail")]

mod support;

mod acting;
mod filling;
mod leaving;
mod picturing;
mod popups;
mod racing;
mod reading;
mod refusing;
mod seeing;
mod straying;
mod wire;
mod wire_hostile;
mod wire_shapes;
