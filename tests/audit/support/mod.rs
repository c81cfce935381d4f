//! What the tests of the audit log share.
#![allow(dead_code, reason = "no test uses all of it")]

use ed25519_dalek::{Signer as _, SigningKey};
use policy_dfa::{Delivery, Reason, VerbKind};
use portcullis::audit::{AuditEvent, HeadSigner, LogId, LogOptions, SessionId};
use portcullis::signals::Origin;
use sirl::{Currency, Field, FieldSet, Kind, Money};

/// Signs as a vault would.
pub struct Signer(SigningKey);

impl Signer {
    pub fn new(seed: u8) -> Signer {
        Signer(SigningKey::from_bytes(&[seed; 32]))
    }

    pub fn key(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }
}

impl HeadSigner for Signer {
    fn public_key(&self) -> [u8; 32] {
        self.key()
    }

    fn sign(&self, message: &[u8]) -> Option<[u8; 64]> {
        Some(self.0.sign(message).to_bytes())
    }

    fn generation(&self) -> Option<u64> {
        Some(41)
    }
}

/// A vault that is locked.
pub struct LockedSigner;

impl HeadSigner for LockedSigner {
    fn public_key(&self) -> [u8; 32] {
        Signer::new(1).key()
    }

    fn sign(&self, _: &[u8]) -> Option<[u8; 64]> {
        None
    }
}

pub fn opening(segment_records: u64) -> LogOptions {
    LogOptions { segment_records, segment_bytes: 1 << 20, log: LogId([5; 16]), known: None, unix_ms: 1000 }
}

pub fn shop() -> Origin {
    Origin::parse("https://shop.example").unwrap()
}

pub fn usd(amount: &str) -> Money {
    Money::parse(amount, Currency::new("USD").unwrap()).unwrap()
}

pub fn session(number: u8) -> SessionId {
    SessionId::new([number; 8])
}

pub fn verb() -> AuditEvent {
    AuditEvent::Verb { verb: VerbKind::Click, origin: Some(shop()), refused: None }
}

pub fn intent(request: u64) -> AuditEvent {
    AuditEvent::Intent {
        request,
        kind: Kind::Address,
        fields: FieldSet::EMPTY.with(Field::Street).with(Field::City),
        origin: shop(),
        delivery: Delivery::Fill,
        amount: None,
    }
}

pub fn outcome(request: u64) -> AuditEvent {
    AuditEvent::Outcome { request, failed: request.is_multiple_of(2).then_some(Reason::StaleDocument) }
}
