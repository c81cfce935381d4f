//! Answers that do not come. However many are lost, and wherever, nothing is bought twice, and what the client says is true.

use checkout_protocols::{Call, Receipt};
use proptest::prelude::*;
use ucp_shop::Behaviour;

use super::buyer::{End, Fate, Line, order, wish};

fn last(call: &Call) -> &str {
    call.url().path_segments().unwrap().next_back().unwrap()
}

#[test]
fn an_answer_after_the_time_out_is_asked_for() {
    for (behaviour, sent) in [
        // The shop sold, and says so when it is asked.
        (Behaviour::AnswersLate, ["POST complete", "GET one"].as_slice()),
        (Behaviour::InProgress, ["POST complete", "GET one"].as_slice()),
    ] {
        let mut line = Line::behaving(behaviour);
        let End::Bought(bought) = order(&mut line, wish(), &mut None) else { panic!("{behaviour:?}") };
        assert_eq!((line.sales(), bought.differs), (1, None));
        assert!(
            line.sent.ends_with(&sent.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()),
            "{:?}",
            line.sent
        );
    }
}

/// The shop never gets the mandates: the same call is sent once more, and then the checkout is cancelled.
#[test]
fn mandates_that_never_arrive_end_in_a_cancelled_checkout() {
    let mut line = Line::behaving(Behaviour::DropsComplete);
    let end = order(&mut line, wish(), &mut None);
    assert!(matches!(end, End::NotBought(_)), "{end:?}");
    assert_eq!(line.sales(), 0);
    let completions = line.sent.iter().filter(|call| *call == "POST complete").count();
    assert_eq!((completions, line.sent.last().unwrap().as_str()), (2, "POST cancel"));
}

/// The first answer is lost, and the second call has the same key, so that the shop answers it from its memory.
#[test]
fn a_repeated_completion_sells_once() {
    let mut line = Line::new();
    let mut first = true;
    line.fate = Box::new(move |_, call| match last(call) {
        "complete" if std::mem::take(&mut first) => Fate::IsLost,
        _ => Fate::Arrives,
    });
    let End::Bought(bought) = order(&mut line, wish(), &mut None) else { panic!() };
    assert_eq!((line.sales(), bought.receipt), (1, Receipt::Signed));
    assert_eq!(line.sent.iter().filter(|call| *call == "POST complete").count(), 2);
}

#[test]
fn a_shop_that_falls_silent_leaves_the_end_unknown() {
    let mut line = Line::new();
    let mut is_over = false;
    line.fate = Box::new(move |_, call| {
        is_over |= last(call) == "complete";
        if is_over { Fate::AnswerIsLost } else { Fate::Arrives }
    });
    assert_eq!(order(&mut line, wish(), &mut None), End::Unknown);
    assert_eq!(line.sales(), 1, "the shop sold, and nobody heard");
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![3 => Just(Fate::Arrives), 1 => Just(Fate::IsLost), 1 => Just(Fate::AnswerIsLost)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_bought_twice_and_what_is_said_is_true(fates in prop::collection::vec(fate(), 40), in_progress: bool, unsigned: bool) {
        let mut line = if unsigned { Line::unsigned() } else { Line::new() };
        line.shop.behave(if in_progress { Behaviour::InProgress } else { Behaviour::Honest });
        line.fate = Box::new(move |number, _| fates.get(number).copied().unwrap_or(Fate::IsLost));
        let end = order(&mut line, wish(), &mut None);
        prop_assert!(line.sales() <= 1);
        match end {
            End::Bought(_) => prop_assert_eq!(line.sales(), 1),
            End::NotBought(_) => prop_assert_eq!(line.sales(), 0),
            End::Unknown => {}
            End::Escalated(_) | End::Crashed => prop_assert!(false),
        }
    }
}
