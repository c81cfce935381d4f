//! The monitor on made-up conversations whose truth is known: estimated on some seeds, measured on others.

use classifier::{Risk, Safety};
use hmm_control::monitor::{
    Curve, Judge, Monitor, MonitorBuilder, MonitorError, ReliabilityTable, Watch, Window,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const STATES: usize = 3;
const INITIAL: [f64; STATES] = [0.95, 0.03, 0.02];
const TRANSITION: [[f64; STATES]; STATES] = [[0.93, 0.05, 0.02], [0.10, 0.88, 0.02], [0.02, 0.08, 0.90]];

fn draw(rng: &mut ChaCha8Rng, shares: &[f64]) -> usize {
    let mut rest = rng.random::<f64>();
    let passes = |share: &f64| {
        rest -= share;
        rest < 0.0
    };
    shares.iter().position(passes).unwrap_or(0)
}

/// A detector with the manners of real ones: exactly 0 half of the time, and blind to some harm.
fn score(rng: &mut ChaCha8Rng, harm: bool) -> f64 {
    if harm && rng.random_bool(0.7) {
        return 1.0 - rng.random::<f64>().powi(2);
    }
    if rng.random_bool(0.5) { 0.0 } else { rng.random::<f64>().powi(2) }
}

/// Conversations of 5 to 40 windows; `copies` of the scam detector that say the same but for a little noise.
fn conversations(seed: u64, count: usize, copies: usize) -> Vec<Vec<Window>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Vec::new();
    for _ in 0..count {
        let mut state = draw(&mut rng, &INITIAL);
        let mut windows = Vec::new();
        for _ in 0..rng.random_range(5..=40) {
            let scam = score(&mut rng, state == 1);
            let injection = score(&mut rng, state == 2);
            let mut scores = vec![injection];
            scores.extend((0..copies).map(|_| (scam + 0.02 * rng.random::<f64>()).min(1.0)));
            let scores = scores.into_iter().map(|score| Some(Risk::new(score).unwrap()));
            let scores = scores.map(|score| score.filter(|_| !rng.random_bool(0.1))).collect();
            windows.push(Window { state: Some(state), scores });
            state = draw(&mut rng, &TRANSITION[state]);
        }
        all.push(windows);
    }
    all
}

fn builder(copies: usize) -> MonitorBuilder {
    let mut builder = Monitor::builder();
    assert_eq!(builder.appropriate("appropriate"), 0);
    assert_eq!(builder.harmful("scam"), 1);
    assert_eq!(builder.harmful("injection"), 2);
    builder.detector("injection");
    for copy in 0..copies {
        assert_eq!(builder.detector(format!("scam {copy}")), copy + 1);
    }
    builder
}

/// Mean of `log p(true state)` over all windows; `forget` starts anew at every window.
fn log_score(monitor: &Monitor, documents: &[Vec<Window>], forget: bool) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for document in documents {
        let mut watch = monitor.watch();
        for window in document {
            if forget {
                watch = monitor.watch();
            }
            watch.observe(&window.scores).unwrap();
            sum += watch.posterior().unwrap()[window.state.unwrap()].ln();
            count += 1.0;
        }
    }
    sum / count
}

/// How well the posterior of the present window means what it says, without any curve.
fn present_reliability(monitor: &Monitor, documents: &[Vec<Window>]) -> ReliabilityTable {
    let mut samples = Vec::new();
    for document in documents {
        let mut watch = monitor.watch();
        for window in document {
            watch.observe(&window.scores).unwrap();
            samples.push((watch.present().unwrap(), window.state == Some(0)));
        }
    }
    ReliabilityTable::measure(&samples, 10)
}

