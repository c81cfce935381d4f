//! The allowance of a token that pays once, and the call that has a payment provider make such a token of a card.

use serde_json::{Map, Value, json};
use url::Url;
use zeroize::Zeroizing;

use super::{AcpCall, AcpFault, AgreedSession, object, written};
use crate::address::PostalAddress;
use crate::call::below;
use crate::claims::Amount;
use crate::json::MAX_INTEGER;
use crate::order::Body;

/// How long an allowance may last at most, in seconds.
const MAX_LIFETIME: u64 = 24 * 60 * 60;

/// What a token may pay: once, the total that the user agreed to, for one session at one payee. It is made from an agreed session alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    max: Amount,
    session: String,
    payee: String,
    expires_at: jiff::Timestamp,
}

impl Allowance {
    /// The allowance for a session that the user agreed to. `payee` is the payment provider's name of the shop; `now` and `expires_at` are in
    /// seconds since 1970.
    pub fn once(
        session: &AgreedSession<'_>,
        payee: &str,
        now: u64,
        expires_at: u64,
    ) -> Result<Allowance, AcpFault> {
        let max = session.agreement.total.clone();
        let is_short = expires_at > now && expires_at - now <= MAX_LIFETIME;
        let is_name = (1..=256).contains(&payee.chars().count());
        if !is_short || !is_name || max.amount > MAX_INTEGER {
            return Err(AcpFault::Allowance);
        }
        let expires_at = i64::try_from(expires_at).ok().and_then(|it| jiff::Timestamp::from_second(it).ok());
        let expires_at = expires_at.ok_or(AcpFault::Allowance)?;
        Ok(Allowance { max, session: session.id.clone(), payee: payee.to_owned(), expires_at })
    }

    /// The allowance as it is sent.
    pub fn written(&self) -> Value {
        json!({
            "reason": "one_time",
            "max_amount": self.max.amount,
            "currency": self.max.currency.to_string().to_ascii_lowercase(),
            "checkout_session_id": self.session,
            "merchant_id": self.payee,
            "expires_at": self.expires_at.to_string(),
        })
    }
}

/// How a card is funded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Funding {
    /// A credit card.
    Credit,
    /// A debit card.
    Debit,
    /// A prepaid card.
    Prepaid,
}

/// A card's number, holder and code. It is wiped when it is dropped, and has no `Debug` and no `Clone`.
pub struct Card {
    number: Zeroizing<String>,
    month: Zeroizing<u8>,
    year: Zeroizing<u16>,
    code: Option<Zeroizing<String>>,
    holder: Zeroizing<String>,
    funding: Funding,
}

impl Card {
    /// Takes a card. Its number and its code have digits alone.
    pub fn new(
        number: Zeroizing<String>,
        month: u8,
        year: u16,
        code: Option<Zeroizing<String>>,
        holder: Zeroizing<String>,
        funding: Funding,
    ) -> Result<Card, AcpFault> {
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_card = (12..=19).contains(&number.len())
            && is_digits(&number)
            && (1..=12).contains(&month)
            && (1000..=9999).contains(&year)
            && code.iter().all(|code| (3..=4).contains(&code.len()) && is_digits(code));
        if !is_card {
            return Err(AcpFault::Card);
        }
        let (month, year) = (Zeroizing::new(month), Zeroizing::new(year));
        Ok(Card { number, month, year, code, holder, funding })
    }

    /// The card as it is sent. Whoever writes it down wipes it.
    fn written(&self) -> Value {
        let funding = match self.funding {
            Funding::Credit => "credit",
            Funding::Debit => "debit",
            Funding::Prepaid => "prepaid",
        };
        let mut written = object([
            ("type", "card".into()),
            ("card_number_type", "fpan".into()),
            ("number", self.number.as_str().into()),
            ("exp_month", format!("{:02}", *self.month).into()),
            ("exp_year", self.year.to_string().into()),
            ("name", self.holder.as_str().into()),
            ("display_card_funding_type", funding.into()),
            ("metadata", json!({})),
        ]);
        if let (Some(written), Some(code)) = (written.as_object_mut(), &self.code) {
            written.insert("cvc".to_owned(), code.as_str().into());
        }
        written
    }
}

/// What the caller's check for card testing says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RiskSignal {
    /// The score.
    pub score: u32,
    /// What the check did.
    pub action: RiskAction,
}

/// What a check for card testing did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RiskAction {
    /// It blocks.
    Blocked,
    /// It has a person look.
    ManualReview,
    /// It lets the payment through.
    Authorized,
}

impl RiskSignal {
    fn written(self) -> Value {
        let action = match self.action {
            RiskAction::Blocked => "blocked",
            RiskAction::ManualReview => "manual_review",
            RiskAction::Authorized => "authorized",
        };
        json!({"type": "card_testing", "score": self.score, "action": action})
    }
}

/// The call that has a payment provider at this address make a token of a card, which pays within the allowance. Whoever sends it
/// handles a card, with all that the rules for card data ask for. `random` gives 16 random bytes for each name of a call.
pub fn delegate_payment(
    provider: &Url,
    card: &Card,
    allowance: &Allowance,
    billing: Option<&PostalAddress>,
    signals: &[RiskSignal],
    random: &mut dyn FnMut() -> [u8; 16],
) -> Result<AcpCall, AcpFault> {
    if signals.is_empty() {
        return Err(AcpFault::Risk);
    }
    if !billing.is_none_or(is_billing) {
        return Err(AcpFault::Billing);
    }
    let url = below(provider, &["agentic_commerce", "delegate_payment"]).filter(|it| it.scheme() == "https");
    let url = url.ok_or(AcpFault::Endpoint)?;
    let signals: Vec<Value> = signals.iter().map(|signal| signal.written()).collect();
    let mut members = Map::from_iter([
        ("payment_method".to_owned(), card.written()),
        ("allowance".to_owned(), allowance.written()),
        ("risk_signals".to_owned(), signals.into()),
        ("metadata".to_owned(), json!({})),
    ]);
    members.extend(billing.map(|it| ("billing_address".to_owned(), written(it))));
    AcpCall::post(url, &Body(members.into()), random)
}

/// Whether an address fits into the limits of a billing address, which a delivery address does not have.
fn is_billing(address: &PostalAddress) -> bool {
    let fits = |text: &str, most: usize| text.chars().count() <= most;
    fits(&address.first_name, 127)
        && fits(&address.last_name, 128)
        && fits(&address.street_address, 60)
        && fits(&address.extended_address, 60)
        && fits(&address.address_locality, 60)
        && fits(&address.postal_code, 20)
        && address.address_country.chars().count() == 2
}
