use browser_signals::password_rules::CharacterSet;
use browser_signals::{Control, ControlWords, Fact, NodeId};
use proptest::prelude::*;
use regex_automata::meta::Regex;
use std::collections::BTreeMap;

use super::automaton::{Automaton, Rules};
use super::pattern::parts;
use super::recipe::Recipe;
use super::rules::NewPasswordRules;

fn words(rules: &str, pattern: &str, lengths: (Option<u32>, Option<u32>)) -> ControlWords {
    ControlWords {
        password_rules: rules.into(),
        pattern: pattern.into(),
        min_length: lengths.0,
        max_length: lengths.1,
        ..ControlWords::default()
    }
}

fn control(words: ControlWords) -> Control {
    Control {
        node: NodeId(1),
        form: None,
        tag: "input".into(),
        input_type: "password".into(),
        autocomplete: "new-password".into(),
        name: String::new(),
        label: String::new(),
        visible: Fact::Known(true),
        hit: Fact::Known(true),
        editable: true,
        filled: false,
        words,
    }
}

fn rules(words: ControlWords) -> NewPasswordRules {
    NewPasswordRules::of([control(words)].iter())
}

/// Bytes that differ from call to call and are the same in every run.
fn entropy(seed: u64) -> impl FnMut(&mut [u8]) {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    move |out: &mut [u8]| {
        for byte in out {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = u8::try_from(state >> 56).unwrap();
        }
    }
}

fn made(recipe: &Recipe, seed: u64) -> String {
    String::from_utf8(recipe.make(&mut entropy(seed)).expose().to_vec()).unwrap()
}

/// Whether a password meets the rules, told without automata.
fn meets(rules: &NewPasswordRules, password: &str) -> bool {
    let bytes = password.as_bytes();
    let length = u32::try_from(bytes.len()).unwrap();
    let run = bytes.chunk_by(|a, b| a == b).map(<[u8]>::len).max().unwrap_or(0);
    length >= rules.least
        && rules.most.is_none_or(|most| length <= most)
        && rules.max_consecutive.is_none_or(|most| run <= usize::try_from(most).unwrap())
        && rules.required.iter().all(|set| bytes.iter().any(|byte| set.contains(*byte)))
        && rules.allowed.is_none_or(|allowed| bytes.iter().all(|byte| allowed.contains(*byte)))
}

#[test]
fn without_rules_a_password_is_three_groups_of_letters_and_digits() {
    let recipe = Recipe::of(&NewPasswordRules::default()).unwrap();
    assert_eq!((recipe.length(), recipe.bits(), recipe.is_weak()), (20, 107, false));
    let form = Regex::new("^[A-Za-z0-9]{6}-[A-Za-z0-9]{6}-[A-Za-z0-9]{6}$").unwrap();
    for seed in 0..50 {
        let password = made(&recipe, seed);
        assert!(form.is_match(&password), "{password}");
        for set in [CharacterSet::LOWER, CharacterSet::UPPER, CharacterSet::DIGIT] {
            assert!(password.bytes().any(|byte| set.contains(byte)), "{password}");
        }
    }
    assert_ne!(made(&recipe, 1), made(&recipe, 2));
}

#[test]
fn rules_of_real_pages_are_met() {
    let ahead = r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])(?=.*[@$!%*?&])[A-Za-z\d@$!%*?&]{8,16}";
    for (attribute, pattern, lengths, bits) in [
        (
            "minlength: 20; required: lower; required: upper; allowed: [-_.]; max-consecutive: 2",
            "",
            (None, None),
            100..,
        ),
        ("", ahead, (None, None), 90..),
        ("", r"[A-Z]{3}\d{5}", (None, None), 30..),
        ("", r"^(?!.*\s).{8,}$", (Some(8), Some(12)), 70..),
        ("", r"(([a-z])+.)+[A-Z]([a-z])+", (None, None), 64..),
        ("", "(a+)+b?[0-9]{12}", (None, Some(30)), 39..),
        ("required: [!#]; allowed: lower", "", (None, Some(16)), 60..),
        ("max-consecutive: 1", "", (Some(40), None), 100..),
        ("", r"(.)\1?.*", (None, None), 100..),
    ] {
        let rules = rules(words(attribute, pattern, lengths));
        let recipe = Recipe::of(&rules).unwrap_or_else(|| panic!("{attribute} {pattern}"));
        assert!(bits.contains(&recipe.bits()), "{attribute} {pattern}: {}", recipe.bits());
        for seed in 0..20 {
            let password = made(&recipe, seed);
            assert!(meets(&rules, &password), "{attribute} {pattern}: {password}");
            let stated = (!pattern.is_empty()).then(|| parts(pattern)).flatten();
            let fits = stated.into_iter().flatten().all(|part| {
                part.accepts(password.bytes().fold(part.start(), |state, byte| part.next(state, byte)))
            });
            assert!(fits, "{pattern}: {password}");
        }
    }
}

#[test]
fn rules_that_allow_only_weak_passwords_are_known_as_such() {
    for (attribute, pattern, lengths, bits) in [
        ("minlength: 4; maxlength: 4; allowed: digit", "", (None, None), 13),
        ("", r"\d{4}", (None, None), 13),
        ("", "[0-9]{4,6}", (None, None), 19),
        ("maxlength: 8; allowed: lower", "", (None, None), 37),
        ("", "hunter2", (None, None), 0),
        ("", "", (None, Some(10)), 61),
    ] {
        let recipe = Recipe::of(&rules(words(attribute, pattern, lengths))).unwrap();
        assert_eq!(recipe.bits(), bits, "{attribute} {pattern}");
        assert!(recipe.is_weak());
    }
    let enough = Recipe::of(&rules(words("", "", (None, Some(11))))).unwrap();
    assert!(!enough.is_weak(), "{}", enough.bits());
}

