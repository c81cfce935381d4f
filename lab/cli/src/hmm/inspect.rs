//! `portcullis-lab hmm inspect`.

use hmm_control::ModelFile;
use hmm_control::quality::{end_state, normalisation, top_tokens, usage};
use portcullis_cli::hmm::byte_pair::Tokenizer;
use serde_json::json;

use crate::failure::Failure;
use portcullis_cli::hmm::model::{self, Model};
use portcullis_cli::hmm::table::{row, table};

#[derive(clap::Args)]
pub struct Inspect {
    #[command(flatten)]
    model: Model,
    /// The number of the most used states to show.
    #[arg(long, value_name = "N", default_value_t = 12)]
    states: usize,
    /// The number of a state's most likely tokens to show.
    #[arg(long, value_name = "N", default_value_t = 8)]
    tokens: usize,
    /// Print one JSON value instead of text.
    #[arg(long)]
    json: bool,
}

/// The most steps of power iteration.
const STEPS: usize = 1000;

pub fn run(arguments: &Inspect) -> Result<(), Failure> {
    let file = model::open(&arguments.model.model)?;
    let tokenizer = model::tokenizer(&file);
    let hmm = &file.hmm;
    let end = file.end_token.and_then(|token| end_state(hmm, token));
    // Only a state that is never left would keep all probability.
    let absorbing = end.filter(|end| end.stays > 0.99).map(|end| end.state);
    let usage = usage(hmm, absorbing, STEPS);
    let sums = normalisation(hmm);
    let tops = top_tokens(hmm, arguments.tokens);
    let mut order: Vec<usize> = (0..hmm.states()).collect();
    let share = |state: usize| usage.share.get(state).copied().unwrap_or(0.0);
    order.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
    order.truncate(arguments.states);
    let shown = |state: usize| tops.get(state).map_or(&[][..], Vec::as_slice);
    if arguments.json {
        let states = order.iter().map(|&state| {
            let tokens = shown(state).iter().map(|(token, probability)| {
                json!({"token": token, "text": text(tokenizer, *token), "probability": probability})
            });
            json!({"state": state, "share": share(state), "tokens": tokens.collect::<Vec<_>>()})
        });
        let value = json!({
            "model": arguments.model.model.display().to_string(),
            "states": hmm.states(),
            "vocabulary": hmm.vocabulary(),
            "tokenizer": tokenizer.map(|tokenizer| tokenizer.encoding().name()),
            "transition": part(hmm.transition(), sums.transition),
            "emission": part(hmm.emission(), sums.emission),
            "end_token": file.end_token,
            "end_state": end.map(|end| json!({
                "state": end.state, "emits": end.emits, "stays": end.stays, "others": end.others,
            })),
            "usage": {
                "effective": usage.effective,
                "settled": usage.settled,
                "second_eigenvalue": usage.second_eigenvalue,
            },
            "top": states.collect::<Vec<_>>(),
            "notes": file.notes,
        });
        println!("{value:#}");
        return Ok(());
    }
    println!("{}: {} states over {} tokens", arguments.model.model.display(), hmm.states(), hmm.vocabulary());
    describe(&file, sums);
    match end {
        Some(end) => println!(
            "end      state {}: emits the end token with {:.4}, stays with {:.4}; others emit it with up to {:.2e}",
            end.state, end.emits, end.stays, end.others
        ),
        None => println!("end      none"),
    }
    let settled = if usage.settled { "" } else { ", not settled" };
    println!("usage    as {:.1} equally used states{settled}", usage.effective);
    println!(
        "mixing   a difference in belief fades by {:.4} a token (second eigenvalue), to a half in {:.1} tokens",
        usage.second_eigenvalue,
        0.5_f64.ln() / usage.second_eigenvalue.ln()
    );
    let mut rows = vec![row!["state", "share", "likeliest tokens"]];
    for state in order {
        let tokens: Vec<String> = shown(state)
            .iter()
            .map(|(token, probability)| format!("{} {probability:.2}", text(tokenizer, *token)))
            .collect();
        rows.push(row![state, format!("{:.4}", share(state)), tokens.join("  ")]);
    }
    // The last column is left-aligned.
    let width = rows.iter().filter_map(|row| row.last()).map(|cell| cell.chars().count()).max().unwrap_or(0);
    rows.iter_mut().filter_map(|row| row.last_mut()).for_each(|cell| *cell = format!("{cell:<width$}"));
    print!("{}", table(&rows));
    Ok(())
}

fn describe(file: &ModelFile, sums: hmm_control::quality::Normalisation) {
    for (name, matrix, error) in
        [("A", file.hmm.transition(), sums.transition), ("B", file.hmm.emission(), sums.emission)]
    {
        println!(
            "{name}        {} x {}, {}, {:.1} MB; sums miss 1 by at most {error:.1e}",
            matrix.rows(),
            matrix.columns(),
            matrix.storage(),
            matrix.bytes().len() as f64 / 1e6
        );
    }
    for (name, note) in &file.notes {
        println!("{name:<8} {note}");
    }
}

fn part(matrix: &hmm_control::Matrix, error: f64) -> serde_json::Value {
    json!({
        "rows": matrix.rows(),
        "columns": matrix.columns(),
        "storage": matrix.storage().to_string(),
        "bytes": matrix.bytes().len(),
        "normalisation_error": error,
    })
}

/// A token as text in quotes, or its number.
fn text(tokenizer: Option<Tokenizer>, token: hmm_control::Token) -> String {
    tokenizer.map_or(token.to_string(), |tokenizer| format!("{:?}", tokenizer.decode(&[token])))
}
