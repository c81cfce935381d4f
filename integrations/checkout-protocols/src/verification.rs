//! This module is the shop's side: what it checks before it sells. AP2's own library leaves much of it out: it accepts a checkout that a
//! stranger signed, another total, and the same mandate twice.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::checkout::{Checkout, Line, VerifiedCheckout};
use crate::claims::{
    AcceptableItem, Amount, CheckoutConstraint, Instrument, Mandate, Merchant, PaymentConstraint,
};
use crate::jws::JwsFault;
use crate::keys::{KeyFault, KeySet, PublicKey};
use crate::sd_jwt::{Token, TokenFault, hash};
use crate::signing::{CLOSED, LINK, Mandates, OPEN};

/// How far the clock of a guard may be ahead, in seconds.
const SKEW: u64 = 30;
/// The longest time that a mandate may hold, in seconds.
const MAX_LIFETIME: u64 = 300;
/// The kind that AP2's library gives an open token.
const OPEN_OF_LIBRARY: &str = "example+sd-jwt";

/// Why a shop does not sell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MandateFault {
    /// A token of the chain.
    #[error("the mandate's token: {0}")]
    Token(#[from] TokenFault),
    /// The chain is not one of two tokens.
    #[error("a mandate is a chain of two tokens, an open one and a closed one")]
    Chain,
    /// The kind of a token, in its header or by its claim `vct`.
    #[error("a token of the mandate has the wrong kind for its place")]
    Kind,
    /// A member or a constraint is missing, of another form, or not known here.
    #[error("the mandate has claims that are not known here, or lacks one")]
    Claims,
    /// The open token is by nobody whom the shop trusts.
    #[error("no trusted surface that this shop knows signed the open mandate")]
    Surface,
    /// The key that the open token names.
    #[error("the key that closes the mandate: {0}")]
    Key(#[from] KeyFault),
    /// The closed token belongs to another open one.
    #[error("the closed mandate does not belong to the open one")]
    Binding,
    /// It is meant for another shop.
    #[error("the mandate is meant for another shop")]
    Audience,
    /// It is meant for another checkout.
    #[error("the mandate is not for this checkout session")]
    Nonce,
    /// It is not valid now, or for too long.
    #[error("the mandate is expired, not valid yet, or valid for more than five minutes")]
    Time,
    /// It is for another checkout than the one that the shop signed last.
    #[error("the mandate is for another checkout than the one that this shop signed last")]
    Checkout,
    /// Its constraints do not cover the checkout.
    #[error("the open mandate does not allow this checkout")]
    Scope,
    /// It pays somebody else, another sum, or by other means.
    #[error("the payment mandate names another payee, sum or instrument")]
    Payment,
    /// It was used before.
    #[error("the mandate was used before")]
    Used,
}

impl From<JwsFault> for MandateFault {
    fn from(fault: JwsFault) -> MandateFault {
        MandateFault::Token(TokenFault::Signed(fault))
    }
}

/// A shop that sells by mandates.
#[derive(Debug, Clone, Copy)]
pub struct Shop<'a> {
    /// Who it is.
    pub merchant: &'a Merchant,
    /// The trusted surfaces whose mandates it takes.
    pub surfaces: &'a KeySet,
}

/// What a mandate has to be for.
#[derive(Clone, Copy)]
pub struct Expected<'a> {
    /// The checkout that the shop signed last for this session, verified under its own key.
    pub checkout: &'a VerifiedCheckout,
    /// The value that it gave for this session.
    pub nonce: &'a str,
    /// Now, in seconds since 1970.
    pub now: u64,
}

/// The mandates that a shop has sold by. Each counts once.
#[derive(Debug, Clone, Default)]
pub struct UsedMandates(BTreeSet<String>);

/// A sale that a shop may carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// What is paid.
    pub total: Amount,
    /// What pays.
    pub instrument: Instrument,
    /// The hash of the closed checkout mandate, which a receipt names.
    pub checkout_reference: String,
    /// The hash of the closed payment mandate, which a receipt names.
    pub payment_reference: String,
}

