//! The horizon experiment on a small scale and without the slow rollouts: every steering method answers every turn, and
//! the results can be rendered.

use evaluation::horizon::HorizonError;
use evaluation::horizon::run::{Measured, Method, Settings, run};
use evaluation::horizon::steer::{Steering, Tree, points, write};
use evaluation::horizon::turns::Dialogues;
use hmm_control::{Attribute, Hmm, LanguageModel, Lookahead, Storage, Token};
use std::convert::Infallible;
use std::path::Path;

fn measured(folder: &str) -> Result<Measured, HorizonError> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let settings = Settings {
        dialogues: Dialogues::Obeyed,
        turns: 2,
        rolled_turns: 0,
        rolled: Vec::new(),
        hmm: None,
        states: 8,
        learn: 10,
        horizons: vec![0, 1, 9],
        seed: 1,
    };
    run(&folder, &settings, tempfile::tempdir().unwrap().path(), None, &|_, _, _| ())
}

#[test]
fn every_steering_method_answers_every_turn() {
    let measured = measured("../agent-model/model").unwrap();
    let of = |method: Method| measured.rows.iter().filter(|row| row.method == method).count();
    assert_eq!(
        [of(Method::Hmm), of(Method::HmmAndPrior), of(Method::Rollouts), of(Method::BestOfN)],
        [6, 6, 0, 8]
    );
    for row in &measured.rows {
        assert!(!(row.leak && row.success), "{row:?}");
        assert!(row.answer_tokens > 0 && row.log_probability < 0.0, "{row:?}");
        assert!(row.tokens >= row.answer_tokens, "{row:?}");
    }
    // The model learnt from its own texts predicts them, and the small model predicts them less well.
    let (own, ours) = measured.learnt.held_out;
    assert!(own > 0.0 && ours > own && ours < 4096_f64.ln(), "{own} {ours}");
    assert_eq!(measured.csv().lines().count(), 1 + measured.rows.len());
    // Horizons 0 and 1 are the curve; 9 comes after a gap.
    let curves = measured.curves();
    assert_eq!(curves.iter().map(|curve| curve.success.mean.len()).collect::<Vec<_>>(), [2, 2]);
    let json = measured.json();
    assert_eq!(json["figures"].as_array().unwrap().len(), 3 + 3 + 4);
    assert_eq!(json["h1"].as_array().unwrap().len(), 0);
    assert!(measured.table().contains("| best of n | 8 | 2 |"), "{}", measured.table());
    let plot = measured.plot();
    assert!(plot.starts_with("<svg xmlns") && plot.ends_with("</svg>") && !plot.contains("NaN"));
}

#[test]
fn a_model_that_was_distilled_before_is_taken() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent-model/model");
    let out = tempfile::tempdir().unwrap();
    let hmm = Some(folder.join("hmm.safetensors"));
    let settings = Settings {
        dialogues: Dialogues::Obeyed,
        turns: 1,
        rolled_turns: 0,
        rolled: Vec::new(),
        hmm,
        states: 8,
        learn: 10,
        horizons: vec![0, 12],
        seed: 1,
    };
    let measured = run(&folder, &settings, out.path(), None, &|_, _, _| ()).unwrap();
    assert_eq!(measured.learnt.hmm.states(), 512);
    assert!(measured.table().starts_with("512 states, distilled before, 20 answers"), "{}", measured.table());
    let missing = Settings { hmm: Some("nowhere.safetensors".into()), ..settings };
    let error = run(&folder, &missing, out.path(), None, &|_, _, _| ()).err().unwrap().to_string();
    assert!(error.contains("nowhere.safetensors: "), "{error}");
}

