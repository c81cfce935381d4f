//! Guessing by typed text: each text with a value of the vault ends sensitive access.

use crate::played::{BLOCK, Played, STREET};
use browser_signals::{Container, ElementRef, Fact, Sink, Verb};
use portcullis::Action;
use portcullis::DEFAULT_POLICY;
use sirl::Field;

const BLOCKED: &str = "DENY.verb {\"reason\":\"egress_blocked\"}";
const TAINTED: &str = "DENY.verb {\"reason\":\"tainted_session\"}";

const VALUES: [(&str, Field, &str); 6] = [
    ("address:task", Field::Street, STREET),
    ("address:task", Field::City, "Paris"),
    ("address:task", Field::PostalCode, "94704"),
    ("contact:task", Field::Email, "ada.lane@mail.example"),
    ("card:task", Field::CardNumber, "4929123456789012"),
    ("identity:task", Field::GovernmentId, "X1234567Z"),
];

fn with_prompt(prompt: &str) -> Played {
    let mut played = Played::with(DEFAULT_POLICY, Container::T2, &VALUES, prompt);
    played.looks[0].sink = Fact::Known(Sink::FreeText);
    played
}

fn chat() -> Played {
    with_prompt("buy a kettle")
}

fn type_text(played: &mut Played, text: &str) -> String {
    played.act(Action::Verb(Verb::typed(ElementRef("e1".into()), text)))
}

fn open(played: &mut Played, url: &str) -> String {
    played.act(Action::Verb(Verb::Open { url: url.into() }))
}

#[test]
fn a_value_of_any_risk_ends_sensitive_access_at_once() {
    // E-mail addresses and card numbers are refused by their form, whether or not the vault has them.
    for (_, field, value) in
        VALUES.into_iter().filter(|(_, _, value)| !value.contains('@') && value.len() != 16)
    {
        let mut played = chat();
        assert_eq!(type_text(&mut played, "two kettles"), "ok");
        assert_eq!(type_text(&mut played, &format!("is {value} right?")), BLOCKED, "{field:?}");
        for text in [value, "two kettles"] {
            assert_eq!(type_text(&mut played, text), TAINTED, "{field:?}");
        }
        assert_eq!(open(&mut played, "https://shop.example/kettles"), TAINTED);
        assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"tainted_session\"}");
    }
}

#[test]
fn confirmed_guesses_are_counted_by_record_and_field() {
    let mut played = chat();
    assert_eq!(type_text(&mut played, "is it 94705 in Bonn"), "ok");
    assert!(played.core.counts().guessed.is_empty());
    assert_eq!(type_text(&mut played, "is it 94704 in Paris"), BLOCKED);
    assert_eq!(type_text(&mut played, "is it 94704 in Paris"), TAINTED);
    let entry = |field| ("address:task".to_owned(), field);
    let expected = [(entry(Field::City), 1), (entry(Field::PostalCode), 1)];
    assert_eq!(played.core.counts().guessed, expected.into());
    assert!(played.records.iter().all(|record| !format!("{record:?}").contains("94704")));
}

#[test]
fn every_prompt_shows_the_guesses_of_earlier_sessions() {
    for (times, words) in [
        (0, None),
        (1, Some("in an earlier task an agent wrote something that is in your vault")),
        (7, Some("in earlier tasks agents wrote 7 times something that is in your vault")),
    ] {
        let mut played = Played::with(DEFAULT_POLICY, Container::T2, &VALUES, "buy a kettle");
        played.core = played.core.with_earlier_guesses(times);
        played.request(BLOCK);
        assert_eq!(played.prompts.len(), 1);
        assert_eq!(played.prompts[0].contains("earlier task"), times > 0);
        assert!(words.is_none_or(|words| played.prompts[0].contains(words)), "{}", played.prompts[0]);
    }
}

#[test]
fn the_users_own_words_are_no_guess() {
    let mut played = with_prompt("buy a kettle on https://shop.example and have it sent to Paris");
    for text in ["Paris", "sent to Paris", "kettles, paris", "kettle | PARIS"] {
        assert_eq!(type_text(&mut played, text), "ok", "{text}");
    }
    assert_eq!(open(&mut played, "https://shop.example/search?q=paris"), "ok");
    assert_eq!(open(&mut played, "https://shop.example/search?q=sent+to+paris"), "ok");
    // Other values are guesses, and so are the user's words in an encoding.
    assert_eq!(type_text(&mut played, "Paris 94704"), BLOCKED);
    let mut played = with_prompt("buy a kettle on https://shop.example and have it sent to Paris");
    assert_eq!(type_text(&mut played, "UGFyaXM="), BLOCKED);
}

