//! `portcullis hmm score`.

use std::path::PathBuf;

use hmm_control::Lookahead;
use serde_json::{Value, json};

use super::attribute::Wanted;
use super::model::{self, Model};
use super::table::{row, table};
use crate::failure::Failure;
use crate::files::read_text;

#[derive(clap::Args)]
pub struct Score {
    #[command(flatten)]
    model: Model,
    /// The text; `-` for standard input.
    #[arg(default_value = "-")]
    text: PathBuf,
    #[command(flatten)]
    wanted: Wanted,
    /// The look-ahead horizon in tokens.
    #[arg(long, value_name = "K", default_value_t = 16)]
    horizon: usize,
    /// Fail with exit code 1 if the rate falls below this.
    #[arg(long, value_name = "RATE")]
    at_least: Option<f64>,
    /// Print one JSON value instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Score) -> Result<(), Failure> {
    let file = model::open(&arguments.model.model)?;
    let tokenizer = model::tokenizer(&file);
    let vocabulary = file.hmm.vocabulary();
    let attribute = arguments.wanted.read(vocabulary, tokenizer)?;
    let attribute = attribute.ok_or_else(|| {
        Failure::Input("say what the text should be like: --weights or --banned".to_owned())
    })?;
    let tokenizer = tokenizer.ok_or_else(|| {
        Failure::Input(format!("no tokenizer is known for a vocabulary of {vocabulary} tokens"))
    })?;
    let text = read_text(&arguments.text)?;
    let lookahead = Lookahead::new(file.hmm, attribute).map_err(|error| Failure::Input(error.to_string()))?;
    let horizon = arguments.horizon.max(1);
    lookahead.prepare(horizon);
    let mut progress = lookahead.start();
    let mut rows = vec![row!["token", "log p", "log weight", "log expected", "rate"]];
    let mut values: Vec<Value> = Vec::new();
    let mut lowest = f64::INFINITY;
    for token in tokenizer.encode(text.trim_end()) {
        let before = progress.belief.log_likelihood();
        lookahead.observe(&mut progress, token);
        let log_probability = progress.belief.log_likelihood() - before;
        let expected = lookahead.expectation(&progress, horizon);
        // The geometric mean weight of the tokens so far and of the expected ones.
        let rate = (expected / (progress.belief.tokens() + horizon) as f64).exp();
        lowest = lowest.min(rate);
        let shown = tokenizer.decode(&[token]);
        if arguments.json {
            values.push(json!({
                "token": token,
                "text": shown,
                "log_probability": log_probability,
                "log_weight": finite(progress.log_weight),
                "log_expected": finite(expected),
                "rate": rate,
            }));
        } else {
            rows.push(row![
                format!("{shown:?}"),
                format!("{log_probability:.3}"),
                format!("{:.3}", progress.log_weight),
                format!("{expected:.4}"),
                format!("{rate:.5}"),
            ]);
        }
    }
    if lowest == f64::INFINITY {
        return Err(Failure::Input(format!("{} holds no text", arguments.text.display())));
    }
    if arguments.json {
        let value = json!({"horizon": horizon, "lowest_rate": lowest, "tokens": values});
        println!("{value:#}");
    } else {
        print!("{}", table(&rows));
        println!("lowest rate {lowest:.5}, over the text so far and {horizon} tokens ahead");
    }
    match arguments.at_least {
        Some(least) if lowest < least => {
            Err(Failure::Finding(format!("the rate falls to {lowest:.5}, below {least}")))
        }
        _ => Ok(()),
    }
}

/// Minus infinity is not a JSON number.
fn finite(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!("-inf") }
}
