//! Tables and pictures.

use policy_dfa::show::Format;
use policy_dfa::{Axis, Policy, Root, VerbKind};
use proptest::prelude::*;
use sirl::{Kind, Tier};

use crate::common::DEFAULT;
use crate::policies::policy;

const ADDRESS: Root = Root::Request(Kind::Address, Tier::T2);

fn shown(text: &str, root: Root, format: Format) -> String {
    Policy::parse(text).unwrap().compile().unwrap().show(root, format)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn both_pictures_show_the_same_states_and_transitions(one in policy()) {
        let compiled = one.1.compile().unwrap();
        for root in compiled.events() {
            let dot = compiled.show(root, Format::Dot);
            let mermaid = compiled.show(root, Format::Mermaid);
            let arrows = dot.matches(" -> ").count();
            let states = dot.matches("[label=").count() - arrows;
            prop_assert!(states > 0);
            prop_assert_eq!(arrows, mermaid.matches(" -->|").count());
            let nodes = mermaid.lines().filter(|line| line.starts_with("    n") && !line.contains(" -->|"));
            prop_assert_eq!(states, nodes.count());
        }
    }
}

#[test]
fn a_table_has_a_row_for_each_rule() {
    let text = shown(DEFAULT, ADDRESS, Format::Text);
    let expected = "`address` with T2 fields, default version 1
  signal       passes         else                                        rule
  plan         planned        unplanned_request                           every request: the task planned it
  taint        clean          tainted_session                             after suspected_injection never T2 until new_task
  container    T2             invalid_container; unknown: refused         container covers the fields
";
    assert!(text.starts_with("`address` with T2 fields, default version 1\n"), "{text}");
    for row in expected.lines().skip(1) {
        let words: Vec<&str> = row.split_whitespace().collect();
        assert!(text.lines().any(|line| line.split_whitespace().eq(words.iter().copied())), "{row}\n{text}");
    }
    assert!(
        text.ends_with(
            "  then asked once per session where no row says otherwise, while prompts are left; with a yes granted by fill\n"
        ),
        "{text}"
    );
    assert_eq!(
        shown(DEFAULT, Root::Request(Kind::Payment, Tier::T2), Format::Text),
        "`payment` with T2 fields, default version 1\n  refused (delivery_forbidden): deliver nothing\n"
    );
    let open = shown(DEFAULT, Root::Verb(VerbKind::Open), Format::Markdown);
    assert!(
        open.contains("| destination (if container is T1 or T2) | task, task_over_http, task_on_loopback | outside_task; unknown: refused | destination origin is the task's if container is T1 or T2 |"),
        "{open}"
    );
}

#[test]
fn names_are_escaped() {
    let odd = "a</title>|`x`*b*&c\\";
    let text = DEFAULT.replace("policy \"default\"", &format!("policy \"{odd}\""));
    assert!(shown(&text, ADDRESS, Format::Markdown).contains("a&lt;/title&gt;\\|\\`x\\`\\*b\\*&amp;c\\\\"));
    assert!(shown(&text, ADDRESS, Format::Dot).contains("*&c\\\\ version 1\" {"));
    assert!(shown(&text, ADDRESS, Format::Mermaid).contains("c\\\\ version 1\"\n---"));
}

#[test]
fn a_picture_names_every_axis_as_often_as_it_is_read() {
    let dot = shown(DEFAULT, ADDRESS, Format::Dot);
    // A doubtful placement is asked about each time, so consent and prompts are read for it apart.
    for (axis, read) in [("plan", 1), ("container", 1), ("tls", 1), ("consent", 2), ("prompts", 2)] {
        assert_eq!(dot.matches(&format!("[label=\"{axis}\\n")).count(), read, "{axis}\n{dot}");
    }
    assert!(Axis::ALL.len() >= dot.matches("\\n").count() / 2);
}
