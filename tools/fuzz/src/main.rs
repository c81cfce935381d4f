//! The targets under libFuzzer, as `cargo xtask fuzz` builds and starts it: one program for all of them,
//! since linking is most of what a target costs. The target is named by the variable `FUZZ_TARGET`.
#![no_main]

use std::sync::OnceLock;

static RUN: OnceLock<fn(&[u8])> = OnceLock::new();

/// Looks the target up once, before the first input.
fn choose() {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let Some(run) = fuzz::target(&name) else {
        eprintln!("there is no target `{name}`; run `cargo xtask fuzz help` for the list");
        std::process::exit(2);
    };
    RUN.get_or_init(|| run);
}

libfuzzer_sys::fuzz_target!(init: choose(), |input: &[u8]| {
    if let Some(run) = RUN.get() {
        run(input);
    }
});
