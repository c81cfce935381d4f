//! The questions of a session that a client's own form may ask.

use browser_signals::{Container, Destination, Fact, Sink, Snapshot};
use portcullis::DEFAULT_POLICY;
use portcullis::consent::{ChosenBy, NotByForm};
use sirl::{Field, Kind};

use crate::played::{Played, SHOP, checkout, control, origin};

const CONTACT: &str = "REQ.contact fields=[\"email\"] ctx={\"origin\":\"https://shop.example\"}\nREQ.end";
const CITY: &str = "REQ.address fields=[\"city\"] ctx={\"origin\":\"https://shop.example\"}\nREQ.end";
const STREET: &str =
    "REQ.address fields=[\"street\",\"city\"] ctx={\"origin\":\"https://shop.example\"}\nREQ.end";

fn page(container: Container, hints: &[&str], sink: Sink) -> Snapshot {
    let mut page = checkout();
    page.container = Fact::Known(container);
    page.path = Fact::Known("/contact".into());
    page.destination =
        Fact::Known(Destination { origin: origin(SHOP), path: "/send".into(), method: "POST".into() });
    page.sink = Fact::Known(sink);
    page.controls = hints.iter().zip(1..).map(|(hint, node)| control(node, hint)).collect();
    page
}

/// The ways in which the questions about a request may be asked, in a task of this author with this container.
fn asked(
    policy: &str,
    (author, container): (ChosenBy, Container),
    page: Snapshot,
    request: &str,
) -> Vec<Result<(), NotByForm>> {
    let values = [
        ("contact:me", Field::Email, "marguerite@canary.example"),
        ("address:home", Field::Street, "17 Canary Quarry Road"),
        ("address:home", Field::City, "Berkeley"),
    ];
    let task = (container, &[Kind::Contact, Kind::Address][..]);
    let mut played = Played::for_task(policy, task, &values, "write to the shop");
    played.core = played.core.chosen_by(author);
    played.looks = vec![page];
    let answer = played.request(request);
    assert!(answer.starts_with("GRANT."), "{answer}");
    played.by_form
}

#[test]
fn a_form_asks_for_t1_data_in_a_t1_container_of_the_users_own_task() {
    let contact = |container| page(container, &["email"], Sink::Other);
    let (own, t1) = (ChosenBy::User, Container::T1);
    assert_eq!(asked(DEFAULT_POLICY, (own, t1), contact(t1), CONTACT), [Ok(())]);
    let agents = (ChosenBy::Agent, t1);
    assert_eq!(asked(DEFAULT_POLICY, agents, contact(t1), CONTACT), [Err(NotByForm::ChosenByTheAgent)]);
    let high = Container::T2;
    assert_eq!(asked(DEFAULT_POLICY, (own, high), contact(high), CONTACT), [Err(NotByForm::HighTier)]);
}

#[test]
fn of_an_address_a_form_asks_for_what_is_of_t1() {
    let own = |tier| (ChosenBy::User, tier);
    let city = page(Container::T1, &["address-level2"], Sink::AddressForm);
    assert_eq!(asked(DEFAULT_POLICY, own(Container::T1), city, CITY), [Ok(())]);
    let street = page(Container::T2, &["street-address", "address-level2"], Sink::AddressForm);
    assert_eq!(asked(DEFAULT_POLICY, own(Container::T2), street, STREET), [Err(NotByForm::HighTier)]);
}

#[test]
fn a_standing_yes_keeps_a_question_from_the_form() {
    let standing = DEFAULT_POLICY.replace("consent once per session", "consent once per site");
    let contact = page(Container::T1, &["email"], Sink::Other);
    let task = (ChosenBy::User, Container::T1);
    assert_eq!(asked(&standing, task, contact, CONTACT), [Err(NotByForm::StandingYes)]);
}
