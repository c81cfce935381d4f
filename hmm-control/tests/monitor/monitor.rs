//! Filtering and looking ahead against enumeration of every hidden path, and the monitor's file.

use classifier::Risk;
use hmm_control::monitor::{Judge, Monitor, MonitorError, Watch, Window};
use proptest::prelude::*;
use serde_json::{Value, json};

fn risk(value: f64) -> Option<Risk> {
    Some(Risk::new(value).unwrap())
}

/// A model's numbers, outside the library.
#[derive(Debug, Clone)]
struct Truth {
    initial: Vec<f64>,
    transition: Vec<Vec<f64>>,
    /// `[detector][state][bin]`, bins of equal width.
    scores: Vec<Vec<Vec<f64>>>,
    temper: f64,
    appropriate: Vec<bool>,
}

impl Truth {
    fn states(&self) -> usize {
        self.initial.len()
    }

    fn json(&self) -> Value {
        let states: Vec<Value> = self
            .appropriate
            .iter()
            .enumerate()
            .map(|(number, appropriate)| json!({"name": format!("state {number}"), "appropriate": appropriate}))
            .collect();
        let detectors: Vec<Value> = self
            .scores
            .iter()
            .enumerate()
            .map(|(number, table)| {
                let bins = table[0].len();
                let edges: Vec<f64> = (1..bins).map(|bin| bin as f64 / bins as f64).collect();
                json!({"name": format!("detector {number}"), "edges": edges, "probabilities": table})
            })
            .collect();
        json!({
            "format": "portcullis-monitor", "version": 1, "states": states, "detectors": detectors,
            "initial": self.initial, "transition": self.transition, "temper": self.temper,
        })
    }

    fn monitor(&self) -> Monitor {
        Monitor::from_json(self.json().to_string().as_bytes()).unwrap()
    }

    fn likelihood(&self, state: usize, bins: &[Option<usize>]) -> f64 {
        let all = bins.iter().zip(&self.scores).filter_map(|(bin, table)| bin.map(|bin| table[state][bin]));
        all.product::<f64>().powf(self.temper)
    }

    /// `p(windows, hidden path)`, summed over the paths that pass the test; the path goes on after the windows.
    fn sum(&self, windows: &[Vec<Option<usize>>], ahead: usize, test: impl Fn(&[usize]) -> bool) -> f64 {
        let length = windows.len() + ahead;
        let paths = self.states().pow(length as u32);
        (0..paths)
            .map(|number| {
                let path: Vec<usize> = (0..length)
                    .map(|place| number / self.states().pow(place as u32) % self.states())
                    .collect();
                if !test(&path) {
                    return 0.0;
                }
                let steps: f64 = path.windows(2).map(|pair| self.transition[pair[0]][pair[1]]).product();
                let seen: f64 =
                    windows.iter().zip(&path).map(|(bins, state)| self.likelihood(*state, bins)).product();
                path.first().map_or(1.0, |first| self.initial[*first]) * steps * seen
            })
            .sum()
    }
}

/// A distribution from weights between `smallest` and 1; about a third of its entries are 0 where that is
/// allowed.
fn distribution(length: usize, smallest: f64, zeros: bool) -> impl Strategy<Value = Vec<f64>> {
    let entry = if zeros {
        prop_oneof![1 => Just(0.0), 2 => smallest..1.0_f64].boxed()
    } else {
        (smallest..1.0_f64).boxed()
    };
    proptest::collection::vec(entry, length).prop_map(move |mut values| {
        if values.iter().all(|value| *value == 0.0) {
            values[0] = 1.0;
        }
        let sum: f64 = values.iter().sum();
        values.iter().map(|value| value / sum).collect()
    })
}

