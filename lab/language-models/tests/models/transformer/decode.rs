//! A tiny model writes requests under a grammar mask, a controller, a sampler and a gate.

use super::MODELS;
use hmm_control::{
    Attribute, ClausePolicy, Controller, Decoding, Ended, Generated, Hmm, Horizon, Lookahead, MaskWords,
    RateMeter, Sampler, Scored, Storage, Token,
};
use ndarray::Array2;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use sirl::{Field, FieldSet, Grammar, Kind, MaskTable, Vocabulary};
use std::collections::BTreeSet;

const END: Token = 60;
/// The grammar allows it, but its weight is 0.
const BANNED: Token = 22;

fn masks() -> MaskTable {
    let words = [
        "REQ.",
        "otp",
        "end",
        "\n",
        " ",
        "fields",
        "=[\"",
        "one_time_code",
        "\"]",
        " ctx={}",
        "ctx",
        "={",
        "}",
        "a",
        "b",
        "RE",
        "Q.otp",
        "REQ.end",
        "\n\n",
        ".",
        "=",
        "[",
        "REQ.otp",
        "one_time",
        "_code",
        " fields",
        "\"",
        "]",
    ];
    let mut tokens: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    tokens.resize(61, b"~".to_vec());
    let vocabulary = Vocabulary::from_tokens(tokens).with_end(END);
    let grammar = Grammar::for_fields(&[(Kind::Otp, FieldSet::from_iter([Field::OneTimeCode]))]).unwrap();
    MaskTable::build(&grammar, &vocabulary)
}

#[derive(Clone)]
struct Requests<'a> {
    masks: &'a MaskTable,
    state: sirl::State,
}

impl hmm_control::Grammar for Requests<'_> {
    fn mask(&self) -> Option<&MaskWords> {
        Some(self.masks.mask(self.state).words())
    }

    fn advance(&mut self, token: Token) {
        self.state = self.masks.step(self.state, token).unwrap();
    }
}

fn controller() -> Controller {
    let even = |rows: usize, columns: usize| {
        let mut table =
            Array2::from_shape_fn((rows, columns), |(row, column)| ((row * 7 + column * 3) % 5 + 1) as f64);
        table.rows_mut().into_iter().for_each(|mut row| row /= row.sum());
        table
    };
    let hmm = Hmm::new(&[0.25; 4], even(4, 4).view(), even(4, 61).view(), Storage::F32).unwrap();
    let attribute = Attribute::from_weights(61, [(BANNED, f64::NEG_INFINITY), (0, -0.5)]).unwrap();
    Controller::new(Lookahead::new(hmm, attribute).unwrap(), 1.0).unwrap()
}

fn write(masks: &MaskTable, sampler: Sampler, scored: Scored, seed: u64) -> (Generated, Vec<String>) {
    let controller = controller();
    let decoding = Decoding {
        model: &MODELS[0],
        controller: &controller,
        horizon: Horizon::Window(8),
        scored,
        meter: &RateMeter::new(controller.lookahead().clone(), 8),
        policy: &ClausePolicy::new(0.0, "avoid the banned token"),
        sampler,
        read_token: |token: Token, bytes: &mut Vec<u8>| bytes.extend(masks.vocabulary().token(token)),
        most_tokens: 40,
        stop: &[],
    };
    let mut shown = Vec::new();
    let grammar = Requests { masks, state: masks.start() };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let show = |text: &str| shown.push(text.to_owned());
    (decoding.generate(&[1, 2, 3], grammar, &mut rng, show).unwrap(), shown)
}

#[test]
fn generated_text_is_a_request_without_the_banned_token() {
    let masks = masks();
    let (mut texts, mut ended) = (BTreeSet::new(), 0);
    for seed in 0..40 {
        let sampler = Sampler::new(1.5).unwrap().top_k(20).top_p(0.98).unwrap();
        let (generated, shown) = write(&masks, sampler, Scored::All, seed);
        let mut state = masks.start();
        for token in &generated.tokens {
            assert_ne!(*token, BANNED);
            state = masks.step(state, *token).unwrap();
        }
        let text: Vec<u8> =
            generated.tokens.iter().flat_map(|token| masks.vocabulary().token(*token).to_vec()).collect();
        assert_eq!(shown.concat().as_bytes(), text);
        if generated.ended == Ended::Token(END) {
            assert!(masks.is_accepting(state), "{:?}", shown.concat());
            ended += 1;
        }
        let again = write(&masks, sampler, Scored::All, seed);
        assert_eq!((&again.0, &again.1), (&generated, &shown), "a seed gives the same text");
        // Under top-k alone the candidates draw what the whole vocabulary does.
        let sampler = Sampler::new(1.5).unwrap().top_k(20);
        let all = write(&masks, sampler, Scored::All, seed);
        let some = write(&masks, sampler, Scored::Candidates { first: 4, left_out_at_most: 0.0 }, seed);
        assert_eq!(all, some);
        texts.insert(shown.concat());
    }
    assert!(texts.len() > 5 && ended > 5, "{} texts, {ended} ended: {texts:?}", texts.len());
}
