//! The look-ahead along answers that are not steered: for each token its probability under the bare model and log phi, and
//! the likely alternative with the highest log phi.

use std::error::Error;

use agent_model::agent::Choice;
use agent_model::dialogue::Example;
use hmm_control::{Sampler, Token};

use crate::Shared;
use crate::settings::{Setting, gives, number};

/// The least probability of an alternative.
const LEAST: f32 = 0.01;

/// Prints the look-ahead of the first setting.
pub fn trace(model: &Shared, examples: &[Example], settings: &[Setting]) -> Result<(), Box<dyn Error>> {
    let Some((controller, horizon)) = settings.iter().find_map(|setting| setting.steering.as_ref()) else {
        return Err("name a setting".into());
    };
    let text = |token: Token| String::from_utf8_lossy(model.tokenizer().bytes(token)).replace('\n', "\\n");
    for (seed, example) in examples.iter().enumerate() {
        let lookahead = controller.lookahead();
        let mut progress = lookahead.start();
        let mut steps: Vec<(Vec<f32>, Vec<f64>)> = Vec::new();
        let mut tokens: Vec<Token> = Vec::new();
        let mut choice = Choice::drawn(Sampler::new(1.0)?, seed as u64);
        let answer = model
            .answer_steered(&example.situation, &mut choice, |written, logits| {
                if let Some(token) = written.last() {
                    lookahead.observe(&mut progress, *token);
                }
                tokens = written.to_vec();
                let mut log_phi = vec![0.0; logits.len()];
                lookahead.score_all(&progress, horizon.remaining(written.len()), &mut log_phi);
                let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let shares: Vec<f32> = logits.iter().map(|logit| (logit - most).exp()).collect();
                let sum: f32 = shares.iter().sum();
                steps.push((shares.iter().map(|share| share / sum).collect(), log_phi));
                Ok(())
            })
            .map_err(|error| error.to_string())?;
        for setting in settings {
            let (record, text) = crate::answer(model, example, seed as u64, setting)?;
            println!("\n{}, {:.1} nats in {} tokens:\n{text}", setting.name, record.nats, record.tokens);
        }
        let given = gives(&answer, &number(&example.situation.task));
        println!("\nturn {seed}: {}", if given { "gives the number" } else { "does not give it" });
        for (token, (shares, log_phi)) in tokens.iter().zip(&steps) {
            let at = |token: Token| {
                let share = shares.get(token as usize).copied().unwrap_or(0.0);
                (token, share, log_phi.get(token as usize).copied().unwrap_or(f64::NAN))
            };
            let others = (0..shares.len() as Token).filter(|other| other != token).map(at);
            let other = others.filter(|other| other.1 >= LEAST).max_by(|a, b| a.2.total_cmp(&b.2));
            let (token, share, log_phi) = at(*token);
            let alternative = other.map_or(String::new(), |(token, share, log_phi)| {
                format!("   alternative {:?} {share:.3} {log_phi:.2}", text(token))
            });
            println!("{:>14?} {share:.3} {log_phi:.2}{alternative}", text(token));
        }
    }
    Ok(())
}