impl Shop<'_> {
    /// Verifies both mandates for a checkout, and marks them as used.
    pub fn accept(
        &self,
        mandates: &Mandates,
        expected: &Expected<'_>,
        used: &mut UsedMandates,
    ) -> Result<Accepted, MandateFault> {
        let checkout = self.chain(&mandates.checkout, expected)?;
        let payment = self.chain(&mandates.payment, expected)?;
        let VerifiedCheckout { jwt, hash, stated } = expected.checkout;
        let content = &stated.content;
        let Mandate::OpenCheckout { constraints, .. } = &checkout.open else {
            return Err(MandateFault::Kind);
        };
        let Mandate::Checkout { checkout_jwt, checkout_hash, .. } = &checkout.closed else {
            return Err(MandateFault::Kind);
        };
        if checkout_jwt != jwt || checkout_hash != hash {
            return Err(MandateFault::Checkout);
        }
        if !self.allows(constraints, content) {
            return Err(MandateFault::Scope);
        }
        let total = stated.total().ok_or(MandateFault::Checkout)?;
        let Mandate::OpenPayment { constraints, .. } = &payment.open else { return Err(MandateFault::Kind) };
        let Mandate::Payment { transaction_id, payee, payment_amount, payment_instrument, .. } =
            &payment.closed
        else {
            return Err(MandateFault::Kind);
        };
        if transaction_id != hash {
            return Err(MandateFault::Checkout);
        }
        if payee != self.merchant || *payment_amount != total {
            return Err(MandateFault::Payment);
        }
        if !self.allows_payment(constraints, &total, payment_instrument) {
            return Err(MandateFault::Scope);
        }
        used.take([checkout.identity, payment.identity])?;
        Ok(Accepted {
            total,
            instrument: payment_instrument.clone(),
            checkout_reference: checkout.reference,
            payment_reference: payment.reference,
        })
    }

    fn chain(&self, text: &str, expected: &Expected<'_>) -> Result<Chain, MandateFault> {
        let mut tokens = text.split(LINK);
        let (Some(open), Some(closed), None) = (tokens.next(), tokens.next(), tokens.next()) else {
            return Err(MandateFault::Chain);
        };
        // The last tilde of the open token is a part of the link.
        let (open, closed) = (Token::parse(&format!("{open}~"))?, Token::parse(closed)?);
        if ![Some(OPEN), Some(OPEN_OF_LIBRARY)].contains(&open.jws.header_text("typ"))
            || closed.jws.header_text("typ") != Some(CLOSED)
        {
            return Err(MandateFault::Kind);
        }
        let surface = open.jws.header_text("kid").and_then(|name| self.surfaces.get(name));
        open.jws.verify(surface.ok_or(MandateFault::Surface)?)?;
        let (opened, rest) = mandate(&open)?;
        if !rest.is_empty() {
            return Err(MandateFault::Claims);
        }
        let key = opened.confirmation().ok_or(MandateFault::Kind)?;
        closed.jws.verify(&PublicKey::from_jwk(&key.jwk)?)?;
        let (sold, mut binding) = mandate(&closed)?;
        if sold.confirmation().is_some() {
            return Err(MandateFault::Kind);
        }
        let mut text = |name: &str| match binding.remove(name) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(MandateFault::Claims),
        };
        if text("sd_hash")? != open.hash() {
            return Err(MandateFault::Binding);
        }
        if text("aud")? != expected.checkout.stated.origin {
            return Err(MandateFault::Audience);
        }
        if text("nonce")? != expected.nonce {
            return Err(MandateFault::Nonce);
        }
        let signed_at = binding.remove("iat").and_then(|iat| iat.as_u64()).ok_or(MandateFault::Claims)?;
        if !binding.is_empty() {
            return Err(MandateFault::Claims);
        }
        let times = [opened.times(), sold.times(), (signed_at, sold.times().1)];
        if !times.into_iter().all(|times| is_valid(times, expected.now)) {
            return Err(MandateFault::Time);
        }
        let identity = hash(&closed.jws.signed);
        Ok(Chain { open: opened, closed: sold, reference: closed.reference(), identity })
    }

    /// Whether the constraints name this shop and exactly these lines. Each kind of constraint is there once.
    fn allows(&self, constraints: &[CheckoutConstraint], checkout: &Checkout) -> bool {
        let [CheckoutConstraint::AllowedMerchants { allowed }, CheckoutConstraint::LineItems { items }] =
            constraints
        else {
            return false;
        };
        let is_line = |line: &Line| {
            items.iter().any(|required| {
                let is_item =
                    |item: &AcceptableItem| item.id == line.item.id && item.title == line.item.title;
                required.id == line.id
                    && required.quantity == line.quantity
                    && required.acceptable_items.iter().any(is_item)
            })
        };
        allowed.contains(self.merchant)
            && items.len() == checkout.line_items.len()
            && checkout.line_items.iter().all(is_line)
    }

    fn allows_payment(&self, constraints: &[PaymentConstraint], total: &Amount, by: &Instrument) -> bool {
        let [
            PaymentConstraint::AmountRange { currency, max, min },
            PaymentConstraint::AllowedPayees { allowed: payees },
            PaymentConstraint::AllowedInstruments { allowed: instruments },
        ] = constraints
        else {
            return false;
        };
        *currency == total.currency
            && (min.unwrap_or(0)..=*max).contains(&total.amount)
            && payees.contains(self.merchant)
            && instruments.contains(by)
    }
}

impl UsedMandates {
    /// Marks these as used, all or none.
    fn take(&mut self, identities: [String; 2]) -> Result<(), MandateFault> {
        if identities.iter().any(|identity| self.0.contains(identity)) {
            return Err(MandateFault::Used);
        }
        self.0.extend(identities);
        Ok(())
    }
}

/// A verified chain.
struct Chain {
    open: Mandate,
    closed: Mandate,
    reference: String,
    /// The hash of what is signed, without the signature: a signature of ECDSA can be changed into a second one that verifies too.
    identity: String,
}

/// The mandate of a token, and its other claims.
fn mandate(token: &Token) -> Result<(Mandate, Map<String, Value>), MandateFault> {
    let mut claims = token.claims.clone();
    let Some(Value::Array(mandates)) = claims.remove("delegate_payload") else {
        return Err(MandateFault::Claims);
    };
    let [mandate] = <[Value; 1]>::try_from(mandates).map_err(|_| MandateFault::Claims)?;
    let mandate = serde_json::from_value(mandate).map_err(|_| MandateFault::Claims)?;
    Ok((mandate, claims))
}

/// Whether something that holds from `iat` to `exp` holds now.
fn is_valid((iat, exp): (u64, u64), now: u64) -> bool {
    iat <= now.saturating_add(SKEW) && now <= exp && exp.saturating_sub(iat) <= MAX_LIFETIME
}
