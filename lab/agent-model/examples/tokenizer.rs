//! Trains the tokenizer of the agent model on generated dialogues, and prints their lengths:
//! `cargo run --release -p agent-model --example tokenizer -- lab/agent-model/model/tokenizer.json`.

use agent_model::dialogue::{example, texts};
use agent_model::tokenizer::TurnTokenizer;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("name the file to write")?;
    let tokenizer = TurnTokenizer::learn(texts())?;
    tokenizer.save(file.as_ref())?;
    let mut longest = 0;
    let (mut all, mut answers) = (0, 0);
    for seed in 0..1000 {
        let tokens = tokenizer.example(&example(seed, true))?;
        longest = longest.max(tokens.ids.len());
        all += tokens.ids.len();
        answers += tokens.ids.len() - tokens.answer;
    }
    println!("{} tokens in the vocabulary", tokenizer.vocabulary());
    println!(
        "a held-out turn has {} tokens, {} of them its answer; the longest has {longest}",
        all / 1000,
        answers / 1000
    );
    Ok(())
}