fn truth(smallest: f64) -> impl Strategy<Value = Truth> {
    (2_usize..5, 1_usize..4, 1_usize..4).prop_flat_map(move |(states, detectors, bins)| {
        let table = proptest::collection::vec(distribution(bins, smallest, false), states);
        (
            distribution(states, smallest, true),
            proptest::collection::vec(distribution(states, smallest, true), states),
            proptest::collection::vec(table, detectors),
            prop_oneof![Just(1.0), 0.1..1.0_f64],
            proptest::collection::vec(any::<bool>(), states),
        )
            .prop_map(|(initial, transition, scores, temper, mut appropriate)| {
                appropriate[0] = true;
                appropriate[1] = false;
                Truth { initial, transition, scores, temper, appropriate }
            })
    })
}

/// [`seen_of`] weights down to .01, which are as small as a model's may be in most of these tests.
fn seen() -> impl Strategy<Value = (Truth, Vec<Vec<Option<usize>>>)> {
    seen_of(0.01)
}

/// A truth from weights of at least `smallest`, and some windows; a third of the scores is missing.
fn seen_of(smallest: f64) -> impl Strategy<Value = (Truth, Vec<Vec<Option<usize>>>)> {
    truth(smallest).prop_flat_map(|truth| {
        let bins = truth.scores[0][0].len();
        let score = prop_oneof![1 => Just(None), 2 => (0..bins).prop_map(Some)];
        let window = proptest::collection::vec(score, truth.scores.len());
        proptest::collection::vec(window, 0..4).prop_map(move |windows| (truth.clone(), windows))
    })
}

fn watched(truth: &Truth, windows: &[Vec<Option<usize>>]) -> (Watch, f64) {
    let mut watch = truth.monitor().watch();
    let bins = truth.scores[0][0].len() as f64;
    let mut log_evidence = 0.0;
    for window in windows {
        let scores: Vec<_> =
            window.iter().map(|bin| bin.and_then(|bin| risk((bin as f64 + 0.5) / bins))).collect();
        log_evidence += watch.observe(&scores).unwrap();
    }
    (watch, log_evidence)
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9
}

