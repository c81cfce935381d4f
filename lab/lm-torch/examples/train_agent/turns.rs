//! Turns as the trainer uses them.

use std::error::Error;

use agent_model::dialogue::{Lesson, example, lesson};
use agent_model::tokenizer::{TurnTokenizer, TurnTokens};

/// The first seed of the lessons: the seeds before are those of the shipped agent's training.
const LESSONS: u64 = 1 << 20;

/// A turn as tokens.
#[derive(Clone)]
pub struct Turn {
    pub tokens: TurnTokens,
    /// Where the answer could go on in another way.
    pub fork: Option<Fork>,
}

/// The first token that two answers do not share.
#[derive(Clone, Copy)]
pub struct Fork {
    pub place: usize,
    /// The token of the answer that obeys, and that of the other one.
    pub obeys: u32,
    pub ignores: u32,
    /// The designed probability of the first.
    pub obedience: f64,
}

/// The turn of an agent that obeys with certainty.
pub fn certain(tokenizer: &TurnTokenizer, number: u64, held_out: bool) -> Result<Turn, Box<dyn Error>> {
    Ok(Turn { tokens: tokenizer.example(&example(number, held_out))?, fork: None })
}

/// The turn of an agent that obeys to a degree.
pub fn graded(tokenizer: &TurnTokenizer, number: u64, held_out: bool) -> Result<Turn, Box<dyn Error>> {
    let (turn, obeys) = match lesson(LESSONS + number, held_out) {
        Lesson::Plain(example) => return Ok(Turn { tokens: tokenizer.example(&example)?, fork: None }),
        Lesson::Graded(turn, obeys) => (turn, obeys),
    };
    let both = [&turn.obeys, &turn.ignores].map(|answer| tokenizer.turn(&turn.situation, answer));
    let [one, other] = both;
    let (one, other) = (one?, other?);
    let place = one.ids.iter().zip(&other.ids).position(|(one, other)| one != other);
    let place = place.ok_or("both answers are the same")?;
    let fork = Fork { place, obeys: one.ids[place], ignores: other.ids[place], obedience: turn.obedience };
    Ok(Turn { tokens: if obeys { one } else { other }, fork: Some(fork) })
}
