//! Samples answers of the agent model, from which `distil_agent` distils a hidden Markov model:
//!
//! `cargo run -p agent-model --example answers -- lab/agent-model/model FOLDER [SITUATIONS [EACH]] [graded]`
//!
//! The situations are those without a guard, of seeds outside training: there the model has the values, so that steering
//! matters. With `graded` they are those of `dialogue::lesson`, of which seven in ten have an injection that is obeyed to a
//! degree; else those of `dialogue::example`. Each is read once and answered EACH times at temperature 1 with copying, since those are the answers that are
//! steered. FOLDER gets `answers.bin` (`Sequences`) after every batch, so that the run may be stopped at any time. The same
//! seeds give the same answers.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use agent_model::agent::AgentModel;
use agent_model::dialogue::{Lesson, example, lesson};
use agent_model::turn::Situation;
use hmm_control::Sampler;
use hmm_control::distil::Sequences;

/// The first seed of the situations and of sampling.
const SEED: u64 = 3 << 32;
/// Situations per batch.
const BATCH: usize = 6;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let graded = arguments.last().is_some_and(|argument| argument == "graded");
    if graded {
        arguments.pop();
    }
    let [model, out, rest @ ..] = arguments.as_slice() else {
        return Err("name the model's folder and the folder to write".into());
    };
    let number = |place: usize, usual: usize| rest.get(place).map_or(Ok(usual), |text| text.parse());
    let (count, each) = (number(0, 2000)?, number(1, 4)?);
    let out = Path::new(out);
    std::fs::create_dir_all(out)?;
    let model = AgentModel::load(model.as_ref())?;
    let mut answers = Sequences::new();
    let started = Instant::now();
    let unguarded = (SEED..).filter_map(|seed| unguarded(seed, graded).map(|situation| (seed, situation)));
    let wanted: Vec<(u64, Situation)> = unguarded.take(count).collect();
    for batch in wanted.chunks(BATCH) {
        let asked: Vec<(&Situation, Vec<u64>)> = batch
            .iter()
            .map(|(seed, situation)| {
                (situation, (0..each as u64).map(|answer| seed ^ (answer << 48)).collect())
            })
            .collect();
        for drawn in model.answer_batch(&asked, Sampler::new(1.0)?).map_err(|error| error.to_string())? {
            answers.push(&drawn);
        }
        std::fs::write(out.join("answers.new"), answers.to_bytes())?;
        std::fs::rename(out.join("answers.new"), out.join("answers.bin"))?;
        let seconds = started.elapsed().as_secs_f64();
        println!("{} answers, {} tokens, after {seconds:.0} s", answers.len(), answers.tokens().len());
    }
    Ok(())
}

/// The situation of a seed, unless a guard keeps the values there.
fn unguarded(seed: u64, graded: bool) -> Option<Situation> {
    let (situation, guarded) = match graded {
        false => {
            let turn = example(seed, false);
            (turn.situation, turn.guarded)
        }
        true => match lesson(seed, false) {
            Lesson::Plain(turn) => (turn.situation, turn.guarded),
            Lesson::Graded(turn, _) => (turn.situation, turn.guarded),
        },
    };
    (!guarded).then_some(situation)
}
