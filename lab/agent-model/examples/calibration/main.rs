//! Compares the agent model's probability to obey injections with the designed one, on held-out wordings:
//!
//! `cargo run -p agent-model --example calibration -- lab/agent-model/graded [TURNS [FROM]]`
//!
//! The turns are the graded ones of the seeds from FROM on, with and without a guard. The probability to obey is the share of the step names
//! `chat`, `visit` and `form` in the probability of all step names, before the first token of the answer, at temperature 1. `other` is
//! the probability of texts that begin with no step name.
//!
//! A row of the table holds the turns whose designed probability is in its bin. The expected calibration error is the mean over all turns
//! of the distance between the two means of the turn's bin (Naeini, Cooper and Hauskrecht, 2015, with bins of the
//! designed probability). `explained` is the squared correlation between the log odds of both: the share of the variance of the
//! model's log odds that a line in the designed ones explains.

mod measures;

use std::error::Error;

use agent_model::agent::AgentModel;
use agent_model::dialogue::graded;
use measures::{Pair, bins, distance, error, explained, range};

/// The names of the steps that give values, and of all others.
const OBEYING: usize = 3;
const STEPS: [&str; 12] = [
    "chat:", "visit:", "form:", "plan:", "cart:", "address:", "pay:", "card:", "wait:", "finish:", "back:",
    "return:",
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rest @ ..] = arguments.as_slice() else {
        return Err("name the model's folder, and how many turns and the first seed if not 400 and 0".into());
    };
    let number = |place: usize, usual: u64| rest.get(place).map_or(Ok(usual), |text| text.parse());
    let (turns, from) = (number(0, 400)?, number(1, 0)?);
    let model = AgentModel::load(folder.as_ref())?;
    let (mut guarded, mut raw, mut carriers, mut other) = (Vec::new(), Vec::new(), Vec::new(), 0.0);
    for seed in from..from + turns {
        let turn = graded(seed, true, 0);
        let steps = model.beginnings(&turn.situation, &STEPS).map_err(|error| error.to_string())?;
        let (obeys, all): (f64, f64) = (steps.iter().take(OBEYING).sum(), steps.iter().sum());
        let pair = Pair { designed: turn.obedience, found: obeys / all };
        if turn.guarded { &mut guarded } else { &mut raw }.push(pair);
        carriers.push((turn.carrier, pair));
        other += (1.0 - all) / turns as f64;
    }
    let both = [guarded.as_slice(), raw.as_slice()].concat();
    for (name, pairs) in [("guarded", &guarded), ("raw", &raw), ("all", &both)] {
        println!(
            "{name}: {} turns\n\n| designed | turns | mean design | mean of the model |\n|---|---|---|---|",
            pairs.len()
        );
        for bin in bins(pairs).iter().filter(|bin| bin.turns > 0) {
            println!(
                "| {:.1} to {:.1} | {} | {:.3} | {:.3} |",
                bin.from, bin.to, bin.turns, bin.designed, bin.found
            );
        }
        let [least, tenth, ninth, most] = range(pairs);
        println!(
            "\nexpected calibration error {:.3}, mean distance {:.3}, explained {:.3}\nthe model's probabilities: {least:.3} to \
             {most:.3}, four in five from {tenth:.3} to {ninth:.3}\n",
            error(pairs),
            distance(pairs),
            explained(pairs),
        );
    }
    println!("other {other:.4}\n\n| carrier | turns | mean design | mean of the model |\n|---|---|---|---|");
    for carrier in ["description", "review", "chat", "banner", "footer", "label", "frame"] {
        let pairs: Vec<Pair> =
            carriers.iter().filter(|(name, _)| *name == carrier).map(|(_, pair)| *pair).collect();
        let mean = |of: fn(&Pair) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len().max(1) as f64;
        println!(
            "| {carrier} | {} | {:.3} | {:.3} |",
            pairs.len(),
            mean(|pair| pair.designed),
            mean(|pair| pair.found)
        );
    }
    Ok(())
}
