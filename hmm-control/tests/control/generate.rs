//! The decode loop end to end, on a language model that is a hidden Markov model: what the look-ahead knows is then exact.

use crate::support::{HmmModel, hmm, rng, softmax};
use hmm_control::{
    Attribute, Belief, ClausePolicy, Controller, Decoding, Edge, Ended, Generated, Grammar, Horizon,
    LanguageModel, Lookahead, MaskWords, Next, RateMeter, Sampler, Scored, Storage, StreamGate, TextRate,
    Threshold, Token,
};
use std::cell::Cell;
use std::convert::Infallible;

const WORDS: [&str; 8] = [" a", " b", " c", ".", ",", " and", " bad", " worse"];
const BAD: [Token; 2] = [6, 7];

fn read_token(token: Token, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(WORDS[token as usize].as_bytes());
}

fn lookahead(seed: u64) -> Lookahead {
    let attribute = Attribute::from_weights(8, [(6, -2.0), (7, -5.0)]).unwrap();
    Lookahead::new(hmm(4, 8, Storage::F64, &mut rng(seed)), attribute).unwrap()
}

/// Probability of every text of a length under control, and of the attribute's weight and the log ratio to the model.
fn walk(
    controller: &Controller,
    model: &HmmModel,
    text: &mut Vec<Token>,
    length: usize,
    log_controlled: f64,
    log_plain: f64,
    each: &mut dyn FnMut(&[Token], f64, f64),
) {
    if text.len() == length {
        return each(text, log_controlled, log_plain);
    }
    let (mut progress, mut state) = (controller.lookahead().start(), model.start());
    text.iter().for_each(|token| controller.lookahead().observe(&mut progress, *token));
    let mut logits = [0.0; 8];
    model.step(&mut state, text, &mut logits).unwrap();
    let plain = softmax(&logits, 1.0);
    controller.adjust(&progress, Horizon::Length(length).remaining(text.len()), &mut logits, None).unwrap();
    let controlled = softmax(&logits, 1.0);
    for token in 0..8 {
        text.push(token as Token);
        let (here, there) = (log_controlled + controlled[token].ln(), log_plain + plain[token].ln());
        walk(controller, model, text, length, here, there, each);
        text.pop();
    }
}

/// `(share of texts with a bad token, KL to the model)` under control, exactly.
fn violations_and_divergence(controller: &Controller, model: &HmmModel, length: usize) -> (f64, f64) {
    let (mut violations, mut divergence) = (0.0, 0.0);
    walk(controller, model, &mut Vec::new(), length, 0.0, 0.0, &mut |text, controlled, plain| {
        if text.iter().any(|token| BAD.contains(token)) {
            violations += controlled.exp();
        }
        divergence += controlled.exp() * (controlled - plain);
    });
    (violations, divergence)
}

#[test]
fn violations_fall_and_divergence_rises_with_strength() {
    for seed in 0..4 {
        let lookahead = lookahead(seed);
        let model = HmmModel { hmm: lookahead.hmm().clone(), end: None };
        let mut last = (1.0 + 1e-9, -1e-9);
        for strength in [0.0, 0.5, 1.0, 2.0, 4.0] {
            let controller = Controller::new(lookahead.clone(), strength).unwrap();
            let now = violations_and_divergence(&controller, &model, 4);
            assert!(now.0 < last.0 && now.1 > last.1, "{seed} {strength}: {last:?} {now:?}");
            last = now;
        }
        assert!(
            last.0 < 0.2 * violations_and_divergence(&Controller::new(lookahead, 0.0).unwrap(), &model, 4).0
        );
    }
}

/// At strength 1 the controlled text is the model's text given the attribute, exactly: `p(x) w(x) / E[w]`.
#[test]
fn at_strength_1_control_is_conditioning() {
    let lookahead = lookahead(9);
    let model = HmmModel { hmm: lookahead.hmm().clone(), end: None };
    let log_expected = lookahead.expectation(&lookahead.start(), 4);
    let controller = Controller::new(lookahead.clone(), 1.0).unwrap();
    walk(&controller, &model, &mut Vec::new(), 4, 0.0, 0.0, &mut |text, controlled, plain| {
        let wanted = plain + lookahead.attribute().log_weight(text) - log_expected;
        assert!((controlled - wanted).abs() < 1e-5, "{text:?} {controlled} {wanted}");
    });
}

