//! The extension's files: its permissions, the constants that it shares with the guard, and its evaluation of the policy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use portcullis::policy::{Axis, Delivery, Policy, Valuation};
use portcullis::policy::{Outcome, Root};
use portcullis::service::protocol::{HOST_NAME, VERSION};
use portcullis::sirl::{Kind, Tier};
use portcullis_extension::file;
use serde_json::{Value, json};

use crate::browser::node;

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The folder of the extension, which is written once for all tests.
pub fn extension() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("extension");
        portcullis_extension::write_to(&folder).unwrap();
        folder
    })
}

#[test]
fn the_extension_has_only_the_permissions_that_it_needs() {
    let manifest: Value = serde_json::from_str(file("manifest.json").unwrap()).unwrap();
    assert_eq!(
        manifest["permissions"],
        json!(["declarativeNetRequest", "nativeMessaging", "privacy", "storage"])
    );
    // These match the pages of its content scripts: without them the browser adds no policy to a document.
    assert_eq!(manifest["host_permissions"], manifest["content_scripts"][0]["matches"]);
    assert_eq!(manifest["web_accessible_resources"], json!([]));
    for key in ["externally_connectable", "optional_permissions", "optional_host_permissions"] {
        assert_eq!(manifest.get(key), None, "{key}");
    }
    let policy = manifest["content_security_policy"]["extension_pages"].as_str().unwrap();
    for rule in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'none'", "script-src 'self'"] {
        assert!(policy.contains(rule), "{rule}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
}

#[test]
fn the_worker_uses_the_guards_protocol_version_and_host_name() {
    let worker = file("worker.js").unwrap();
    assert!(
        worker.contains(&format!("const VERSION = {VERSION};")) && worker.contains(&format!("'{HOST_NAME}'"))
    );
}

/// Signals under which a fill is granted, except for the container and the consent.
pub fn granting_signals() -> Valuation {
    let mut best = Valuation::FIRST;
    for (axis, symbol) in [(Axis::Plan, "planned"), (Axis::Claim, "agrees"), (Axis::Placement, "whole")] {
        best.set(
            axis,
            u8::try_from(axis.symbols().iter().position(|known| *known == symbol).unwrap()).unwrap(),
        );
    }
    best
}

/// Each axis with the names of its symbols.
pub fn named(valuation: &Valuation) -> Vec<Value> {
    Axis::ALL.iter().map(|axis| json!([axis.as_str(), valuation.name(*axis)])).collect()
}

#[test]
fn the_preview_agrees_with_the_guards_decision() {
    let axes = [
        Axis::Container,
        Axis::Origin,
        Axis::TopOrigin,
        Axis::Tls,
        Axis::Frame,
        Axis::Document,
        Axis::Destination,
        Axis::Visibility,
        Axis::Consent,
    ];
    let compiled = Policy::parse(portcullis::DEFAULT_POLICY).unwrap().compile().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("policy"), compiled.to_bytes()).unwrap();
    let best = granting_signals();
    let mut expected = String::new();
    let count: usize = axes.iter().map(|axis| axis.symbols().len()).product();
    for case in 0..count {
        let mut valuation = best;
        let mut rest = case;
        for axis in axes {
            let width = axis.symbols().len();
            valuation.set(axis, u8::try_from(rest % width).unwrap());
            rest /= width;
        }
        let outcome = compiled.outcome(Root::Request(Kind::Address, Tier::T2), &valuation);
        expected.push(if outcome == Outcome::Grant(Some(Delivery::Fill)) { '1' } else { '0' });
    }
    assert!(expected.contains('1'), "something is granted");
    let names = |axis: &Axis| json!([axis.as_str(), axis.symbols()]);
    let cases = json!({ "axes": axes.iter().map(names).collect::<Vec<_>>(), "best": named(&best) });
    fs::write(folder.path().join("cases.json"), cases.to_string()).unwrap();
    let script = repository().join("cli/tests/extension/preview.mjs");
    let done = Command::new(node()).arg(script).arg(folder.path()).arg(extension()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let found = String::from_utf8(done.stdout).unwrap();
    assert_eq!(found.len(), count);
    let differs = found.chars().zip(expected.chars()).position(|(found, expected)| found != expected);
    assert_eq!(differs, None, "the decisions differ at this case");
}
