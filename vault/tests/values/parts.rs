//! Parts of a released value that a page shows by themselves: words of a name, a local part, a street with its number.

use crate::common::{entropy, filled, guard};
use sirl::Field;
use vault::{Binding, Secret, Vault};

fn with(field: Field, value: &str) -> Vault {
    let mut vault = filled(guard(1).1);
    vault
        .insert("contact:parts", field, Secret::new(value.as_bytes()), &Binding::Anywhere, &mut entropy(2))
        .unwrap();
    vault
}

/// The segments with every found part of the value replaced by `_`.
fn without(field: Field, value: &str, segments: &[&str]) -> Vec<String> {
    let vault = with(field, value);
    let found = vault.scan_segments_released(segments, &[("contact:parts", field)]).unwrap();
    let mut out: Vec<String> = segments.iter().map(|segment| (*segment).to_owned()).collect();
    for (number, place) in found.iter().rev() {
        let text = &mut out[*number];
        // Places of several forms may overlap, and each is cut only once.
        if place.span.end <= text.len() && text.is_char_boundary(place.span.start) {
            text.replace_range(place.span.clone(), "_");
        }
    }
    out
}

fn one(field: Field, value: &str, text: &str) -> String {
    without(field, value, &[text]).remove(0)
}

#[test]
fn each_word_of_a_name_is_found_as_a_word() {
    let name = |text: &str| one(Field::Name, "Marguerite Anne-Sophie O'Brien Vandersloot", text);
    assert_eq!(name("Dear Marguerite,"), "Dear _,");
    assert_eq!(name("Vandersloot, Marguerite"), "_");
    assert_eq!(name("MME VANDERSLOOT; hi marguerite!"), "MME _; hi _!");
    assert_eq!(name("Sophie and Brien"), "_ and _");
    assert_eq!(name("M a r g u e r i t e"), "_");
    assert_eq!(name("Marguerite's basket, Marguerites Korb"), "_'s basket, _s Korb");
    assert_eq!(
        without(Field::Name, "Ilse Marquardt", &["Dear", "Mar", "qua", "rdt"]),
        ["Dear", "_", "_", "_"]
    );
    // Three letters are no part, and four or five count whole and unspelled.
    assert_eq!(one(Field::Name, "Ada Weil Quill", "Ada, Weiler, We il, Weil"), "Ada, Weiler, We il, _");
    // Two words that together read like the name.
    assert_eq!(one(Field::Name, "Ben Martin", "the mart in town"), "the mart in town");
}

#[test]
fn a_name_that_is_also_a_word_counts_with_a_capital() {
    let name = |text: &str| one(Field::Name, "Will Price", text);
    assert_eq!(name("it will ship at this price; Dear Will"), "it will ship at this price; Dear _");
    assert_eq!(one(Field::Name, "Frau Doctor Lindqvist", "Frau Doctor Lindqvist-Ek"), "_-Ek");
    assert_eq!(one(Field::Name, "Frau Lindqvist", "Frau Meier and Lindqvist"), "Frau Meier and _");
}

#[test]
fn a_local_part_is_found_by_itself() {
    let email = |text: &str| one(Field::Email, "marguerite.vandersloot+shop@mail.example", text);
    assert_eq!(email("user marguerite.vandersloot+shop"), "user _");
    assert_eq!(email("user marguerite.vandersloot, marguerite"), "user _, marguerite");
    assert_eq!(email("Marguerite Vandersloot"), "Marguerite Vandersloot");
    assert_eq!(one(Field::Email, "info@mail.example", "Info: info"), "Info: info");
}

#[test]
fn a_street_is_found_with_any_number_in_any_order_and_spelling() {
    let street = |value: &str, text: &str| one(Field::Street, value, text);
    for text in ["17 Elm Road", "17, Elm Rd.", "Elm Rd 17", "ELM ROAD No. 17", "elm road, nr 4", "9 Elm Road"]
    {
        let left = street("17 Elm Road", text);
        assert!(
            !left.contains(|c: char| c.is_ascii_digit()) && !left.to_lowercase().contains("elm"),
            "{left}"
        );
    }
    for text in ["Lindenstr. 17a", "Lindenstraße 17a", "Linden-Strasse 17 a", "17a Lindenstr"] {
        let left = street("Lindenstraße 17a", text);
        assert!(!left.contains("17") && !left.contains("Linden"), "{left}");
    }
    for (value, text) in [
        ("17, rue de Rivoli", "17 rue de Rivoli"),
        ("Calle Mayor, 5", "C/ Mayor 5"),
        ("Rua das Flores 77", "R. das Flores, n.º 77"),
        ("12B Baker St Flat 3", "Baker Street 12B"),
        ("350 5th Avenue, Apt 4B", "350 5th Ave"),
    ] {
        let left = street(value, text);
        assert!(!left.replace("n.º", "").contains(char::is_alphanumeric), "{value}: {left}");
    }
    // Over lines, the number is on a line of its own.
    assert_eq!(without(Field::Street, "17 Elm Road", &["Elm Rd", "17", "Copy"]), ["_", "_", "Copy"]);
    assert_eq!(without(Field::Street, "17 Elm Road", &["Elm Rd", "3 items"]), ["Elm Rd", "3 items"]);
    // Two places of a street in a row do not hide the number after the second.
    let lines = ["Elm Road No. 17", "Elm Road", "17", "Copy"];
    assert_eq!(without(Field::Street, "17 Elm Road", &lines), ["_ No. _", "_", "_", "Copy"]);
    // No number is next to the street.
    assert_eq!(street("5 Elm St", "Elm Street is long; 5 items"), "Elm Street is long; 5 items");
}

#[test]
fn unreleased_values_and_outgoing_texts_are_not_searched_for_parts() {
    let vault = with(Field::Name, "Marguerite Vandersloot");
    let found = vault.scan_segments_released(&["Dear Marguerite"], &[("contact:me", Field::Email)]).unwrap();
    assert_eq!(found, []);
    assert_eq!(vault.scan_released("Marguerite", &[("contact:parts", Field::Name)]).unwrap(), []);
    assert_eq!(vault.scan_outgoing(&mut vault::Outgoing::default(), "Marguerite").unwrap(), []);
}
