//! Files of a distillation that somebody forged: an error in words or a value that holds, and no panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{narrow, parameters, rng, sequences, some};
use hmm_control::distil::{
    Expectation, Options, Parameters, Schedule, Sequences, Sparse, Statistics, Trainer,
};

fn start() -> Parameters<f32> {
    narrow(&parameters(3, 4, false, &mut rng(3)))
}

fn texts() -> (Sequences, Sequences) {
    (sequences(&[vec![0, 1, 2], vec![3, 1], vec![2, 2, 0]]), sequences(&[vec![1, 0]]))
}

/// A checkpoint of a sparse model whose transitions are pruned already.
fn checkpoint() -> Vec<u8> {
    let (train, held_out) = texts();
    let schedule = Schedule::parse("1,1;2,1", 3).unwrap();
    let sparse = Some(Sparse { successors: 2, after: 1 });
    let options = Options { sparse, patience: Some(2), lanes: some(2), ..Options::new(schedule) };
    let mut trainer = Trainer::new(start(), &train, &held_out, options).unwrap();
    trainer.step().unwrap();
    trainer.step().unwrap();
    assert!(trainer.successors().is_some());
    trainer.checkpoint().unwrap()
}

fn statistics() -> Vec<u8> {
    let (train, _) = texts();
    Expectation::default().statistics(&start(), &train, 0..3).unwrap().to_bytes().unwrap()
}

/// The file with words of its header changed, and the header's length made right.
fn forged(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let length = 8 + usize::try_from(u64::from_le_bytes(*bytes.first_chunk().unwrap())).unwrap();
    let header = std::str::from_utf8(&bytes[8..length]).unwrap();
    let changed = header.replacen(from, to, 1);
    assert_ne!(header, changed, "{from} is in\n{header}");
    [&(changed.len() as u64).to_le_bytes(), changed.as_bytes(), &bytes[length..]].concat()
}

/// Reads a checkpoint and goes on from it, or says why not; what comes of it are numbers.
fn resumed(bytes: &[u8]) -> Result<(), String> {
    let (train, held_out) = texts();
    let resumed = Trainer::<f32>::resume(bytes, &train, &held_out, some(1));
    let mut trainer = resumed.map_err(|error| error.to_string())?;
    for _ in 0..2 {
        if let Err(error) = trainer.step() {
            return Err(error.to_string());
        }
    }
    let finite = trainer.parameters().transition.iter().all(|value| value.is_finite());
    assert!(finite, "no numbers: {:?}", trainer.parameters().transition);
    Ok(())
}

