//! This module is the guard's side: it signs the two mandates for one checkout. The guard is AP2's trusted surface, and holds the agent's key too, which no
//! agent has: each mandate is a chain of an open token, signed for the surface, and a closed one, signed by the key that the open one names.

use serde_json::{Map, Value};

use crate::agreement::AgreedCheckout;
use crate::checkout::{Stated, VerifiedCheckout};
use crate::claims::{
    AcceptableItem, CheckoutConstraint, Confirmation, Mandate, PaymentConstraint, RequiredLine,
};
use crate::json::JsonFault;
use crate::keys::{PublicKey, SigningKey};
use crate::sd_jwt::{Token, hash};

/// How long a mandate holds, in seconds.
pub const LIFETIME: u64 = 60;

/// Separates the tokens of a chain.
pub(crate) const LINK: &str = "~~";
/// The kind of an open token, the first of a chain.
pub(crate) const OPEN: &str = "dc+sd-jwt";
/// The kind of a closed token, the last of a chain.
pub(crate) const CLOSED: &str = "kb+sd-jwt";

/// The keys of a guard.
pub struct Signer<'a> {
    /// The key of the trusted surface, which shops know.
    pub surface: &'a SigningKey,
    /// The key that closes mandates.
    pub agent: &'a SigningKey,
}

/// What binds a closed token to one shop, one session and one time.
struct Binding<'a> {
    audience: &'a str,
    nonce: &'a str,
    at: u64,
}

/// The two mandates of a purchase, as they are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mandates {
    /// What is bought.
    pub checkout: String,
    /// What is paid. UCP's token of the payment.
    pub payment: String,
}

impl Mandates {
    /// The hash of the closed checkout mandate, which a receipt names.
    pub(crate) fn reference(&self) -> Option<String> {
        let (_, closed) = self.checkout.split_once(LINK)?;
        Some(Token::parse(closed).ok()?.reference())
    }
}

impl Signer<'_> {
    /// Signs the mandates for a checkout that equals what the user agreed to, for the shop that signed it. `nonce` is the value that the
    /// shop gave for this checkout, and `salt` gives 16 random bytes for each token. The mandates hold for [`LIFETIME`] seconds from the
    /// comparison. A fault means that a mandate has no JSON form, and nothing is signed.
    pub fn authorise(
        &self,
        agreed: AgreedCheckout,
        nonce: &str,
        salt: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<Mandates, JsonFault> {
        let AgreedCheckout { checkout, total, instrument, at } = agreed;
        let VerifiedCheckout { jwt, hash, stated: Stated { origin, content } } = checkout;
        let (iat, exp) = (at, at.saturating_add(LIFETIME));
        let binding = Binding { audience: &origin, nonce, at };
        let cnf = Confirmation { jwk: self.agent.public().to_jwk() };
        let items = content.line_items.iter().map(|line| RequiredLine {
            id: line.id.clone(),
            acceptable_items: vec![AcceptableItem {
                id: line.item.id.clone(),
                title: line.item.title.clone(),
            }],
            quantity: line.quantity,
        });
        let open_checkout = Mandate::OpenCheckout {
            constraints: vec![
                CheckoutConstraint::AllowedMerchants { allowed: vec![content.merchant.clone()] },
                CheckoutConstraint::LineItems { items: items.collect() },
            ],
            cnf: cnf.clone(),
            iat,
            exp,
        };
        let closed_checkout = Mandate::Checkout { checkout_jwt: jwt, checkout_hash: hash.clone(), iat, exp };
        let open_payment = Mandate::OpenPayment {
            constraints: vec![
                PaymentConstraint::AmountRange {
                    currency: total.currency.clone(),
                    max: total.amount,
                    min: None,
                },
                PaymentConstraint::AllowedPayees { allowed: vec![content.merchant.clone()] },
                PaymentConstraint::AllowedInstruments { allowed: vec![instrument.clone()] },
            ],
            cnf,
            iat,
            exp,
        };
        let closed_payment = Mandate::Payment {
            transaction_id: hash,
            payee: content.merchant,
            payment_amount: total,
            payment_instrument: instrument,
            iat,
            exp,
        };
        Ok(Mandates {
            checkout: self.chain(&open_checkout, &closed_checkout, &binding, salt)?,
            payment: self.chain(&open_payment, &closed_payment, &binding, salt)?,
        })
    }

    fn chain(
        &self,
        open: &Mandate,
        closed: &Mandate,
        to: &Binding<'_>,
        salt: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<String, JsonFault> {
        let (surface, agent) = (self.surface, self.agent);
        let open = serde_json::to_value(open)?;
        let open = Token::issue(surface, header(OPEN, &surface.public()), Map::new(), &open, salt());
        let binding = Map::from_iter([
            ("aud".to_owned(), to.audience.into()),
            ("iat".to_owned(), to.at.into()),
            ("nonce".to_owned(), to.nonce.into()),
            ("sd_hash".to_owned(), hash(&open).into()),
        ]);
        let closed = serde_json::to_value(closed)?;
        let closed = Token::issue(agent, header(CLOSED, &agent.public()), binding, &closed, salt());
        let open = open.strip_suffix('~').unwrap_or(&open);
        Ok(format!("{open}{LINK}{closed}"))
    }
}

fn header(kind: &str, key: &PublicKey) -> Map<String, Value> {
    Map::from_iter([("kid".to_owned(), key.thumbprint().into()), ("typ".to_owned(), kind.into())])
}