#[test]
fn rules_that_no_password_meets_give_none() {
    for (attribute, pattern, lengths) in [
        ("", "", (Some(9), Some(8))),
        ("minlength: 65", "", (None, None)),
        ("required: lower; required: upper; maxlength: 1", "", (None, None)),
        ("allowed: digit", "[a-z]+", (None, None)),
        ("max-consecutive: 1; allowed: [a]; minlength: 2", "", (None, None)),
    ] {
        assert!(Recipe::of(&rules(words(attribute, pattern, lengths))).is_none(), "{attribute} {pattern}");
    }
}

#[test]
fn the_rules_of_all_controls_hold_together() {
    let both = [
        control(words("allowed: lower, digit; required: digit", "", (Some(6), None))),
        control(words("allowed: lower; max-consecutive: 2", "[a-z0-9]+", (None, Some(12)))),
    ];
    let rules = NewPasswordRules::of(both.iter());
    assert_eq!((rules.least, rules.most, rules.max_consecutive), (6, Some(12), Some(2)));
    // The second control takes no digit, so nothing meets both.
    assert!(Recipe::of(&rules).is_none());
    let cut = words(&format!("maxlength: 4; {}", " ".repeat(500)), "", (None, None));
    assert_eq!(NewPasswordRules::of([control(cut)].iter()), NewPasswordRules::default());
}

/// Every text of this length over these characters.
fn all(alphabet: &str, length: usize) -> Vec<String> {
    (0..length).fold(vec![String::new()], |texts, _| {
        texts.iter().flat_map(|text| alphabet.chars().map(move |c| format!("{text}{c}"))).collect()
    })
}

#[test]
fn the_automaton_counts_exactly_the_passwords_that_meet_the_rules() {
    let pattern = parts("(?=.*b)[abc1]+").unwrap();
    for max_consecutive in [None, Some(1), Some(2)] {
        let rules = NewPasswordRules {
            max_consecutive,
            required: vec![CharacterSet::of("1"), CharacterSet::of("ac")],
            ..NewPasswordRules::default()
        };
        let automaton = Automaton::of(&Rules {
            alphabet: CharacterSet::of("abc1"),
            required: &rules.required,
            max_consecutive,
            parts: pattern.iter().collect(),
        })
        .unwrap();
        for length in 0..=6 {
            let met =
                all("abc1", length).into_iter().filter(|text| meets(&rules, text) && text.contains('b'));
            let count = f64::from(u32::try_from(met.count()).unwrap());
            assert!((automaton.count(length) - count).abs() < 0.5, "{max_consecutive:?} {length}");
        }
    }
}

#[test]
fn each_password_is_as_likely_as_any_other() {
    let words = words("required: [1]; allowed: [ab]; max-consecutive: 2", "", (Some(4), Some(4)));
    let rules = rules(words);
    let recipe = Recipe::of(&rules).unwrap();
    let mut entropy = entropy(11);
    let mut drawn: BTreeMap<String, u32> = BTreeMap::new();
    let possible: Vec<String> = all("ab1", 4)
        .into_iter()
        .filter(|text| meets(&rules, text) && ['a', 'b'].into_iter().any(|c| text.contains(c)))
        .collect();
    let rounds = 200 * u32::try_from(possible.len()).unwrap();
    for _ in 0..rounds {
        let password = String::from_utf8(recipe.make(&mut entropy).expose().to_vec()).unwrap();
        *drawn.entry(password).or_default() += 1;
    }
    let mut expected: Vec<&String> = possible.iter().collect();
    expected.sort();
    assert_eq!(drawn.keys().collect::<Vec<_>>(), expected);
    // 200 are expected of each; six standard deviations are 85.
    assert!(drawn.values().all(|times| (115..=285).contains(times)), "{drawn:?}");
    assert_eq!(recipe.bits(), u32::try_from(possible.len()).unwrap().ilog2());
}

fn sets() -> impl Strategy<Value = CharacterSet> {
    "[ -~]{1,20}".prop_map(|text| CharacterSet::of(&text))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A password meets the rules, if there is one.
    #[test]
    fn a_password_meets_its_rules(
        lengths in (0_u32..30, prop::option::of(0_u32..40)),
        max_consecutive in prop::option::of(1_u32..4),
        required in prop::collection::vec(sets(), 0..4),
        allowed in prop::option::of(sets()),
        seed in any::<u64>(),
    ) {
        let allowed = allowed.map(|set| required.iter().fold(set, |all, one| all.or(*one)));
        let rules = NewPasswordRules {
            least: lengths.0,
            most: lengths.1,
            max_consecutive,
            required,
            allowed,
            patterns: Vec::new(),
        };
        if let Some(recipe) = Recipe::of(&rules) {
            let password = made(&recipe, seed);
            prop_assert!(meets(&rules, &password), "{password}");
            prop_assert_eq!(password.len(), recipe.length());
        } else {
            prop_assert!(rules.most.is_some() || !rules.required.is_empty() || rules.allowed.is_some());
        }
    }

    /// No attribute breaks the reader of a pattern or the choice of a recipe.
    #[test]
    fn any_attribute_is_read(pattern in "(?s).{0,60}", near in r"[()\[\]?=!|a-d\\.*+{}0-9^$]{0,40}", rules in ".{0,60}") {
        for pattern in [pattern, near] {
            let rules = super::tests::rules(words(&rules, &pattern, (None, None)));
            if let Some(recipe) = Recipe::of(&rules) {
                prop_assert!(meets(&rules, &made(&recipe, 1)));
            }
        }
    }
}
