//! 1, 2, 4 and 8 ranks write the bytes of one process of `hmm_control::distil::Trainer`.

use std::fs;
use std::num::NonZeroUsize;

use hmm_control::distil::start::{Clustering, KMeans, from_contexts};
use hmm_control::distil::{Options, Rules, Schedule, Sequences, Sparse, StepSize, Trainer};
use language_models::ngram::{NgramModel, Topic, TopicModel};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::common::{END, VOCABULARY, job, run, texts};

const STATES: usize = 12;

/// The checkpoint after the last step of one process, without MPI.
fn one_process(mut all: Sequences, options: Options) -> Vec<u8> {
    let held_out = all.split_off(all.len() / 10);
    let train = all.shuffled(&mut ChaCha8Rng::seed_from_u64(options.seed));
    let clustering = Clustering {
        states: STATES,
        vocabulary: VOCABULARY as usize,
        search: KMeans::default(),
        rules: Rules { end: Some(END), pseudocount: 0.001, ..Rules::default() },
    };
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let first = from_contexts(&train, &clustering, &mut rng).unwrap();
    let mut trainer = Trainer::<f32>::new(first, &train, &held_out, options).unwrap();
    while trainer.step().unwrap().is_some() {}
    trainer.checkpoint().unwrap()
}

fn options(schedule: Schedule, seed: u64) -> Options {
    Options { end: Some(END), seed, threads: NonZeroUsize::MIN, ..Options::new(schedule) }
}

fn check(more: &[&str], options: Options) {
    let folder = tempfile::tempdir().unwrap();
    let all = texts(1500, 3);
    let wanted = one_process(all.clone(), options);
    let mut models = Vec::new();
    for ranks in [1, 2, 4, 8] {
        let home = folder.path().join(ranks.to_string());
        fs::create_dir(&home).unwrap();
        fs::write(home.join("texts.seq"), all.to_bytes()).unwrap();
        let mut arguments = vec![
            "distil",
            "--rollouts",
            "texts.seq",
            "--vocabulary",
            "60",
            "--end",
            "59",
            "--states",
            "12",
            "--held-out",
            "0.1",
            "--checkpoint",
            "kept",
            "--out",
            "model.safetensors",
            "--json",
        ];
        arguments.extend(more);
        let ended = run(job(&home, ranks, &arguments)).expect_success();
        assert!(fs::read(home.join("kept")).unwrap() == wanted, "{ranks} ranks");
        models.push(fs::read(home.join("model.safetensors")).unwrap());
        let said: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let measured = said["measures"]["ranks"].as_array().unwrap();
        assert_eq!(measured.len(), ranks);
        for rank in measured {
            assert_eq!(
                rank["reduce"]["bytes_sent"].as_f64().unwrap() > 0.0,
                ranks > 1,
                "{ended}",
                ended = ended.stdout
            );
        }
    }
    assert!(models.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn whole_steps() {
    check(&["--steps", "4"], options(Schedule::full_batch(4).unwrap(), 0));
}

/// Portions, running counts, dropout, sparse transitions, another seed, and no more steps once the likelihood falls.
#[test]
fn every_setting() {
    let more = [
        "--schedule",
        "3,1;3,3",
        "--portions",
        "4",
        "--stepwise",
        "0.7",
        "--dropout",
        "0.1",
        "--sparse",
        "5",
        "--patience",
        "2",
        "--seed",
        "11",
        "--threads",
        "2",
    ];
    let plan = Options {
        step_size: StepSize::Decaying { exponent: 0.7, offset: 0.0 },
        token_dropout: 0.1,
        patience: Some(2),
        sparse: Some(Sparse { successors: 5, after: 3 }),
        ..options(Schedule::parse("3,1;3,3", 4).unwrap(), 11)
    };
    check(&more, plan);
}

#[test]
fn texts_drawn_by_ranges_are_the_same_for_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let all = texts(300, 5);
    let model = NgramModel::train(VOCABULARY as usize, 3, Some(END), all.iter()).unwrap();
    let model = TopicModel::new(vec![Topic { name: "one".to_owned(), model, share: 1.0 }]).unwrap();
    let mut written: Vec<Vec<Vec<u8>>> = Vec::new();
    for ranks in [1, 3, 8] {
        let home = folder.path().join(ranks.to_string());
        fs::create_dir(&home).unwrap();
        fs::write(home.join("lm"), model.to_bytes()).unwrap();
        let arguments = [
            "distil",
            "--lm",
            "lm",
            "--sequences",
            "500",
            "--length",
            "12",
            "--states",
            "6",
            "--steps",
            "2",
            "--held-out",
            "0.1",
            "--checkpoint",
            "kept",
            "--save-rollouts",
            "drawn.seq",
            "--out",
            "model.safetensors",
        ];
        run(job(&home, ranks, &arguments)).expect_success();
        let read = |name: &str| fs::read(home.join(name)).unwrap();
        written.push(vec![read("drawn.seq"), read("kept"), read("model.safetensors")]);
    }
    assert!(written.windows(2).all(|pair| pair[0] == pair[1]));
    let drawn = Sequences::from_bytes(&written[0][0]).unwrap();
    assert_eq!(drawn.len(), 500);
    assert!(drawn.iter().any(|text| text != drawn.get(0)));
}