#[test]
fn a_safety_of_eight_tenths_means_eight_in_ten() {
    let monitor = builder(1).fit(&conversations(1, 300, 1)).unwrap();
    for (from, row) in TRANSITION.iter().enumerate() {
        for (to, truth) in row.iter().enumerate() {
            let found = monitor.transition(from, to);
            assert!((found - truth).abs() < 0.03, "{from} to {to}: {found}, not {truth}");
        }
    }
    assert!(monitor.temper() >= 0.7, "independent detectors are to be believed: {}", monitor.temper());
    for horizon in [0, 3, 10] {
        let judge = Judge::fit(monitor.clone(), horizon, &conversations(2, 800, 1)).unwrap();
        for seed in 3..6 {
            let table = judge.reliability(&conversations(seed, 1_000, 1), 10).unwrap();
            println!("horizon {horizon}, seed {seed}\n{table}");
            assert!(table.count > 10_000, "{}", table.count);
            assert!(table.expected_error < 0.03, "horizon {horizon}, seed {seed}\n{table}");
            // Always saying the base rate is calibrated as well, and useless.
            let useless = table.base_rate * (1.0 - table.base_rate);
            let share = [0.7, 0.85, 0.95][[0, 3, 10].iter().position(|h| *h == horizon).unwrap()];
            assert!(table.brier < share * useless, "horizon {horizon}, seed {seed}\n{table}");
        }
    }
}

#[test]
fn what_came_before_helps() {
    let monitor = builder(1).fit(&conversations(1, 300, 1)).unwrap();
    let fresh = conversations(7, 300, 1);
    let (with, without) = (log_score(&monitor, &fresh, false), log_score(&monitor, &fresh, true));
    println!("log score with the past {with:.4}, without {without:.4}");
    assert!(with > without + 0.2);
}

#[test]
fn detectors_that_repeat_each_other_are_believed_less() {
    let copies = 4;
    let documents = conversations(1, 200, copies);
    let learnt = builder(copies).fit(&documents).unwrap();
    let naive = builder(copies).temper(1.0).fit(&documents).unwrap();
    let fresh = conversations(8, 400, copies);
    let (a, b) = (log_score(&learnt, &fresh, false), log_score(&naive, &fresh, false));
    let (c, d) = (present_reliability(&learnt, &fresh), present_reliability(&naive, &fresh));
    println!("exponent {}: log score {a:.4}, naive {b:.4}", learnt.temper());
    println!("calibration error {:.4}, naive {:.4}", c.expected_error, d.expected_error);
    assert!(learnt.temper() <= 0.7);
    assert!(a > b + 0.02);
    assert!(c.expected_error < d.expected_error);
}

#[test]
fn few_labels_and_many_windows_without_help_each_other() {
    let mut documents = conversations(1, 200, 1);
    let few = 8;
    documents[few..].iter_mut().flatten().for_each(|window| window.state = None);
    let alone = builder(1).fit(&documents[..few]).unwrap();
    let together = builder(1).fit(&documents).unwrap();
    let without_rounds = builder(1).rounds(0).fit(&documents).unwrap();
    let fresh = conversations(9, 300, 1);
    let [alone, together, without_rounds] =
        [alone, together, without_rounds].map(|monitor| log_score(&monitor, &fresh, false));
    println!("log score: 8 documents {alone:.4}, and 192 without labels {together:.4}");
    assert_eq!(alone, without_rounds);
    assert!(together > alone + 0.01, "{together} {alone}");
}