struct Setting {
    controller: Controller,
    meter: RateMeter,
    policy: ClausePolicy,
    sampler: Sampler,
    scored: Scored,
    stop: Vec<Token>,
    most_tokens: usize,
}

fn setting(lookahead: Lookahead, strength: f64, threshold: f64) -> Setting {
    Setting {
        meter: RateMeter::new(lookahead.clone(), 6),
        controller: Controller::new(lookahead, strength).unwrap(),
        policy: ClausePolicy::new(threshold, "nothing bad"),
        sampler: Sampler::new(1.0).unwrap(),
        scored: Scored::All,
        stop: Vec::new(),
        most_tokens: 40,
    }
}

fn run<M: LanguageModel, G: Grammar>(
    setting: &Setting,
    model: &M,
    prompt: &[Token],
    grammar: G,
    seed: u64,
) -> (Generated, String) {
    let decoding = Decoding {
        model,
        controller: &setting.controller,
        horizon: Horizon::Window(6),
        scored: setting.scored,
        meter: &setting.meter,
        policy: &setting.policy,
        sampler: setting.sampler,
        read_token,
        most_tokens: setting.most_tokens,
        stop: &setting.stop,
    };
    let mut shown = String::new();
    let generated = decoding.generate(prompt, grammar, &mut rng(seed), |text| shown += text).unwrap();
    let text: String = generated.tokens.iter().map(|token| WORDS[*token as usize]).collect();
    assert_eq!(shown, text, "what is shown is what stands");
    (generated, shown)
}

fn run_until<M: LanguageModel>(
    setting: &Setting,
    model: &M,
    stops: &[&str],
    seed: u64,
) -> (Generated, Vec<String>) {
    let decoding = Decoding {
        model,
        controller: &setting.controller,
        horizon: Horizon::Window(6),
        scored: setting.scored,
        meter: &setting.meter,
        policy: &setting.policy,
        sampler: setting.sampler,
        read_token,
        most_tokens: setting.most_tokens,
        stop: &setting.stop,
    };
    let mut shown = Vec::new();
    let show = |text: &str| shown.push(text.to_owned());
    let generated = decoding.generate_until(stops, &[], (), &mut rng(seed), show).unwrap();
    (generated, shown)
}

