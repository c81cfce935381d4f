//! Who answers.

use std::future::Future;
use std::io::Write;
use std::pin::Pin;

use vault::Secret;

use super::{Answer, ConsentPrompt};

/// A future of an answer.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// A future of a card's security code, if the user gives one.
pub type CodeFuture<'a> = Pin<Box<dyn Future<Output = Option<Secret>> + Send + 'a>>;

/// Whoever answers prompts. No answer is no: the session stops waiting when the prompt runs out, and drops the
/// future.
pub trait Answerer: Send {
    /// Answers one prompt.
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a>;

    /// Asks for the security code of the card that a prompt agreed to pay with. It is used for this payment and
    /// never stored; without one the payment is made without.
    fn card_code<'a>(&'a mut self, _card: &'a str, _prompt: &'a ConsentPrompt) -> CodeFuture<'a> {
        Box::pin(std::future::ready(None))
    }
}

/// Asks on the terminal. Anything but one of the words it offers is no; so is the end of the input.
#[derive(Debug, Default)]
pub struct TerminalAnswerer;

impl Answerer for TerminalAnswerer {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        let choices: Vec<Answer> = prompt.choices().collect();
        let offered: Vec<String> =
            choices.iter().map(|answer| format!("  {:<8}{answer}\n", answer.as_str())).collect();
        let text = format!("\n{prompt}{}Your answer [no]: ", offered.concat());
        Box::pin(async move {
            let asked = tokio::task::spawn_blocking(move || {
                let mut out = std::io::stderr();
                out.write_all(text.as_bytes())?;
                out.flush()?;
                let mut line = String::new();
                std::io::stdin().read_line(&mut line).map(|_| line)
            });
            match asked.await {
                Ok(Ok(line)) => said(&line, &choices),
                _ => Answer::No,
            }
        })
    }
}

/// What a typed line means: one of the offered words, or `y` and `yes` for this once.
fn said(line: &str, choices: &[Answer]) -> Answer {
    let word = line.trim().to_ascii_lowercase();
    let word = if matches!(word.as_str(), "y" | "yes") { "once" } else { &word };
    Answer::from_word(word).filter(|answer| choices.contains(answer)).unwrap_or(Answer::No)
}

/// Answers by a rule, for tests and simulations.
pub struct ScriptedAnswerer<F>(pub F);

impl<F: FnMut(&ConsentPrompt) -> Answer + Send> Answerer for ScriptedAnswerer<F> {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        let answer = (self.0)(prompt);
        Box::pin(std::future::ready(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_offered_word_is_a_yes() {
        let offered = [Answer::No, Answer::Once, Answer::Never];
        assert_eq!(said("once\n", &offered), Answer::Once);
        assert_eq!(said("  YES \n", &offered), Answer::Once);
        assert_eq!(said("never\n", &offered), Answer::Never);
        for line in ["", "\n", "no\n", "site\n", "session\n", "yes please\n", "o\n"] {
            assert_eq!(said(line, &offered), Answer::No, "{line:?}");
        }
    }
}
