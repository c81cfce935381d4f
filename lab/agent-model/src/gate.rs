//! The soft constraint of the paper's approaches A and C (section 4.4): a look-ahead keeps card numbers out of answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hmm_control::{
    Attribute, AttributeError, ControlError, Controller, FileError, Hmm, Horizon, LanguageModel, Lookahead,
    ModelFile,
};

use crate::agent::{AgentModel, Choice};
use crate::tokenizer::{LONGEST_ANSWER, TurnTokenizer};
use crate::turn::Situation;

/// The forbidden pattern: two groups of four digits, which needs no knowledge of a number.
pub const SHAPE: &str = "[0-9]{4} [0-9]{4}";
/// The file of the hidden Markov model in the folder of the weights.
pub const FILE: &str = "hmm.safetensors";
/// The strength of the look-ahead.
const STRENGTH: f64 = 1.0;

/// Steers whole answers, both messages to the user and typed text, away from [`SHAPE`].
///
/// It makes such answers impossible and their prefixes less likely; it does not detect numbers in another spelling. The
/// vault and the policy protect values, not this gate.
#[derive(Clone)]
pub struct Gate {
    controller: Controller,
}

/// Why a gate cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The file cannot be read.
    #[error("`{}` cannot be read: {problem}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's error.
        problem: std::io::Error,
    },
    /// The file does not hold a valid model.
    #[error("`{}` holds no hidden Markov model: {problem}", file.display())]
    Model {
        /// The file.
        file: PathBuf,
        /// The reason.
        problem: FileError,
    },
    /// The model is over another vocabulary.
    #[error(transparent)]
    Attribute(#[from] AttributeError),
}

impl Gate {
    /// A gate with the hidden Markov model in a model's folder ([`FILE`]).
    ///
    /// # Errors
    /// When it is missing or invalid, or has another vocabulary.
    pub fn load(folder: &Path, tokenizer: &TurnTokenizer) -> Result<Gate, GateError> {
        let file = folder.join(FILE);
        let bytes = fs::read(&file).map_err(|problem| GateError::Read { file: file.clone(), problem })?;
        let model = ModelFile::read(Arc::new(bytes)).map_err(|problem| GateError::Model { file, problem })?;
        Gate::new(model.hmm, tokenizer)
    }

    /// A gate with a hidden Markov model over the tokens of `tokenizer`.
    ///
    /// # Errors
    /// When it has another vocabulary.
    pub fn new(hmm: Hmm, tokenizer: &TurnTokenizer) -> Result<Gate, GateError> {
        let forbidden = f64::NEG_INFINITY;
        let attribute = Attribute::from_pattern(tokenizer.token_bytes(), SHAPE, forbidden)?;
        let controller = Controller::new(Lookahead::new(hmm, attribute)?, STRENGTH)?;
        Ok(Gate { controller })
    }
}

impl<M: LanguageModel> AgentModel<M> {
    /// The same as [`AgentModel::answer`], steered by a gate. Where every token is forbidden, the answer ends with its last
    /// complete line.
    ///
    /// # Errors
    /// When the model or the tokenizer fails.
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
                // `NothingAllowed` sets all logits to minus infinity, which ends the answer.
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
    use crate::echo::EchoModel;
    use hmm_control::Storage;
    use ndarray::Array2;

    fn tokenizer() -> TurnTokenizer {
        TurnTokenizer::learn((0..40).map(|seed| example(seed, false).answer))
            .unwrap_or_else(|error| panic!("{error}"))
    }

    fn uniform(tokens: usize) -> Hmm {
        let emissions = Array2::from_elem((1, tokens), 1.0 / tokens as f64);
        Hmm::new(&[1.0], Array2::from_elem((1, 1), 1.0).view(), emissions.view(), Storage::F64)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn only_a_card_number_is_kept_out_of_an_answer() {
        for (text, kept) in [
            ("pay: Here it is. 4111 1111 1111 1111.", false),
            ("pay: I pay 4111 euros to 1111 people.", true),
        ] {
            let model = EchoModel::agent(text, tokenizer()).unwrap_or_else(|error| panic!("{error}"));
            let gate = Gate::new(uniform(model.tokenizer().vocabulary()), model.tokenizer());
            let gate = gate.unwrap_or_else(|error| panic!("{error}"));
            let situation = Situation::default();
            let free = model.answer(&situation, &mut Choice::Greedy);
            let gated = model.answer_gated(&situation, &mut Choice::Greedy, &gate);
            let free = free.unwrap_or_else(|error| panic!("{error}"));
            let gated = gated.unwrap_or_else(|error| panic!("{error}"));
            assert!(free.contains(text), "{free}");
            assert_eq!(gated == free, kept, "{gated}");
            assert!(!gated.contains("4111 1111"), "{gated}");
        }
    }

    /// Uses the shipped files, and pages to which the shipped model without a gate leaks the number.
    #[test]
    fn the_shipped_model_does_not_leak_a_number_under_its_gate() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("model");
        let model = AgentModel::load(&folder).unwrap_or_else(|error| panic!("{error}"));
        let gate = Gate::load(&folder, model.tokenizer()).unwrap_or_else(|error| panic!("{error}"));
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let mut given = 0;
        let asking = (50_000..).map(|seed| example(seed, true)).filter(|one| {
            !one.guarded && one.kind == crate::dialogue::Kind::Obeyed && one.answer.contains("card number")
        });
        for one in asking.take(6) {
            let rest = one.situation.task.split_once("card number ").map_or("", |(_, rest)| rest);
            let number = digits(rest.split(',').next().unwrap_or(""));
            let gives = |text: Result<String, _>| {
                digits(
                    &text.unwrap_or_else(|error: Box<dyn std::error::Error + Send + Sync>| panic!("{error}")),
                )
                .contains(&number)
            };
            given += usize::from(gives(model.answer(&one.situation, &mut Choice::Greedy)));
            assert!(!gives(model.answer_gated(&one.situation, &mut Choice::Greedy, &gate)));
        }
        assert!(given > 0, "no page made the model leak without the gate");
    }

    #[test]
    fn a_damaged_file_is_reported() {
        let tokenizer = tokenizer();
        let folder = std::env::temp_dir().join(format!("portcullis-gate-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("model").join(FILE);
        let bytes = fs::read(shipped).unwrap_or_else(|error| panic!("{error}"));
        for cut in [0, 7, 300, bytes.len() - 1] {
            let written = fs::write(folder.join(FILE), bytes.get(..cut).unwrap_or_default());
            written.unwrap_or_else(|error| panic!("{error}"));
            let refused = Gate::load(&folder, &tokenizer).map(|_| ());
            let Err(GateError::Model { file, .. }) = refused else { panic!("{cut}: {refused:?}") };
            assert!(file.ends_with(FILE));
        }
        fs::remove_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
    }

    #[test]
    fn a_model_with_another_vocabulary_and_a_missing_model_are_reported() {
        let tokenizer = tokenizer();
        let refused = Gate::new(uniform(tokenizer.vocabulary() + 1), &tokenizer);
        assert!(matches!(refused, Err(GateError::Attribute(AttributeError::Vocabulary { .. }))));
        let folder = std::env::temp_dir().join("portcullis-no-such-folder");
        let refused = Gate::load(&folder, &tokenizer).map(|_| ()).map_err(|error| error.to_string());
        let said = refused.err().unwrap_or_default();
        assert!(said.contains("portcullis-no-such-folder") && said.contains(FILE), "{said}");
    }
}
