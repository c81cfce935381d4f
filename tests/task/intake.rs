//! Intake: the values that it finds in prompts, those that it asks about, and the text that it leaves.

use std::ops::Range;
use std::sync::LazyLock;

use crate::support::{BENIGN, SEEN, UNTRIED, WITH_VALUES, marked};
use browser_signals::{Container, Origin};
use classifier::{Detectors, SensitiveKind};
use portcullis::intake::{self, HANDLES, Intake};
use proptest::prelude::*;
use proptest::sample::select;
use sirl::{Field, Kind};

static DETECTORS: LazyLock<Detectors> = LazyLock::new(|| Detectors::standard().unwrap());

const PROMPT: &str = "Please buy 2 x \"Copper kettle, 1.7 l\" at https://copper-kettle.test/t/a1/product. Spend at most 140.00 USD in all. Ship it to: name: Ada Lane; street: 17 Quarry Road; postal code: 94704; city: Berkeley; region: CA; country: US; email: ada.lane@mail.test; phone: +1 510 555 0142. Pay with card number 4111 1111 1111 1111, exp 12/29, cvv 123.";

fn read(text: &str) -> Intake {
    intake::read(text, &DETECTORS)
}

type Places = Vec<(Range<usize>, Field)>;

fn found(intake: &Intake) -> Places {
    intake.found.iter().map(|found| (found.span.clone(), found.field)).collect()
}

fn unsure(intake: &Intake) -> Places {
    intake.unsure.iter().map(|unsure| (unsure.span.clone(), unsure.field)).collect()
}

fn named<'t>(text: &'t str, places: &Places) -> Vec<(Field, &'t str)> {
    places.iter().map(|(span, field)| (*field, &text[span.clone()])).collect()
}

