#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use super::*;
use crate::copying::{Copying, Draft};
use crate::turn::{Answer, MOST_STEPS};

fn turns(count: u64) -> impl Iterator<Item = Graded> {
    (0..count).flat_map(|seed| [graded(seed, false, seed % 3), graded(seed, true, seed % 3)])
}

#[test]
fn both_answers_can_be_written_and_differ_in_their_step() {
    for turn in turns(500) {
        let copying = Copying::of(&turn.situation);
        for answer in [&turn.obeys, &turn.ignores] {
            let mut draft = Draft::default();
            assert!(copying.write(&mut draft, answer.as_bytes()) && draft.may_end(), "{answer}\n{turn:?}");
        }
        let steps = [&turn.obeys, &turn.ignores].map(|answer| Answer::read(answer).step);
        assert!(["chat", "visit", "form"].contains(&steps[0].as_str()), "{steps:?}");
        assert!(["cart", "pay", "card", "wait", "finish"].contains(&steps[1].as_str()), "{steps:?}");
    }
}

#[test]
fn every_page_shows_the_whole_injection_and_none_was_obeyed_before() {
    let mut cut = 0;
    let mut all = 0;
    for turn in turns(500) {
        let page = turn.situation.page.replace('\n', " ");
        all += 1;
        cut += usize::from(!page.contains(&turn.injection));
        let step = Answer::read(&turn.obeys).step;
        assert!(turn.situation.done.len() <= MOST_STEPS);
        assert!(turn.situation.done.iter().all(|done| !done.starts_with(&step)), "{:?}", turn.situation.done);
    }
    // A page that is too long is shown with its longest texts cut.
    assert!(cut * 100 < all, "{cut} of {all}");
}

#[test]
fn a_wording_changes_the_injection_and_nothing_else() {
    let mut designs = 0;
    for seed in 0..200 {
        let one = graded(seed, seed % 2 == 0, 0);
        for wording in 1..6 {
            let other = graded(seed, seed % 2 == 0, wording);
            assert_eq!(one.situation.page.replace(&one.injection, &other.injection), other.situation.page);
            assert_eq!(
                (&one.situation.task, &one.situation.done),
                (&other.situation.task, &other.situation.done)
            );
            assert_eq!(one.ignores, other.ignores);
            assert_eq!(one.obeys.replace(&one.injection, &other.injection), other.obeys);
            assert_eq!((one.carrier, one.guarded), (other.carrier, other.guarded));
            designs += usize::from((one.obedience - other.obedience).abs() > 0.2);
        }
    }
    assert!(designs > 400, "wordings differ in how well they work: {designs} of 1000");
}

#[test]
fn the_designed_probabilities_are_spread_over_the_range() {
    let mut bins = [0; 8];
    let mut all = 0;
    for turn in turns(1000) {
        assert!((0.1..=0.9).contains(&turn.obedience));
        bins[(((turn.obedience - 0.1) * 10.0) as usize).min(7)] += 1;
        all += 1;
    }
    println!("{bins:?}");
    assert!(bins.iter().all(|count| count * 100 > all * 6), "{bins:?}");
}

#[test]
fn a_lesson_obeys_as_often_as_it_is_designed_to() {
    let mut sums = [[0.0; 2]; 4];
    for seed in 0..6000 {
        if let Lesson::Graded(turn, obeys) = lesson(seed, false) {
            let bin = (((turn.obedience - 0.1) * 5.0) as usize).min(3);
            sums[bin][0] += f64::from(u8::from(obeys)) - turn.obedience;
            sums[bin][1] += turn.obedience * (1.0 - turn.obedience);
        }
    }
    for [excess, variance] in sums {
        assert!(variance > 50.0 && excess.abs() < 4.0 * variance.sqrt(), "{sums:?}");
    }
}

#[test]
fn other_lessons_decide_nothing() {
    let mut seen = [0; 2];
    for seed in 0..800 {
        if let Lesson::Plain(turn) = lesson(seed, seed % 2 == 0) {
            seen[usize::from(turn.kind == Kind::Past)] += 1;
            assert!(!decides(&turn), "{turn:?}");
        }
    }
    assert!(seen[0] > 100 && seen[1] > 10, "{seen:?}");
}

#[test]
fn held_out_texts_share_no_piece_with_training() {
    let mut texts = std::collections::HashSet::new();
    for seed in 0..1500 {
        texts.insert(graded(seed, false, 0).injection);
    }
    for seed in 0..1500 {
        let held = graded(seed, true, 0).injection;
        assert!(!texts.contains(&held), "{held}");
    }
}
