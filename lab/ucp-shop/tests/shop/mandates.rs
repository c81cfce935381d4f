//! Mandates that are not for the session, and receipts.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use checkout_protocols::{Mandates, PublicKey, Signer};
use p256::ecdsa::signature::Verifier as _;
use p256::ecdsa::{Signature, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::client::{Client, agreement, body, error, key, path};

fn decode(part: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(part).unwrap()
}

/// The claims of a receipt that the shop's key signed; none where it did not.
pub fn receipt(text: &Value) -> Option<Value> {
    let (signed, signature) = text.as_str().unwrap().rsplit_once('.').unwrap();
    let (header, claims) = signed.split_once('.').unwrap();
    let header: Value = serde_json::from_slice(&decode(header)).unwrap();
    assert_eq!(header["kid"], key(3).public().thumbprint());
    if header["alg"] != "ES256" {
        return None;
    }
    let public = p256::SecretKey::from_slice(&[3; 32]).unwrap().public_key();
    let public = VerifyingKey::from_sec1_bytes(public.to_sec1_point(false).as_bytes()).unwrap();
    let signature = Signature::from_slice(&decode(signature)).ok()?;
    public.verify(signed.as_bytes(), &signature).ok()?;
    Some(serde_json::from_slice(&decode(claims)).unwrap())
}

/// The hash that a receipt for a mandate names: that of the signed part of its last token.
pub fn reference(mandate: &str) -> String {
    let (_, closed) = mandate.split_once("~~").unwrap();
    URL_SAFE_NO_PAD.encode(Sha256::digest(closed.split_once('~').unwrap().0))
}

#[test]
fn a_mandate_is_used_once() {
    let mut client = Client::new();
    let ready = client.ready();
    let mandates = client.authorise(&ready);
    assert_eq!(body(&client.complete_with(&ready, &mandates))["status"], "completed");
    assert_eq!(client.sales(), 1);
    assert_eq!(client.complete_with(&ready, &mandates).status, 409);
    let second = client.ready();
    let refused = body(&client.complete_with(&second, &mandates));
    assert_eq!(
        (refused["status"].as_str(), &*error(&refused)),
        (Some("ready_for_complete"), "mandate_scope_mismatch")
    );
    assert_eq!(client.sales(), 1);
}

/// The same random bytes give a session with the same name, nonce and text, for which the same mandates are right. Only the record of
/// used mandates refuses them.
#[test]
fn a_mandate_is_used_once_even_where_a_session_is_repeated() {
    let mut client = Client::new();
    let ready = client.ready();
    let mandates = client.authorise(&ready);
    assert_eq!(body(&client.complete_with(&ready, &mandates))["status"], "completed");
    client.number = 0;
    assert_eq!(client.ready(), ready);
    let refused = body(&client.complete_with(&ready, &mandates));
    assert_eq!(
        (refused["status"].as_str(), &*error(&refused)),
        (Some("ready_for_complete"), "mandate_scope_mismatch")
    );
    let content = refused["messages"][0]["content"].as_str().unwrap();
    assert_eq!(content, "the mandate was used before");
    assert_eq!(client.sales(), 1);
}

/// A mandate whose last token has one character changed.
fn with_other_signature(mandate: &str) -> String {
    let (open, closed) = mandate.split_once("~~").unwrap();
    let (signed, rest) = closed.split_once('~').unwrap();
    let (text, signature) = signed.rsplit_once('.').unwrap();
    let first = if signature.starts_with('A') { 'B' } else { 'A' };
    format!("{open}~~{text}.{first}{}~{rest}", &signature[1..])
}

#[test]
fn mandates_that_do_not_fit_sell_nothing() {
    let mut client = Client::new();
    let ready = client.ready();
    let other = client.ready();
    let (good, for_other) = (client.authorise(&ready), client.authorise(&other));
    let agreed = client.verify(&ready).unwrap().agreed(&agreement(&ready), client.now).unwrap();
    let (stranger, agent) = (key(9), key(2));
    let nonce = ready["ap2"]["nonce"].as_str().unwrap();
    let by_stranger =
        Signer { surface: &stranger, agent: &agent }.authorise(agreed, nonce, &mut || [1; 16]).unwrap();
    let agreed = client.verify(&ready).unwrap().agreed(&agreement(&ready), client.now).unwrap();
    let surface = key(1);
    let of_other_session =
        Signer { surface: &surface, agent: &agent }.authorise(agreed, "nonce", &mut || [2; 16]).unwrap();
    let with =
        |checkout: &str, payment: &str| Mandates { checkout: checkout.into(), payment: payment.into() };
    for (mandates, code) in [
        (with("x", &good.payment), "mandate_invalid_signature"),
        (with(&good.checkout, ""), "mandate_invalid_signature"),
        (with(&with_other_signature(&good.checkout), &good.payment), "mandate_invalid_signature"),
        (with(&good.checkout, &with_other_signature(&good.payment)), "mandate_invalid_signature"),
        (with(&good.payment, &good.checkout), "mandate_invalid_signature"),
        (by_stranger, "mandate_invalid_signature"),
        (of_other_session, "mandate_scope_mismatch"),
        (with(&for_other.checkout, &for_other.payment), "mandate_scope_mismatch"),
        (with(&good.checkout, &for_other.payment), "mandate_scope_mismatch"),
    ] {
        let refused = body(&client.complete_with(&ready, &mandates));
        assert_eq!((refused["status"].as_str(), &*error(&refused)), (Some("ready_for_complete"), code));
        assert_eq!(client.sales(), 0);
    }
    client.now += 61;
    let refused = body(&client.complete_with(&ready, &good));
    assert_eq!(
        (refused["status"].as_str(), &*error(&refused)),
        (Some("ready_for_complete"), "mandate_expired")
    );
    assert_eq!(client.sales(), 0);
    client.now -= 61;
    assert_eq!(body(&client.complete_with(&ready, &good))["status"], "completed", "the control");
    assert_eq!(client.sales(), 1);
}

#[test]
fn the_nonce_of_another_session_does_not_pass() {
    let mut client = Client::new();
    let (first, second) = (client.ready(), client.ready());
    let mut swapped = first.clone();
    swapped["ap2"]["nonce"] = second["ap2"]["nonce"].clone();
    let mandates = client.authorise(&swapped);
    assert_eq!(error(&body(&client.complete_with(&first, &mandates))), "mandate_scope_mismatch");
    assert_eq!(client.sales(), 0);
}

#[test]
fn the_key_of_the_profile_is_the_shops() {
    let mut client = Client::new();
    let answer = body(&client.send(ucp_shop::Method::Get, "/.well-known/ucp", &[], b""));
    assert_eq!(PublicKey::from_jwk(&answer["signing_keys"][0]), Ok(key(3).public()));
    let checkout = client.create();
    assert_eq!(client.show(&checkout)["ap2"], checkout["ap2"]);
    let mut changed = checkout.clone();
    changed["currency"] = json!("EUR");
    assert!(client.verify(&checkout).is_ok());
    assert!(client.verify(&changed).is_err(), "{}", path(&changed));
    assert_eq!(client.sales(), 0);
}
