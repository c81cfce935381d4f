//! The bridge to a real Chromium.
#![allow(clippy::disallowed_methods, reason = "a test waits for a real browser")]
#![allow(clippy::expect_used, reason = "a test may fail")]

mod support;

mod acting;
mod addresses;
mod answering;
#[cfg(all(feature = "pipe", unix))]
mod developer_tools;
mod dialogs;
mod downloads;
mod dragging;
mod filling;
mod keys;
mod leaving;
mod line_ends;
mod login;
#[cfg(all(feature = "pipe", unix))]
mod pages;
mod picturing;
mod pointing;
mod popups;
mod racing;
mod reading;
mod refusing;
mod seeing;
mod straying;
#[cfg(all(feature = "pipe", unix))]
mod uploads;
mod widgets;
mod wire;
mod wire_hostile;
mod wire_shapes;
