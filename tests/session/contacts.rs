//! The contacts that a page publishes (rule 15): they stay readable by place and form alone, whatever the vault holds,
//! and not on the site of a login.

use std::sync::Arc;

use browser_signals::outline::{LinePart, Outline, OutlineLine, Purpose, TextPlace, Words};
use browser_signals::{Destination, Origin, TextGuard};
use classifier::Detectors;
use policy_dfa::{Policy, authority};
use portcullis::egress::{ReleasedValue, Releases};
use portcullis::guard::SystemEntropy;
use portcullis::guard::shared_vault::SharedVault;
use portcullis::page_text::{MASKED, PageTextGuard, Quarantine, Scrubber};
use sirl::Field;
use vault::{Binding, Secret, Vault};

const SHOP: &str = "https://www.shop.example";

/// A guard for a vault with this e-mail address and phone, in a container in which some fields were released to origins.
fn guard(email: &str, phone: &str, released: &[(&str, Field, &str)]) -> PageTextGuard {
    let policy = Policy::parse(portcullis::DEFAULT_POLICY).unwrap().compile().unwrap().check().unwrap();
    let (_, verifier) = authority(policy, [7; 16]);
    let mut vault = Vault::ephemeral(&mut SystemEntropy, verifier);
    let values = [
        ("contact:me", Field::Email, email),
        ("contact:me", Field::Phone, phone),
        ("login:shop", Field::Email, email),
        ("login:shop", Field::Password, "s3cret-pass-word"),
    ];
    for (handle, field, value) in values {
        let secret = Secret::new(value.as_bytes());
        let login = Binding::Origin(Origin::parse(SHOP).unwrap());
        let binding = if handle == "login:shop" { login } else { Binding::Anywhere };
        vault.insert(handle, field, secret, &binding, &mut SystemEntropy).unwrap();
    }
    let releases = Releases::default();
    for (handle, field, origin) in released {
        let origin = Origin::parse(origin).unwrap();
        let destination = Destination { origin, path: "/".into(), method: "POST".into() };
        releases.note(ReleasedValue::new(*handle, *field, destination));
    }
    let detectors = Arc::new(Detectors::standard().unwrap());
    PageTextGuard::new(
        Scrubber::default(),
        Quarantine::default(),
        detectors,
        releases,
        SharedVault::new(vault),
    )
}

fn words(text: String, purpose: Purpose) -> Words {
    Words { text, place: TextPlace::Shown, purpose, frame: 0 }
}

fn link(text: String) -> OutlineLine {
    let head = vec![
        LinePart::Own("- link".into()),
        LinePart::Page(words(text, Purpose::Echo)),
        LinePart::Own(" [ref=e1]".into()),
    ];
    OutlineLine { head, contact: true, ..OutlineLine::default() }
}

fn text(text: String) -> OutlineLine {
    let words = words(text, Purpose::Text);
    OutlineLine {
        head: vec![LinePart::Own("- text".into())],
        text: vec![words],
        bare: true,
        ..OutlineLine::default()
    }
}

fn page(origin: &str, lines: Vec<OutlineLine>) -> Outline {
    Outline { lines, frames: vec![Origin::parse(origin).ok()], ..Outline::default() }
}

/// 1,000 guesses of mailboxes and phones in links and in text, with those of both users among them.
fn guesses() -> Vec<OutlineLine> {
    let mut lines = Vec::new();
    for number in 0..1000 {
        let (email, phone) = match number {
            317 => ("marguerite.v@mail.example".to_owned(), "+1 628 555 0173".to_owned()),
            641 => ("info@lindqvist.example".to_owned(), "+1 415 555 8826".to_owned()),
            _ => (format!("guess.{number}@mail.example"), format!("+1 628 555 {number:04}")),
        };
        lines.extend([
            link(email.clone()),
            link(phone.clone()),
            text(format!("write to {email} or call {phone}")),
        ]);
    }
    lines
}

#[test]
fn a_page_of_guesses_reads_alike_for_every_vault() {
    let page = page("https://guesses.example", guesses());
    let reads = |email: &str, phone: &str, released: &[(&str, Field, &str)]| {
        guard(email, phone, released).guard(&page).unwrap()
    };
    let one = ("marguerite.v@mail.example", "+1 628 555 0173");
    let other = ("info@lindqvist.example", "+1 415 555 8826");
    let before = reads(one.0, one.1, &[]);
    assert_eq!(before, reads(other.0, other.1, &[]));
    // Contacts in links and mailboxes of offices are told, others are not.
    assert!(
        before.contains("- link \"marguerite.v@mail.example\"")
            && before.contains("write to [email] or call [phone]")
    );
    assert!(before.contains("write to info@lindqvist.example or call [phone]"));
    // A release that is no login masks the released value alone, and the rest reads as before.
    let released = [("contact:me", Field::Email, SHOP)];
    let after = reads(one.0, one.1, &released);
    assert_eq!(
        after,
        before.replace("link \"marguerite.v@mail.example\"", &format!("link \"{MASKED}\"")).replace(
            "write to [email] or call [phone]\"\n- link \"guess.318",
            &format!("write to {MASKED} or call [phone]\"\n- link \"guess.318"),
        )
    );
    // A login at a site masks the same there for both, all contacts included.
    let login = [("login:shop", Field::Password, "https://guesses.example")];
    let (at_login, twin) = (reads(one.0, one.1, &login), reads(other.0, other.1, &login));
    assert_eq!(at_login, twin);
    assert!(!at_login.contains('@') && !at_login.contains("555"), "{at_login}");
}

#[test]
fn contacts_are_masked_on_the_site_of_a_login_and_stay_elsewhere() {
    let lines = || {
        vec![
            text("Questions? support@help.example".into()),
            link("ann.smith@mail.example".into()),
            link("+49 30 901820".into()),
        ]
    };
    let reads = |at: &str, released: &[(&str, Field, &str)]| {
        guard("marguerite.v@mail.example", "+1 628 555 0173", released).guard(&page(at, lines())).unwrap()
    };
    let told = "- text: \"Questions? support@help.example\"\n- link \"ann.smith@mail.example\" [ref=e1]\n\
                - link \"+49 30 901820\" [ref=e1]\n";
    let masked = "- text: \"Questions? [email]\"\n- link \"[email]\" [ref=e1]\n- link \"[phone]\" [ref=e1]\n";
    for released in [vec![], vec![("contact:me", Field::Phone, SHOP)]] {
        assert_eq!(reads(SHOP, &released), told);
    }
    for login in
        [("login:shop", Field::Password, SHOP), ("login:shop", Field::Email, "https://id.shop.example")]
    {
        assert_eq!(reads(SHOP, &[login]), masked, "{login:?}");
        assert_eq!(reads("https://news.example", &[login]), told, "{login:?}");
        assert_eq!(reads("", &[login]), masked, "a frame without an origin");
    }
    // What a script returned has no place.
    let guard =
        guard("marguerite.v@mail.example", "+1 628 555 0173", &[("login:shop", Field::Password, SHOP)]);
    assert_eq!(guard.mask("support@help.example").unwrap(), "[email]");
}
