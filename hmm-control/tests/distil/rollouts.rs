//! What is drawn from a language model.

use crate::common::rng;
use hmm_control::distil::{DrawError, HmmSampler, Rollouts, read_features, sample_rollouts};
use hmm_control::{LanguageModel, Token};
use std::convert::Infallible;

/// The next token depends on the last one alone.
struct Bigram {
    log_probabilities: Vec<Vec<f32>>,
    end: Option<Token>,
}

#[derive(Clone)]
struct Read {
    read: usize,
    last: Token,
    vector: Vec<f32>,
}

impl LanguageModel for Bigram {
    type State = Read;
    type Error = Infallible;

    fn vocabulary(&self) -> usize {
        self.log_probabilities.len()
    }

    fn end(&self) -> Option<Token> {
        self.end
    }

    fn start(&self) -> Read {
        Read { read: 0, last: Token::MAX, vector: vec![0.0, 0.0] }
    }

    fn step(&self, state: &mut Read, tokens: &[Token], logits: &mut [f32]) -> Result<(), Infallible> {
        for &token in tokens {
            let vector = vec![token as f32, state.last as f32];
            *state = Read { read: state.read + 1, last: token, vector };
        }
        // Prompts here are of one or two tokens, and texts of six behind them: nothing is read twice.
        assert!(state.read <= 7, "{} tokens were read", state.read);
        logits.copy_from_slice(&self.log_probabilities[state.last as usize]);
        Ok(())
    }

    fn features<'a>(&self, state: &'a Read) -> Option<&'a [f32]> {
        Some(&state.vector)
    }
}

fn bigram(end: Option<Token>) -> Bigram {
    let rows = [[0.1, 0.6, 0.3], [0.5, 0.25, 0.25], [0.0, 0.8, 0.2]];
    // Logits need not be normalised.
    let log_probabilities = rows.iter().map(|row| row.iter().map(|p: &f32| p.ln() + 3.0).collect()).collect();
    Bigram { log_probabilities, end }
}

fn rollouts(prompts: &[Vec<Token>]) -> Rollouts<'_> {
    Rollouts { count: 3000, longest: 6, lanes: 7, prompts, keep_prompts: false }
}

#[test]
fn they_follow_the_model() {
    let all = sample_rollouts(&bigram(Some(2)), &rollouts(&[]), &mut rng(1)).unwrap();
    assert_eq!(all.len(), 3000);
    let mut counts = [[0.0_f64; 3]; 3];
    for text in all.iter() {
        assert!(text.len() == 6 || text.last() == Some(&2));
        assert!(!text[..text.len() - 1].contains(&2));
        // The end token stands before the text.
        let mut last = 2;
        for &token in text {
            counts[last][token as usize] += 1.0;
            last = token as usize;
        }
    }
    for (row, wanted) in counts.iter().zip([[0.1, 0.6, 0.3], [0.5, 0.25, 0.25], [0.0, 0.8, 0.2]]) {
        let total: f64 = row.iter().sum();
        for (count, wanted) in row.iter().zip(wanted) {
            let error = 4.0 * f64::sqrt(wanted * (1.0 - wanted) / total);
            assert!((count / total - wanted).abs() <= error, "{} instead of {wanted}", count / total);
        }
    }
}

#[test]
fn lanes_do_not_matter_and_prompts_come_in_turns() {
    let prompts = [vec![0, 1], vec![1]];
    let draw = |lanes: usize, keep_prompts: bool| {
        let rollouts = Rollouts { count: 50, lanes, keep_prompts, ..rollouts(&prompts) };
        sample_rollouts(&bigram(None), &rollouts, &mut rng(4)).unwrap()
    };
    let bare = draw(1, false);
    assert_eq!(draw(16, false), bare);
    assert!(bare.iter().all(|text| text.len() == 6));
    let kept = draw(5, true);
    for (number, text) in kept.iter().enumerate() {
        let prompt = &prompts[number % 2];
        assert_eq!(text.len(), 6);
        assert_eq!(&text[..prompt.len()], prompt.as_slice());
        assert_eq!(text[prompt.len()..], bare.get(number)[..6 - prompt.len()]);
    }
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let error = sample_rollouts(&bigram(None), &rollouts(&[]), &mut rng(1)).unwrap_err();
    assert!(matches!(error, DrawError::NoStart), "{error}");
    let mut broken = bigram(Some(2));
    broken.log_probabilities[1] = vec![f32::NAN, 0.0, 0.0];
    let error = sample_rollouts(&broken, &rollouts(&[vec![1]]), &mut rng(1)).unwrap_err();
    assert_eq!(error.to_string(), "rollout 0, token 0: the logits hold no finite largest number");
}

#[test]
fn features_are_those_behind_each_token() {
    let texts = crate::common::sequences(&[vec![0, 1], vec![], vec![1]]);
    let features = read_features(&bigram(Some(2)), &texts).unwrap().unwrap();
    assert_eq!(features, ndarray::array![[0.0, 2.0], [1.0, 0.0], [1.0, 2.0]]);
}

#[test]
fn a_model_writes_as_its_probabilities_say() {
    let (hmm, _) = crate::common::known(3, 6, 0, 1);
    let sampler = HmmSampler::new(&hmm);
    let mut rng = rng(6);
    let mut counts = [0.0_f64; 6];
    for _ in 0..20_000 {
        counts[sampler.draw(1, None, &mut rng)[0] as usize] += 1.0;
    }
    let mut emission = [0.0; 3];
    for (token, count) in counts.iter().enumerate() {
        hmm.read_emission(token as Token, &mut emission);
        let wanted: f64 = emission.iter().zip(hmm.initial()).map(|(a, b)| a * b).sum();
        assert!((count / 20_000.0 - wanted).abs() < 0.015, "{} instead of {wanted}", count / 20_000.0);
    }
    for _ in 0..100 {
        let text = sampler.draw(30, Some(0), &mut rng);
        assert!(text.iter().position(|token| *token == 0).is_none_or(|place| place + 1 == text.len()));
    }
}