/// Stop texts that begin and end in the middle of tokens, and clauses that end between their parts.
#[test]
fn a_text_ends_before_the_first_stop_text() {
    let stops = ["c. ", " b an", "r", ". . b"];
    let (mut met, mut not_met, mut in_pieces) = (0, 0, 0);
    for seed in 0..80 {
        let lookahead = lookahead(seed % 5);
        let model = HmmModel { hmm: lookahead.hmm().clone(), end: None };
        let mut setting = setting(lookahead, 0.4, 0.0);
        setting.most_tokens = 12;
        let (_, whole) = run(&setting, &model, &[], (), seed);
        let (generated, shown) = run_until(&setting, &model, &stops, seed);
        in_pieces += usize::from(shown.len() > 1);
        let shown = shown.concat();
        let first =
            stops.iter().enumerate().filter_map(|(number, stop)| Some((whole.find(stop)?, number))).min();
        let text: String = generated.tokens.iter().map(|token| WORDS[*token as usize]).collect();
        match (first, generated.ended) {
            (Some((start, number)), Ended::Text(stop)) => {
                assert_eq!((shown.as_str(), stop), (&whole[..start], number));
                assert!(shown.starts_with(&text) && shown.len() - text.len() < 6, "{shown:?} {text:?}");
                met += 1;
            }
            (None, Ended::Length) => {
                assert_eq!((&shown, &text), (&whole, &whole));
                not_met += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(met > 20 && not_met > 5 && in_pieces > 20, "{met} {not_met} {in_pieces}");
}

/// A clause that is withdrawn takes what was held back of it with it.
#[test]
fn stop_texts_and_rewinds_keep_out_of_each_others_way() {
    let stops = ["c a", ". b", "wors"];
    let (mut rewinds, mut met) = (0, 0);
    for seed in 0..80 {
        let lookahead = lookahead(seed % 5);
        let threshold = RateMeter::new(lookahead.clone(), 6).ahead(&lookahead.start()) * 0.9;
        let setting = setting(lookahead.clone(), 0.4, threshold);
        let model =
            Checked { inner: HmmModel { hmm: lookahead.hmm().clone(), end: None }, rewinds: Cell::new(0) };
        let (generated, shown) = run_until(&setting, &model, &stops, seed);
        let (shown, text) = (shown.concat(), generated.tokens.iter().map(|token| WORDS[*token as usize]));
        assert!(stops.iter().all(|stop| !shown.contains(stop)), "{shown:?}");
        assert!(shown.starts_with(&text.collect::<String>()));
        assert!(!shown.contains("worse"));
        rewinds += generated.rewinds;
        met += usize::from(matches!(generated.ended, Ended::Text(_)));
    }
    assert!(rewinds > 20 && met > 20, "{rewinds} {met}");
}

/// The hidden Markov model as a language model that checks, whenever logits are asked for again after a rewind, that
/// they are those of a fresh reading of the same tokens.
struct Checked {
    inner: HmmModel,
    rewinds: Cell<usize>,
}

impl LanguageModel for Checked {
    type State = (Vec<Token>, Belief);
    type Error = Infallible;

    fn vocabulary(&self) -> usize {
        8
    }

    fn end(&self) -> Option<Token> {
        None
    }

    fn start(&self) -> Self::State {
        (Vec::new(), self.inner.start())
    }

    fn step(&self, state: &mut Self::State, tokens: &[Token], logits: &mut [f32]) -> Result<(), Infallible> {
        state.0.extend_from_slice(tokens);
        self.inner.step(&mut state.1, tokens, logits)?;
        let (mut fresh, mut again) = (self.inner.start(), [0.0_f32; 8]);
        self.inner.step(&mut fresh, &state.0, &mut again)?;
        assert_eq!(logits.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), again.map(f32::to_bits));
        self.rewinds.set(self.rewinds.get() + usize::from(tokens.is_empty()));
        Ok(())
    }
}

#[test]
fn rewinds_restore_the_model_and_the_gate_keeps_what_is_bad_to_itself() {
    let (mut rewinds, mut stops, mut bad_without) = (0, 0, 0);
    for seed in 0..60 {
        let lookahead = lookahead(seed % 5);
        // A threshold between a clause with a bad word and one without.
        let threshold = RateMeter::new(lookahead.clone(), 6).ahead(&lookahead.start()) * 0.9;
        let setting = setting(lookahead.clone(), 0.4, threshold);
        let model =
            Checked { inner: HmmModel { hmm: lookahead.hmm().clone(), end: None }, rewinds: Cell::new(0) };
        let (generated, shown) = run(&setting, &model, &[0, 3], (), seed);
        assert_eq!(model.rewinds.get(), generated.rewinds);
        rewinds += generated.rewinds;
        assert!(!shown.contains("worse"), "{shown:?}");
        match &generated.ended {
            Ended::Stopped { notice } => {
                stops += 1;
                assert!(notice.contains("nothing bad") && notice.contains("4 times"), "{notice}");
            }
            Ended::Length => assert_eq!(generated.tokens.len(), 40),
            Ended::Token(_) | Ended::Text(_) => panic!("nothing else ends this text"),
        }
        assert!(generated.withdrawn >= generated.rewinds);
        let open = Setting { policy: ClausePolicy::new(0.0, ""), ..self::setting(lookahead, 0.4, 0.0) };
        bad_without += usize::from(run(&open, &model.inner, &[0, 3], (), seed).1.contains("worse"));
    }
    assert!(rewinds > 30 && bad_without > 5, "{rewinds} rewinds, {stops} stops, {bad_without} bad without");
}

/// A clause that is written anew is written under more strength, so that it passes sooner.
#[test]
fn raising_the_strength_saves_texts() {
    let lookahead = lookahead(1);
    let model = HmmModel { hmm: lookahead.hmm().clone(), end: None };
    let threshold = RateMeter::new(lookahead.clone(), 6).ahead(&lookahead.start()) * 0.9;
    let stopped = |raise: f64| {
        let mut setting = setting(lookahead.clone(), 0.2, threshold);
        setting.policy.raise = raise;
        setting.policy.rewinds = 2;
        let stops = |seed| matches!(run(&setting, &model, &[], (), seed).0.ended, Ended::Stopped { .. });
        (0..60).filter(|seed| stops(*seed)).count()
    };
    let (as_before, raised) = (stopped(1.0), stopped(12.0));
    assert!(as_before > 10 && raised * 2 < as_before, "{as_before} {raised}");
}

/// A text may be well on its way and yet not be allowed to end where it does.
#[test]
fn the_end_of_a_text_is_judged() {
    // A text has to hold a full stop.
    let mut builder = Attribute::builder(8);
    let open = builder.state(Edge { to: 0, log_weight: 0.0 }, f64::NEG_INFINITY);
    let done = builder.state(Edge { to: 1, log_weight: 0.0 }, 0.0);
    builder.edge(open, 3, Edge { to: done, log_weight: 0.0 });
    let lookahead =
        Lookahead::new(hmm(3, 8, Storage::F64, &mut rng(8)), builder.build(open).unwrap()).unwrap();
    let model = HmmModel { hmm: lookahead.hmm().clone(), end: None };
    let (mut good, mut stopped) = (0, 0);
    for seed in 0..60 {
        let mut setting = setting(lookahead.clone(), 0.0, 1e-9);
        setting.most_tokens = 3;
        setting.policy.rewinds = 1;
        let (generated, shown) = run(&setting, &model, &[], (), seed);
        match generated.ended {
            Ended::Length => {
                assert!(shown.contains('.'), "{shown:?}");
                good += 1;
            }
            _ => stopped += 1,
        }
    }
    assert!(good > 5 && stopped > 5, "{good} {stopped}");
}

#[derive(Clone)]
struct Alternating {
    words: [u64; 1],
}

impl Grammar for Alternating {
    fn mask(&self) -> Option<&MaskWords> {
        Some(&self.words)
    }

    fn advance(&mut self, token: Token) {
        assert_eq!(self.words[0] >> token & 1, 1, "the grammar follows the text that stands");
        self.words[0] = !self.words[0] & 0xff;
    }
}

/// I11: what the grammar forbids is never drawn, also where the attribute would have nothing else, and across rewinds.
#[test]
fn a_grammar_holds_whatever_the_attribute_wants() {
    // The good words are `a` and `.`: the grammar allows them only at even places.
    let weights = (0..8).filter(|token| ![0, 3].contains(token)).map(|token| (token, -3.0));
    let attribute = Attribute::from_weights(8, weights).unwrap();
    let lookahead = Lookahead::new(hmm(4, 8, Storage::F32, &mut rng(3)), attribute).unwrap();
    let model = HmmModel { hmm: lookahead.hmm().clone(), end: None };
    let mut rewinds = 0;
    for seed in 0..40 {
        let mut setting = setting(lookahead.clone(), 3.0, 0.3);
        setting.policy.rewinds = 20;
        if seed % 2 == 0 {
            setting.scored = Scored::Candidates { first: 2, left_out_at_most: 0.05 };
        }
        let (generated, _) = run(&setting, &model, &[], Alternating { words: [0b1001_1001] }, seed);
        for (place, token) in generated.tokens.iter().enumerate() {
            assert_eq!([0, 3, 4, 7].contains(token), place % 2 == 0, "{:?}", generated.tokens);
        }
        assert!(generated.left_out_mass_at_most <= 0.05);
        rewinds += generated.rewinds;
    }
    assert!(rewinds > 10, "{rewinds}");
}

#[test]
fn where_nothing_is_allowed_the_text_stops_in_plain_words() {
    #[derive(Clone)]
    struct OnlyBadAfterThree(usize);
    impl Grammar for OnlyBadAfterThree {
        fn mask(&self) -> Option<&MaskWords> {
            Some(if self.0 < 3 { &[0b1001] } else { &[0b1100_0000] })
        }
        fn advance(&mut self, _: Token) {
            self.0 += 1;
        }
    }
    let never = Attribute::from_weights(8, BAD.map(|token| (token, f64::NEG_INFINITY))).unwrap();
    let lookahead = Lookahead::new(hmm(3, 8, Storage::F64, &mut rng(4)), never).unwrap();
    let model = HmmModel { hmm: lookahead.hmm().clone(), end: None };
    for scored in [Scored::All, Scored::Candidates { first: 1, left_out_at_most: 0.0 }] {
        let setting = Setting { scored, ..setting(lookahead.clone(), 1.0, 0.0) };
        let (generated, shown) = run(&setting, &model, &[], OnlyBadAfterThree(0), 1);
        assert!(matches!(generated.ended, Ended::Stopped { .. }), "{generated:?}");
        assert_eq!(generated.rewinds, 3);
        assert!(!shown.contains("bad") && !shown.contains("worse"));
    }
}

#[test]
fn the_same_seed_gives_the_same_text_by_candidates_too() {
    let lookahead = lookahead(2);
    let model = HmmModel { hmm: lookahead.hmm().clone(), end: None };
    for seed in 0..20 {
        let mut setting = setting(lookahead.clone(), 1.5, 0.5);
        setting.sampler = Sampler::new(0.9).unwrap().top_k(3).top_p(0.95).unwrap();
        let all = run(&setting, &model, &[1], (), seed);
        setting.scored = Scored::Candidates { first: 1, left_out_at_most: 0.0 };
        let some = run(&setting, &model, &[1], (), seed);
        assert_eq!(all, some);
        assert_eq!(all.0.left_out_mass_at_most, 0.0);
    }
}

#[test]
fn texts_end_at_the_models_end_at_a_stop_or_at_their_length() {
    let lookahead = lookahead(1);
    let ends = HmmModel { hmm: lookahead.hmm().clone(), end: Some(2) };
    let goes_on = HmmModel { hmm: lookahead.hmm().clone(), end: None };
    let mut setting = setting(lookahead, 1.0, 0.0);
    for seed in 0..20 {
        let (generated, _) = run(&setting, &ends, &[], (), seed);
        assert!(!generated.tokens.contains(&2));
        assert!(generated.ended == Ended::Token(2) || generated.tokens.len() == 40);
    }
    setting.stop = vec![3, 4];
    let (generated, shown) = run(&setting, &goes_on, &[], (), 5);
    assert!(matches!(generated.ended, Ended::Token(3 | 4)));
    assert!(!shown.contains(['.', ',']));
    setting.most_tokens = 0;
    let (generated, shown) = run(&setting, &goes_on, &[1], (), 5);
    assert_eq!((generated.ended, shown.as_str()), (Ended::Length, ""));
}

#[test]
fn rates_do_not_depend_on_the_horizon() {
    // One hidden state: every token is worth `c` on average.
    let one = hmm(1, 8, Storage::F64, &mut rng(6));
    let attribute = Attribute::from_weights(8, [(6, -2.0), (7, -5.0)]).unwrap();
    let lookahead = Lookahead::new(one, attribute).unwrap();
    let c = lookahead.expectation(&lookahead.start(), 1).exp();
    let start = lookahead.start();
    for window in [1, 2, 10, 100] {
        let meter = RateMeter::new(lookahead.clone(), window);
        assert!((meter.ahead(&start) - c).abs() < 1e-9);
        assert!((meter.clone().relative().ahead(&start) - 1.0).abs() < 1e-9);
        let mut now = start.clone();
        lookahead.observe(&mut now, 0);
        lookahead.observe(&mut now, 6);
        let k = window as f64;
        let clause = ((k * c.ln() - 2.0) / (k + 2.0)).exp();
        let token = ((k * c.ln() - 2.0) / (k + 1.0)).exp();
        assert!((meter.of_clause(&start, -2.0, &now) - clause.min(token)).abs() < 1e-9);
        assert!(
            (meter.of_clause(&start, 0.0, &now) - clause.min((k * c.ln() / (k + 1.0)).exp())).abs() < 1e-9
        );
        assert!((meter.of_text(&start, [0, 6]) - clause.min(token)).abs() < 1e-9);
        assert!((meter.of_text(&start, []) - c).abs() < 1e-9);
        assert!((meter.ahead(&now) - c).abs() < 1e-9);
        assert!((meter.at_end(&start, &now) - (-2.0 / (k + 2.0)).exp()).abs() < 1e-9);
        // The clause ends after the sign: what stands before it no longer counts.
        let lowest = meter.lowest(&[], &[6, 3, 0, 7], read_token, 100);
        let first = ((k * c.ln() - 2.0) / (k + 1.0)).exp();
        let second = ((k * c.ln() - 5.0) / (k + 1.0)).exp();
        assert!((lowest - first.min(second)).abs() < 1e-9);
    }
    let never = Attribute::from_weights(8, [(6, f64::NEG_INFINITY)]).unwrap();
    let lookahead = Lookahead::new(lookahead.hmm().clone(), never).unwrap();
    let mut now = lookahead.start();
    lookahead.observe(&mut now, 6);
    let meter = RateMeter::new(lookahead, 5);
    assert_eq!(
        (meter.of_clause(&start, f64::NEG_INFINITY, &now), meter.ahead(&now), meter.at_end(&start, &now)),
        (0.0, 0.0, 0.0)
    );
}

/// The calibrated gate stops texts of the kind that it was calibrated with no more often than was asked for.
#[test]
fn a_calibrated_gate_keeps_its_rate_of_false_alarms() {
    let lookahead = lookahead(7);
    let model = HmmModel { hmm: lookahead.hmm().clone(), end: None };
    let mut setting = setting(lookahead, 0.0, 0.0);
    setting.policy.rewinds = 0;
    let rates: Vec<f64> = (0..400)
        .map(|seed| {
            let (generated, _) = run(&setting, &model, &[2], (), seed);
            setting.meter.lowest(&[2], &generated.tokens, read_token, setting.policy.longest)
        })
        .collect();
    let threshold = Threshold::calibrate(&rates, 0.1).unwrap();
    setting.policy.threshold = threshold.value;
    let stopped = |seed| matches!(run(&setting, &model, &[2], (), seed).0.ended, Ended::Stopped { .. });
    let stopped = (1000..1400).filter(|seed| stopped(*seed)).count();
    // Four standard deviations about 40, from both samples; and ties aside it is not much rarer either.
    assert!((10..=74).contains(&stopped), "{stopped} of 400");
    // On the texts it was calibrated with, the gate sees what the meter saw.
    let again = (0..400)
        .filter(|seed| matches!(run(&setting, &model, &[2], (), *seed).0.ended, Ended::Stopped { .. }));
    assert_eq!(again.count(), rates.iter().filter(|rate| **rate < threshold.value).count());
}

/// A stream of text from elsewhere, judged by the look-ahead of a model of its words.
#[test]
fn a_stream_is_judged_by_the_look_ahead() {
    let lookahead = lookahead(3);
    let meter = RateMeter::new(lookahead, 6).relative();
    let tokenize = |text: &str| -> Vec<Token> {
        let words = text.split_inclusive([' ', '.', ',']).map(|word| word.trim_matches([' ', '.', ',']));
        words
            .filter_map(|word| WORDS.iter().position(|known| known.trim() == word))
            .map(|token| token as Token)
            .collect()
    };
    let policy = ClausePolicy { rewinds: 1, ..ClausePolicy::new(0.7, "nothing bad") };
    let mut gate = StreamGate::new(policy, TextRate::new(meter, tokenize), 20);
    let mut shown = gate.push(b"a b and. b and. a worse").released;
    assert_eq!(shown, "a b and. b and.");
    let Next::Rewrite(rewrite) = gate.push(b" b and. a ").next else { panic!("a bad clause passed") };
    assert!(rewrite.instruction.contains("nothing bad"));
    gate.resume();
    shown += &gate.push(b" a c and.").released;
    shown += &gate.finish().released;
    assert_eq!(shown, "a b and. b and. a c and.");
    assert!(matches!(gate.push(b" worse. ").next, Next::Rewrite(_)));
    gate.resume();
    let Next::Stop { notice } = gate.push(b" worse. ").next else { panic!("it goes on") };
    assert!(!notice.contains("worse"));
}
