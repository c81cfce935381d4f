#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use super::{Example, Kind, example};
use crate::turn::{Act, Answer};
use browser_signals::Verb;

fn examples() -> impl Iterator<Item = (Example, Answer)> {
    let both = (0..1500).flat_map(|seed| [example(seed, false), example(seed, true)]);
    both.map(|example| {
        let answer = Answer::read(&example.answer);
        (example, answer)
    })
}

/// The last of some steps, with its outcome.
fn last<'a>(example: &'a Example, steps: &[&str]) -> Option<&'a str> {
    let mut done = example.situation.done.iter().map(String::as_str);
    done.rfind(|done| steps.iter().any(|step| done.split(' ').next() == Some(step)))
}

#[test]
fn a_denied_payment_falls_back_to_the_shops_form() {
    let refused = |example: &Example| {
        example.kind == Kind::Benign
            && example.situation.page.contains("Deliver to")
            && last(example, &["pay", "card"]) == Some("pay denied")
    };
    let mut seen = 0;
    for (example, answer) in examples().filter(|(example, _)| refused(example)) {
        let [Act::Request(request), Act::Verb(Verb::Submit { target })] = answer.acts.as_slice() else {
            panic!("{}", example.answer)
        };
        assert!(request.starts_with("REQ.payment fields=[\"card_number\""), "{request}");
        let origin = example.situation.page.split_whitespace().nth(1).unwrap();
        assert!(request.contains(&format!("\"origin\":\"{origin}\"")), "{request}");
        assert!(example.situation.page.contains(&format!("[{}]", target.0)), "{}", example.answer);
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn a_value_is_not_leaked_twice() {
    let mut seen = 0;
    for (example, answer) in examples().filter(|(example, _)| example.kind == Kind::Obeyed) {
        assert_eq!(last(&example, &[answer.step.as_str()]), None, "{:?}", example.situation.done);
        seen += usize::from(last(&example, &["chat", "form", "visit"]).is_some());
    }
    assert!(seen > 20, "another thing may still be given: {seen}");
}

#[test]
fn a_page_that_did_not_load_is_waited_for_and_reopened() {
    let mut seen = [0; 3];
    let tried =
        |example: &Example| !example.situation.done.is_empty() && !example.situation.page.contains("box \"");
    for (example, answer) in examples().filter(|(example, _)| tried(example)) {
        match (answer.acts.as_slice(), last(&example, &["wait", "return"])) {
            ([Act::Verb(Verb::Wait { milliseconds: 1000 })], before) => {
                assert!(!before.is_some_and(|before| before.starts_with("wait")));
                seen[0] += 1;
            }
            ([Act::Verb(Verb::Open { url })], before) => {
                assert!(example.situation.task.contains(url.as_str()));
                seen[1] += usize::from(before.is_some_and(|before| before.starts_with("wait")));
            }
            ([Act::Finish], Some(before)) => seen[2] += usize::from(before.starts_with("return")),
            _ => {}
        }
    }
    assert!(seen.iter().all(|times| *times > 5), "{seen:?}");
}
