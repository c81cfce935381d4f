//! A bigram model writes a few sentences, once as it likes and once so that a forbidden phrase does not come.

use std::error::Error;

use hmm_control::{Attribute, Controller, Hmm, Horizon, Lookahead, Sampler, Storage, Token};
use ndarray::{Array2, array};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const WORDS: [&str; 8] = ["the", "agent", "sends", "your", "card", "address", "safely", "."];
const FORBIDDEN: [&str; 2] = ["your", "card"];
const LENGTH: usize = 24;

/// How often each word follows each other one in the toy model's mind.
struct Bigram(Array2<f64>);

impl Bigram {
    fn new() -> Bigram {
        let counts = array![
            [0., 6., 0., 0., 2., 2., 0., 0.], // the
            [0., 0., 8., 0., 0., 0., 1., 1.], // agent
            [3., 0., 0., 6., 0., 0., 1., 0.], // sends
            [0., 1., 0., 0., 7., 2., 0., 0.], // your
            [0., 0., 0., 0., 0., 1., 3., 6.], // card
            [0., 0., 0., 0., 0., 0., 4., 6.], // address
            [0., 0., 2., 0., 0., 0., 0., 8.], // safely
            [7., 0., 0., 3., 0., 0., 0., 0.], // .
        ];
        let sums = counts.sum_axis(ndarray::Axis(1)).insert_axis(ndarray::Axis(1));
        Bigram(counts / sums)
    }

    fn logits(&self, last: Token) -> Vec<f32> {
        self.0.row(last as usize).iter().map(|p| p.ln() as f32).collect()
    }
}

/// A hidden Markov model of three states (begin, middle and end of a clause) that knows the bigram model roughly.
fn hmm() -> Result<Hmm, hmm_control::ModelError> {
    Hmm::new(
        &[0.6, 0.3, 0.1],
        array![[0.4, 0.5, 0.1], [0.1, 0.4, 0.5], [0.6, 0.2, 0.2]].view(),
        array![
            [0.45, 0.45, 0.02, 0.02, 0.02, 0.02, 0.01, 0.01],
            [0.05, 0.05, 0.40, 0.40, 0.02, 0.02, 0.05, 0.01],
            [0.02, 0.02, 0.05, 0.05, 0.25, 0.15, 0.16, 0.30],
        ]
        .view(),
        Storage::F64,
    )
}

fn write(bigram: &Bigram, controller: Option<&Controller>, seed: u64) -> Result<String, Box<dyn Error>> {
    let sampler = Sampler::new(1.0)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut last = token(".");
    let mut text = String::new();
    let mut progress = controller.map(|controller| controller.lookahead().start());
    for generated in 0..LENGTH {
        let mut logits = bigram.logits(last);
        if let (Some(controller), Some(progress)) = (controller, &progress) {
            controller.adjust(progress, Horizon::Length(LENGTH).remaining(generated), &mut logits, None)?;
        }
        last = sampler.draw(&logits, &mut rng).ok_or("no word is left")?;
        if let (Some(controller), Some(progress)) = (controller, &mut progress) {
            controller.lookahead().observe(progress, last);
        }
        text += WORDS[last as usize];
        text += " ";
    }
    Ok(text)
}

fn token(word: &str) -> Token {
    WORDS.iter().position(|known| *known == word).expect("a word of the vocabulary") as Token
}

fn main() -> Result<(), Box<dyn Error>> {
    let bigram = Bigram::new();
    let phrase = FORBIDDEN.map(token).to_vec();
    let attribute = Attribute::from_phrases(WORDS.len(), &[(phrase, f64::NEG_INFINITY)])?;
    let controller = Controller::new(Lookahead::new(hmm()?, attribute)?, 1.0)?;

    let forbidden = FORBIDDEN.join(" ");
    for (name, controller) in [("without control", None), ("with control", Some(&controller))] {
        let texts = (0..100).map(|seed| write(&bigram, controller, seed)).collect::<Result<Vec<_>, _>>()?;
        let hits = texts.iter().filter(|text| text.contains(&forbidden)).count();
        println!("{name}: \"{forbidden}\" in {hits} of {} texts", texts.len());
        for text in &texts[..3] {
            println!("    {text}");
        }
    }
    Ok(())
}
