//! The examples do what they say. `cargo test` builds them; after `cargo test --test examples` alone they are as they
//! were built last.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics fails")]

use hmm_control::ModelFile;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// What an example prints.
fn said(name: &str, arguments: &[&Path]) -> String {
    let here = std::env::current_exe().unwrap();
    let folder = here.parent().and_then(Path::parent).unwrap().join("examples");
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "build the examples first: cargo build --examples");
    let output = Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn a_model_is_distilled_saved_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers.safetensors");
    let text = said("distil", &[&file]);
    let read = ModelFile::read(Arc::new(std::fs::read(&file).unwrap())).unwrap();
    assert_eq!((read.hmm.states(), read.end_token), (64, Some(0)));
    let number = |after: &str| -> f64 {
        let rest = text.split(after).nth(1).unwrap_or_else(|| panic!("{text}"));
        rest.split(|c: char| !c.is_ascii_digit() && c != '.')
            .find(|word| !word.is_empty())
            .unwrap()
            .trim_end_matches('.')
            .parse()
            .unwrap()
    };
    let (ours, own) = (number("perplexity "), number("language model's own "));
    assert!(own > 1.0 && ours > own && ours < 20.0 * own, "{text}");
}

#[test]
fn a_remote_models_clause_is_shown_or_withheld() {
    let text = said("guard_a_remote_model", &[]);
    let seen = text.split("the user sees: ").nth(1).unwrap_or_else(|| panic!("{text}"));
    assert!(seen.contains("on its way") && seen.contains("twice"), "{text}");
    assert!(!seen.contains("prize") && !seen.contains("87121"), "{text}");
}

#[test]
fn a_tool_call_ends_in_a_grant_or_a_denial() {
    let text = said("embed_in_agent", &[]);
    let replies: Vec<&str> = text.lines().filter(|line| line.starts_with("    ")).map(str::trim).collect();
    assert_eq!(replies.len(), 2, "{text}");
    assert!(replies[0].starts_with("GRANT.address") && replies[1].starts_with("DENY.payment"), "{text}");
}

#[test]
fn four_sessions_run_at_the_same_time() {
    let text = said("several_sessions", &[]);
    assert_eq!(text.matches("granted: address").count(), 4, "{text}");
    for number in 1..=4 {
        assert!(text.contains(&format!("the client `client {number}` asks")), "{text}");
    }
    // Each has a name of its own in the log, and none of it has a value.
    let ended = text.lines().filter(|line| line.ends_with("{\"event\":\"ended\"}"));
    let names: std::collections::BTreeSet<&str> = ended.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names.len(), 4, "{text}");
}

#[test]
fn each_approach_buys_in_an_honest_and_in_a_hostile_shop_and_leaks_nothing() {
    for example in ["approach_a", "approach_b", "approach_c"] {
        let text = said(example, &[]);
        let orders: Vec<bool> =
            text.lines().filter_map(|line| line.split("as the user wanted: ").nth(1)?.parse().ok()).collect();
        assert_eq!(orders, [true, true], "{text}");
        assert_eq!(text.matches("leaked values: 0").count(), 2, "{text}");
    }
}
