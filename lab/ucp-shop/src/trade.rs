//! Who the shop is: its keys, its goods, and the offers that it signs.

use checkout_protocols::{
    KeySet, Merchant, Profile, SignedCheckout, SigningKey, VerifiedCheckout, sign_checkout,
};
use serde_json::{Map, Value};
use url::Url;

use crate::behaviour::{Behaviour, ELSEWHERE};
use crate::catalogue::{DELIVERIES, Delivery, Product, Terms};
use crate::first_form::{self, Till};
use crate::http::Answer;
use crate::offer::{Currency, Message, Offer, Severity, Status};
use crate::order::Unavailable;
use crate::profile::profile;
use crate::refusal::Refusal;
use crate::session::{Session, State};
use crate::written;

/// The secret of the key that a hostile twin signs with. It is nobody's.
const STRANGER: [u8; 32] = [0x51; 32];

/// The parts of the shop that no session changes, but for the stock.
pub(crate) struct Trade {
    url: Url,
    pub(crate) origin: String,
    pub(crate) merchant: Merchant,
    pub(crate) key: SigningKey,
    pub(crate) key_name: String,
    pub(crate) surfaces: KeySet,
    pub(crate) catalogue: Vec<Product>,
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) terms: Terms,
    pub(crate) form: Form,
    /// What pays in the first form.
    pub(crate) till: Till,
    /// Whose signed calls are answered; everybody's where there are none.
    pub(crate) callers: Option<KeySet>,
    pub(crate) behaviour: Behaviour,
}

/// The form of the protocol that the shop speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Form {
    /// 2026-01-11, which signs nothing.
    First,
    /// 2026-04-08.
    #[default]
    Later,
}

impl Trade {
    pub(crate) fn new(url: Url, key: SigningKey, surfaces: KeySet, catalogue: Vec<Product>) -> Trade {
        let origin = url.origin().ascii_serialization();
        let host = url.host_str().unwrap_or("nowhere");
        let merchant = Merchant {
            id: host.to_owned(),
            name: format!("Test shop at {host}"),
            website: Some(origin.clone()),
        };
        let (key_name, deliveries) = (key.public().thumbprint(), DELIVERIES.to_vec());
        let behaviour = Behaviour::default();
        let terms = Terms::default();
        let (form, till, callers) = (Form::default(), Till::default(), None);
        Trade {
            url,
            origin,
            merchant,
            key,
            key_name,
            surfaces,
            catalogue,
            deliveries,
            terms,
            form,
            till,
            callers,
            behaviour,
        }
    }

    /// The address of a path of the shop's.
    pub(crate) fn at(&self, path: &str) -> Option<Url> {
        self.url.join(path).ok()
    }

    fn own_profile(&self, origin: &str) -> Value {
        profile(origin, &self.key.public(), &self.key_name)
    }

    /// Answers a question for the profile.
    pub(crate) fn profile_answer(&self) -> Answer {
        match self.behaviour {
            Behaviour::RedirectsProfile => {
                let answer = Answer::json(302, &Value::Object(Map::new()));
                answer.with("Location", format!("{ELSEWHERE}{}", checkout_protocols::PROFILE_PATH))
            }
            behaviour => {
                let is_elsewhere = behaviour == Behaviour::EndpointElsewhere;
                let origin = if is_elsewhere { ELSEWHERE } else { &self.origin };
                let profile = match self.form {
                    Form::First => first_form::profile(origin, &self.till),
                    Form::Later => self.own_profile(origin),
                };
                let answer = Answer::json(200, &profile);
                answer.with("Cache-Control", "public, max-age=60".to_owned())
            }
        }
    }

    /// The checkout of a session, as the shop would sign it now.
    pub(crate) fn offer(&self, session: &Session) -> Offer {
        let ended = match &session.state {
            State::Completed(sold) => return sold.offer.clone(),
            State::InProgress(sold) => {
                return Offer {
                    status: Status::CompleteInProgress,
                    confirmation: None,
                    ..sold.offer.clone()
                };
            }
            State::Open => None,
            State::Canceled => Some("The session was canceled."),
            State::Expired => Some("The session expired."),
        };
        let mut offer = Offer {
            id: session.id.clone(),
            merchant: self.merchant.clone(),
            status: Status::Incomplete,
            currency: Currency::Usd,
            order: session.order.clone(),
            deliveries: self.deliveries.clone(),
            tax: self.terms.tax,
            fee: self.terms.fee,
            messages: Vec::new(),
            delivery_text: None,
            expires_at: session.expires_at,
            continue_url: Some(format!("{}/checkout/{}", self.origin, session.id)),
            is_recurring: false,
            confirmation: None,
        };
        match (ended, offer.missing()) {
            (Some(text), _) => {
                offer.status = Status::Canceled;
                offer.continue_url = None;
                offer.messages.push(Message::error("canceled", Severity::Unrecoverable, text));
            }
            (None, Some(message)) => offer.messages.push(message),
            (None, None) => offer.status = Status::ReadyForComplete,
        }
        self.behaviour.change(&mut offer, session.was_ready);
        offer
    }

    /// Signs an offer. A twin signs nothing, or with another key.
    pub(crate) fn sign(&self, offer: &Offer) -> Option<String> {
        let checkout = written::checkout(offer, &self.origin);
        let stranger;
        let key = match self.behaviour {
            Behaviour::UnsignedCheckout => return None,
            Behaviour::SignsWithOtherKey => {
                stranger = SigningKey::from_bytes(&STRANGER).ok()?;
                &stranger
            }
            _ => &self.key,
        };
        sign_checkout(key, &self.key_name, checkout).ok()
    }

    /// Verifies a checkout under the key of the shop's own profile.
    pub(crate) fn verify(&self, jwt: &str) -> Option<VerifiedCheckout> {
        let profile = self.own_profile(&self.origin).to_string();
        let profile = Profile::read(profile.as_bytes(), &self.url).ok()?;
        SignedCheckout::compact(jwt).verify(&profile).ok()
    }

    /// Answers that an order has no checkout.
    pub(crate) fn unavailable(&self, why: Unavailable) -> Result<Answer, Refusal> {
        match self.form {
            Form::First => Err(why.into()),
            Form::Later => Ok(Answer::json(200, &written::unavailable(why))),
        }
    }

    /// Answers with the checkout of a session, which is signed in the later form.
    pub(crate) fn answer(&self, status: u16, session: &mut Session, refused: Option<Message>) -> Answer {
        let mut offer = self.offer(session);
        offer.messages.extend(refused);
        session.was_ready |= offer.status == Status::ReadyForComplete;
        if self.form == Form::First {
            return Answer::json(status, &first_form::checkout(&offer, &self.origin).into());
        }
        let jwt = self.sign(&offer);
        let authorization = jwt.and_then(|jwt| SignedCheckout::compact(&jwt).authorization());
        let mut ap2 = Map::from_iter([("nonce".to_owned(), session.nonce.clone().into())]);
        if let Some(authorization) = authorization {
            ap2.insert("merchant_authorization".to_owned(), authorization.into());
        }
        if let State::Completed(sold) = &session.state
            && let Some(receipts) = &sold.receipts
        {
            ap2.insert("checkout_receipt".to_owned(), receipts.checkout.clone().into());
            ap2.insert("payment_receipt".to_owned(), receipts.payment.clone().into());
        }
        let mut checkout = written::checkout(&offer, &self.origin);
        checkout.insert("ap2".to_owned(), ap2.into());
        Answer::json(status, &Value::Object(checkout))
    }
}
