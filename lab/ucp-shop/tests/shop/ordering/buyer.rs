//! A buyer with the client of `checkout_protocols`, and the line to the shop, which can lose answers.

use checkout_protocols::{
    Agent, Bought, Buyer, Call, Completion, Confirmed, Credential, Instrument, KeySet, OrderFault,
    PROFILE_PATH, PaymentMeans, PaymentToken, PostalAddress, Preparing, Profile, Reply, Signer, Step, Wanted,
    Wish,
};
use ucp_shop::{Answer, Behaviour, HANDLER, Method, Request, Shop, TEST_TOKEN};
use url::Url;

use crate::client::{NOW, ORIGIN, key, shop};

pub const STREET: &str = "17 Canary Quarry Road";

/// What becomes of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    /// The shop never gets it.
    IsLost,
    /// The shop carries it out, and its answer is lost.
    AnswerIsLost,
}

/// Decides over each call.
pub type Fates = Box<dyn FnMut(usize, &Call) -> Fate>;

/// How an order ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Bought(Bought),
    NotBought(OrderFault),
    Escalated(Url),
    Unknown,
    /// The program ended at this call.
    Crashed,
}

/// The shop at the other end of a line.
pub struct Line {
    pub shop: Shop,
    pub now: u64,
    /// Decides over each call, by its number from 0 and its path.
    pub fate: Fates,
    /// The calls that were sent so far, as method and last part of the path.
    pub sent: Vec<String>,
    /// The program ends before this call is sent.
    pub crash_at: Option<usize>,
    /// The shop behaves so from the second look on.
    pub later: Option<Behaviour>,
    /// What becomes of each checkout on its way back.
    pub rewrites: Option<fn(&mut serde_json::Value)>,
    /// The token that the buyer pays by, if it is not by mandates.
    pub token: Option<&'static str>,
    pub agent: Agent,
    pub number: u128,
}

/// The program ended.
pub struct Crash;

impl Line {
    pub fn new() -> Line {
        Line {
            shop: shop().answering_only(KeySet::of(key(4).public())),
            now: NOW,
            fate: Box::new(|_, _| Fate::Arrives),
            sent: Vec::new(),
            crash_at: None,
            later: None,
            rewrites: None,
            token: None,
            agent: Agent::new("http://127.0.0.1:9/agent".parse().unwrap(), key(4)),
            number: 0,
        }
    }

    /// A shop that signs nothing, as the first form of the protocol has it, and a buyer with a token.
    pub fn unsigned() -> Line {
        Line { shop: shop().in_first_form(), token: Some(TEST_TOKEN), ..Line::new() }
    }

    pub fn behaving(behaviour: Behaviour) -> Line {
        let mut line = Line::new();
        line.shop.behave(behaviour);
        line
    }

    pub fn random(&mut self) -> [u8; 16] {
        self.number += 1;
        self.number.to_be_bytes()
    }

    fn ask(&mut self, method: Method, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let number = &mut self.number;
        let mut entropy = || {
            *number += 1;
            number.to_be_bytes()
        };
        self.shop.answer(&Request { method, path, headers, body }, self.now, &mut entropy)
    }

    /// Reads the profile as a guard does: no redirect is followed.
    pub fn profile(&mut self) -> Option<Profile> {
        let answer = self.ask(Method::Get, PROFILE_PATH, &[], b"");
        let text = Some(answer.body).filter(|_| answer.status == 200)?;
        Profile::read(&text, &ORIGIN.parse().unwrap()).ok()
    }