#[test]
fn a_forged_number_of_states_or_successors_is_refused() {
    let good = checkpoint();
    assert_eq!(resumed(&good), Ok(()));
    let header = |from: &str, to: &str| resumed(&forged(&good, from, to));
    // 2^63 - 1 states, and more than a signed number holds: what is counted back from must not overflow.
    for states in ["9223372036854775807", "9223372036854775808", "18446744073709551615", "0", "4"] {
        let refused = header(r#"\"states\":3"#, &format!(r#"\"states\":{states}"#));
        assert!(refused.is_err(), "{states}");
    }
    for count in ["0", "1", "3", "18446744073709551615"] {
        let end = format!(r#"\"successors\":{count},\"stopped\""#);
        assert!(header(r#"\"successors\":2,\"stopped\""#, &end).is_err(), "{count}");
    }
}

#[test]
fn lists_of_successors_rise_and_are_not_empty() {
    let good = checkpoint();
    // No successor at all: a list of nothing for each state, which the shape allows.
    let none = forged(&good, r#"\"successors\":2,\"stopped\""#, r#"\"successors\":0,\"stopped\""#);
    let header = std::str::from_utf8(&none[8..]).map_or_else(
        |error| String::from_utf8_lossy(&none[8..8 + error.valid_up_to()]).into_owned(),
        str::to_owned,
    );
    let place = header.find(r#""successors":{"dtype":"I64","shape":[3,2],"data_offsets":["#).unwrap();
    let offsets = header[place..].split(['[', ']']).nth(3).unwrap();
    let (begin, end) = offsets.split_once(',').unwrap();
    let (begin, end): (usize, usize) = (begin.parse().unwrap(), end.parse().unwrap());
    let length = 8 + usize::try_from(u64::from_le_bytes(*good.first_chunk().unwrap())).unwrap();
    let mut bytes = good.clone();
    // Of the first state the second successor first.
    let lists = length + begin..length + end;
    let (one, other) = (lists.start..lists.start + 8, lists.start + 8..lists.start + 16);
    let (first, second) = (good[one.clone()].to_vec(), good[other.clone()].to_vec());
    bytes[one.clone()].copy_from_slice(&second);
    bytes[other.clone()].copy_from_slice(&first);
    assert!(resumed(&bytes).unwrap_err().contains("rising"));
    bytes[one].copy_from_slice(&first);
    bytes[other].copy_from_slice(&first);
    assert!(resumed(&bytes).unwrap_err().contains("rising"));
}

/// What goes on counting cannot overflow, and no number of steps or lanes keeps the next one from coming to its end.
#[test]
fn forged_counters_of_a_checkpoint_overflow_nothing() {
    let good = checkpoint();
    let after = |key: &str| {
        let text = String::from_utf8_lossy(&good[8..]).into_owned();
        let (_, rest) = text.split_once(&format!(r#"\"{key}\":"#)).unwrap();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        format!(r#"\"{key}\":{digits},"#)
    };
    let with =
        |key: &str, number: &str| resumed(&forged(&good, &after(key), &format!(r#"\"{key}\":{number},"#)));
    for (key, number) in [
        ("since_best", "4294967295"),
        ("since_best", "3"),
        ("tokens", "18446744073709551615"),
        // The largest float.
        ("pseudocount", "9218868437227405311"),
    ] {
        assert!(with(key, number).is_err(), "{key} {number}");
    }
    let steps = forged(&good, r#"\"steps\":2,\"tokens\""#, r#"\"steps\":4,\"tokens\""#);
    assert!(resumed(&steps).unwrap_err().contains("more steps than there are"));
    // These are odd, and no more than that.
    assert_eq!(with("lanes", "18446744073709551615"), Ok(()));
    let long = forged(&good, r#"{\"steps\":2,\"portions\":1}"#, r#"{\"steps\":4294967290,\"portions\":1}"#);
    assert_eq!(resumed(&long), Ok(()));
}

#[test]
fn parameters_of_a_checkpoint_are_distributions() {
    let good = checkpoint();
    let length = 8 + usize::try_from(u64::from_le_bytes(*good.first_chunk().unwrap())).unwrap();
    let (mut changed, mut refused) = (0, 0);
    for place in (length..good.len()).step_by(4) {
        let mut bytes = good.clone();
        bytes[place..place + 4].copy_from_slice(&3e38_f32.to_le_bytes());
        changed += 1;
        refused += usize::from(resumed(&bytes).is_err());
    }
    // Every number: of the parameters, and of the lists of successors.
    assert_eq!(refused, changed);
}

#[test]
fn what_shards_say_of_their_likelihood_cannot_overflow_when_they_are_merged() {
    let good = statistics();
    let said = std::str::from_utf8(&good[8..]).map_or_else(
        |error| String::from_utf8_lossy(&good[8..8 + error.valid_up_to()]).into_owned(),
        str::to_owned,
    );
    let (_, rest) = said.split_once(r#"log_likelihood\":\""#).unwrap();
    let number = rest.split('\\').next().unwrap();
    for forged_number in [i128::MAX.to_string(), i128::MIN.to_string(), "1e30".to_owned()] {
        let bytes = forged(&good, number, &forged_number);
        let merged = catch_unwind(|| {
            let shard = Statistics::from_bytes(&bytes).map_err(|error| error.to_string())?;
            let mut all = shard.clone();
            all.merge(&shard).map_err(|error| error.to_string())
        });
        let refused = merged.expect("no overflow").unwrap_err();
        assert!(refused.contains("log likelihood"), "{refused}");
    }
}

/// Of two shards that together have as many places as there may be.
#[test]
fn the_largest_counts_of_two_shards_add_up() {
    let good = statistics();
    let said = String::from_utf8_lossy(&good).into_owned();
    let (_, rest) = said.split_once(r#"\"positions\":"#).unwrap();
    let places = format!(r#"\"positions\":{},"#, rest.split(',').next().unwrap());
    let mut half = forged(&good, &places, r#"\"positions\":134217728,"#);
    let first = 8 + usize::try_from(u64::from_le_bytes(*half.first_chunk().unwrap())).unwrap();
    for (count, fits) in [(1_i64 << 62, false), ((1 << 62) - 1, true)] {
        half[first..first + 8].copy_from_slice(&count.to_le_bytes());
        let shard = Statistics::from_bytes(&half);
        assert_eq!(shard.is_ok(), fits, "{count}");
        if let Ok(shard) = shard {
            let mut all = shard.clone();
            assert_eq!(all.merge(&shard), Ok(()));
        }
    }
}

/// Each byte in turn, cut there and changed in four ways: a file that is read can be worked with, and another is refused
/// in words.
#[test]
fn every_byte_of_a_file_may_be_anything() {
    let use_statistics = |bytes: &[u8]| {
        let read = Statistics::from_bytes(bytes).map_err(|error| error.to_string())?;
        let mut all = read.clone();
        all.merge(&read).map_err(|error| error.to_string())
    };
    type Use<'a> = &'a dyn Fn(&[u8]) -> Result<(), String>;
    for (good, used) in [(statistics(), &use_statistics as Use<'_>), (checkpoint(), &resumed as Use<'_>)] {
        for place in 0..good.len() {
            let cut = catch_unwind(AssertUnwindSafe(|| used(&good[..place])));
            assert!(cut.unwrap_or_else(|_| panic!("cut at {place}")).is_err(), "cut at {place}");
            for change in [0x01, 0x10, 0x80, 0xff] {
                let mut bytes = good.clone();
                bytes[place] ^= change;
                let judged = catch_unwind(AssertUnwindSafe(|| used(&bytes)));
                let judged = judged.unwrap_or_else(|_| panic!("byte {place} changed by {change:#x}"));
                assert!(judged.err().is_none_or(|error| !error.is_empty()));
            }
        }
        let longer = [good.as_slice(), b"x"].concat();
        assert!(used(&longer).is_err(), "something appended");
    }
}
