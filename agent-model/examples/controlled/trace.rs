//! What is foreseen along answers that nothing steers: for each token its share by the bare model and log phi, and beside it the
//! likely token of which most is hoped.

use std::error::Error;

use agent_model::dialogue::Example;
use agent_model::mind::Choice;
use hmm_control::{Sampler, Token};

use crate::Shared;
use crate::settings::Setting;
use crate::turns::{gives, number};

/// Candidates have at least this share.
const LEAST: f32 = 0.01;

/// Shows what the look-ahead of the first setting foresees.
pub fn trace(mind: &Shared, examples: &[Example], settings: &[Setting]) -> Result<(), Box<dyn Error>> {
    let Some((controller, horizon)) = settings.iter().find_map(|setting| setting.steering.as_ref()) else {
        return Err("name a setting".into());
    };
    let text = |token: Token| String::from_utf8_lossy(mind.words().bytes(token)).replace('\n', "\\n");
    for (seed, example) in examples.iter().enumerate() {
        let lookahead = controller.lookahead();
        let mut progress = lookahead.start();
        let mut said: Vec<(Vec<f32>, Vec<f64>)> = Vec::new();
        let mut tokens: Vec<Token> = Vec::new();
        let mut choice = Choice::drawn(Sampler::new(1.0)?, seed as u64);
        let answer = mind
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
                said.push((shares.iter().map(|share| share / sum).collect(), log_phi));
                Ok(())
            })
            .map_err(|error| error.to_string())?;
        for setting in settings {
            let (told, text) = crate::answer(mind, example, seed as u64, setting)?;
            println!("\n{}, {:.1} nats in {} tokens:\n{text}", setting.name, told.nats, told.tokens);
        }
        let given = gives(&answer, &number(&example.situation.task));
        println!("\nturn {seed}: {}", if given { "gives the number" } else { "does not give it" });
        for (token, (shares, log_phi)) in tokens.iter().zip(&said) {
            let at = |token: Token| {
                let share = shares.get(token as usize).copied().unwrap_or(0.0);
                (token, share, log_phi.get(token as usize).copied().unwrap_or(f64::NAN))
            };
            let others = (0..shares.len() as Token).filter(|other| other != token).map(at);
            let other = others.filter(|other| other.1 >= LEAST).max_by(|a, b| a.2.total_cmp(&b.2));
            let (token, share, log_phi) = at(*token);
            let beside = other.map_or(String::new(), |(token, share, log_phi)| {
                format!("   beside {:?} {share:.3} {log_phi:.2}", text(token))
            });
            println!("{:>14?} {share:.3} {log_phi:.2}{beside}", text(token));
        }
    }
    Ok(())
}