    /// Sends a call, and hands on what comes back.
    pub fn send<T>(&mut self, call: &Call, take: impl FnOnce(Reply<'_>) -> T) -> Result<T, Crash> {
        let number = self.sent.len();
        if self.crash_at == Some(number) {
            return Err(Crash);
        }
        let last = call.url().path_segments().unwrap().next_back().unwrap().to_owned();
        let last = if last.starts_with("chk_") { "one".to_owned() } else { last };
        if call.method() == checkout_protocols::Method::Get
            && let Some(later) = self.later.take()
        {
            self.shop.behave(later);
        }
        self.sent.push(format!("{} {last}", call.method().as_str()));
        self.now += 1;
        let fate = (self.fate)(number, call);
        if fate == Fate::IsLost {
            return Ok(take(Reply::Lost));
        }
        let method = match call.method() {
            checkout_protocols::Method::Get => Method::Get,
            checkout_protocols::Method::Post => Method::Post,
            checkout_protocols::Method::Put => Method::Put,
        };
        assert_eq!(call.url().origin().ascii_serialization(), ORIGIN, "no call leaves the shop's origin");
        let headers = call.headers(&self.agent);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = self.ask(method, call.url().path(), &headers, call.body());
        if answer.is_late || fate == Fate::AnswerIsLost {
            return Ok(take(Reply::Lost));
        }
        let Some(rewrite) = self.rewrites.filter(|_| [200, 201].contains(&answer.status)) else {
            return Ok(take(Reply::Answer { status: answer.status, body: &answer.body }));
        };
        let mut checkout = serde_json::from_slice(&answer.body).unwrap();
        rewrite(&mut checkout);
        let body = checkout.to_string();
        Ok(take(Reply::Answer { status: answer.status, body: body.as_bytes() }))
    }

    pub fn sales(&self) -> usize {
        self.shop.ledger().len()
    }
}

/// Two kettles, to the canary's address.
pub fn wish() -> Wish {
    let mut address = PostalAddress::default();
    address.first_name = "Ada".into();
    address.last_name = "Canary".into();
    address.street_address = STREET.into();
    address.address_locality = "Berkeley".into();
    address.postal_code = "94704".into();
    address.address_country = "US".into();
    let mut buyer = Buyer::default();
    buyer.email = "ada@canary.example".into();
    Wish {
        items: vec![Wanted { item: "kettle".into(), quantity: 2.try_into().unwrap() }],
        address: Some(address),
        buyer: Some(buyer),
        means: PaymentMeans {
            handler: HANDLER.into(),
            instrument: Instrument { id: "purse".into(), kind: "test_money".into(), description: None },
            credential: Credential::Mandate,
        },
        currency: None,
    }
}

/// The shop's id of the checkout that the buyer was about to complete, as a journal has it.
pub type Journal = Option<(String, u64)>;

/// Orders as a guard does: prepare, a user who says yes to everything, the second look, the journal, the mandates.
pub fn order(line: &mut Line, wish: Wish, journal: &mut Journal) -> End {
    run(line, wish, journal).unwrap_or(End::Crashed)
}

fn run(line: &mut Line, mut wish: Wish, journal: &mut Journal) -> Result<End, Crash> {
    if line.token.is_some() {
        wish.means.credential = Credential::Token;
        wish.currency = Some("USD".to_owned().try_into().unwrap());
    }
    let Some(shop) = line.profile() else { return Ok(End::NotBought(OrderFault::NotOffered)) };
    let mut preparing = match Preparing::begin(shop, wish, &mut || line.random()) {
        Ok(preparing) => preparing,
        Err(fault) => return Ok(End::NotBought(fault)),
    };
    let offered = loop {
        let mut salt = line.random();
        let mut random = move || {
            salt[0] = salt[0].wrapping_add(1);
            salt
        };
        // The call is lent while it is sent, and the machine is moved with the answer.
        let reply = line.send(preparing.call(), Kept::of)?;
        match preparing.answered(reply.reply(), &mut random) {
            Ok(Step::Call(next)) => preparing = *next,
            Ok(Step::Offered(offered)) => break *offered,
            Ok(Step::Escalated(url)) => return Ok(End::Escalated(url)),
            Err(fault) => return Ok(End::NotBought(fault)),
        }
    };
    let id = offered.id().to_owned();
    let mut confirming = offered.confirm();
    let confirmed = loop {
        let reply = line.send(confirming.call(), Kept::of)?;
        match confirming.answered(reply.reply(), line.now) {
            Ok(Confirmed::Call(next)) => confirming = *next,
            Ok(confirmed) => break confirmed,
            Err(fault) => return Ok(End::NotBought(fault)),
        }
    };
    *journal = Some((id, line.now));
    let (surface, agent) = (key(1), key(2));
    let ready = match confirmed {
        Confirmed::Call(_) => unreachable!(),
        Confirmed::Agreed(order) => {
            order.sign(&Signer { surface: &surface, agent: &agent }, &mut || line.random())
        }
        Confirmed::AgreedUnsigned(order) => {
            let token = PaymentToken::new(line.token.unwrap_or_default().to_owned(), None);
            order.pay(token, &mut || line.random())
        }
    };
    let mut completing = match ready {
        Ok(completing) => completing,
        Err(fault) => return Ok(End::NotBought(fault)),
    };
    loop {
        let reply = line.send(completing.call(), Kept::of)?;
        match completing.answered(reply.reply(), line.now) {
            Completion::Call(next, pause) => {
                line.now += pause.as_secs();
                completing = *next;
            }
            Completion::Bought(bought) => return Ok(End::Bought(bought)),
            Completion::NotBought(fault) => return Ok(End::NotBought(fault)),
            Completion::Unknown => return Ok(End::Unknown),
        }
    }
}

/// An answer that outlives the line's loan.
pub struct Kept(Option<(u16, Vec<u8>)>);

impl Kept {
    pub fn of(reply: Reply<'_>) -> Kept {
        match reply {
            Reply::Answer { status, body } => Kept(Some((status, body.to_vec()))),
            Reply::Lost => Kept(None),
        }
    }

    pub fn reply(&self) -> Reply<'_> {
        match &self.0 {
            Some((status, body)) => Reply::Answer { status: *status, body },
            None => Reply::Lost,
        }
    }
}
