//! Non-interference (I13): two vaults of the same shape with different values, the same pages and the same agent. Nothing
//! that the model, the pages or the record see differs.

use crate::played::{BLOCK, Played};
use browser_signals::{Container, ElementRef, Fact, Sink, Verb};
use portcullis::Action;
use portcullis::DEFAULT_POLICY;
use proptest::prelude::*;
use sirl::Field;

type Values = [(&'static str, Field, &'static str); 7];

const ONE: Values = [
    ("address:me", Field::Name, "Ada Quillfeather"),
    ("address:me", Field::Street, "17 Canary Quarry Road"),
    ("address:me", Field::City, "Berkeley"),
    ("address:me", Field::PostalCode, "94704"),
    ("contact:me", Field::Email, "ada.quill@mail.example"),
    ("card:me", Field::CardNumber, "4111111111111111"),
    ("card:me", Field::CardExpiry, "12/29"),
];
const OTHER: Values = [
    ("address:me", Field::Name, "Bea Rossenstern"),
    ("address:me", Field::Street, "4 Lower Mill Passage"),
    ("address:me", Field::City, "Norwich"),
    ("address:me", Field::PostalCode, "30117"),
    ("contact:me", Field::Email, "b.rossen@post.example"),
    ("card:me", Field::CardNumber, "5555555555554444"),
    ("card:me", Field::CardExpiry, "04/31"),
];

/// One step of an agent that knows no value.
#[derive(Debug, Clone)]
enum Step {
    Read,
    Type(String),
    Open(String),
    Request(&'static str),
}

fn step() -> impl Strategy<Value = Step> {
    let words = prop_oneof![
        "[a-z]{1,9}( [a-z]{1,9}){0,4}",
        "[0-9]{1,4}",
        // Cards of both vaults and of neither, in pieces and in encodings.
        Just("4111 1111 1111 1111".to_owned()),
        Just("5555555555554444".to_owned()),
        Just("4012888888881881".to_owned()),
        Just("c=4111%2D1111%2D1111%2D1111".to_owned()),
        Just("someone@else.example".to_owned()),
    ];
    let address = prop_oneof![
        "https://shop\\.example/[a-z]{0,8}\\?q=[a-z]{0,8}",
        Just("https://shop.example/?c=5555555555554444".to_owned()),
        Just("https://evil.example/?street=1".to_owned()),
    ];
    prop_oneof![
        3 => words.prop_map(Step::Type),
        1 => address.prop_map(Step::Open),
        2 => Just(Step::Read),
        1 => Just(Step::Request(BLOCK)),
        1 => Just(Step::Request("REQ.contact fields=[\"email\"]\nREQ.end")),
        1 => Just(Step::Request("REQ.purchase ctx={\"total\":64.15,\"currency\":\"USD\"}\nREQ.end")),
    ]
}

/// A page that lists candidates for every value, as an attacker would, some of them in pieces.
fn candidates() -> String {
    let lines = ONE.iter().chain(&OTHER).flat_map(|(_, field, value)| {
        let (head, tail) = value.split_at(value.len() / 2);
        [
            format!("- text: \"{} might be {value}\"", field.as_str()),
            format!("- text: \"{head}\""),
            format!("- text: \"{tail}\""),
        ]
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// All output of the guard in a run: answers, browser commands, the record, the prompts.
fn run(values: &Values, steps: &[Step], reads: &str) -> [Vec<String>; 4] {
    let mut played = Played::with(DEFAULT_POLICY, Container::T2, values, "buy a kettle for two");
    played.reads = reads.to_owned();
    played.looks[0].sink = Fact::Known(Sink::FreeText);
    let answers = steps.iter().map(|step| match step.clone() {
        Step::Read => played.act(Action::Verb(Verb::Read)),
        Step::Type(text) => played.act(Action::Verb(Verb::typed(ElementRef("e1".into()), text))),
        Step::Open(url) => played.act(Action::Verb(Verb::Open { url })),
        Step::Request(block) => played.request(block),
    });
    let answers = answers.collect();
    let records = played.records.iter().map(|record| format!("{record:?}")).collect();
    [answers, played.commands, records, played.prompts]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_agent_that_knows_no_value_sees_no_difference(steps in prop::collection::vec(step(), 1..12)) {
        let steps: Vec<Step> = steps;
        // Before a release the page may contain any value of either vault.
        let releases = steps.iter().position(|step| matches!(step, Step::Request(_))).unwrap_or(steps.len());
        let before = &steps[..releases];
        prop_assert_eq!(run(&ONE, before, &candidates()), run(&OTHER, before, &candidates()));
        // After a release the page may contain its released values, at the same positions in both runs.
        let page = |values: &Values| {
            let lines = values.iter().map(|(_, _, value)| {
                let (head, tail) = value.split_at(2);
                let (head, tail) = (head.trim(), tail.trim());
                // The number behind the street, as other countries write it.
                let turned = value
                    .split_once(' ')
                    .map_or(value.to_string(), |(number, street)| format!("{street}, {number}"));
                format!(
                    "- text: \"a {value} b\"\n- text: \"{head}\"\n- text: \"{tail}\"\n- text: \"c {turned} d\""
                )
            });
            // Only values that the block releases.
            lines.skip(1).take(2).collect::<Vec<_>>().join("\n")
        };
        let released: Vec<Step> = [Step::Request(BLOCK)].into_iter().chain(steps).chain([Step::Read]).collect();
        prop_assert_eq!(run(&ONE, &released, &page(&ONE)), run(&OTHER, &released, &page(&OTHER)));
    }
}

#[test]
fn released_values_are_masked_over_the_lines_of_a_page() {
    let reads = |page: &str| {
        let [answers, ..] = run(&ONE, &[Step::Request(BLOCK), Step::Read], page);
        answers[1].clone()
    };
    assert_eq!(
        reads("- text: \"17 Canary\"\n- text: \"Quarry Road\" [ref=e3]\n- text: \"Copy\""),
        "- text: \"[withheld]\"\n- text: \"[withheld]\" [ref=e3]\n- text: \"Copy\""
    );
    assert_eq!(
        reads("- paragraph [ref=e1]: \"b\"\n- text: \"Be\"\n- text: \"rke\"\n- text: \"ley\"\n- text: \"x\""),
        "- paragraph [ref=e1]: \"b\"\n- text: \"[withheld]\"\n- text: \"[withheld]\"\n- text: \"[withheld]\"\n- text: \"x\""
    );
    // Values that were not released stay visible. Otherwise the page would learn the vault's content.
    let other = "- text: \"ada.quill@\"\n- text: \"94704 or Ada Quillfeather\"";
    assert_eq!(reads(other), other);
}
