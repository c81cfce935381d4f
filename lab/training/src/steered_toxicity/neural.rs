//! The language model of a folder: a small transformer.

use std::path::Path;

use hmm_control::LanguageModel;
use hmm_control::distil::{Rollouts, Sequences, sample_rollouts};
use language_models::transformer::TransformerModel;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

use super::{Progress, Settings, SteeringError};

/// The texts that are drawn at once.
const LANES: usize = 64;
/// The texts between two reports.
const REPORT: usize = 1_024;

/// The SHA-256 of a folder's weights.
pub(super) fn digest(folder: &Path) -> Result<String, SteeringError> {
    let file = folder.join("model.safetensors");
    let bytes = std::fs::read(&file).map_err(SteeringError::file(&file))?;
    Ok(Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Loads a transformer over the attribute's tokens, whose texts begin after its end token.
pub(super) fn load(folder: &Path, vocabulary: usize) -> Result<TransformerModel, SteeringError> {
    let model = TransformerModel::load(folder)
        .map_err(|source| SteeringError::Load { path: folder.to_owned(), source })?;
    let found = match (model.vocabulary(), model.end()) {
        (size, _) if size != vocabulary => format!("{size} tokens"),
        (_, None) => "no end token".to_owned(),
        _ => return Ok(model),
    };
    Err(SteeringError::Vocabulary { path: folder.to_owned(), found, vocabulary })
}

/// Its description in the report.
pub(super) fn described(model: &TransformerModel, settings: &Settings) -> String {
    let config = model.config();
    let hash = settings.transformer.as_deref().and_then(|hash| hash.get(..16)).unwrap_or_default();
    format!(
        "a transformer of {} layers, {} wide (weights with SHA-256 {hash}...)",
        config.layers, config.width
    )
}

/// Draws the texts that the hidden Markov model learns from.
pub(super) fn draw(
    model: &TransformerModel,
    settings: &Settings,
    say: &mut dyn FnMut(Progress),
) -> Result<Sequences, SteeringError> {
    let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
    let mut texts = Sequences::new();
    while texts.len() < settings.rollouts {
        let count = REPORT.min(settings.rollouts - texts.len());
        let longest = settings.rollout_length;
        let rollouts = Rollouts { count, longest, lanes: LANES, prompts: &[], keep_prompts: false };
        let drawn = sample_rollouts(model, &rollouts, &mut rng)
            .map_err(|error| SteeringError::Draw(Box::new(error)))?;
        drawn.iter().for_each(|text| texts.push(text));
        say(Progress { stage: "drawing texts".to_owned(), done: texts.len(), of: settings.rollouts });
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]
    use std::path::PathBuf;

    use super::*;

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../language-models/tests/fixtures").join(name)
    }

    #[test]
    fn a_folder_that_does_not_fit_is_named_with_what_it_lacks() {
        let fault = |name, vocabulary| load(&fixture(name), vocabulary).err().unwrap().to_string();
        assert!(fault("gpt2", 50_257).contains("fixtures/gpt2 has 61 tokens; it needs the 50257 tokens"));
        assert!(fault("qwen2", 61).contains("has no end token"));
        assert!(fault("nowhere", 61).contains("nowhere cannot be read"));
        assert!(digest(&fixture("nowhere")).is_err());
        assert_eq!(digest(&fixture("gpt2")).unwrap().len(), 64);
    }

    #[test]
    fn as_many_texts_are_drawn_as_the_settings_say() {
        let model = load(&fixture("gpt2"), 61).unwrap();
        let settings = Settings { rollouts: 70, rollout_length: 5, ..Settings::default() };
        let mut done = 0;
        let texts = draw(&model, &settings, &mut |progress| done = progress.done).unwrap();
        assert_eq!((texts.len(), done), (70, 70));
        assert!(texts.iter().all(|text| (1..=5).contains(&text.len())));
    }
}
