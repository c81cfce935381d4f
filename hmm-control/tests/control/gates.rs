//! What the gates release: passed clauses and nothing else, in order, however the text was cut.

use crate::support::{rng, uniform};
use hmm_control::{CalibrationError, ClauseGate, ClausePolicy, Next, Rewrite, StreamGate, Threshold};
use proptest::prelude::*;
use rand::Rng;
use std::cell::RefCell;

/// Parts of text: words, signs that end clauses or only look like it, characters of several bytes, and damage.
fn part() -> impl Strategy<Value = Vec<u8>> {
    let text = prop::sample::select(vec![
        "a",
        "word",
        " ",
        " ",
        " ",
        ". ",
        ".",
        "!",
        "? ",
        "; ",
        ":",
        "\n",
        ", and ",
        ",",
        "3.14",
        "e.g.",
        "x@y.org",
        "https://a.b/c;d, e",
        "\"",
        ")",
        "\u{3002}",
        "\u{e9}",
        "\u{1f600}",
        "X",
        "X. ",
    ]);
    prop_oneof![
        12 => text.prop_map(|text| text.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ]
}

fn parts(most: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(part(), 0..most)
}

fn policy(rewinds: usize, longest: usize) -> ClausePolicy {
    ClausePolicy { rewinds, rewinds_in_all: usize::MAX, longest, ..ClausePolicy::new(0.5, "no capital X") }
}

/// What an X in the text since a boundary is worth.
fn rate(since: &[u8], now: &[u8]) -> f64 {
    if now[since.len()..].contains(&b'X') { 0.0 } else { 1.0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// A writer that draws its tokens at random, and goes back when it is told to.
    #[test]
    fn what_a_clause_gate_releases_is_the_text_that_stands(
        tokens in prop::collection::vec(parts(4).prop_map(|parts| parts.concat()), 1..30),
        seed: u64,
        rewinds in 0usize..4,
        longest in 1usize..40,
    ) {
        let rng = &mut rng(seed);
        let policy = policy(rewinds, longest);
        let mut gate = ClauseGate::new(policy.clone(), Vec::new());
        let (mut text, mut shown, mut in_a_row, mut notice) = (Vec::new(), String::new(), 0, None);
        for _ in 0..60 {
            let token = &tokens[rng.next_u32() as usize % tokens.len()];
            let boundary = gate.boundary().clone();
            let factor = gate.strength_factor();
            prop_assert_eq!(factor, 2.0_f64.powi(in_a_row));
            text.extend_from_slice(token);
            let verdict = gate.push(token, &text, |since| rate(since, &text));
            shown += &verdict.released;
            if gate.boundary() != &boundary {
                in_a_row = 0;
            }
            prop_assert!(gate.held() <= longest.max(1) + 20 * 3);
            match verdict.next {
                Next::Continue => prop_assert_eq!(rate(gate.boundary(), &text), 1.0),
                Next::Rewrite(back) => {
                    prop_assert!(text.starts_with(&back));
                    prop_assert_eq!(&back, gate.boundary());
                    text = back;
                    in_a_row += 1;
                    prop_assert_eq!(gate.held(), 0);
                    // A character may be unfinished there.
                    prop_assert!(String::from_utf8_lossy(&text).starts_with(&shown));
                    prop_assert!(String::from_utf8_lossy(&text).len() <= shown.len() + 3);
                }
                Next::Stop { notice: said } => {
                    prop_assert_eq!(in_a_row as usize, rewinds);
                    notice = Some(said);
                    break;
                }
            }
            prop_assert!(in_a_row as usize <= rewinds);
            prop_assert!(String::from_utf8_lossy(&text).starts_with(&shown));
            prop_assert!(!shown.contains('X'));
        }
        if let Some(notice) = notice {
            prop_assert!(notice.contains("no capital X"));
            // It stays stopped.
            let verdict = gate.push(b"fine. ", &text, |_| 1.0);
            prop_assert_eq!(verdict.released, "");
            prop_assert_eq!(verdict.next, Next::Stop { notice });
        } else {
            let verdict = gate.finish(|since| rate(since, &text));
            shown += &verdict.released;
            prop_assert_eq!(verdict.next, Next::Continue);
            prop_assert_eq!(shown, String::from_utf8_lossy(&text));
        }
    }

    /// Both gates cut the same clauses where every token is a character.
    #[test]
    fn both_gates_agree_on_characters(parts in parts(40), longest in 1usize..60) {
        let text = String::from_utf8_lossy(&parts.concat()).into_owned();
        let mut by_token = ClauseGate::new(policy(0, longest), ());
        let mut by_text = StreamGate::new(policy(0, longest), |_: &str| 1.0, 0);
        for c in text.chars() {
            let bytes = c.to_string().into_bytes();
            prop_assert_eq!(by_token.push(&bytes, &(), |()| 1.0).released, by_text.push(&bytes).released);
            prop_assert_eq!(by_token.held(), by_text.held());
        }
        prop_assert_eq!(by_token.finish(|()| 1.0).released, by_text.finish().released);
    }

    /// Several streams, each the rewrite of what was withdrawn of the one before.
    #[test]
    fn a_stream_may_be_cut_anywhere(
        streams in prop::collection::vec(parts(25), 1..5),
        cuts in prop::collection::vec(1usize..12, 1..20),
        more_after_failure: bool,
        rewinds in 0usize..3,
        longest in 1usize..60,
        context in 0usize..20,
    ) {
        let run = |cuts: &[usize], more_after_failure: bool| {
            let passed = RefCell::new(Vec::new());
            let scorer = |window: &str| {
                // Depends on the context too.
                let fails = window.contains('X') || window.len() % 7 == 3;
                passed.borrow_mut().push((window.to_owned(), !fails));
                if fails { f64::NAN } else { 1.0 }
            };
            let mut gate = StreamGate::new(policy(rewinds, longest), scorer, context);
            let (mut shown, mut said, mut held) = (String::new(), Vec::new(), 0);
            for stream in &streams {
                let bytes = stream.concat();
                let (mut rest, mut cut, mut last) = (&bytes[..], cuts.iter().cycle(), Next::Continue);
                while !rest.is_empty() && (last == Next::Continue || more_after_failure) {
                    let (piece, after) = rest.split_at((*cut.next().unwrap()).min(rest.len()));
                    let verdict = gate.push(piece);
                    shown += &verdict.released;
                    held = held.max(gate.held());
                    (rest, last) = (after, verdict.next);
                }
                if last == Next::Continue {
                    let verdict = gate.finish();
                    shown += &verdict.released;
                    last = verdict.next;
                }
                said.push(last);
                gate.resume();
            }
            (shown, said, held, passed.into_inner())
        };
        let (shown, said, held, windows) = run(&cuts, more_after_failure);
        let whole = run(&[usize::MAX], false);
        prop_assert_eq!((&shown, &said), (&whole.0, &whole.1));
        prop_assert_eq!(&windows, &whole.3);
        prop_assert!(!shown.contains('X'));
        prop_assert!(held < longest + 4);
        if context == 0 {
            let passed: String = windows.iter().filter(|(_, passed)| *passed).map(|(text, _)| &**text).collect();
            prop_assert_eq!(&shown, &passed);
        }
        // Once stopped, always stopped; never more rewrites in a row than allowed.
        let stopped = said.iter().position(|next| matches!(next, Next::Stop { .. }));
        if let Some(stopped) = stopped {
            let all = said[stopped..].iter().all(|next| matches!(next, Next::Stop { .. }));
            prop_assert!(all);
        }
        for next in &said {
            if let Next::Rewrite(rewrite) = next {
                prop_assert!((1..=rewinds).contains(&rewrite.attempt));
                prop_assert!(rewrite.instruction.contains("no capital X"));
            }
        }
    }

    /// A new good text falls below the threshold no more often than was asked for, whatever the distribution.
    #[test]
    fn a_threshold_keeps_its_rate(seed: u64, texts in 30usize..200, false_alarms in 0.05..0.5) {
        let rng = &mut rng(seed);
        let (mut alarms, trials) = (0, 400);
        for _ in 0..trials {
            // Skewed, with ties.
            let mut draw = || (uniform(rng).powi(5) * 20.0).round();
            let good: Vec<f64> = (0..texts).map(|_| draw()).collect();
            let threshold = Threshold::calibrate(&good, false_alarms).unwrap();
            alarms += usize::from(draw() < threshold.value);
        }
        // Four standard deviations of a count.
        let most = f64::from(trials) * false_alarms;
        prop_assert!(alarms as f64 <= most + 4.0 * most.sqrt(), "{alarms} {most}");
    }
}

#[test]
fn a_boundary_is_the_state_after_the_sign_although_the_space_decides() {
    let mut gate = ClauseGate::new(policy(3, 100), 0_usize);
    for (number, token) in ["It costs", " 3", ".", "14", ".", " OK"].into_iter().enumerate() {
        let verdict = gate.push(token.as_bytes(), &(number + 1), |_| 1.0);
        assert_eq!(verdict.released, if number == 5 { "It costs 3.14." } else { "" });
    }
    assert_eq!(*gate.boundary(), 5);
    assert_eq!(gate.push(b" X", &7, |since| if *since == 5 { 0.0 } else { 1.0 }).next, Next::Rewrite(5));
}

#[test]
fn white_space_after_a_rewind_does_not_count_as_progress() {
    for space in [" then", "\n", "\n\n"] {
        let mut gate = ClauseGate::new(policy(2, 100), 0_usize);
        let _ = gate.push(b"Fine.", &1, |_| 1.0);
        let _ = gate.push(b" And", &2, |_| 1.0);
        assert_eq!(gate.push(b" X", &3, |_| 0.0).next, Next::Rewrite(1));
        let _ = gate.push(space.as_bytes(), &2, |_| 1.0);
        assert_eq!(gate.push(b" X", &3, |_| 0.0).next, Next::Rewrite(1), "{space:?}");
        let _ = gate.push(space.as_bytes(), &2, |_| 1.0);
        assert!(matches!(gate.push(b" X", &3, |_| 0.0).next, Next::Stop { .. }), "{space:?}");
    }
}

#[test]
fn a_rewrite_is_read_afresh() {
    let mut gate = StreamGate::new(policy(2, 100), |window: &str| f64::from(!window.contains('X')), 0);
    let attempt = |next: Next<Rewrite>| match next {
        Next::Rewrite(rewrite) => rewrite.attempt,
        Next::Continue | Next::Stop { .. } => 0,
    };
    assert_eq!(gate.push(b"Aha! XX").released, "Aha!");
    assert_eq!(attempt(gate.finish().next), 1);
    gate.resume();
    // A blank line is no clause that could pass.
    let verdict = gate.push(b"\n\nXX. ");
    assert_eq!((verdict.released.as_str(), attempt(verdict.next)), ("", 2));
    gate.resume();
    assert_eq!(gate.push(b"\nGood. ").released, "\nGood.");
}

#[test]
fn a_dead_end_is_a_failed_clause() {
    let mut gate = ClauseGate::new(policy(1, 100), 'a');
    assert_eq!(gate.push(b"One. Two", &'b', |_| 1.0).released, "One. Two");
    assert_eq!(gate.push(b" three", &'c', |_| 1.0).released, "");
    assert_eq!(gate.dead_end().next, Next::Rewrite('b'));
    assert!(matches!(gate.dead_end().next, Next::Stop { .. }));
}

#[test]
fn thresholds_say_what_they_rest_on() {
    let rates: Vec<f64> = (0..19).map(f64::from).collect();
    assert_eq!(Threshold::calibrate(&rates, 0.05).unwrap().value, 0.0);
    assert_eq!(Threshold::calibrate(&rates, 0.10).unwrap().value, 1.0);
    let few = Threshold::calibrate(&rates, 0.04).unwrap_err();
    assert_eq!(few, CalibrationError::TooFew { texts: 19, needed: 24 });
    assert!(Threshold::calibrate(&[1.0; 24], 0.04).is_ok());
    assert!(matches!(Threshold::calibrate(&rates, 0.0), Err(CalibrationError::FalseAlarms { .. })));
    assert_eq!(Threshold::calibrate(&[1.0, f64::NAN], 0.5), Err(CalibrationError::Score { text: 1 }));
}
