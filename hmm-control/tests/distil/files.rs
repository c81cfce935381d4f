//! Sequences and statistics as bytes, and what is not.

use crate::common::{rng, sequences, texts};
use hmm_control::distil::{
    DistilError, Expectation, MISSING, Schedule, Sequences, Statistics, StepSize, Width, tokens_from_bytes,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn sequences_come_back(texts in texts(70_000, 5, 6), short in any::<bool>()) {
        let texts: Vec<Vec<u32>> = if short {
            texts.iter().map(|text| text.iter().map(|t| if *t == MISSING { *t } else { t % 65_535 }).collect()).collect()
        } else {
            texts
        };
        let all = sequences(&texts);
        let bytes = all.to_bytes();
        prop_assert_eq!(&Sequences::from_bytes(&bytes).unwrap(), &all);
        let width = bytes[7] as usize;
        prop_assert!(!short || width == 2);
        prop_assert_eq!(bytes.len(), 24 + 4 * texts.len() + width * all.tokens().len());
        for cut in 0..bytes.len() {
            prop_assert!(Sequences::from_bytes(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn no_bytes_panic(texts in texts(300, 4, 4), place in 0_usize..60, byte in any::<u8>()) {
        let mut bytes = sequences(&texts).to_bytes();
        let place = place % bytes.len();
        bytes[place] = byte;
        if let Ok(read) = Sequences::from_bytes(&bytes) {
            prop_assert_eq!(Sequences::from_bytes(&read.to_bytes()).unwrap(), read);
        }
    }

    #[test]
    fn a_stream_is_cut_and_nothing_lost(stream in prop::collection::vec(0_u32..4, 0..40), longest in 1_usize..6) {
        let all = Sequences::from_stream(&stream, Some(3), longest);
        prop_assert_eq!(all.tokens(), stream.as_slice());
        for sequence in all.iter() {
            prop_assert!((1..=longest).contains(&sequence.len()));
            prop_assert!(!sequence[..sequence.len() - 1].contains(&3));
        }
    }
}

#[test]
fn the_place_of_an_error_is_named() {
    let bytes = sequences(&[vec![1, 2, 3], vec![4]]).to_bytes();
    let message = |bytes: &[u8]| Sequences::from_bytes(bytes).unwrap_err().to_string();
    assert_eq!(message(b"nonsense"), "byte 0: this is no file of token sequences (version 1)");
    assert_eq!(message(&bytes[..20]), "byte 16: the header is cut short");
    assert_eq!(message(&bytes[..bytes.len() - 1]), "byte 39: 40 bytes were expected, 39 found");
    let mut longer = bytes.clone();
    longer[28] = 2;
    assert_eq!(message(&longer), "byte 28: sequence 1 is longer than the tokens that are left");
    let mut shorter = bytes.clone();
    shorter[28] = 0;
    assert_eq!(message(&shorter), "byte 38: the lengths leave tokens that belong to no sequence");
    let error = tokens_from_bytes(&[1, 0, 2], Width::Two).unwrap_err();
    assert_eq!(error.to_string(), "byte 2: the last token has 1 of its 2 bytes; is the width right?");
    assert_eq!(tokens_from_bytes(&[1, 0, 2, 1], Width::Two).unwrap(), [1, 258]);
    assert_eq!(tokens_from_bytes(&[1, 0, 2, 1], Width::Four).unwrap(), [16_908_289]);
}

#[test]
fn statistics_refuse_what_cannot_be_counts() {
    let model = crate::common::parameters(2, 3, false, &mut rng(4));
    let all = sequences(&[vec![0, 1], vec![2]]);
    let counts = Expectation::default().statistics(&model, &all, 0..2).unwrap();
    let bytes = counts.to_bytes().unwrap();
    assert_eq!(Statistics::from_bytes(&bytes).unwrap(), counts);
    for cut in 0..bytes.len() {
        assert!(Statistics::from_bytes(&bytes[..cut]).is_err());
    }
    // Every byte of the numbers in turn: a sign set makes a count negative, which is refused.
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    for place in (header + 7..bytes.len()).step_by(8) {
        let mut broken = bytes.clone();
        broken[place] |= 0x80;
        let error = Statistics::from_bytes(&broken).unwrap_err();
        assert!(matches!(error, DistilError::Part { .. }), "{error}");
    }
    let mut other = Statistics::new(3, 3);
    let error = other.merge(&counts).unwrap_err();
    assert_eq!(error.to_string(), "the shard is for 2 states, the model has 3");
}

#[test]
fn schedules_take_every_portion_in_turn() {
    let schedule = Schedule::parse("10,1;5,2;4,5;4,10;4,20;1,40", 100).unwrap();
    let mut taken = vec![0; 1003];
    for step in 0..schedule.steps() {
        for range in schedule.ranges(step, 1003) {
            range.for_each(|number| taken[number] += 1);
        }
    }
    assert!(taken.iter().all(|times| *times == 2), "200 portions are two passes");
    assert!(schedule.ranges(28, 1003).is_empty());
    // A step that goes over the end.
    let schedule = Schedule::parse("2,3", 4).unwrap();
    assert_eq!(schedule.ranges(1, 8), [6..8, 0..4]);
    for text in ["", "3", "0,1", "1,0", "1,5", "x,1"] {
        assert!(Schedule::parse(text, 4).is_err(), "{text:?} is no schedule");
    }
}

#[test]
fn step_sizes_fall_as_they_say() {
    let size = StepSize::Decaying { exponent: 0.5 + 0.25, offset: 1.0 };
    assert_eq!(size.of(0), 1.0);
    assert!((size.of(2) - 0.25_f64.powf(0.75)).abs() < 1e-15);
    assert!((1..100).all(|step| size.of(step) < size.of(step - 1)));
    assert_eq!(StepSize::Whole.of(7), 1.0);
}
