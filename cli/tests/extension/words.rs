//! The words of the messages: the extension's scripts use those of the guard's types, and no others.

use std::collections::BTreeSet;

use portcullis::service::protocol::ExtensionRequest;
use portcullis::signals::extension::wire::{Failed, Request, Word};
use portcullis_extension::file;

type Words = BTreeSet<String>;

fn script(path: &str) -> &'static str {
    file(path).unwrap_or_else(|| panic!("{path}"))
}

/// The text of a function, from its first words to the line that ends it.
fn function(path: &str, begins: &str) -> &'static str {
    let from = script(path).split_once(begins).unwrap_or_else(|| panic!("{path}: {begins}")).1;
    from.split_once("\n}").unwrap_or_else(|| panic!("{path}: {begins} has no end")).0
}

/// The words in single quotes that stand behind one of these.
fn quoted_behind(text: &str, before: &[&str]) -> Words {
    let quoted = text.match_indices('\'').filter_map(|(at, _)| {
        let (earlier, rest) = text.split_at(at);
        let word = rest[1..].split('\'').next()?;
        let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        (is_word && before.iter().any(|before| earlier.ends_with(before))).then(|| word.to_owned())
    });
    quoted.collect()
}

fn words(all: &[&str]) -> Words {
    all.iter().map(|word| (*word).to_owned()).collect()
}

/// The words that a type is written as.
fn written<T: serde::Serialize>(all: &[T]) -> Words {
    all.iter().map(|one| serde_json::json!(one).as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_worker_carries_out_the_guards_requests_and_no_others() {
    let known =
        quoted_behind(function("worker.js", "async function carryOut"), &["message.ask === ", "case "]);
    assert_eq!(known, words(&Request::WORDS));
}

#[test]
fn the_worker_fails_in_the_words_that_the_guard_knows() {
    assert_eq!(quoted_behind(script("worker.js"), &["failed: "]), written(&Failed::ALL));
}

#[test]
fn the_extension_answers_in_the_words_that_the_guard_knows() {
    let said = ["answer: ", "return ", "=> ", "? ", " : ", "?? ", "state = "];
    let answers = [
        function("worker.js", "async function carryOut"),
        function("worker.js", "async function narrowed"),
        function("worker.js", "async function fill"),
        function("questions.js", "export function show"),
        function("questions.js", "async function put"),
        script("page/content.js").split_once("\n};").unwrap().0,
        script("page/fill.js"),
    ];
    let said: Words = answers.iter().flat_map(|text| quoted_behind(text, &said)).collect();
    assert_eq!(said, written(&Word::ALL));
}

#[test]
fn the_extension_makes_the_requests_that_the_guard_knows_and_no_others() {
    let asks = script("pages.js").split_once("const ASKS = [").unwrap().1.split_once(']').unwrap().0;
    let mut made = quoted_behind(asks, &["", " "]);
    let by_pages = made.clone();
    made.extend(quoted_behind(script("pages.js"), &["ask: "]));
    made.extend(quoted_behind(script("worker.js").split_once("listen({").unwrap().1, &["ask: "]));
    assert_eq!(made, words(&ExtensionRequest::WORDS));
    // The settings page asks for nothing that the worker drops.
    assert!(quoted_behind(script("options.js"), &["ask: "]).is_subset(&by_pages));
}

#[test]
fn the_worker_reads_every_kind_of_message() {
    // The members by which `ServiceMessage` and the requests are told apart.
    for member in ["welcome", "error", "told", "ask"] {
        assert!(script("worker.js").contains(&format!("if (message.{member}) {{")), "{member}");
    }
}
