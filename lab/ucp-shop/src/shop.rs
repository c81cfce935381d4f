//! The calls.

use std::collections::BTreeMap;

use checkout_protocols::{KeySet, Merchant, PROFILE_PATH, PublicKey, SignedCall, SigningKey, UsedMandates};
use url::Url;

use crate::behaviour::Behaviour;
use crate::body::{CompleteBody, OrderBody, check_unused, read};
use crate::catalogue::{Delivery, Product, Terms};
use crate::completion::{check, sold};
use crate::first_form;
use crate::first_form::Till;
use crate::http::{Answer, Method, Request};
use crate::idempotency::{AnsweredCalls, CallKey};
use crate::ledger::Sale;
use crate::names::{Entropy, name};
use crate::order::Order;
use crate::profile::ENDPOINT_PATH;
use crate::refusal::Refusal;
use crate::session::{Session, State};
use crate::trade::{Form, Trade};

/// A shop that sells by protocol for test money: its goods, its sessions and its ledger.
pub struct Shop {
    trade: Trade,
    sessions: BTreeMap<String, Session>,
    answered: AnsweredCalls,
    used: UsedMandates,
    ledger: Vec<Sale>,
}

/// Where a call goes.
enum Route<'a> {
    Profile,
    Show(&'a str),
    Write(Call<'a>),
}

/// The calls that change something.
#[derive(Clone, Copy)]
enum Call<'a> {
    Create,
    Update(&'a str),
    Complete(&'a str),
    Cancel(&'a str),
}

impl<'a> Route<'a> {
    fn of(request: &Request<'a>) -> Result<Route<'a>, Refusal> {
        if request.path == PROFILE_PATH {
            return if request.method == Method::Get { Ok(Route::Profile) } else { Err(Refusal::Method) };
        }
        let path = request.path.strip_prefix(ENDPOINT_PATH).ok_or(Refusal::Path)?;
        let mut parts = path.strip_prefix("/checkout-sessions").ok_or(Refusal::Path)?.split('/');
        if parts.next() != Some("") {
            return Err(Refusal::Path);
        }
        let (id, action, rest) = (parts.next(), parts.next(), parts.next());
        if rest.is_some() || id == Some("") {
            return Err(Refusal::Path);
        }
        Ok(match (request.method, id, action) {
            (Method::Post, None, None) => Route::Write(Call::Create),
            (Method::Get, Some(id), None) => Route::Show(id),
            (Method::Put, Some(id), None) => Route::Write(Call::Update(id)),
            (Method::Post, Some(id), Some("complete")) => Route::Write(Call::Complete(id)),
            (Method::Post, Some(id), Some("cancel")) => Route::Write(Call::Cancel(id)),
            (_, _, None | Some("complete" | "cancel")) => return Err(Refusal::Method),
            _ => return Err(Refusal::Path),
        })
    }
}

impl Shop {
    /// A shop at an origin. `key` signs its checkouts and receipts, and it takes the mandates of these trusted surfaces.
    pub fn new(origin: Url, key: SigningKey, surfaces: KeySet, catalogue: Vec<Product>) -> Shop {
        Shop {
            trade: Trade::new(origin, key, surfaces, catalogue),
            sessions: BTreeMap::new(),
            answered: AnsweredCalls::default(),
            used: UsedMandates::default(),
            ledger: Vec::new(),
        }
    }

    /// The same shop with one way of delivery, which it chooses itself: a checkout with an address is ready at once.
    pub fn with_single_delivery(mut self) -> Shop {
        self.trade.deliveries.truncate(1);
        self
    }

    /// The same shop with other costs besides the goods.
    pub fn with_terms(mut self, terms: Terms) -> Shop {
        if let Some(price) = terms.delivery {
            self.trade.deliveries = vec![Delivery { id: "standard", title: "Standard", price }];
        }
        self.trade.terms = terms;
        self
    }

    /// The same shop, which also takes the mandates of this trusted surface.
    pub fn trusting(mut self, surface: PublicKey) -> Shop {
        self.trade.surfaces = self.trade.surfaces.with(surface);
        self
    }

    /// The same shop under another name for people. Without one it is named after its host.
    pub fn named(mut self, name: &str) -> Shop {
        self.trade.merchant.name = name.to_owned();
        self
    }

    /// The same shop in the first form of the protocol (2026-01-11): it signs nothing, and [`TEST_TOKEN`](crate::TEST_TOKEN) pays.
    pub fn in_first_form(mut self) -> Shop {
        self.trade.form = Form::First;
        self
    }

    /// The same shop in the first form, which takes this token of this payment handler for test money.
    pub fn paid_by(mut self, handler: &str, token: &str) -> Shop {
        self.trade.till = Till { handler: handler.to_owned(), token: token.to_owned() };
        self
    }

    /// The same shop, which answers only calls that are signed under one of these keys (RFC 9421).
    pub fn answering_only(mut self, callers: KeySet) -> Shop {
        self.trade.callers = Some(callers);
        self
    }

    /// Learns these keys of a guard, as from its profile: the shop takes mandates under them, and answers calls.
    pub fn learn(&mut self, keys: &KeySet) {
        self.trade.surfaces.extend(keys.clone());
        if let Some(callers) = &mut self.trade.callers {
            callers.extend(keys.clone());
        }
    }

    /// Whether it has a session of this name.
    pub fn has_session(&self, id: &str) -> bool {
        self.sessions.contains_key(id)
    }

    /// Who the shop is, as its checkouts say.
    pub fn merchant(&self) -> &Merchant {
        &self.trade.merchant
    }

    /// What was sold and paid in test money, in order. There is no other record of it.
    pub fn ledger(&self) -> &[Sale] {
        &self.ledger
    }

    /// Sets how the shop behaves from the next call on.
    pub fn behave(&mut self, behaviour: Behaviour) {
        self.trade.behaviour = behaviour;
    }

    /// Answers a call. `now` is in seconds since 1970, and `entropy` gives 16 random bytes, with which the shop names its sessions and
    /// orders.
    pub fn answer(
        &mut self,
        request: &Request<'_>,
        now: u64,
        entropy: &mut dyn FnMut() -> [u8; 16],
    ) -> Answer {
        let form = self.trade.form;
        self.route(request, now, entropy).unwrap_or_else(|refusal| refusal.answer(form))
    }

    fn route(
        &mut self,
        request: &Request<'_>,
        now: u64,
        entropy: &mut Entropy<'_>,
    ) -> Result<Answer, Refusal> {
        let route = Route::of(request)?;
        // A profile is public, so nobody has to say who asks for it.
        if matches!(route, Route::Profile) {
            return Ok(self.trade.profile_answer());
        }
        let agent = agent(request).ok_or(Refusal::Agent)?;
        if let Some(callers) = &self.trade.callers {
            let url = self.trade.at(request.path).ok_or(Refusal::Path)?;
            let header = |name: &str| request.header(name).map(str::to_owned);
            let call =
                SignedCall { method: request.method.into(), url: &url, header: &header, body: request.body };
            call.verify(callers).map_err(|_| Refusal::Signature)?;
        }
        let call = match route {
            Route::Profile => return Err(Refusal::Path),
            Route::Show(id) => return self.show(id, now),
            Route::Write(call) => call,
        };
        let is_json = |kind: &str| kind.split(';').next().map(str::trim) == Some("application/json");
        if !request.body.is_empty() && !request.header("Content-Type").is_some_and(is_json) {
            return Err(Refusal::ContentType);
        }
        let key = CallKey::of(request, &agent)?;
        if let Some(answer) = self.answered.find(&key, request)? {
            return Ok(answer);
        }
        if matches!(call, Call::Complete(_)) && self.trade.behaviour == Behaviour::DropsComplete {
            return Err(Refusal::Dropped);
        }
        let form = self.trade.form;
        let answer =
            self.write(call, request.body, now, entropy).unwrap_or_else(|refusal| refusal.answer(form));
        self.answered.keep(key, request, &answer);
        Ok(answer)
    }

    fn write(
        &mut self,
        call: Call<'_>,
        body: &[u8],
        now: u64,
        entropy: &mut Entropy<'_>,
    ) -> Result<Answer, Refusal> {
        match call {
            Call::Create => self.create(&OrderBody::read(body)?, now, entropy),
            Call::Update(id) => self.update(id, &OrderBody::read(body)?, now),
            Call::Complete(id) => self.complete(id, body, now, entropy),
            Call::Cancel(id) => {
                check_unused(body)?;
                self.cancel(id, now)
            }
        }
    }

    /// A session, whose time may be over.
    fn session(&mut self, id: &str, now: u64) -> Result<(&Trade, &mut Session), Refusal> {
        let session = self.sessions.get_mut(id).ok_or(Refusal::Session)?;
        session.expire(now);
        Ok((&self.trade, session))
    }

    fn show(&mut self, id: &str, now: u64) -> Result<Answer, Refusal> {
        let (trade, session) = self.session(id, now)?;
        session.settle();
        Ok(trade.answer(200, session, None))
    }

    fn create(&mut self, body: &OrderBody, now: u64, entropy: &mut Entropy<'_>) -> Result<Answer, Refusal> {
        let trade = &self.trade;
        let order = match Order::find(body, &trade.catalogue, &trade.deliveries) {
            Ok(order) => order,
            Err(why) => return self.trade.unavailable(why),
        };
        let (id, nonce) = (name("chk_", entropy), name("", entropy));
        let mut session = Session::new(id.clone(), nonce, order, now);
        let answer = trade.answer(201, &mut session, None);
        self.sessions.insert(id, session);
        Ok(answer)
    }

    fn update(&mut self, id: &str, body: &OrderBody, now: u64) -> Result<Answer, Refusal> {
        let (trade, session) = self.session(id, now)?;
        let session = session.open()?;
        match Order::find(body, &trade.catalogue, &trade.deliveries) {
            Ok(order) => {
                let before = std::mem::replace(&mut session.order, order);
                // As in the reference server, whose PUT keeps the destinations that it does not repeat.
                if trade.form == Form::First && session.order.destinations.is_empty() {
                    session.order.destinations = before.destinations;
                    session.order.destination = before.destination;
                }
            }
            Err(why) => return trade.unavailable(why),
        }
        Ok(trade.answer(200, session, None))
    }

    fn cancel(&mut self, id: &str, now: u64) -> Result<Answer, Refusal> {
        let (trade, session) = self.session(id, now)?;
        session.open()?.state = State::Canceled;
        Ok(trade.answer(200, session, None))
    }

    fn complete(
        &mut self,
        id: &str,
        body: &[u8],
        now: u64,
        entropy: &mut Entropy<'_>,
    ) -> Result<Answer, Refusal> {
        let session = self.sessions.get_mut(id).ok_or(Refusal::Session)?;
        session.expire(now);
        let session = session.open()?;
        let offer = self.trade.offer(session);
        let accepted = match self.trade.form {
            Form::First => {
                let body = read(body)?;
                first_form::check(&self.trade, &offer, &body)?;
                first_form::accept(&offer, &body)
            }
            Form::Later => {
                let body: CompleteBody = read(body)?;
                check(&self.trade, &offer, &body, &session.nonce, now, &mut self.used)
            }
        };
        let sold = accepted.and_then(|accepted| sold(&self.trade, offer, &accepted, now, entropy));
        let (sold, sale) = match sold {
            Ok(sold) => sold,
            Err(why) => return Ok(self.trade.answer(200, session, Some(why.message()))),
        };
        for product in &mut self.trade.catalogue {
            let of_it = sale.lines.iter().filter(|line| line.item == product.id);
            for line in of_it {
                let pieces = u16::try_from(line.quantity.get()).unwrap_or(u16::MAX);
                product.stock = product.stock.saturating_sub(pieces);
            }
        }
        self.ledger.push(sale);
        session.state = match self.trade.behaviour {
            Behaviour::InProgress => State::InProgress(Box::new(sold)),
            _ => State::Completed(Box::new(sold)),
        };
        let is_late = self.trade.behaviour == Behaviour::AnswersLate;
        Ok(Answer { is_late, ..self.trade.answer(200, session, None) })
    }
}

/// The address of the profile that a call names in `UCP-Agent`, a dictionary of structured fields (RFC 8941).
fn agent(request: &Request<'_>) -> Option<String> {
    let members = request.header("UCP-Agent")?.split(',');
    let mut profiles = members.filter_map(|member| member.trim().strip_prefix("profile=\""));
    let (profile, _) = profiles.next()?.split_once('"')?;
    let url = Url::parse(profile).ok()?;
    ["http", "https"].contains(&url.scheme()).then(|| url.into())
}
