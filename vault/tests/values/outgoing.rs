//! Values in pieces: over consecutive outgoing texts, and over the lines of a page.

use crate::common::{entropy, filled, guard};
use proptest::prelude::*;
use sirl::Field;
use vault::{Binding, Outgoing, ReleaseError, Secret, SentForm, Vault};

const NUMBER: &str = "4929123456789012";
const STREET: &str = "Rua das Flores 77";
const EMAIL: &str = "maria.quintela@mail.example";

fn with_number() -> Vault {
    let mut vault = filled(guard(1).1);
    let number = Secret::new(NUMBER);
    vault.insert("card:personal", Field::CardNumber, number, &Binding::Anywhere, &mut entropy(2)).unwrap();
    vault
}

/// The values that are found in each text when the texts are sent one after another.
fn sent(vault: &Vault, texts: &[&str]) -> Vec<Vec<(Field, SentForm)>> {
    let mut before = Outgoing::default();
    let each = texts.iter().map(|text| {
        let sent = vault.scan_outgoing(&mut before, text).unwrap();
        for one in &sent {
            assert!(text.get(one.found.span.clone()).is_some(), "{:?} of {text:?}", one.found.span);
        }
        sent.into_iter().map(|one| (one.found.field, one.form)).collect()
    });
    each.collect()
}

/// Cuts a text into pieces.
fn cut(text: &str, lengths: &[usize]) -> Vec<String> {
    let mut rest: Vec<char> = text.chars().collect();
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let piece: String = rest.drain(..(*length).min(rest.len())).collect();
        pieces.push(piece);
    }
    pieces
}

fn base64(bytes: &[u8]) -> String {
    const SYMBOLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let group = |six: &[u8]| {
        let six = format!("{:0<6}", std::str::from_utf8(six).unwrap());
        char::from(SYMBOLS[usize::from_str_radix(&six, 2).unwrap()])
    };
    bits.as_bytes().chunks(6).map(group).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_value_cut_anywhere_is_found_with_its_last_piece(
        lengths in prop::collection::vec(1..6usize, 1..5), which in 0..3usize, form in 0..4usize,
        before in prop::collection::vec("[a-z ]{0,30}", 0..4),
    ) {
        let vault = with_number();
        let (field, value) = [(Field::CardNumber, NUMBER), (Field::Street, STREET), (Field::Email, EMAIL)][which];
        let written = match form {
            0 => value.to_owned(),
            1 => value.chars().flat_map(|c| [c, ' ']).collect(),
            2 => value.bytes().map(|byte| format!("%{byte:02x}")).collect(),
            _ => base64(value.as_bytes()),
        };
        let pieces = cut(&written, &lengths);
        let texts: Vec<&str> = before.iter().chain(&pieces).map(String::as_str).collect();
        let found = sent(&vault, &texts);
        let of_field: Vec<_> = found.iter().flatten().filter(|(found, _)| *found == field).collect();
        prop_assert!(!of_field.is_empty(), "{pieces:?}");
        if pieces.len() > 1 {
            let whole = of_field.iter().any(|(_, form)| matches!(form, SentForm::Pieces | SentForm::Whole));
            prop_assert!(whole, "{pieces:?}: {found:?}");
        }
    }

    #[test]
    fn other_texts_are_not_values(texts in prop::collection::vec("[b-d ,.]{0,200}", 0..8)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        prop_assert!(sent(&with_number(), &texts).iter().all(Vec::is_empty));
    }

    #[test]
    fn any_texts_are_accepted(texts in prop::collection::vec("\\PC{0,80}", 0..6)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        sent(&with_number(), &texts);
    }
}

#[test]
fn eight_digits_of_a_card_are_enough_with_any_words_between() {
    let vault = with_number();
    let found = sent(&vault, &["first 4929", "then comes 12 and", "after that: 34!", "nothing"]);
    let part = vec![(Field::CardNumber, SentForm::Part)];
    assert_eq!(found, [vec![], vec![], part.clone(), vec![]]);
    assert_eq!(sent(&vault, &["the middle is 9123 4567, you know"]), [part]);
    // This also holds with more text between than is remembered.
    let filler = "b ".repeat(2000);
    assert_eq!(sent(&vault, &["4929", &filler, "1234"])[2], [(Field::CardNumber, SentForm::Part)]);
    // Seven digits are not enough, and neither are eight in another order.
    assert_eq!(sent(&vault, &["4929123"]), [vec![]]);
    assert_eq!(sent(&vault, &["1234", "4929"]), [vec![], vec![]]);
}

