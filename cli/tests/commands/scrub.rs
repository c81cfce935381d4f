//! `portcullis scrub`, `expose` and `quarantine`, on pages in a real Chromium.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn portcullis(arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    let done = command.args(arguments).stdin(Stdio::null()).output().unwrap();
    Ran {
        code: done.status.code().unwrap(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

const PAGE: &str = r#"<!doctype html><title>Kettles</title><h1>Copper kettle</h1>
<p>Price <b>64.15</b> USD. Questions to ann@example.org</p>
<p style="opacity:0">words that nobody sees</p>
<label>City <input name=city></label><button aria-label="Put into basket">+</button>"#;

#[test]
fn a_file_is_rendered_as_for_an_agent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, PAGE).unwrap();
    let path = file.to_str().unwrap();
    let ran = portcullis(&["scrub", path, "--no-classifier"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = [
        "- document http://page.test \"Kettles\"",
        "- heading \"Copper kettle\"",
        "Questions to [email]",
        "- textbox \"City\" [ref=",
        "- button \"Put into basket\" [ref=",
        "withheld (not seen by a person): \"words that nobody sees\"",
    ];
    for words in told {
        assert!(ran.out.contains(words), "{words} is not in {}", ran.out);
    }
    let ran = portcullis(&["scrub", path, "--no-classifier", "--hidden", "quote", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let all: Value = serde_json::from_str(&ran.out).unwrap();
    assert!(all["text"].as_str().unwrap().contains("[unseen] \"words that nobody sees\""), "{}", ran.out);
    assert_eq!(all["withheld"], json!([]));
}

#[test]
fn errors_of_a_call_are_reported() {
    let ran = portcullis(&["scrub", "/nowhere/page.html"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("/nowhere/page.html"), "{}", ran.err);
    let ran = portcullis(&["scrub", "/dev/null", "--hidden", "maybe"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("`maybe`"), "{}", ran.err);
    let ran = portcullis(&["scrub", "/dev/null", "--quarantine-from", "7"]);
    assert_eq!((ran.code, ran.err.contains("not 7")), (2, true), "{}", ran.err);
}

#[test]
fn many_pages_are_exposed_for_a_judge() {
    let folder = tempfile::tempdir().unwrap();
    let (pages, out) = (folder.path().join("pages.json"), folder.path().join("out.json"));
    let all = json!([
        { "id": "one", "kind": "attack", "html": PAGE, "payloads": ["words that nobody sees"] },
        { "id": "two", "kind": "benign", "html": "<p>second page" },
    ]);
    std::fs::write(&pages, all.to_string()).unwrap();
    let ran = portcullis(&[
        "expose",
        "--pages",
        pages.to_str().unwrap(),
        "--json",
        out.to_str().unwrap(),
        "--no-classifier",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let records: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!((&records[0]["id"], &records[1]["id"]), (&json!("one"), &json!("two")));
    let (text, visible) = (records[0]["text"].as_str().unwrap(), records[0]["visible"].as_str().unwrap());
    assert!(text.contains("Price 64.15 USD.") && !text.contains("nobody"), "{text}");
    assert_eq!(visible, "Copper kettle Price 64.15 USD. Questions to ann@example.org City +");
    assert_eq!(records[0]["withheld"][0]["words"], "words that nobody sees");
    assert_eq!(records[1]["text"], "/page/1 second page");
    assert!(records[1]["ms"].as_f64().unwrap() > 0.0);
}
