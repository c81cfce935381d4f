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

/// The elements of an SVG are closed in the order in which they were opened, and no text has a bare mark.
fn well_formed(svg: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        for part in text.split('&').skip(1) {
            let entity = part.split(';').next().unwrap();
            if !["amp", "lt", "gt", "quot"].contains(&entity) {
                return Err(format!("a bare mark in {text}"));
            }
        }
        let end = start + rest[start..].find('>').ok_or("an open mark")?;
        let tag = &rest[start + 1..end];
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if !tag.matches('"').count().is_multiple_of(2) || tag.contains('<') {
            return Err(format!("a broken tag {tag}"));
        }
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return Err(format!("{name} is closed, but not open"));
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    if open.is_empty() && rest.trim().is_empty() {
        Ok(())
    } else {
        Err(format!("still open: {open:?} {rest}"))
    }
}

fn numbers(tag: &str) -> [f64; 4] {
    ["x", "y", "width", "height"].map(|name| {
        let after = tag.split(&format!(" {name}=\"")).nth(1).unwrap_or_else(|| panic!("{name} in {tag}"));
        after.split('"').next().unwrap().parse().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_picture_is_well_formed_and_its_cards_do_not_overlap(one in policy()) {
        let compiled = one.1.compile().unwrap();
        for root in compiled.events() {
            let svg = compiled.show(root, Format::Svg);
            prop_assert_eq!(well_formed(&svg), Ok(()));
            let head = numbers(&svg[svg.find("<rect class=\"under\"").unwrap()..].replacen("class", "x=\"0\" y=\"0\" c", 1));
            let cards: Vec<[f64; 4]> = svg.lines()
                .filter(|line| line.starts_with("<rect class=\"") && line.contains(" rx="))
                .map(numbers)
                .collect();
            prop_assert!(!cards.is_empty());
            for (place, [x, y, w, h]) in cards.iter().enumerate() {
                prop_assert!(*x >= 0.0 && *y >= 0.0 && x + w <= head[2] && y + h <= head[3]);
                for [a, b, c, d] in &cards[place + 1..] {
                    let apart = x + w <= *a || a + c <= *x || y + h <= *b || b + d <= *y;
                    prop_assert!(apart, "{}\n{}", root, svg);
                }
            }
            let dot = compiled.show(root, Format::Dot);
            let mermaid = compiled.show(root, Format::Mermaid);
            let states = dot.matches("[label=").count() - dot.matches(" -> ").count();
            prop_assert_eq!(states, cards.len());
            prop_assert_eq!(dot.matches(" -> ").count(), mermaid.matches(" -->|").count());
            prop_assert_eq!(svg.matches("marker-end").count(), dot.matches(" -> ").count());
        }
    }
}

#[test]
fn a_table_has_a_row_for_each_rule() {
    let text = shown(DEFAULT, ADDRESS, Format::Text);
    let expected = "`address` with T2 fields, default version 1
  signal       passes         else                                        rule
  plan         planned        unplanned_effect                            every request: the task planned it
  taint        clean          tainted_session                             after suspected_injection never T2 until new_task
  container    T2             invalid_container; unknown: refused         container covers the fields
";
    assert!(text.starts_with("`address` with T2 fields, default version 1\n"), "{text}");
    for row in expected.lines().skip(1) {
        let words: Vec<&str> = row.split_whitespace().collect();
        assert!(text.lines().any(|line| line.split_whitespace().eq(words.iter().copied())), "{row}\n{text}");
    }
    assert!(
        text.ends_with("  then asked once per session, while prompts are left; with a yes granted by fill\n")
    );
    assert_eq!(
        shown(DEFAULT, Root::Request(Kind::Payment, Tier::T2), Format::Text),
        "`payment` with T2 fields, default version 1\n  refused (delivery_forbidden): deliver nothing\n"
    );
    let open = shown(DEFAULT, Root::Verb(VerbKind::Open), Format::Markdown);
    assert!(
        open.contains("| destination (if container is T1 or T2) | task, task_over_http | unplanned_effect; unknown: refused | destination origin is the task's if container is T1 or T2 |"),
        "{open}"
    );
}

#[test]
fn names_are_escaped() {
    let odd = "a</title>|`x`*b*&c\\";
    let text = DEFAULT.replace("policy \"default\"", &format!("policy \"{odd}\""));
    let svg = shown(&text, ADDRESS, Format::Svg);
    assert_eq!(well_formed(&svg), Ok(()));
    assert!(svg.contains("a&lt;/title&gt;|`x`*b*&amp;c\\"), "{svg}");
    assert!(shown(&text, ADDRESS, Format::Markdown).contains("a&lt;/title&gt;\\|\\`x\\`\\*b\\*&amp;c\\\\"));
    assert!(shown(&text, ADDRESS, Format::Dot).contains("*&c\\\\ version 1\" {"));
    assert!(shown(&text, ADDRESS, Format::Mermaid).contains("c\\\\ version 1\"\n---"));
}

#[test]
fn a_picture_names_every_axis_that_is_read_once() {
    let dot = shown(DEFAULT, ADDRESS, Format::Dot);
    for axis in ["plan", "container", "tls", "consent", "prompts"] {
        assert_eq!(dot.matches(&format!("[label=\"{axis}\\n")).count(), 1, "{axis}\n{dot}");
    }
    assert!(Axis::ALL.len() >= dot.matches("\\n").count() / 2);
}