#[test]
fn most_of_a_street_is_enough_and_part_of_a_city_or_a_password_is_not() {
    let mut vault = with_number();
    let place = Binding::parse("https://shop.example").unwrap();
    vault.insert("login:shop", Field::Password, Secret::new("sunshine99"), &place, &mut entropy(3)).unwrap();
    let part = vec![(Field::Street, SentForm::Part)];
    assert_eq!(sent(&vault, &["near Rua das Flores"]).concat(), part);
    assert_eq!(sent(&vault, &["Rua das", "Flor", "es"]), [vec![], vec![], part]);
    assert_eq!(sent(&vault, &["Rua das"]), [vec![]]);
    for text in ["sunshine", "Coimb", "mail.example", "Maria"] {
        assert_eq!(sent(&vault, &[text]), [vec![]], "{text}");
    }
    assert_eq!(sent(&vault, &["sunshi", "ne99"])[1], [(Field::Password, SentForm::Pieces)]);
}

#[test]
fn short_values_are_not_put_together() {
    let vault = filled(guard(1).1);
    // The expiry is 12/31.
    assert_eq!(sent(&vault, &["12", "31"]), [vec![], vec![]]);
    assert_eq!(sent(&vault, &["12/31"]), [vec![(Field::CardExpiry, SentForm::Whole)]]);
}

#[test]
fn memory_is_bounded_and_old_text_is_forgotten() {
    let vault = with_number();
    let filler = "b ".repeat(2000);
    assert_eq!(sent(&vault, &["Rua das", &filler, "Flores 77"]), [vec![], vec![], vec![]]);
    // Of a text longer than the memory, the end counts.
    let long = format!("{filler}Rua das ");
    assert_eq!(sent(&vault, &[&long, "Flores 77"])[1], [(Field::Street, SentForm::Pieces)]);
    assert!(std::mem::size_of::<Outgoing>() < 256);
}

#[test]
fn only_released_values_are_compared_with_the_requests_of_a_page() {
    let vault = with_number();
    let mut before = Outgoing::default();
    let released = [("address:home", Field::Street)];
    let mut push = |text: &str| vault.scan_outgoing_released(&mut before, text, &released).unwrap().len();
    assert_eq!([push(NUMBER), push("rua das"), push("flores 77")], [0, 0, 1]);
}

#[test]
fn a_locked_vault_reports_an_error() {
    let mut vault = with_number();
    vault.lock();
    assert_eq!(vault.scan_outgoing(&mut Outgoing::default(), "text"), Err(ReleaseError::Locked));
    assert_eq!(vault.scan_segments_released::<&str>(&["text"], &[]), Err(ReleaseError::Locked));
}

#[test]
fn letters_after_a_value_are_not_taken_for_more_of_it() {
    let mut vault = filled(guard(1).1);
    vault
        .insert("address:home", Field::City, Secret::new(b"Neguzuge"), &Binding::Anywhere, &mut entropy(2))
        .unwrap();
    let released = [("address:home", Field::City)];
    // Backwards the city is `eguzugen`.
    let segments = ["Deliver to Neguzuge", "Notice", "eguzugeN", "guzuge n egu"];
    let found = vault.scan_segments_released(&segments, &released).unwrap();
    let found: Vec<(usize, &str)> = found.iter().map(|(n, m)| (*n, &segments[*n][m.span.clone()])).collect();
    assert_eq!(found, [(0, "Neguzuge"), (2, "eguzugeN")]);
    let text = "Neguzuge notice";
    let found = vault.scan_released(text, &released).unwrap();
    assert_eq!(found.iter().map(|m| &text[m.span.clone()]).collect::<Vec<_>>(), ["Neguzuge"]);
}

#[test]
fn a_released_value_is_found_over_the_lines_of_a_page() {
    let vault = with_number();
    let released = [("address:home", Field::Street), ("card:personal", Field::CardNumber)];
    let places = |segments: &[&str]| -> Vec<(usize, String)> {
        let found = vault.scan_segments_released(segments, &released).unwrap();
        found.into_iter().map(|(number, m)| (number, segments[number][m.span].to_owned())).collect()
    };
    let pieces =
        |of: &[(usize, &str)]| of.iter().map(|(n, text)| (*n, (*text).to_owned())).collect::<Vec<_>>();
    let found = places(&["Ship to", "Rua das", "FLORES", "77, please"]);
    assert_eq!(found, pieces(&[(1, "Rua das"), (2, "FLORES"), (3, "77")]));
    // Digits with words between; those words stay.
    let found = places(&["no. 4929", "Copy", "1234 and more"]);
    assert_eq!(found, pieces(&[(0, "4929"), (2, "1234")]));
    assert_eq!(places(&["4929 and then 1234"]), pieces(&[(0, "4929"), (0, "1234")]));
    // Every letter in its own element.
    let letters: Vec<String> = STREET.chars().filter(|c| *c != ' ').map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    assert_eq!(places(&letters).len(), letters.len());
    // Values that were not released, and empty texts.
    assert_eq!(places(&["maria.quintela", "@mail.example", "Coim", "bra"]), []);
    assert_eq!(places(&[]), []);
    assert_eq!(places(&["", "", ""]), []);
}
