//! A damaged file is refused, or read as another valid model.

use hmm_control::LanguageModel;
use language_models::ngram::{BytesError, NgramModel, Topic, TopicModel};
use proptest::prelude::*;

fn model() -> TopicModel {
    let texts: [&[u32]; 3] = [&[0, 1, 2, 0, 1], &[0, 1, 1, 2], &[2, 0, 1]];
    let topics = [(3, "three"), (1, "one")].map(|(order, name)| {
        let model = NgramModel::train(4, order, Some(3), texts).unwrap();
        Topic { name: name.to_owned(), model, share: order as f64 }
    });
    TopicModel::new(topics.into()).unwrap()
}

/// Checks that a model is valid: its distributions sum to 1.
fn check(model: &TopicModel) {
    let mut distribution = vec![0.0; model.vocabulary()];
    for text in [&[][..], &[0], &[0, 1], &[2, 2, 2]] {
        let mut state = model.start();
        if text.iter().all(|token| model.observe(&mut state, *token).is_ok()) {
            model.distribution(&state, &mut distribution);
            let sum: f64 = distribution.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }
}

#[test]
fn every_cut_and_every_flipped_bit_is_refused_or_valid() {
    let bytes = model().to_bytes();
    let mut refused = 0;
    for length in 0..bytes.len() {
        assert!(TopicModel::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    for place in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << bit;
            match TopicModel::from_bytes(&changed) {
                Ok(model) => check(&model),
                Err(_) => refused += 1,
            }
        }
    }
    // A change of counts, shares and names may give a valid model; one of the tree may not.
    assert!(refused > bytes.len() * 4, "{refused} of {}", bytes.len() * 8);
}

#[test]
fn errors_name_the_reason() {
    let bytes = model().to_bytes();
    assert_eq!(TopicModel::from_bytes(b"GGUF"), Err(BytesError::NotAModel));
    let mut other = bytes.clone();
    other[6] = 9;
    assert_eq!(TopicModel::from_bytes(&other), Err(BytesError::Version { found: 9, known: 1 }));
    assert_eq!(TopicModel::from_bytes(&bytes[..10]), Err(BytesError::CutShort { part: "vocabulary" }));
    let longer = [bytes.as_slice(), &[0, 0]].concat();
    assert_eq!(TopicModel::from_bytes(&longer), Err(BytesError::TooLong { count: 2 }));
    // A size beyond the bytes allocates nothing.
    let mut large = bytes.clone();
    large[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(TopicModel::from_bytes(&large), Err(BytesError::Damaged { part: "number of topics" }));
}

/// The offset of each part of the first topic's levels, by level.
fn parts(bytes: &[u8]) -> Vec<[(&'static str, usize); 5]> {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let mut at = 20;
    at += 4 + number(at) + 8;
    let order = number(at);
    at += 4;
    (0..order)
        .map(|_| {
            let (nodes, continuations) = (number(at), number(at + 4));
            at += 8;
            let lengths = [nodes, nodes + 1, nodes + 1, continuations, continuations];
            let mut index = 0;
            ["contexts", "tree of contexts", "table of continuations", "continuations", "counts"].map(
                |part| {
                    let begins = at;
                    at += lengths[index] * 4;
                    index += 1;
                    (part, begins)
                },
            )
        })
        .collect()
}

#[test]
fn errors_name_the_damaged_part() {
    let bytes = model().to_bytes();
    let levels = parts(&bytes);
    let damage = |level: usize, part: usize, index: usize, value: u32| {
        let (name, begins) = levels[level][part];
        let mut changed = bytes.clone();
        changed[begins + 4 * index..][..4].copy_from_slice(&value.to_le_bytes());
        assert_eq!(
            TopicModel::from_bytes(&changed),
            Err(BytesError::Damaged { part: name }),
            "{level} {index}"
        );
    };
    // A context with an unknown token; contexts, then continuations out of order.
    damage(1, 0, 2, 4);
    damage(1, 0, 1, 0);
    damage(0, 3, 1, 0);
    // A tree that begins late, goes back, or ends early.
    damage(0, 1, 0, 1);
    damage(1, 1, 1, 9);
    damage(0, 1, 1, 1);
    // A context without continuations, a count of 0, an unknown token.
    damage(1, 2, 1, 0);
    damage(2, 4, 0, 0);
    damage(2, 3, 0, 4);
}

#[test]
fn a_second_empty_context_is_refused() {
    let mut bytes = b"PNGRAM\x01\0".to_vec();
    // Four tokens, no end, one topic without a name, of share 1 and order 1; a level of two nodes.
    let two = [4, u32::MAX, 1, 0, 0, 0x3ff0_0000, 1, 2, 2, 9, 9, 0, 0, 0, 0, 1, 2, 0, 1, 1, 1];
    let mut place = |number: u32| bytes.extend(number.to_le_bytes());
    two.into_iter().map(|number| if number == 9 { u32::MAX } else { number }).for_each(&mut place);
    assert_eq!(TopicModel::from_bytes(&bytes), Err(BytesError::Damaged { part: "first level" }));
}

proptest! {
    #[test]
    fn any_bytes_after_the_beginning(rest in proptest::collection::vec(any::<u8>(), 0..200)) {
        let head = &model().to_bytes()[..20];
        if let Ok(model) = TopicModel::from_bytes(&[head, &rest].concat()) {
            check(&model);
        }
    }

    #[test]
    fn several_changes_at_once(changes in proptest::collection::vec((any::<prop::sample::Index>(), 0_u8..4), 1..6)) {
        let mut bytes = model().to_bytes();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Ok(model) = TopicModel::from_bytes(&bytes) {
            check(&model);
        }
    }
}
