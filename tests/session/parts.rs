//! Parts of released values on honest pages (I13): they are masked at the same positions whatever the values are, and
//! only where the value was released.

use crate::played::{Played, control};
use browser_signals::{Container, Fact, Sink, Verb};
use portcullis::Action;
use portcullis::DEFAULT_POLICY;
use sirl::{Field, Kind};

/// A person's values, and their parts that pages show.
struct Person {
    values: [(&'static str, Field, &'static str); 4],
    parts: [&'static str; 6],
}

const ONE: Person = Person {
    values: [
        ("address:me", Field::Name, "Marguerite Vandersloot"),
        ("address:me", Field::Street, "17 Quarry Road"),
        ("contact:me", Field::Email, "marguerite.v@mail.example"),
        ("contact:me", Field::Phone, "+1 628 555 0173"),
    ],
    parts: ["Marguerite", "Vandersloot", "17", "Quarry", "marguerite.v", "0173"],
};
const OTHER: Person = Person {
    values: [
        ("address:me", Field::Name, "Wilhelmina Lindqvist"),
        ("address:me", Field::Street, "4 Harbour Road"),
        ("contact:me", Field::Email, "w.lindqvist@post.example"),
        ("contact:me", Field::Phone, "+1 415 555 8826"),
    ],
    parts: ["Wilhelmina", "Lindqvist", "4", "Harbour", "w.lindqvist", "8826"],
};

const ADDRESS: &str =
    "REQ.address fields=[\"name\",\"street\"] ctx={\"origin\":\"https://shop.example\"}\nREQ.end";
const CONTACT: &str =
    "REQ.contact fields=[\"email\",\"phone\"] ctx={\"origin\":\"https://shop.example\"}\nREQ.end";

/// The rendered text of a page before and after these requests were granted.
fn reads(person: &Person, requests: &[&str], page: &str) -> [String; 2] {
    let kinds = [Kind::Address, Kind::Contact];
    let mut played =
        Played::for_task(DEFAULT_POLICY, (Container::T2, &kinds), &person.values, "buy a kettle");
    played.looks[0].sink = Fact::Known(Sink::AddressForm);
    played.looks[0].controls =
        vec![control(1, "name"), control(2, "street-address"), control(3, "email"), control(4, "tel")];
    played.reads = page.to_owned();
    let before = played.act(Action::Verb(Verb::Read));
    for request in requests {
        let reply = played.request(request);
        assert!(reply.starts_with("GRANT"), "{reply}");
    }
    [before, played.act(Action::Verb(Verb::Read))]
}

/// An honest page of this person's.
fn account(person: &Person) -> String {
    let [first, last, number, street, local, end] = person.parts;
    let letters = |value: &str, role: &str| -> String {
        let item = |c: char| format!("- {role} [ref=e9]:\n  - link \"{c}\" [ref=e10]\n");
        value.chars().map(item).collect()
    };
    let options = |value: &str| -> String {
        value.chars().map(|c| format!("  - option \"{c}\" [ref=e11]\n")).collect()
    };
    let numbered = |value: &str| -> String {
        let mut count = 0;
        let item = |c: char| {
            count += 1;
            format!("- listitem [ref=e12]: \"{count}. {c}\"\n")
        };
        value.chars().map(item).collect()
    };
    [
        format!("- document https://shop.example \"{first}'s account\"\n"),
        format!("- heading \"Dear {first},\" [level=1] [ref=e1]\n"),
        format!("- text: \"{last}, {first}; Ms {last}\"\n"),
        format!("- text: \"{}\"\n", first.to_uppercase()),
        format!("- text: \"Deliver to {number} {street} Rd., or {street} Road No. {number}\"\n"),
        format!("- text: \"{street} Road\"\n- text: \"{number}\"\n- text: \"Copy\"\n"),
        format!("- link \"Signed in as {local}\" [ref=e2]\n"),
        format!("- text: \"Phone ending in {end}\"\n- text: \"•••• {end}\"\n"),
        format!("- text: \"call the number ending in\"\n- strong [ref=e3]: \"{end}\"\n"),
        "- list [ref=e4]:\n".to_owned(),
        letters(first, "listitem"),
        "- combobox \"Name\" [ref=e5]:\n".to_owned(),
        options(last),
        numbered(first),
        "- text: \"Your basket will ship at a good price\"\n".to_owned(),
    ]
    .concat()
}

#[test]
fn parts_of_released_values_are_masked_on_honest_pages() {
    let [before, after] = reads(&ONE, &[ADDRESS, CONTACT], &account(&ONE));
    assert!(before.contains("Dear Marguerite,"), "nothing was released yet: {before}");
    for part in ONE.parts.into_iter().filter(|part| part.len() >= 4) {
        assert!(!after.to_lowercase().contains(&part.to_lowercase()), "{part}: {after}");
    }
    for told in ["\"Dear [withheld],\"", "ending in [withheld]", "•••• [withheld]", "Signed in as [withheld]"]
    {
        assert!(after.contains(told), "{told}: {after}");
    }
    // The text has no house number, and no letter of the spelled name.
    assert!(!after.contains("17") && !after.contains("No. 1"), "{after}");
    assert!(
        !after.contains("link \"M\"") && !after.contains("option \"V\"") && !after.contains(". M"),
        "{after}"
    );
    assert!(after.contains("Your basket will ship at a good price"), "{after}");
}

#[test]
fn a_value_that_is_split_over_the_lines_of_a_text_is_masked() {
    for marker in ["", "• ", "1. "] {
        let letters: Vec<String> = "Marguerite".chars().map(|c| format!("\"{marker}{c}\"")).collect();
        let page = format!(
            "- paragraph [ref=e1]: {}\n- paragraph [ref=e2]: \"17 Quarry\"\n  \"Road\"\n  \"Copy\"\n",
            letters.join("\n  ")
        );
        let [before, after] = reads(&ONE, &[ADDRESS, CONTACT], &page);
        assert!(before.contains("Quarry"), "{before}");
        assert!(!after.contains("Quarry") && !after.contains("M\""), "{after}");
        assert!(after.contains("\"Copy\""), "{after}");
    }
}

#[test]
fn two_vaults_are_masked_in_the_same_places() {
    // Both pages have letters in the same number of lines only where they are cut.
    let page = |person: &Person| -> String {
        let account = account(person);
        let kept = account.lines().filter(|line| {
            !line.contains("listitem") && !line.contains("[ref=e10]") && !line.contains("option")
        });
        kept.collect::<Vec<_>>().join("\n")
    };
    let [_, one] = reads(&ONE, &[ADDRESS, CONTACT], &page(&ONE));
    let [_, other] = reads(&OTHER, &[ADDRESS, CONTACT], &page(&OTHER));
    assert_eq!(one, other);
}

#[test]
fn a_page_of_guesses_learns_nothing_of_unreleased_values() {
    let names = ["Marguerite", "Wilhelmina", "Lindqvist", "Vandersloot", "Anna", "Peter", "Katharina"];
    let mut page: String = names.iter().map(|name| format!("- text: \"Dear {name},\"\n")).collect();
    for number in 0..200 {
        page += &format!("- text: \"{number} Quarry Road, {number} Harbour Rd\"\n");
    }
    page += "- text: \"marguerite.v, w.lindqvist\"\n";
    for end in ["0173", "8826", "4242", "1111"] {
        page += &format!("- text: \"phone ending in {end}, **** {end}\"\n");
    }
    // Nothing was released, so nothing is masked.
    for person in [&ONE, &OTHER] {
        assert_eq!(reads(person, &[], &page)[1], page);
    }
    // The ends of numbers are masked by their form, once any number is released.
    let one = reads(&ONE, &[CONTACT], &page)[1].clone();
    assert!(names.iter().all(|name| one.contains(&format!("Dear {name},"))), "{one}");
    assert!(one.contains("17 Quarry Road"), "{one}");
    for end in ["0173", "8826", "4242", "1111"] {
        assert!(!one.contains(end), "{end}: {one}");
    }
    // So is every number next to a released street.
    let one = reads(&ONE, &[ADDRESS], &page)[1].clone();
    assert!(!one.contains("Quarry") && one.contains("- text: \"[withheld], 17 Harbour Rd\""), "{one}");
    assert!(one.contains("w.lindqvist") && one.contains("ending in 0173"), "{one}");
}