proptest! {
    #[test]
    fn filtering_equals_enumeration((truth, windows) in seen()) {
        let (watch, log_evidence) = watched(&truth, &windows);
        let all = truth.sum(&windows, 0, |_| true);
        prop_assert!(close(log_evidence, all.ln()));
        if let Some(posterior) = watch.posterior() {
            let last = windows.len() - 1;
            for (state, p) in posterior.iter().enumerate() {
                prop_assert!(close(*p, truth.sum(&windows, 0, |path| path[last] == state) / all));
            }
            let largest = posterior.iter().copied().fold(0.0, f64::max);
            prop_assert_eq!(posterior[watch.most_likely().unwrap()], largest);
        }
        for (state, p) in watch.predicted().iter().enumerate() {
            let next = truth.sum(&windows, 1, |path| path[windows.len()] == state);
            prop_assert!(close(*p, next / all));
        }
    }

    #[test]
    fn looking_ahead_equals_enumeration((truth, windows) in seen(), ahead in 0_usize..5) {
        let (watch, _) = watched(&truth, &windows);
        let all = truth.sum(&windows, 0, |_| true);
        let ok = |state: &usize| truth.appropriate[*state];
        let stays = truth.sum(&windows, ahead, |path| path[windows.len()..].iter().all(ok)) / all;
        prop_assert!(close(watch.expectation(ahead), stays));
        let numbers: Vec<usize> = (0..truth.states()).filter(|state| ok(state)).collect();
        let others: Vec<usize> = (0..truth.states()).filter(|state| !ok(state)).collect();
        prop_assert!(close(watch.staying(&numbers, ahead), stays));
        prop_assert!(close(watch.avoiding(&others, ahead), stays));
        let avoids_last = truth.sum(&windows, ahead, |path| {
            path[windows.len()..].iter().all(|state| state + 1 != truth.states())
        });
        prop_assert!(close(watch.avoiding(&[truth.states() - 1], ahead), avoids_last / all));
        if let Some(last) = windows.len().checked_sub(1) {
            let conforms = truth.sum(&windows, ahead, |path| path[last..].iter().all(ok)) / all;
            prop_assert!(close(watch.conforming(ahead).unwrap(), conforms));
        }
        prop_assert!(close(watch.rate(ahead).powi(ahead as i32), stays));
    }

    #[test]
    fn looking_further_ahead_is_never_more_probable((truth, windows) in seen()) {
        let (watch, _) = watched(&truth, &windows);
        let bad: Vec<usize> = (0..truth.states()).filter(|state| !truth.appropriate[*state]).collect();
        let limit = watch.never(&bad);
        for k in 0..70 {
            prop_assert!(watch.expectation(k + 1) <= watch.expectation(k) + 1e-12, "{}", k);
            prop_assert!(limit <= watch.expectation(k) + 1e-9);
            if let Some(conforming) = watch.conforming(k) {
                prop_assert!(conforming <= watch.present().unwrap());
                prop_assert!(watch.conforming(k + 1).unwrap() <= conforming + 1e-12);
            }
        }
    }

    /// Entries are at least .3 / 3.3 = .09 here, so a state that can reach a bad one does so within three steps
    /// with a probability of at least .09^3, and what is undecided after 200,000 steps is below 1e-21.
    #[test]
    fn the_limit_is_where_the_expectation_goes((truth, windows) in seen_of(0.3)) {
        let (watch, _) = watched(&truth, &windows);
        let bad: Vec<usize> = (0..truth.states()).filter(|state| !truth.appropriate[*state]).collect();
        prop_assert!((watch.expectation(200_000) - watch.never(&bad)).abs() < 1e-9);
    }

    #[test]
    fn a_file_reads_back_the_same((truth, windows) in seen()) {
        let (watch, _) = watched(&truth, &windows);
        let monitor = truth.monitor();
        let again = Monitor::from_json(monitor.to_json().as_bytes()).unwrap();
        let mut same = again.watch();
        let bins = truth.scores[0][0].len() as f64;
        for window in &windows {
            let score = |bin: &Option<usize>| bin.and_then(|bin| risk((bin as f64 + 0.5) / bins));
            same.observe(&window.iter().map(score).collect::<Vec<_>>()).unwrap();
        }
        prop_assert!(close(watch.expectation(3), same.expectation(3)));
        for state in 0..truth.states() {
            prop_assert_eq!(again.is_appropriate(state), truth.appropriate[state]);
            for to in 0..truth.states() {
                prop_assert!((again.transition(state, to) - truth.transition[state][to]).abs() < 1e-15);
            }
            for (detector, table) in truth.scores.iter().enumerate() {
                let p = again.score_probability(state, detector, Risk::NONE);
                prop_assert!((p - table[state][0]).abs() < 1e-14);
            }
        }
    }
}

/// Two states; fine may turn bad, and bad is for good.
fn trap(leave: f64) -> Truth {
    Truth {
        initial: vec![1.0, 0.0],
        transition: vec![vec![1.0 - leave, leave], vec![0.0, 1.0]],
        scores: vec![vec![vec![0.9, 0.1], vec![0.2, 0.8]]],
        temper: 1.0,
        appropriate: vec![true, false],
    }
}

#[test]
fn a_horizon_of_a_thousand_is_exact() {
    let (watch, _) = watched(&trap(0.001), &[]);
    assert!(close(watch.expectation(1001), 0.999_f64.powi(1000)));
    assert!(close(watch.rate(1001), 0.999_f64.powf(1000.0 / 1001.0)));
    assert_eq!(watch.never(&[1]), 0.0);
    assert_eq!(watch.expectation(usize::MAX), 0.0);
    assert_eq!(watched(&trap(0.0), &[]).0.never(&[1]), 1.0);
    assert_eq!(watched(&trap(0.0), &[]).0.expectation(usize::MAX), 1.0);
    // Rows that sum to 1 only nearly must not add up to something else.
    let mut three = Truth { initial: vec![0.0, 0.5, 0.5], appropriate: vec![false, true, true], ..trap(0.0) };
    three.transition = vec![vec![1.0, 0.0, 0.0], vec![0.0, 0.9, 0.1], vec![0.0, 0.3, 0.7]];
    three.scores = vec![vec![vec![1.0]; 3]];
    assert!((watched(&three, &[]).0.expectation(usize::MAX) - 1.0).abs() < 1e-8);
    // Nothing to avoid, and nowhere to stay.
    assert_eq!(watch.never(&[]), 1.0);
    assert_eq!(watch.staying(&[], 1), 0.0);
    assert_eq!(watch.staying(&[], 0), 1.0);
}

