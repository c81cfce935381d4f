//! The token masks of the request language as an attribute: what the grammar forbids has probability exactly 0 after
//! control (invariant I11), and the look-ahead knows how likely a request is to be finished in time.

use hmm_control::{Attribute, Hmm, Lookahead, Storage, Token, strengthened};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sirl::{Field, FieldSet, Grammar, Kind, MaskTable, Vocabulary};
use std::collections::HashMap;

const END: Token = 0;

fn vocabulary() -> Vocabulary {
    let words = [
        "REQ.",
        "otp",
        "end",
        "\n",
        " ",
        "fields",
        "=[\"",
        "one_time_code",
        "\"]",
        " ctx={}",
        "ctx",
        "={",
        "}",
        "a",
        "b",
        "RE",
        "Q.otp",
        "REQ.end",
        "\n\n",
        ".",
    ];
    let tokens = std::iter::once(Vec::new()).chain(words.iter().map(|word| word.as_bytes().to_vec()));
    Vocabulary::from_tokens(tokens.collect()).with_end(END)
}

fn model(tokens: usize) -> Hmm {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut rows = |rows: usize, columns: usize| {
        let mut table = Array2::from_shape_fn((rows, columns), |_| rng.random_range(0.01..1.0_f64));
        table.rows_mut().into_iter().for_each(|mut row| row /= row.sum());
        table
    };
    let (transition, emission) = (rows(6, 6), rows(6, tokens));
    Hmm::new(&[1.0 / 6.0; 6], transition.view(), emission.view(), Storage::F64).unwrap()
}

/// Whether the request is whole, or has been ended.
fn may_end(masks: &MaskTable, state: sirl::State) -> bool {
    masks.is_accepting(state) || masks.mask(state).count() == 0
}

/// The fewest tokens from each state to the end of a request, for the states that reach it at all.
fn distances(masks: &MaskTable) -> HashMap<sirl::State, usize> {
    let mut states = vec![masks.start()];
    let mut steps = Vec::new();
    let mut next = 0;
    while let Some(&state) = states.get(next) {
        next += 1;
        for token in masks.mask(state).tokens().filter(|token| *token != END) {
            let after = masks.step(state, token).unwrap();
            steps.push((state, after));
            if !states.contains(&after) {
                states.push(after);
            }
        }
    }
    let mut distance: HashMap<sirl::State, usize> =
        states.into_iter().filter(|state| masks.is_accepting(*state)).map(|state| (state, 0)).collect();
    loop {
        let before = distance.clone();
        for (state, after) in &steps {
            if let Some(&far) = distance.get(after) {
                let known = distance.entry(*state).or_insert(far + 1);
                *known = (*known).min(far + 1);
            }
        }
        if distance == before {
            return distance;
        }
    }
}

#[test]
fn what_the_masks_forbid_is_exactly_zero_and_what_they_allow_is_not() {
    let grammar = Grammar::for_fields(&[(Kind::Otp, FieldSet::from_iter([Field::OneTimeCode]))]).unwrap();
    let masks = MaskTable::build(&grammar, &vocabulary());
    let count = masks.vocabulary().len();
    let allowed = |state: &sirl::State| -> Vec<(Token, sirl::State)> {
        let tokens = masks.mask(*state).tokens();
        tokens.filter_map(|token| Some((token, masks.step(*state, token)?))).collect()
    };
    let attribute =
        Attribute::from_grammar(count, masks.start(), allowed, |state| may_end(&masks, *state)).unwrap();
    // Whatever the model would write behind the end of the answer.
    let attribute = attribute.ended_by(END).unwrap();
    let lookahead = Lookahead::new(model(count), attribute).unwrap();

    let distance = distances(&masks);
    let mut unfinishable = 0;
    let mut checked = 0;
    let mut waiting = vec![(masks.start(), lookahead.start(), 0)];
    while let Some((state, progress, depth)) = waiting.pop() {
        // Far enough for any request of this vocabulary to be finished.
        let remaining = 24;
        let mut scores = vec![0.0; count];
        lookahead.score_all(&progress, remaining, &mut scores);
        for token in 0..count as Token {
            let score = strengthened(scores[token as usize], 3.0);
            if !masks.mask(state).contains(token) {
                assert_eq!(score, f64::NEG_INFINITY, "token {token} after {depth} tokens");
                checked += 1;
                continue;
            }
            // A mask looks one token ahead: it lets a text begin that this vocabulary cannot finish in time.
            let after = masks.step(state, token).unwrap();
            let can_finish = token == END || distance.get(&after).is_some_and(|far| *far <= remaining);
            assert_eq!(score > f64::NEG_INFINITY, can_finish, "token {token} after {depth} tokens");
            unfinishable += usize::from(!can_finish);
            if depth < 5 && token != END {
                let mut next = progress.clone();
                lookahead.observe(&mut next, token);
                waiting.push((masks.step(state, token).unwrap(), next, depth + 1));
            }
        }
    }
    assert!(checked > 500 && unfinishable > 0, "{checked} {unfinishable}");
}
