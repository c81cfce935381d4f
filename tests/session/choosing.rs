//! Two records that fit alike: the user chooses once, and the choice is kept.

use browser_signals::Container;
use portcullis::DEFAULT_POLICY;
use portcullis::consent::Answer;
use portcullis::guard::SystemEntropy;
use portcullis::guard::record_choices::{RecordChoice, RecordChoices};
use portcullis::vault::StateName;
use sirl::Field;

use crate::played::{BLOCK, Played, SHOP, origin};

const HOME: &str = "14 Quarry Lane";
const WORK: &str = "9 Harbour Road";

fn two_addresses() -> Played {
    let values = [
        ("address:home", Field::Street, HOME),
        ("address:home", Field::City, "Berkeley"),
        ("address:work", Field::Street, WORK),
        ("address:work", Field::City, "Oakland"),
    ];
    Played::with(DEFAULT_POLICY, Container::T2, &values, "buy a kettle")
}

const GRANTED: &str = "GRANT.address";

fn keep(played: &Played, choice: &str, among: [&str; 2]) {
    let among = among.map(str::to_owned);
    let kept = RecordChoices::default().with(RecordChoice::new("address", &origin(SHOP), &among, choice));
    played.vault.lock().unwrap().set_state(StateName::Choices, &kept.to_json(), &mut SystemEntropy).unwrap();
}

#[test]
fn the_user_is_asked_once_and_the_question_names_the_chosen_record() {
    let mut played = two_addresses();
    played.chooses = Some("address:work");
    assert!(played.request(BLOCK).starts_with(GRANTED));
    assert_eq!(played.choices.len(), 1);
    assert_eq!((played.choices[0].kind, &played.choices[0].origin), ("address", &origin(SHOP)));
    assert_eq!(played.choices[0].handles, ["address:home", "address:work"]);
    let question = played.choices[0].question(None);
    assert_eq!(question.shown().unwrap(), ["1 \u{201c}home\u{201d}", "2 \u{201c}work\u{201d}"]);
    assert!(question.question().starts_with("You keep several addresses."), "{}", question.question());
    assert!(played.prompts[0].contains("address:work"), "{}", played.prompts[0]);
    assert!(!played.prompts[0].contains("address:home"), "{}", played.prompts[0]);
    assert!(played.request(BLOCK).starts_with(GRANTED));
    assert_eq!(played.choices.len(), 1);
    let released = played.releases.all();
    assert!(released.iter().all(|value| value.handle == "address:work"), "the chosen record alone");
}

#[test]
fn a_kept_choice_is_not_asked_about_until_a_record_comes() {
    let mut played = two_addresses();
    keep(&played, "address:work", ["address:home", "address:work"]);
    assert!(played.request(BLOCK).starts_with(GRANTED));
    assert_eq!(played.choices.len(), 0);
    assert!(played.prompts[0].contains("address:work"), "{}", played.prompts[0]);

    let mut played = two_addresses();
    keep(&played, "address:work", ["address:old", "address:work"]);
    played.chooses = Some("address:home");
    assert!(played.request(BLOCK).starts_with(GRANTED));
    assert_eq!(played.choices.len(), 1);
    assert!(played.prompts[0].contains("address:home"), "{}", played.prompts[0]);
}

#[test]
fn without_a_choice_nothing_is_filled_and_nobody_is_asked_again() {
    let mut played = two_addresses();
    for _ in 0..2 {
        assert_eq!(played.request(BLOCK), "DENY.address {\"reason\":\"consent_denied\"}");
    }
    assert_eq!((played.fills, played.prompts.len(), played.choices.len()), (0, 0, 1));
}

#[test]
fn the_agent_is_told_the_same_with_one_record_and_with_several() {
    for answer in [Answer::Once, Answer::No] {
        let mut one = Played::new(Container::T2);
        let mut two = two_addresses();
        two.chooses = Some("address:home");
        (one.answer, two.answer) = (answer, answer);
        assert_eq!(one.request(BLOCK), two.request(BLOCK));
    }
}

/// With one record the question about the release reaches nobody, and with several the choice does.
#[test]
fn nobody_to_ask_is_the_same_with_one_record_and_with_several() {
    let (mut one, mut two) = (Played::new(Container::T2), two_addresses());
    (one.nobody, two.nobody) = (true, true);
    for _ in 0..2 {
        let refused = one.request(BLOCK);
        assert!(refused.contains("nobody_to_ask"), "{refused}");
        assert_eq!(refused, two.request(BLOCK));
    }
    two.nobody = false;
    two.chooses = Some("address:home");
    assert!(two.request(BLOCK).starts_with(GRANTED), "nobody said no");
}

/// What the policy refuses is not asked about in any way.
#[test]
fn a_request_that_is_refused_asks_for_no_choice() {
    let mut played = two_addresses();
    played.looks[0].form = None;
    let refused = played.request(BLOCK);
    assert!(refused.starts_with("DENY.address"), "{refused}");
    assert_eq!(played.choices.len(), 0);
}

#[test]
fn two_cards_are_asked_about_before_a_purchase() {
    let values = [
        ("card:private", Field::CardNumber, "4111111111111111"),
        ("card:private", Field::CardExpiry, "12/29"),
        ("card:work", Field::CardNumber, "5555555555554444"),
        ("card:work", Field::CardExpiry, "11/28"),
    ];
    let mut played = Played::with(DEFAULT_POLICY, Container::T2, &values, "buy a kettle");
    played.chooses = Some("card:work");
    played.act(portcullis::Action::Verb(browser_signals::Verb::Read));
    let paid = played.request("REQ.purchase ctx={\"total\":64.15,\"currency\":\"USD\"}\nREQ.end");
    assert!(paid.starts_with("GRANT.purchase"), "{paid}");
    assert_eq!(played.choices[0].kind, "card");
    assert!(played.prompts[0].contains("card:work"), "{}", played.prompts[0]);
}