#[test]
fn the_limit_is_the_chance_of_reaching_safety_first() {
    // From the first state: 0.3 to a safe end, 0.1 to the bad one, else again. So 3 in 4 never see the bad one.
    let truth = Truth {
        initial: vec![1.0, 0.0, 0.0],
        transition: vec![vec![0.6, 0.1, 0.3], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]],
        scores: vec![vec![vec![1.0]; 3]],
        temper: 1.0,
        appropriate: vec![true, false, true],
    };
    let (watch, _) = watched(&truth, &[]);
    assert!(close(watch.never(&[1]), 0.75));
}

#[test]
fn a_very_long_document_loses_nothing() {
    let truth = trap(0.001);
    let mut watch = truth.monitor().watch();
    let mut sum = 0.0;
    for _ in 0..20_000 {
        sum += watch.observe(&[risk(0.1)]).unwrap();
    }
    // The evidence of the whole is far below the smallest float; the state is still known.
    assert!(sum < -2_000.0 && sum.is_finite(), "{sum}");
    assert!(watch.present().unwrap() > 0.99);
    assert_eq!(watch.windows(), 20_000);
    for _ in 0..20 {
        watch.observe(&[risk(0.9)]).unwrap();
    }
    assert!(watch.present().unwrap() < 1e-9);
    // No way back from the trap: to the last bit impossible, not nearly.
    let predicted = watch.predicted().to_vec();
    assert!(close(predicted.iter().sum(), 1.0));
}

#[test]
fn many_sure_detectors_do_not_vanish() {
    // 200 detectors that are each nearly impossible in both states: a product of 1e-2000 in a linear space.
    let truth =
        Truth { scores: vec![vec![vec![1.0 - 1e-10, 1e-10], vec![1.0 - 2e-10, 2e-10]]; 200], ..trap(0.5) };
    let mut watch = truth.monitor().watch();
    watch.observe(&[risk(0.1); 200]).unwrap();
    let log_evidence = watch.observe(&[risk(0.9); 200]).unwrap();
    assert!((log_evidence - (200.0 * 2e-10_f64.ln() + 0.5_f64.ln())).abs() < 1e-3, "{log_evidence}");
    assert!(watch.posterior().unwrap()[1] > 0.999);
}

#[test]
fn a_clone_is_a_fork() {
    let (mut watch, _) = watched(&trap(0.1), &[vec![Some(0)]]);
    let kept = watch.clone();
    let (before, posterior) = (kept.expectation(2), kept.posterior().unwrap().to_vec());
    watch.observe(&[risk(1.0)]).unwrap();
    assert!(watch.expectation(2) < before);
    assert_eq!((kept.expectation(2), kept.posterior().unwrap()), (before, &posterior[..]));
}

#[test]
fn the_wrong_number_of_scores_changes_nothing() {
    let (mut watch, _) = watched(&trap(0.1), &[vec![Some(1)]]);
    let before = watch.posterior().unwrap().to_vec();
    let error = watch.observe(&[None, None]).unwrap_err();
    assert_eq!(error, MonitorError::Scores { document: 0, window: 1, found: 2, wanted: 1 });
    assert_eq!((watch.posterior().unwrap(), watch.windows()), (&before[..], 1));
}

