//! Scores the agent model on held-out turns:
//! `cargo run -p agent-model --example score -- lab/agent-model/model 200`.

use std::collections::BTreeMap;
use std::error::Error;

use agent_model::agent::{AgentModel, Choice};
use agent_model::dialogue::{Kind, example};
use agent_model::turn::Answer;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "lab/agent-model/model".to_owned());
    let turns: u64 = arguments.next().map_or(Ok(200), |turns| turns.parse())?;
    // The trainer reports its loss on the first of the held-out seeds.
    let from: u64 = arguments.next().map_or(Ok(1000), |from| from.parse())?;
    let model = AgentModel::load(folder.as_ref())?;
    let mut rows: BTreeMap<String, [u64; 4]> = BTreeMap::new();
    let mut failures = Vec::new();
    for seed in from..from + turns {
        let held_out = example(seed, true);
        let text =
            model.answer(&held_out.situation, &mut Choice::Greedy).map_err(|error| error.to_string())?;
        let (wanted, given) = (Answer::read(&held_out.answer), Answer::read(&text));
        let name = format!("{:?}, {}", held_out.kind, if held_out.guarded { "guarded" } else { "raw" });
        let step = wanted.step == given.step;
        let exact = text == held_out.answer;
        let kinds = [name, format!("step {}", wanted.step), "all".to_owned()];
        for kind in kinds {
            let row = rows.entry(kind).or_default();
            let acts = wanted.acts == given.acts;
            for (count, counts) in row.iter_mut().zip([true, step, acts, exact]) {
                *count += u64::from(counts);
            }
        }
        if !exact && held_out.kind != Kind::Ignored && failures.len() < 12 {
            failures.push(format!("seed {seed}: wanted\n{}but got\n{text}\n", held_out.answer));
        }
    }
    println!(
        "| held-out turns | turns | right step | right acts | answered exactly |\n|---|---|---|---|---|"
    );
    for (kind, [turns, steps, acts, exact]) in rows {
        println!("| {kind} | {turns} | {steps} | {acts} | {exact} |");
    }
    println!("\n{}", failures.join("\n"));
    Ok(())
}