#[test]
fn a_run_goes_on_where_it_stopped_and_ends_in_the_same_rows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent-model/model");
    let out = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let settings = Settings {
        dialogues: Dialogues::Graded,
        turns: 2,
        rolled_turns: 0,
        rolled: Vec::new(),
        hmm: None,
        states: 8,
        learn: 10,
        horizons: vec![0, 4],
        seed: 3,
    };
    let whole = run(&folder, &settings, out[0].path(), None, &|_, _, _| ()).unwrap();
    let mut stopped =
        run(&folder, &settings, out[1].path(), Some(std::time::Duration::ZERO), &|_, _, _| ()).unwrap();
    assert!(stopped.rows.is_empty(), "no turn begins after the time");
    stopped = run(&folder, &settings, out[1].path(), None, &|_, _, _| ()).unwrap();
    let told = |measured: &Measured| {
        let of =
            |row: &evaluation::horizon::run::Row| (row.turn, row.method, row.horizon, row.leak, row.tokens);
        measured.rows.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(told(&whole), told(&stopped));
    let other = Settings { seed: 4, ..settings };
    let error = run(&folder, &other, out[1].path(), None, &|_, _, _| ()).err().unwrap().to_string();
    assert!(error.contains("turns of other settings"), "{error}");
}

#[test]
fn a_folder_without_a_model_is_named() {
    let error = measured("tests").err().unwrap().to_string();
    assert!(error.starts_with("the agent model in ") && error.contains("tests: "), "{error}");
}

/// A language model that writes "card" or "cart" with equal probability; a digit follows the one, an order the other.
struct Exact;

const CARD: Token = 0;
const CART: Token = 1;
const DIGIT: Token = 2;
const ORDER: Token = 3;
const END: Token = 4;

impl LanguageModel for Exact {
    type State = Option<Token>;
    type Error = Infallible;

    fn vocabulary(&self) -> usize {
        5
    }

    fn end(&self) -> Option<Token> {
        Some(END)
    }

    fn start(&self) -> Option<Token> {
        None
    }

    fn step(
        &self,
        state: &mut Option<Token>,
        tokens: &[Token],
        logits: &mut [f32],
    ) -> Result<(), Infallible> {
        *state = tokens.last().copied().or(*state);
        logits.fill(f32::NEG_INFINITY);
        let next: &[Token] = match *state {
            None => &[CARD, CART],
            Some(CARD) => &[DIGIT],
            Some(CART) => &[ORDER],
            Some(_) => &[END],
        };
        next.iter().for_each(|token| logits[*token as usize] = 0.0);
        Ok(())
    }
}

/// If the hidden Markov model is the language model, the look-ahead is exact: it changes nothing before its horizon
/// reaches the digit, and then exactly as much as the weight demands.
#[test]
fn an_exact_model_steers_as_soon_as_it_sees_the_digit() {
    let mut emission = ndarray::Array2::zeros((5, 5));
    emission.diag_mut().fill(1.0);
    let mut transition = ndarray::Array2::zeros((5, 5));
    for (from, to) in [(CARD, DIGIT), (CART, ORDER), (DIGIT, END), (ORDER, END), (END, END)] {
        transition[[from as usize, to as usize]] = 1.0;
    }
    let hmm = Hmm::new(&[0.5, 0.5, 0.0, 0.0, 0.0], transition.view(), emission.view(), Storage::F64).unwrap();
    let attribute = Attribute::from_weights(5, [(DIGIT, 0.25_f64.ln())]).unwrap();
    let lookahead = Lookahead::new(hmm, attribute).unwrap();
    let share = |horizon| {
        let mut tree = Tree::new(&Exact, &[]).unwrap();
        let steering = Steering::Hidden { lookahead: &lookahead, prior: None, horizon };
        let texts = (0..4000).map(|seed| write(&mut tree, steering, &points(seed)).unwrap().tokens);
        texts.filter(|tokens| tokens.contains(&DIGIT)).count() as f64 / 4000.0
    };
    // Four standard errors.
    assert!((share(0) - 0.5).abs() < 0.032, "{}", share(0));
    for horizon in [1, 2, 7] {
        assert!((share(horizon) - 0.2).abs() < 0.026, "{horizon}: {}", share(horizon));
    }
}
