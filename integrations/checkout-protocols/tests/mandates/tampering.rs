//! What an attacker makes of mandates: without a key by changing their text, and as a guard or an agent that has keys and lies. AP2's
//! library accepts some of these.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use checkout_protocols::{JwsFault, MandateFault, Mandates, TokenFault, UsedMandates};
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::parties::{NONCE, NOW, ORIGIN, agreement, checkout, key, mandates, shown, signed, sold};

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn decode(part: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

/// Signs any text with the key of this number.
pub fn signed_text(number: u8, header: &Value, payload: &str) -> String {
    let signed = format!("{}.{}", encode(header.to_string()), encode(payload));
    let signature: Signature = SigningKey::from_slice(&[number; 32]).unwrap().sign(signed.as_bytes());
    format!("{signed}.{}", encode(signature.to_bytes()))
}

/// A token in parts, signed again by whom the test says.
#[derive(Clone)]
struct Parts {
    header: Value,
    claims: Value,
    mandate: Value,
    signer: u8,
}

impl Parts {
    fn of(text: &str, signer: u8) -> Parts {
        let (jwt, disclosure) = text.trim_end_matches('~').split_once('~').unwrap();
        let parts: Vec<&str> = jwt.split('.').collect();
        let mandate = decode(disclosure)[1].clone();
        Parts { header: decode(parts[0]), claims: decode(parts[1]), mandate, signer }
    }

    fn write(&self) -> String {
        let disclosure = encode(json!(["c2FsdA", self.mandate]).to_string());
        let mut claims = self.claims.clone();
        claims["delegate_payload"] = json!([{"...": encode(Sha256::digest(&disclosure))}]);
        format!("{}~{disclosure}~", signed_text(self.signer, &self.header, &claims.to_string()))
    }
}

/// Changes of a chain, each with a name and the fault that it is refused for.
type Changes = [(&'static str, fn(&mut Chain), MandateFault)];

#[derive(Clone)]
struct Chain {
    open: Parts,
    closed: Parts,
}

impl Chain {
    fn of(text: &str) -> Chain {
        let (open, closed) = text.split_once("~~").unwrap();
        Chain { open: Parts::of(open, 1), closed: Parts::of(closed, 2) }
    }

    /// Writes it with the closed token bound to the open one.
    fn write(&self) -> String {
        let open = self.open.write();
        let mut closed = self.closed.clone();
        closed.claims["sd_hash"] = encode(Sha256::digest(&open)).into();
        format!("{}~~{}", open.trim_end_matches('~'), closed.write())
    }
}

fn written(text: &str, change: impl Fn(&mut Chain)) -> String {
    let mut chain = Chain::of(text);
    change(&mut chain);
    chain.write()
}

/// The outcome with a changed checkout mandate.
fn changed_checkout(change: impl Fn(&mut Chain)) -> Result<(), MandateFault> {
    let good = mandates(NONCE);
    sold(&Mandates { checkout: written(&good.checkout, change), ..good }).map(|_| ())
}

/// The outcome with a changed payment mandate.
fn changed_payment(change: impl Fn(&mut Chain)) -> Result<(), MandateFault> {
    let good = mandates(NONCE);
    sold(&Mandates { payment: written(&good.payment, change), ..good }).map(|_| ())
}

#[test]
fn the_control_is_sold() {
    let accepted = sold(&mandates(NONCE)).unwrap();
    assert_eq!(accepted.total, agreement().total);
    assert_eq!(changed_checkout(|_| ()), Ok(()), "signed again as it was");
    assert_eq!(changed_payment(|_| ()), Ok(()), "signed again as it was");
}

#[test]
fn liars_with_keys_sell_nothing() {
    let signature = MandateFault::Token(TokenFault::Signed(JwsFault::Signature));
    let algorithm = MandateFault::Token(TokenFault::Signed(JwsFault::Algorithm));
    let critical = MandateFault::Token(TokenFault::Signed(JwsFault::Critical));
    let changes: &Changes = &[
        ("a stranger's surface", |it| it.open.signer = 9, signature),
        ("a surface that is not known", |it| it.open.header["kid"] = json!("other"), MandateFault::Surface),
        ("no name of a surface", |it| it.open.header["kid"] = Value::Null, MandateFault::Surface),
        ("closed by another key", |it| it.closed.signer = 9, signature),
        ("a key of the attacker's", |it| it.open.mandate["cnf"]["jwk"] = key(9).public().to_jwk(), signature),
        ("no algorithm", |it| it.open.header["alg"] = json!("none"), algorithm),
        ("a shared key", |it| it.closed.header["alg"] = json!("HS256"), algorithm),
        ("another curve", |it| it.closed.header["alg"] = json!("ES384"), algorithm),
        ("a critical extension", |it| it.closed.header["crit"] = json!(["exp"]), critical),
        ("an open token as closed", |it| it.closed.header["typ"] = json!("kb+sd-jwt+kb"), MandateFault::Kind),
        ("no kind", |it| it.open.header["typ"] = Value::Null, MandateFault::Kind),
        ("a plain token as open", |it| it.open.header["typ"] = json!("JWT"), MandateFault::Kind),
        (
            "another shop",
            |it| it.closed.claims["aud"] = json!("https://other.example"),
            MandateFault::Audience,
        ),
        ("several shops", |it| it.closed.claims["aud"] = json!([ORIGIN]), MandateFault::Claims),
        (
            "no audience",
            |it| drop(it.closed.claims.as_object_mut().unwrap().remove("aud")),
            MandateFault::Claims,
        ),
        ("another session", |it| it.closed.claims["nonce"] = json!("nonce-2"), MandateFault::Nonce),
        (
            "no nonce",
            |it| drop(it.closed.claims.as_object_mut().unwrap().remove("nonce")),
            MandateFault::Claims,
        ),
        (
            "no time of signing",
            |it| drop(it.closed.claims.as_object_mut().unwrap().remove("iat")),
            MandateFault::Claims,
        ),
        ("two bindings", |it| it.closed.claims["issuer_jwt_hash"] = json!("x"), MandateFault::Claims),
        (
            "claims beside the open mandate",
            |it| it.open.claims["exp"] = json!(NOW + 60),
            MandateFault::Claims,
        ),
        ("expired", |it| it.closed.mandate["exp"] = json!(NOW - 1), MandateFault::Time),
        ("opened and expired", |it| it.open.mandate["exp"] = json!(NOW - 1), MandateFault::Time),
        ("signed in the future", |it| it.closed.claims["iat"] = json!(NOW + 31), MandateFault::Time),
        ("made in the future", |it| it.closed.mandate["iat"] = json!(NOW + 31), MandateFault::Time),
        ("for a day", |it| it.closed.mandate["exp"] = json!(NOW + 86_400), MandateFault::Time),
        ("opened for a day", |it| it.open.mandate["exp"] = json!(NOW + 86_400), MandateFault::Time),
        ("signed long ago", |it| it.closed.claims["iat"] = json!(NOW - 1000), MandateFault::Time),
        (
            "without an end",
            |it| drop(it.closed.mandate.as_object_mut().unwrap().remove("exp")),
            MandateFault::Claims,
        ),
        ("an end as a text", |it| it.closed.mandate["exp"] = json!("1795931353"), MandateFault::Claims),
        (
            "another kind of mandate",
            |it| it.closed.mandate["vct"] = json!("mandate.checkout.2"),
            MandateFault::Claims,
        ),
        ("an unknown claim", |it| it.closed.mandate["risk_data"] = json!({}), MandateFault::Claims),
        (
            "a repeated constraint",
            |it| {
                let constraints = it.open.mandate["constraints"].as_array_mut().unwrap();
                constraints.push(constraints[0].clone());
            },
            MandateFault::Scope,
        ),
        ("no constraint", |it| it.open.mandate["constraints"] = json!([]), MandateFault::Scope),
        (
            "a constraint that is not known",
            |it| {
                it.open.mandate["constraints"]
                    .as_array_mut()
                    .unwrap()
                    .push(json!({"type": "payment.budget", "max": 1, "currency": "USD"}));
            },
            MandateFault::Claims,
        ),
        (
            "a repeated purchase",
            |it| {
                it.open.mandate["constraints"]
                    .as_array_mut()
                    .unwrap()
                    .push(json!({"type": "payment.agent_recurrence", "frequency": "MONTHLY"}));
            },
            MandateFault::Claims,
        ),
        (
            "closed without an open key",
            |it| drop(it.open.mandate.as_object_mut().unwrap().remove("cnf")),
            MandateFault::Claims,
        ),
    ];
    for (what, change, fault) in changes {
        assert_eq!(changed_checkout(change), Err(*fault), "{what}");
        assert_eq!(changed_payment(change), Err(*fault), "{what}");
    }
}

#[test]
fn mandates_for_something_else_sell_nothing() {
    let checkout_only: &Changes = &[
        ("another hash", |it| it.closed.mandate["checkout_hash"] = json!("x"), MandateFault::Checkout),
        (
            "another merchant",
            |it| it.open.mandate["constraints"][0]["allowed"][0]["id"] = json!("m-2"),
            MandateFault::Scope,
        ),
        (
            "fewer items",
            |it| it.open.mandate["constraints"][1]["items"][0]["quantity"] = json!(1),
            MandateFault::Scope,
        ),
        (
            "other items",
            |it| it.open.mandate["constraints"][1]["items"][0]["acceptable_items"][0]["id"] = json!("tulips"),
            MandateFault::Scope,
        ),
        (
            "a line too few",
            |it| drop(it.open.mandate["constraints"][1]["items"].as_array_mut().unwrap().pop()),
            MandateFault::Scope,
        ),
        (
            "a line twice",
            |it| {
                let items = it.open.mandate["constraints"][1]["items"].as_array_mut().unwrap();
                items.push(items[0].clone());
            },
            MandateFault::Scope,
        ),
    ];
    let payment_only: &Changes = &[
        ("another checkout", |it| it.closed.mandate["transaction_id"] = json!("x"), MandateFault::Checkout),
        ("another payee", |it| it.closed.mandate["payee"]["id"] = json!("m-2"), MandateFault::Payment),
        ("less", |it| it.closed.mandate["payment_amount"]["amount"] = json!(1), MandateFault::Payment),
        ("more", |it| it.closed.mandate["payment_amount"]["amount"] = json!(9000), MandateFault::Payment),
        (
            "a fraction",
            |it| it.closed.mandate["payment_amount"]["amount"] = json!(8970.5),
            MandateFault::Token(TokenFault::Disclosure(1)),
        ),
        (
            "another currency",
            |it| it.closed.mandate["payment_amount"]["currency"] = json!("JPY"),
            MandateFault::Payment,
        ),
        (
            "another card",
            |it| it.closed.mandate["payment_instrument"]["id"] = json!("card-2"),
            MandateFault::Scope,
        ),
        ("a lower ceiling", |it| it.open.mandate["constraints"][0]["max"] = json!(8969), MandateFault::Scope),
        ("a higher floor", |it| it.open.mandate["constraints"][0]["min"] = json!(8971), MandateFault::Scope),
        (
            "another open payee",
            |it| it.open.mandate["constraints"][1]["allowed"] = json!([]),
            MandateFault::Scope,
        ),
    ];
    for (what, change, fault) in checkout_only {
        assert_eq!(changed_checkout(change), Err(*fault), "{what}");
    }
    for (what, change, fault) in payment_only {
        assert_eq!(changed_payment(change), Err(*fault), "{what}");
    }
}

/// The chain with the second signature that its closed token has.
fn with_other_signature(chain: &str) -> String {
    let (open, closed) = chain.split_once("~~").unwrap();
    let (jwt, disclosure) = closed.split_once('~').unwrap();
    let (signed_part, signature) = jwt.rsplit_once('.').unwrap();
    let signature = Signature::from_slice(&URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    let (r, s) = signature.split_scalars();
    let other = Signature::from_scalars(r, -s).unwrap();
    format!("{open}~~{signed_part}.{}~{disclosure}", encode(other.to_bytes()))
}

#[test]
fn a_mandate_counts_once_and_for_one_purchase() {
    let (good, offer) = (mandates(NONCE), signed(&checkout()));
    let mut used = UsedMandates::default();
    assert!(shown(&good, &offer, NOW, &mut used).is_ok());
    assert_eq!(shown(&good, &offer, NOW, &mut used), Err(MandateFault::Used));
    // ECDSA: with s, the order less s verifies too. These are the same mandates.
    let again = Mandates {
        checkout: with_other_signature(&good.checkout),
        payment: with_other_signature(&good.payment),
    };
    assert_ne!(again, good);
    assert!(sold(&again).is_ok(), "the control: a shop that has not sold takes the second signatures");
    assert_eq!(shown(&again, &offer, NOW, &mut used), Err(MandateFault::Used));
    let half = Mandates { payment: good.payment.clone(), ..again };
    assert_eq!(shown(&half, &offer, NOW, &mut used), Err(MandateFault::Used));
    // Two purchases, whose mandates are exchanged.
    let other = mandates("another session");
    let mixed = Mandates { checkout: good.checkout.clone(), payment: other.payment };
    assert_eq!(sold(&mixed).map(|_| ()), Err(MandateFault::Nonce));
    let (open, _) = good.payment.split_once("~~").unwrap();
    let (_, closed) = good.checkout.split_once("~~").unwrap();
    let crossed = Mandates { checkout: format!("{open}~~{closed}"), ..good.clone() };
    assert_eq!(sold(&crossed).map(|_| ()), Err(MandateFault::Binding));
    // Too late, and for a checkout that the shop has changed since.
    let late = shown(&good, &offer, NOW + 61, &mut UsedMandates::default());
    assert_eq!(late.map(|_| ()), Err(MandateFault::Time));
    assert!(shown(&good, &offer, NOW + 60, &mut UsedMandates::default()).is_ok());
    let mut changed = checkout();
    changed["totals"][3]["amount"] = 71.into();
    changed["totals"][4]["amount"] = 8971.into();
    let changed = shown(&good, &signed(&changed), NOW, &mut UsedMandates::default());
    assert_eq!(changed.map(|_| ()), Err(MandateFault::Checkout));
}

#[test]
fn chains_of_another_form_sell_nothing() {
    let good = mandates(NONCE);
    let (open, closed) = good.checkout.split_once("~~").unwrap();
    let disclosure = closed.trim_end_matches('~').split_once('~').unwrap().1;
    let extra = encode(json!(["salt", "total", 1]).to_string());
    for (text, fault) in [
        (closed.to_owned(), MandateFault::Chain),
        (format!("{open}~~{closed}~{closed}"), MandateFault::Chain),
        (format!("{open}~~{open}~~{closed}"), MandateFault::Chain),
        (format!("{open}~~{}", closed.trim_end_matches('~')), MandateFault::Token(TokenFault::Form)),
        (format!("{open}~~{closed}{extra}~"), MandateFault::Token(TokenFault::Unnamed(2))),
        (format!("{open}~~{closed}{disclosure}~"), MandateFault::Token(TokenFault::Unnamed(2))),
        (format!("{}~~{closed}", open.split_once('~').unwrap().0), MandateFault::Claims),
        (format!("{open}~~{}~", closed.split_once('~').unwrap().0), MandateFault::Claims),
        (format!("{open}~~ {closed}"), MandateFault::Token(TokenFault::Signed(JwsFault::Form))),
        (String::new(), MandateFault::Chain),
    ] {
        let mandates = Mandates { checkout: text.clone(), ..good.clone() };
        assert_eq!(sold(&mandates).map(|_| ()), Err(fault), "{text}");
    }
}

/// Signed once for all cases of a property.
static GOOD: LazyLock<Mandates> = LazyLock::new(|| mandates(NONCE));

proptest! {
    // Each case verifies up to four signatures, which takes some milliseconds in a debug build.
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No change of one character of what is sent is sold.
    #[test]
    fn a_changed_character_sells_nothing(place in any::<prop::sample::Index>(), letter in "[A-Za-z0-9_~.-]", in_payment in any::<bool>()) {
        let mut mandates = GOOD.clone();
        let text = if in_payment { &mut mandates.payment } else { &mut mandates.checkout };
        let place = place.index(text.len());
        prop_assume!(!text[place..].starts_with(&letter));
        text.replace_range(place..=place, &letter);
        prop_assert!(sold(&mandates).is_err());
    }

    /// A text that nobody signed is refused, whatever it is.
    #[test]
    fn any_text_is_read_without_a_panic(text in "[A-Za-z0-9_~.{}\"-]{0,200}") {
        let mandates = Mandates { checkout: text.clone(), payment: text };
        prop_assert!(sold(&mandates).is_err());
    }
}
