//! Distils a hidden Markov model from a small language model, saves it, reads it again, and measures it:
//! `cargo run --example distil`, or with `-- FILE.safetensors` to keep the file. `portcullis-lab hmm distil` and `hmm eval`
//! do the same with more options.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use agent_model::dialogue::example;
use agent_model::tokenizer::{END, TurnTokenizer, VOCABULARY};
use hmm_control::distil::start::{Clustering, KMeans, from_contexts};
use hmm_control::distil::{Options, Rollouts, Rules, Schedule, Trainer, sample_rollouts};
use hmm_control::quality::divergence;
use hmm_control::{Belief, LanguageModel, ModelFile, Storage, Token};
use language_models::ngram::{NgramModel, Topic, TopicModel};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

const STATES: usize = 64;
/// The most tokens of a sampled text.
const LONGEST: usize = 32;

fn main() -> Result<(), Box<dyn Error>> {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let mut rng = ChaCha8Rng::seed_from_u64(1);

    // Any `LanguageModel` can be distilled. This one is trained here on an agent's answers in synthetic dialogues.
    let words = TurnTokenizer::load(
        concat!(env!("CARGO_MANIFEST_DIR"), "/lab/agent-model/model/tokenizer.json").as_ref(),
    )?;
    let answers: Result<Vec<Vec<Token>>, _> = (0..300)
        .map(|seed| words.example(&example(seed, false)).map(|mut turn| turn.ids.split_off(turn.answer)))
        .collect();
    let answers = answers?;
    let model = NgramModel::train(VOCABULARY, 4, Some(END), answers.iter().map(Vec::as_slice))?;
    let model = TopicModel::new(vec![Topic { name: "answers".to_owned(), model, share: 1.0 }])?;

    // The model is learnt from texts that it writes.
    let wanted = Rollouts { count: 800, longest: LONGEST, lanes: 8, prompts: &[], keep_prompts: false };
    let mut train = sample_rollouts(&model, &wanted, &mut rng)?;
    let held_out = train.split_off(50);

    // States are initialised by the contexts of tokens, then trained by expectation-maximisation.
    let rules = Rules { end: Some(END), pseudocount: 1e-3, ..Rules::default() };
    let search = KMeans { threads, ..KMeans::default() };
    let clustering = Clustering { states: STATES, vocabulary: VOCABULARY, search, rules };
    let first = from_contexts::<f32>(&train, &clustering, &mut rng)?;
    let options = Options { end: Some(END), threads, ..Options::new(Schedule::full_batch(8)?) };
    let mut trainer = Trainer::new(first, &train, &held_out, options)?;
    while let Some(report) = trainer.step()? {
        println!("step {:>2}: {:.3} nats per token", report.step, -report.held_out.unwrap_or(report.train));
    }

    let mut file = ModelFile::new(trainer.hmm(Storage::F16, Storage::F16)?);
    file.end_token = Some(END);
    let mut bytes = Vec::new();
    file.write(&mut bytes)?;
    if let Some(path) = std::env::args().nth(1).map(PathBuf::from) {
        std::fs::write(&path, &bytes)?;
    }
    let size = bytes.len();
    let hmm = ModelFile::read(Arc::new(bytes))?.hmm;

    // The comparison with the language model: perplexity of held-out texts, and divergence of next-token distributions.
    let (mut own, mut ours, mut apart) = (0.0, 0.0, 0.0);
    let mut logits = vec![0.0; VOCABULARY];
    for text in held_out.iter() {
        let (mut reading, mut belief) = (model.start(), Belief::start(&hmm));
        for &token in text {
            model.step(&mut reading, &[], &mut logits)?;
            apart += divergence(&logits, &hmm, &belief).nats;
            own += model.observe(&mut reading, token)?;
            ours += belief.observe(&hmm, token);
        }
    }
    let perplexity = |sum: f64| (-sum / held_out.tokens().len() as f64).exp();
    let apart = apart / held_out.tokens().len() as f64;
    println!(
        "{STATES} states, {} kB: perplexity {:.1}; the language model's own {:.1}",
        size / 1000,
        perplexity(ours),
        perplexity(own)
    );
    println!("KL(language model, hidden Markov model): {apart:.2} nats per token");
    Ok(())
}