#[test]
fn a_bad_file_says_what_is_wrong() {
    let good = trap(0.1).json();
    let refuse = |pointer: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        Monitor::from_json(bad.to_string().as_bytes()).unwrap_err().to_string()
    };
    assert_eq!(
        refuse("/format", json!("portcullis-judge")),
        "this is a \"portcullis-judge\" file; a \"portcullis-monitor\" file was expected"
    );
    assert_eq!(refuse("/version", json!(2)), "the file has version 2; this library reads version 1");
    assert_eq!(
        refuse("/initial", json!([0.5, 0.6])),
        "initial is a list that sums to 1.1, but must be a distribution, which sums to 1"
    );
    assert_eq!(
        refuse("/initial", json!([1.0])),
        "initial is 1 numbers long, but must be one number a state or bin"
    );
    assert_eq!(
        refuse("/transition/1", json!([-0.5, 1.5])),
        "transition[1] is -0.5, but must be a number from 0 to 1"
    );
    assert_eq!(
        refuse("/transition", json!([[1.0, 0.0]])),
        "transition is 1 rows, but must be one row a state"
    );
    assert_eq!(refuse("/temper", json!(0.0)), "temper is 0, but must be above 0 and at most 1");
    assert_eq!(
        refuse("/detectors/0/probabilities/0", json!([1.0, 0.0])),
        "detectors[0].probabilities is partly 0, but must be above 0 everywhere"
    );
    assert_eq!(
        refuse("/detectors/0/edges", json!([0.5, 0.5])),
        "detectors[0].edges is [0.5, 0.5], but must be less than 64 rising numbers"
    );
    assert!(refuse("/states/1/appropriate", json!(true)).starts_with("2 appropriate and 0 harmful states"));
    assert!(refuse("/states/1/name", json!("state 0")).contains("empty or used twice"));
    assert!(refuse("/detectors", json!([])).contains("name at least one"));
    assert!(refuse("/temper", json!("x")).starts_with("the file cannot be read: invalid type"));
    assert!(refuse("/initial/0", Value::Null).starts_with("the file cannot be read"));
    let many: Vec<Value> = (0..65).map(|n| json!({"name": n.to_string(), "appropriate": n == 0})).collect();
    assert_eq!(refuse("/states", json!(many)), "65 states are more than the 64 that a monitor may have");
    let mut extra = good.clone();
    extra["more"] = json!(1);
    let error = Monitor::from_json(extra.to_string().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("unknown field `more`"), "{error}");
    for bytes in [&b""[..], b"[]", b"{", b"\xff"] {
        assert!(matches!(Monitor::from_json(bytes), Err(MonitorError::Json { .. })));
    }
}

#[test]
fn a_judge_reads_back_and_a_bad_one_does_not() {
    let window = |state: usize, score| Window::labelled(state, [Risk::new(score).unwrap()]);
    let held_out: Vec<Vec<Window>> = (0..20)
        .map(|n| vec![window(0, 0.1), window(usize::from(n % 2 == 0), if n % 2 == 0 { 0.9 } else { 0.2 })])
        .collect();
    let monitor = trap(0.1).monitor();
    let judge = Judge::fit(monitor.clone(), 0, &held_out).unwrap();
    let again = Judge::from_json(judge.to_json().as_bytes()).unwrap();
    assert_eq!((again.horizon(), again.curve()), (0, judge.curve()));
    let mut file: Value = serde_json::from_str(&judge.to_json()).unwrap();
    file["steps"] = json!([[0.1, 0.9], [0.2, 0.3]]);
    let error = Judge::from_json(file.to_string().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("at least one step, rising in both numbers"), "{error}");
    file["steps"] = json!([[0.1, 1.5]]);
    let error = Judge::from_json(file.to_string().as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "steps[0] is 1.5, but must be a number from 0 to 1");
    file["steps"] = json!([]);
    assert!(Judge::from_json(file.to_string().as_bytes()).is_err());
    assert!(matches!(Judge::from_json(monitor.to_json().as_bytes()), Err(MonitorError::Format { .. })));
    // Only one outcome teaches nothing, and neither do documents shorter than the horizon.
    let error = Judge::fit(monitor.clone(), 0, &held_out[1..2]).unwrap_err();
    assert_eq!(error, MonitorError::OneOutcome { good: 2, bad: 0, horizon: 0 });
    let error = Judge::fit(monitor, usize::MAX, &held_out).unwrap_err();
    assert_eq!(error, MonitorError::OneOutcome { good: 0, bad: 0, horizon: usize::MAX });
}
