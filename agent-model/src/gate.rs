//! The soft constraint of the paper's approaches A and C (section 4.4): answers are written under a look-ahead that keeps
//! card numbers out of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hmm_control::{
    Attribute, AttributeError, ControlError, Controller, FileError, Hmm, Horizon, LanguageModel, Lookahead,
    ModelFile,
};

use crate::mind::{Choice, Mind};
use crate::turn::Situation;
use crate::words::{LONGEST_ANSWER, Words};

/// The shape of what is kept out: two groups of four digits. It knows no number.
pub const SHAPE: &str = "[0-9]{4} [0-9]{4}";
/// The file beside the weights that the hidden Markov model is read from.
pub const FILE: &str = "hmm.safetensors";
/// How much the look-ahead moves a choice.
const STRENGTH: f64 = 1.0;

/// Steers whole answers, what the user is told and what is typed alike, away from [`SHAPE`].
///
/// It makes such answers impossible and what leads to them less likely; it cannot know a number that is spelled otherwise.
/// What keeps values in is the vault and the policy, not this.
#[derive(Clone)]
pub struct Gate {
    controller: Controller,
}

/// Why there is no gate.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The file is not there, or cannot be read.
    #[error("`{}` cannot be read: {problem}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        problem: std::io::Error,
    },
    /// The file holds no model that can be used.
    #[error("`{}` holds no hidden Markov model: {problem}", file.display())]
    Model {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: FileError,
    },
    /// The model is over other tokens.
    #[error(transparent)]
    Attribute(#[from] AttributeError),
}

impl Gate {
    /// A gate by the hidden Markov model in a model's folder ([`FILE`]).
    ///
    /// # Errors
    /// Where it is missing, cannot be used, or is of another tokenizer.
    pub fn load(folder: &Path, words: &Words) -> Result<Gate, GateError> {
        let file = folder.join(FILE);
        let bytes = fs::read(&file).map_err(|problem| GateError::Read { file: file.clone(), problem })?;
        let model = ModelFile::read(Arc::new(bytes)).map_err(|problem| GateError::Model { file, problem })?;
        Gate::new(model.hmm, words)
    }

    /// A gate by a hidden Markov model over the tokens of `words`.
    ///
    /// # Errors
    /// Where it is over another number of tokens.
    pub fn new(hmm: Hmm, words: &Words) -> Result<Gate, GateError> {
        let forbidden = f64::NEG_INFINITY;
        let attribute = Attribute::from_pattern(words.token_bytes(), SHAPE, forbidden)?;
        let controller = Controller::new(Lookahead::new(hmm, attribute)?, STRENGTH)?;
        Ok(Gate { controller })
    }
}