#[test]
fn few_documents_do_not_make_it_sure() {
    // Eight documents, of some states but four windows: nearly always better than to say how often each state came
    // in them, and hardly worse in the worst case.
    let fresh = conversations(10, 200, 1);
    let mut gains = Vec::new();
    for seed in 20..60 {
        let documents = conversations(seed, 8, 1);
        let mut shares = [0.5_f64; STATES];
        documents.iter().flatten().for_each(|window| shares[window.state.unwrap()] += 1.0);
        let total: f64 = shares.iter().sum();
        let states = || fresh.iter().flatten().map(|window| window.state.unwrap());
        let base = states().map(|state| (shares[state] / total).ln()).sum::<f64>() / states().count() as f64;
        match builder(1).fit(&documents) {
            Ok(monitor) => gains.push(log_score(&monitor, &fresh, false) - base),
            Err(MonitorError::NoLabels { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    gains.sort_by(f64::total_cmp);
    let better = gains.iter().filter(|gain| **gain > 0.0).count();
    println!(
        "{better} of {} better; worst {:.3}, median {:.3}",
        gains.len(),
        gains[0],
        gains[gains.len() / 2]
    );
    assert!(gains.len() > 25 && better * 10 >= gains.len() * 9);
    assert!(gains[0] > -0.15 && gains[gains.len() / 2] > 0.15);
}

#[test]
fn safety_is_never_above_the_present_posterior() {
    let monitor = builder(1).fit(&conversations(1, 100, 1)).unwrap();
    // Held-out data in which harm is rare, so that the curve is far too hopeful for the others.
    let mut hopeful = conversations(2, 100, 1);
    hopeful.iter_mut().flatten().skip(5).for_each(|window| window.state = Some(0));
    hopeful[0].iter_mut().take(5).for_each(|window| window.state = Some(1));
    let judge = Judge::fit(monitor.clone(), 0, &hopeful).unwrap();
    let mut raised = 0;
    for document in conversations(3, 100, 1) {
        let mut watch = judge.watch();
        assert_eq!(judge.safety(&watch), None);
        for window in document {
            watch.observe(&window.scores).unwrap();
            let present = watch.present().unwrap();
            assert!(judge.safety(&watch).unwrap() <= Safety::new(present).unwrap());
            raised += usize::from(judge.curve().apply(present) > present);
        }
    }
    assert!(raised > 100, "the curve would have raised {raised} windows");
    // A watch of another monitor is not judged.
    let mut other: Watch = builder(1).fit(&conversations(4, 100, 1)).unwrap().watch();
    other.observe(&[None, None]).unwrap();
    assert_eq!(judge.safety(&other), None);
}

#[test]
fn a_missing_score_says_nothing_and_no_score_lets_what_was_known_fade() {
    let monitor = builder(1).fit(&conversations(1, 200, 1)).unwrap();
    let mut watch = monitor.watch();
    watch.observe(&[None, None]).unwrap();
    let start = watch.posterior().unwrap().to_vec();
    assert!(start.iter().zip(monitor.initial()).all(|(a, b)| (a - b).abs() < 1e-12));
    for _ in 0..6 {
        watch.observe(&[None, Some(Risk::new(0.97).unwrap())]).unwrap();
    }
    let sure = watch.posterior().unwrap()[1];
    let mut last = sure;
    for _ in 0..30 {
        watch.observe(&[None, None]).unwrap();
        let now = watch.posterior().unwrap()[1];
        assert!(now < last);
        last = now;
    }
    assert!(sure > 0.95 && last < 0.6, "{sure} {last}");
}

#[test]
fn fitting_is_repeatable_and_refuses_what_it_cannot_use() {
    let documents = conversations(1, 40, 1);
    assert_eq!(builder(1).fit(&documents).unwrap(), builder(1).fit(&documents).unwrap());
    let refuse =
        |builder: &MonitorBuilder, documents: &[Vec<Window>]| builder.fit(documents).unwrap_err().to_string();
    let none: Vec<Vec<Window>> = vec![vec![]];
    assert_eq!(
        refuse(&builder(1), &none),
        "no window is labelled \"appropriate\"; label some, or leave the state out"
    );
    assert_eq!(
        refuse(&builder(2), &documents),
        "window 0 of document 0 has 2 scores, but there are 3 detectors"
    );
    let mut wrong = documents.clone();
    wrong[3][2].state = Some(3);
    assert_eq!(refuse(&builder(1), &wrong), "window 2 of document 3 is labelled 3, but there are 3 states");
    assert!(refuse(builder(1).temper(1.5), &documents).starts_with("the exponent is 1.5"));
    assert!(refuse(builder(1).temper(f64::NAN), &documents).starts_with("the exponent is NaN"));
    assert!(refuse(builder(1).transition_smoothing(0.0), &documents).contains("must be a number above 0"));
    assert!(
        refuse(builder(1).score_smoothing(f64::INFINITY), &documents).contains("must be a number above 0")
    );
    let mut empty = Monitor::builder();
    assert!(refuse(&empty, &none).starts_with("0 appropriate and 0 harmful states are named"));
    empty.appropriate("a");
    empty.harmful("b");
    assert!(refuse(&empty, &none).starts_with("no detector is named"));
    empty.detector("  ");
    assert!(refuse(&empty, &none).starts_with("the detector name \"  \" is empty"));
    let mut twice = builder(1);
    twice.harmful("scam");
    assert!(refuse(&twice, &documents).starts_with("the state name \"scam\" is empty or used twice"));
}

proptest! {
    #[test]
    fn a_curve_rises_and_stays_a_probability(
        samples in proptest::collection::vec((prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0_f64], any::<bool>()), 1..60),
        asked in proptest::collection::vec(-0.5..1.5_f64, 1..40),
    ) {
        let curve = Curve::fit(&samples).unwrap();
        let mut asked = asked;
        asked.extend(samples.iter().map(|(p, _)| *p));
        asked.sort_by(f64::total_cmp);
        let answers: Vec<f64> = asked.iter().map(|p| curve.apply(*p)).collect();
        prop_assert!(answers.windows(2).all(|pair| pair[0] <= pair[1]));
        // The rule of succession: never surer than all samples together could make it.
        let most = (samples.len() as f64 + 1.0) / (samples.len() as f64 + 2.0);
        prop_assert!(answers.iter().all(|p| (0.0..=most + 1e-12).contains(p)));
        let mut shuffled = samples.clone();
        shuffled.reverse();
        prop_assert_eq!(Curve::fit(&shuffled).unwrap(), curve);
    }
}

#[test]
fn a_curve_follows_the_rule_of_succession() {
    let mut samples = vec![(0.2, false); 10];
    samples.extend(vec![(0.6, true); 10]);
    let curve = Curve::fit(&samples).unwrap();
    assert_eq!(curve.steps(), [(0.2, 1.0 / 12.0), (0.6, 11.0 / 12.0)]);
    // Between the steps the lower one counts, and below both there is less.
    assert_eq!([0.2, 0.59, 0.6, 1.0].map(|p| curve.apply(p)), [1.0, 1.0, 11.0, 11.0].map(|n| n / 12.0));
    assert!((curve.apply(0.1) - 1.0 / 24.0).abs() < 1e-12);
    assert_eq!(curve.apply(0.0), 0.0);
}

#[test]
fn a_curve_learns_a_bent_scale() {
    // What is said as p comes true p^2 of the time.
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut sample = || {
        let p = rng.random::<f64>();
        (p, rng.random_bool(p * p))
    };
    let train: Vec<(f64, bool)> = (0..4_000).map(|_| sample()).collect();
    let test: Vec<(f64, bool)> = (0..20_000).map(|_| sample()).collect();
    let curve = Curve::fit(&train).unwrap();
    let mended: Vec<(f64, bool)> = test.iter().map(|(p, held)| (curve.apply(*p), *held)).collect();
    let (before, after) = (ReliabilityTable::measure(&test, 10), ReliabilityTable::measure(&mended, 10));
    println!("{before}\n{after}");
    assert!(before.expected_error > 0.15);
    assert!(after.expected_error < 0.025);
    assert_eq!((after.count, curve.samples()), (20_000, 4_000));
    assert!((curve.apply(0.5) - 0.25).abs() < 0.06);
    assert_eq!(curve.apply(f64::NAN), 0.0);
    assert_eq!(Curve::fit(&[]), None);
}

#[test]
fn a_reliability_table_counts() {
    let table = ReliabilityTable::measure(
        &[(0.0, false), (0.25, true), (0.75, true), (1.0, true), (f64::NAN, true)],
        2,
    );
    assert_eq!((table.count, table.rows.len()), (4, 2));
    assert_eq!((table.rows[0].count, table.rows[0].predicted, table.rows[0].observed), (2, 0.125, 0.5));
    assert_eq!((table.rows[1].count, table.rows[1].predicted, table.rows[1].observed), (2, 0.875, 1.0));
    assert_eq!(table.expected_error, 0.5 * 0.375 + 0.5 * 0.125);
    assert_eq!(table.base_rate, 0.75);
    assert_eq!(table.brier, (0.0 + 0.5625 + 0.0625 + 0.0) / 4.0);
    let empty = ReliabilityTable::measure(&[], 0);
    assert_eq!((empty.count, empty.expected_error, empty.rows.len()), (0, 0.0, 1));
}
