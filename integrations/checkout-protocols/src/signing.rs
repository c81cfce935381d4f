//! The guard's side: the two mandates for one checkout. The guard is AP2's trusted surface, and holds the agent's key too, which no
//! agent has: each mandate is a chain of an open token, signed for the surface, and a closed one, signed by the key that the open one names.

use serde_json::{Map, Value};

use crate::agreement::AgreedCheckout;
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

/// Where a mandate is shown, and when.
#[derive(Debug, Clone, Copy)]
pub struct Presentation<'a> {
    /// The shop's origin.
    pub audience: &'a str,
    /// The value that the shop gave for this checkout.
    pub nonce: &'a str,
    /// Now, in seconds since 1970.
    pub now: u64,
}

/// The two mandates of a purchase, as they are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mandates {
    /// What is bought.
    pub checkout: String,
    /// What is paid. UCP's token of the payment.
    pub payment: String,
}

impl Signer<'_> {
    /// Signs the mandates for a checkout that equals what the user agreed to. They hold for [`LIFETIME`] seconds. `salt` gives 16 random
    /// bytes for each token. A fault means that a mandate has no JSON form, and nothing is signed.
    pub fn authorise(
        &self,
        agreed: AgreedCheckout,
        to: &Presentation<'_>,
        salt: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<Mandates, JsonFault> {
        let AgreedCheckout { checkout, agreement } = agreed;
        let (iat, exp) = (to.now, to.now.saturating_add(LIFETIME));
        let cnf = Confirmation { jwk: self.agent.public().to_jwk() };
        let items = checkout.content.line_items.iter().map(|line| RequiredLine {
            id: line.id.clone(),
            acceptable_items: vec![AcceptableItem {
                id: line.item.id.clone(),
                title: line.item.title.clone(),
            }],
            quantity: line.quantity,
        });
        let open_checkout = Mandate::OpenCheckout {
            constraints: vec![
                CheckoutConstraint::AllowedMerchants { allowed: vec![agreement.payee.clone()] },
                CheckoutConstraint::LineItems { items: items.collect() },
            ],
            cnf: cnf.clone(),
            iat,
            exp,
        };
        let closed_checkout =
            Mandate::Checkout { checkout_jwt: checkout.jwt, checkout_hash: checkout.hash.clone(), iat, exp };
        let open_payment = Mandate::OpenPayment {
            constraints: vec![
                PaymentConstraint::AmountRange {
                    currency: agreement.total.currency.clone(),
                    max: agreement.total.amount,
                    min: None,
                },
                PaymentConstraint::AllowedPayees { allowed: vec![agreement.payee.clone()] },
                PaymentConstraint::AllowedInstruments { allowed: vec![agreement.instrument.clone()] },
            ],
            cnf,
            iat,
            exp,
        };
        let closed_payment = Mandate::Payment {
            transaction_id: checkout.hash,
            payee: agreement.payee,
            payment_amount: agreement.total,
            payment_instrument: agreement.instrument,
            iat,
            exp,
        };
        Ok(Mandates {
            checkout: self.chain(&open_checkout, &closed_checkout, to, salt)?,
            payment: self.chain(&open_payment, &closed_payment, to, salt)?,
        })
    }

    fn chain(
        &self,
        open: &Mandate,
        closed: &Mandate,
        to: &Presentation<'_>,
        salt: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<String, JsonFault> {
        let (surface, agent) = (self.surface, self.agent);
        let open = serde_json::to_value(open)?;
        let open = Token::issue(surface, header(OPEN, &surface.public()), Map::new(), &open, salt());
        let binding = Map::from_iter([
            ("aud".to_owned(), to.audience.into()),
            ("iat".to_owned(), to.now.into()),
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