#[test]
fn every_prompt_of_the_table_gives_exactly_what_is_marked() {
    assert!(WITH_VALUES.len() >= 40 && BENIGN.len() >= 40);
    let mut wrong = String::new();
    for source in WITH_VALUES.iter().chain(BENIGN) {
        let (want, intake) = (marked(source), read(&marked(source).text));
        let (found, unsure) = (found(&intake), unsure(&intake));
        if (&found, &unsure) != (&want.found, &want.unsure) {
            let (found, unsure) = (named(&want.text, &found), named(&want.text, &unsure));
            wrong += &format!("\n{source}\n  found {found:?}\n  unsure {unsure:?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    for text in BENIGN {
        assert_eq!(read(text).prompt, *text);
    }
    // Every field is in the table. A company is public, and the guard makes new passwords, so nothing looks for them.
    let fields: Vec<Field> =
        WITH_VALUES.iter().flat_map(|source| marked(source).found).map(|(_, f)| f).collect();
    assert!(
        Field::ALL
            .iter()
            .all(|field| fields.contains(field) || matches!(field, Field::Company | Field::NewPassword))
    );
}

/// The precision and the recall, in percent.
fn measured(prompts: &[&str]) -> (usize, usize) {
    let (mut right, mut told, mut marks) = (0, 0, 0);
    for source in prompts {
        let (want, intake) = (marked(source), read(&marked(source).text));
        let got = found(&intake);
        right += got.iter().filter(|place| want.found.contains(place)).count();
        told += got.len();
        marks += want.found.len();
        if got != want.found || unsure(&intake) != want.unsure {
            let unsure = unsure(&intake);
            println!("{source}\n  {:?}\n  ? {:?}", named(&want.text, &got), named(&want.text, &unsure));
        }
    }
    println!("{right} right of {told} found, of {marks} marked");
    (right * 100 / told, right * 100 / marks)
}

/// The floors are a little below the measured values.
#[test]
fn unseen_prompts_are_read_too() {
    for (prompts, precise, complete) in [(SEEN, 95, 80), (UNTRIED, 95, 85)] {
        let (precision, recall) = measured(prompts);
        assert!(precision >= precise && recall >= complete, "precision {precision}, recall {recall}");
    }
}

#[test]
fn every_value_leaves_the_prompt() {
    let intake = read(PROMPT);
    assert_eq!(
        named(PROMPT, &found(&intake)),
        [
            (Field::Name, "Ada Lane"),
            (Field::Street, "17 Quarry Road"),
            (Field::PostalCode, "94704"),
            (Field::City, "Berkeley"),
            (Field::Region, "CA"),
            (Field::Country, "US"),
            (Field::Email, "ada.lane@mail.test"),
            (Field::Phone, "+1 510 555 0142"),
            (Field::CardNumber, "4111 1111 1111 1111"),
            (Field::CardExpiry, "12/29"),
            (Field::CardCode, "123"),
        ]
    );
    assert!(intake.prompt.contains("card number [card:task], exp [card:task], cvv [card:task]."));
    assert!(intake.prompt.contains("https://copper-kettle.test/t/a1/product."));
    assert!(intake.prompt.contains("\"Copper kettle, 1.7 l\""));
}

#[test]
fn the_task_follows_the_users_words() {
    let task = read(PROMPT).seal(Container::T2);
    assert_eq!(task.origins(), [Origin::parse("https://copper-kettle.test").unwrap()]);
    assert_eq!(task.budget().unwrap().minor, 14_000);
    let kinds: Vec<_> = task.kinds().iter().collect();
    assert_eq!(kinds, [Kind::Address, Kind::Payment, Kind::Purchase, Kind::Contact]);
    let plain = read(BENIGN[0]);
    assert_eq!((plain.kinds, plain.budget), (vec![], None));
}

#[test]
fn a_labelled_secret_leaves_completely_in_any_context() {
    for (text, secret) in [
        ("Log in with password: hunter2 at https://bank.example now", "hunter2"),
        ("password: joe@home.com#77 at https://bank.example", "joe@home.com#77"),
        ("Use password: Winter,2025! on https://bank.example", "Winter,2025!"),
        ("Use password: 4111111111111111 on https://bank.example", "4111111111111111"),
    ] {
        let intake = read(text);
        assert!(intake.prompt.contains("password: [login:task] "), "{}", intake.prompt);
        assert_eq!(named(text, &found(&intake)), [(Field::Password, secret)]);
        assert!(intake.prompt.contains("https://bank.example"));
    }
}

#[test]
fn a_login_belongs_to_the_address_before_it() {
    let text =
        "At https://a.example use password: x1y2, then at https://b.example/in password: z3w4. Code: 123456";
    let bound: Vec<String> =
        read(text).found.iter().map(|found| found.binding.as_ref().unwrap().to_string()).collect();
    assert_eq!(bound, ["https://a.example", "https://b.example", "https://b.example"]);
    let first = read("With password: x1y2 log in to https://a.example, not https://b.example. ada@mail.test");
    assert_eq!(first.found[0].binding, Some(Origin::parse("https://a.example").unwrap()));
    assert_eq!(first.found[1].binding, None, "an e-mail address is not bound");
    assert_eq!(read("password: x1y2").found[0].binding, None);
}

#[test]
fn two_people_have_two_records() {
    let text = "First: name: Ada Lane; street: 1 Oak Lane; city: Reno. Second: name: Bob Stone; street: 2 Elm Lane; city: Reno.";
    let handles: Vec<&str> = read(text).found.iter().map(|found| found.handle).collect();
    let (one, two) = ("address:task", "address:task-b");
    assert_eq!(handles, [one, one, one, two, two, one], "the same city is the same value");
}

#[test]
fn records_and_personas_that_the_user_names_stay_and_are_reported() {
    let text = "As ana, buy it with card:personal, ship to [address:work], receipt to contact:me. Use card:personal.";
    let intake = read(text);
    assert_eq!(intake.handles, ["card:personal", "address:work", "contact:me"]);
    assert_eq!((intake.persona.as_deref(), intake.prompt.as_str()), (Some("ana"), text));
    for (text, persona) in [
        ("persona: ana. Buy it.", Some("ana")),
        ("Buy it as persona work_2, please", Some("work_2")),
        ("Buy it at https://shop.example as ana.", Some("ana")),
        ("Buy it as ana", Some("ana")),
        ("Buy it as soon as possible.", None),
        ("Wrap it as a gift, as usual.", None),
        ("Check out as guest.", None),
        ("It is as blue as cobalt.", None),
    ] {
        assert_eq!(read(text).persona.as_deref(), persona, "{text}");
    }
    for text in
        ["card: personal", "postcard:x", "card:4111111111111111", "https://a.test/card:x", "card:x1234"]
    {
        assert_eq!(read(text).handles, [] as [&str; 0], "{text}");
    }
}

#[test]
fn a_confirmed_value_leaves_everywhere() {
    let text = "Order one for Ada Lane at https://shop.example/Ada and one for Bob Stone; tell Ada Lane.";
    let mut intake = read(text);
    assert_eq!(named(text, &unsure(&intake)), [(Field::Name, "Ada Lane"), (Field::Name, "Bob Stone")]);
    assert_eq!(intake.prompt, text);
    assert!(intake.conceal(text, 0));
    assert_eq!(
        intake.prompt,
        "Order one for [address:task] at https://shop.example/Ada and one for Bob Stone; tell [address:task]."
    );
    assert_eq!(named(text, &unsure(&intake)), [(Field::Name, "Bob Stone")]);
    assert!(intake.conceal(text, 0));
    assert!(intake.prompt.contains("for [address:task-b]; tell"));
    assert!(!intake.conceal(text, 0), "there is none left");
}

#[test]
fn a_sensitive_value_without_a_field_is_reported_and_left() {
    let text = "Pay from DE89 3704 0044 0532 0130 00 at https://bank.example";
    let intake = read(text);
    let kinds: Vec<SensitiveKind> = intake.unsupported.iter().map(|finding| finding.kind).collect();
    assert_eq!((kinds, intake.found.len(), intake.prompt.as_str()), (vec![SensitiveKind::Iban], 0, text));
}

/// Parts of prompts, with and without values.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        "my name is [A-Z][a-z]{2,8} [A-Z][a-z]{2,8}[.,]",
        "for [A-Z][a-z]{2,8} [A-Z][a-z]{2,8}",
        "ship to [1-9][0-9]{0,2} [A-Z][a-z]{3,7} (Street|Road|Lane), [1-9][0-9]{4} [A-Z][a-z]{3,8}\\.",
        "(password|Passwort|mot de passe)( is|:|) [a-z]{3,8}[0-9]{2}[!#]?",
        "the code is [0-9]{6}\\.",
        "card 4111 1111 1111 1111 exp (0[1-9]|1[0-2])/[2-9][0-9] cvv [1-9][0-9]{2},",
        "(ssn|passport number:) [0-9]{3}-[0-9]{2}-[0-9]{4};",
        "e-mail: [a-z]{3,6}@[a-z]{3,6}\\.test",
        select(
            &[
                "at https://shop.example/p?x=1",
                "\"a mug, 7 cm\"",
                "card:personal",
                "for USD 7",
                "and",
                "\n",
                ";",
                "as ana."
            ][..]
        )
        .prop_map(String::from),
        "\\PC{0,12}",
    ]
}