#[test]
fn a_value_within_a_longer_word_or_number_is_no_guess() {
    let mut played = chat();
    for text in ["a comparison", "article 8947041", "mail.example", "canary road 17"] {
        assert_eq!(type_text(&mut played, text), "ok", "{text}");
    }
    assert_eq!(open(&mut played, "https://shop.example/p/1894704"), "ok");
    for text in ["x94704x", "to 94704", "q=94704"] {
        assert_eq!(type_text(&mut chat(), text), BLOCKED, "{text}");
    }
}

#[test]
fn a_value_typed_in_pieces_is_blocked() {
    for pieces in [
        ["17 Canary", "Quarry", "Road"].as_slice(),
        &["17 Can", "ary Qua", "rry Road"],
        &["X12", "345", "67Z"],
        &["ada.lane", "@mail.ex", "ample"],
        // The pieces cut an encoding, with the user's own words in between.
        &["MTcgQ2FuY", "XJ5IFF1YX", "JyeSBSb2Fk"],
        &["17 Canary Qu", "buy a kettle", "arry Road"],
        // The digits of a card with other text in between.
        &["begin 4929", "and", "then 1234"],
    ] {
        let mut played = chat();
        let answers: Vec<String> = pieces.iter().map(|piece| type_text(&mut played, piece)).collect();
        // Most of a street counts as the street, so the block may come before the last piece.
        let refused = answers.iter().position(|answer| answer == BLOCKED);
        assert!(refused.is_some_and(|at| at > 0), "{pieces:?}: {answers:?}");
        assert_eq!(type_text(&mut played, "two kettles"), TAINTED);
    }
}

#[test]
fn a_value_typed_one_character_a_field_is_blocked_at_the_last_one_at_the_latest() {
    // One of the characters is a word of the user's.
    let mut played = with_prompt("buy a kettle");
    let answers: Vec<String> = STREET.chars().map(|c| type_text(&mut played, &c.to_string())).collect();
    let refused = answers.iter().position(|answer| answer == BLOCKED).unwrap();
    assert!(refused > 8 && refused < STREET.len(), "{refused}");
}

#[test]
fn a_value_in_several_opened_addresses_is_reassembled() {
    let mut played = chat();
    assert_eq!(open(&mut played, "https://shop.example/s?q=17+Canary"), "ok");
    assert_eq!(open(&mut played, "https://shop.example/s?q=Quarry+Road"), BLOCKED);
    let mut played = chat();
    for (part, answer) in [("17", "ok"), ("Canary", "ok"), ("Quarry", BLOCKED)] {
        assert_eq!(open(&mut played, &format!("https://shop.example/kettles/{part}")), answer, "{part}");
    }
}

#[test]
fn an_invented_card_in_pieces_is_treated_like_the_vaults() {
    // No first piece has as many digits as a part of the vault's card.
    for card in ["4929123456789012", "4929126543218017", "5555555555554444"] {
        let mut played = chat();
        assert_eq!(type_text(&mut played, &card[..6]), "ok");
        let luhn = has_check_digit(card);
        let answer = type_text(&mut played, &card[6..]);
        assert_eq!(answer == BLOCKED, luhn || card == VALUES[4].2, "{card}");
    }
}

/// Whether the digits have a valid check digit.
fn has_check_digit(card: &str) -> bool {
    let sum: u32 = card
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0') * (1 + place as u32 % 2);
            digit / 10 + digit % 10
        })
        .sum();
    sum.is_multiple_of(10)
}

#[test]
fn text_that_waits_for_the_users_answer_does_not_count_as_sent() {
    // This policy asks about every text outside the user's words, so each is decided twice.
    let policy =
        DEFAULT_POLICY.replace("    flow stays\n}\nverb submit", "    flow own else ask\n}\nverb submit");
    assert_ne!(policy, DEFAULT_POLICY);
    let policy = policy.replace("prove never grant type where flow is crosses or unknown\n", "");
    let mut played = Played::with(&policy, Container::T2, &VALUES, "buy a kettle");
    played.looks[0].sink = Fact::Known(Sink::FreeText);
    assert_eq!(type_text(&mut played, "X12"), "ok");
    assert_eq!(played.prompts.len(), 1);
    assert_eq!(type_text(&mut played, "34567Z"), BLOCKED);
}