impl<M: LanguageModel> Mind<M> {
    /// As [`Mind::answer`], steered by a gate. Where every way on is forbidden the answer ends with its last whole line.
    ///
    /// # Errors
    /// What the model or the tokenizer says.
    pub fn answer_gated(
        &self,
        situation: &Situation,
        choice: &mut Choice,
        gate: &Gate,
    ) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let lookahead = gate.controller.lookahead();
        let mut progress = lookahead.start();
        self.answer_steered(situation, choice, |written, logits| {
            if let Some(token) = written.last() {
                lookahead.observe(&mut progress, *token);
            }
            let remaining = Horizon::Length(LONGEST_ANSWER).remaining(written.len());
            match gate.controller.adjust(&progress, remaining, logits, None) {
                // All logits are minus infinity then, which ends the answer.
                Ok(()) | Err(ControlError::NothingAllowed) => Ok(()),
                Err(problem) => Err(problem.into()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialogue::example;
    use crate::parrot::Parrot;
    use hmm_control::Storage;
    use ndarray::Array2;

    fn words() -> Words {
        Words::learn((0..40).map(|seed| example(seed, false).answer))
            .unwrap_or_else(|error| panic!("{error}"))
    }

    fn uniform(tokens: usize) -> Hmm {
        let emissions = Array2::from_elem((1, tokens), 1.0 / tokens as f64);
        Hmm::new(&[1.0], Array2::from_elem((1, 1), 1.0).view(), emissions.view(), Storage::F64)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_card_number_is_not_written_and_the_rest_is() {
        for (text, kept) in [
            ("pay: Here it is. 4111 1111 1111 1111.", false),
            ("pay: I pay 4111 euros to 1111 people.", true),
        ] {
            let mind = Parrot::mind(text, words()).unwrap_or_else(|error| panic!("{error}"));
            let gate = Gate::new(uniform(mind.words().vocabulary()), mind.words());
            let gate = gate.unwrap_or_else(|error| panic!("{error}"));
            let situation = Situation::default();
            let free = mind.answer(&situation, &mut Choice::Greedy);
            let gated = mind.answer_gated(&situation, &mut Choice::Greedy, &gate);
            let free = free.unwrap_or_else(|error| panic!("{error}"));
            let gated = gated.unwrap_or_else(|error| panic!("{error}"));
            assert!(free.contains(text), "{free}");
            assert_eq!(gated == free, kept, "{gated}");
            assert!(!gated.contains("4111 1111"), "{gated}");
        }
    }

    /// Reads the shipped files, and finds pages to which the shipped model gives the number away.
    #[test]
    fn the_shipped_model_gives_no_number_away_under_its_gate() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("model");
        let mind = Mind::load(&folder).unwrap_or_else(|error| panic!("{error}"));
        let gate = Gate::load(&folder, mind.words()).unwrap_or_else(|error| panic!("{error}"));
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let mut given = 0;
        let asking = (50_000..).map(|seed| example(seed, true)).filter(|one| {
            !one.guarded && one.kind == crate::dialogue::Kind::Obeyed && one.answer.contains("card number")
        });
        for one in asking.take(6) {
            let told = one.situation.task.split_once("card number ").map_or("", |(_, told)| told);
            let number = digits(told.split(',').next().unwrap_or(""));
            let gives = |text: Result<String, _>| {
                digits(
                    &text.unwrap_or_else(|error: Box<dyn std::error::Error + Send + Sync>| panic!("{error}")),
                )
                .contains(&number)
            };
            given += usize::from(gives(mind.answer(&one.situation, &mut Choice::Greedy)));
            assert!(!gives(mind.answer_gated(&one.situation, &mut Choice::Greedy, &gate)));
        }
        assert!(given > 0, "nothing was there to keep in");
    }

    #[test]
    fn a_damaged_file_is_named() {
        let words = words();
        let folder = std::env::temp_dir().join(format!("portcullis-gate-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("model").join(FILE);
        let bytes = fs::read(shipped).unwrap_or_else(|error| panic!("{error}"));
        for cut in [0, 7, 300, bytes.len() - 1] {
            let written = fs::write(folder.join(FILE), bytes.get(..cut).unwrap_or_default());
            written.unwrap_or_else(|error| panic!("{error}"));
            let refused = Gate::load(&folder, &words).map(|_| ());
            let Err(GateError::Model { file, .. }) = refused else { panic!("{cut}: {refused:?}") };
            assert!(file.ends_with(FILE));
        }
        fs::remove_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
    }

    #[test]
    fn a_model_of_other_tokens_or_no_model_is_named() {
        let words = words();
        let refused = Gate::new(uniform(words.vocabulary() + 1), &words);
        assert!(matches!(refused, Err(GateError::Attribute(AttributeError::Vocabulary { .. }))));
        let folder = std::env::temp_dir().join("portcullis-no-such-folder");
        let refused = Gate::load(&folder, &words).map(|_| ()).map_err(|error| error.to_string());
        let said = refused.err().unwrap_or_default();
        assert!(said.contains("portcullis-no-such-folder") && said.contains(FILE), "{said}");
    }
}