/// The words of a prompt without addresses and handles.
fn words(text: &str) -> Vec<String> {
    let shown = text.split(' ').filter(|word| !word.contains("http")).collect::<Vec<_>>().join(" ");
    let bare = HANDLES.iter().fold(shown, |text, handle| text.replace(&format!("[{handle}]"), " | "));
    bare.split(|c: char| !c.is_alphanumeric() && c != '|')
        .filter(|w| !w.is_empty())
        .map(String::from)
        .collect()
}

fn is_sound(text: &str, intake: &Intake) -> Result<(), TestCaseError> {
    let mut last = 0;
    for value in &intake.found {
        prop_assert!(last <= value.span.start && value.span.start < value.span.end);
        last = value.span.end;
        let inside = text.get(value.span.clone()).unwrap();
        prop_assert!(HANDLES.contains(&value.handle));
        prop_assert!(!value.handle.contains(|c: char| c.is_ascii_digit()));
        let (value, left) = (words(inside), words(&intake.prompt));
        let held = !value.is_empty() && left.windows(value.len()).any(|window| window == value);
        prop_assert!(!held, "{value:?} is left in {:?}", intake.prompt);
    }
    for unsure in &intake.unsure {
        prop_assert!(text.get(unsure.span.clone()).is_some_and(|inside| !inside.is_empty()));
        let apart = |span: &Range<usize>| span.end <= unsure.span.start || unsure.span.end <= span.start;
        prop_assert!(intake.found.iter().all(|found| apart(&found.span)));
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_prompt_is_read_without_a_panic(text in "(?s).{0,200}") {
        read(&text);
    }

    /// Spans do not overlap, and no value is left, before and after the user confirms each possible value.
    #[test]
    fn no_found_value_is_left(parts in prop::collection::vec(fragment(), 0..7)) {
        let text = parts.join(" ");
        let mut intake = read(&text);
        is_sound(&text, &intake)?;
        while intake.conceal(&text, 0) {
            is_sound(&text, &intake)?;
        }
    }

    #[test]
    fn a_labelled_value_never_stays(value in "[A-Z][a-z]{4,12} [0-9]{3,5}[a-z]{2}") {
        let text = format!("Buy it. Ship to street: {value}; city: Xyzzyville. It is for {value} in Xyzzyville.");
        let prompt = read(&text).prompt;
        prop_assert!(!prompt.contains(&value));
        prop_assert!(!prompt.contains("Xyzzyville"));
    }
}

#[test]
fn a_state_that_looks_like_a_word_is_found_after_its_label() {
    for state in ["OR", "IN", "ME", "OK", "HI", "PA", "ID", "AL"] {
        let text = format!(
            "Ship it from https://shop.example to: street: 17 Quarry Road; region: {state}; country: US."
        );
        let intake = read(&text);
        let region = intake.found.iter().find(|found| found.field == Field::Region);
        assert_eq!(region.map(|found| &text[found.span.clone()]), Some(state));
    }
}
