//! Sampled questions, as plain facts from which both sides build their requests.
//!
//! Every sample starts as one that is granted or asked. Then up to three facts are changed at random, so that grants,
//! questions and denials by every rule occur.

use crate::random::Random;
use policy_dfa::{Consent, VerbKind};
use sirl::{Field, Kind};

pub const TASK_ORIGINS: [&str; 2] = ["https://shop.example", "https://pay.shop.example:8443"];
pub const BUDGET_MINOR: u64 = 10_000;
pub const FORM: i64 = 1;

/// The request or verb to decide on.
#[derive(Clone)]
pub enum Act {
    Request { kind: Kind, fields: Vec<Field>, amount: Option<u64>, claim: Claims },
    Verb { verb: VerbKind, to: Option<String>, foreign: Option<bool> },
}

/// The claims of the model.
#[derive(Clone, Default)]
pub struct Claims {
    pub origin: Option<String>,
    pub top_origin: Option<String>,
    pub tier: Option<u8>,
    pub tls: Option<bool>,
    pub sink: Option<&'static str>,
    pub total: Option<u64>,
}

/// A control, and the field that was chosen for it.
#[derive(Clone)]
pub struct Chosen {
    pub field: Field,
    pub node: i64,
    pub form: i64,
    pub on_page: bool,
    pub editable: bool,
    pub text_area: bool,
    pub visible: Option<bool>,
    pub hit: Option<bool>,
}

/// The facts of the browser, each known or unknown.
#[derive(Clone)]
pub struct PageFacts {
    pub tier: Option<u8>,
    pub document: Option<String>,
    pub top_document: Option<String>,
    pub origin: Option<String>,
    pub top_origin: Option<String>,
    pub ancestors: Option<Vec<String>>,
    /// `valid`, `broken` or `insecure`.
    pub tls: Option<&'static str>,
    /// Origin and path.
    pub destination: Option<(String, String)>,
    /// The kind of form, as a claim writes it.
    pub sink: Option<&'static str>,
    pub chosen: Vec<Chosen>,
}

/// One question.
#[derive(Clone)]
pub struct Sample {
    pub act: Act,
    pub page: Option<PageFacts>,
    /// The tier that the user raised the task to.
    pub raised: u8,
    pub kinds: Vec<Kind>,
    pub consent: Consent,
    pub purchases: u32,
    pub prompts: u32,
    pub spent_minor: u64,
    pub tainted: bool,
}

const VERBS: [VerbKind; 8] = [
    VerbKind::Open,
    VerbKind::Read,
    VerbKind::Click,
    VerbKind::Type,
    VerbKind::Choose,
    VerbKind::Press,
    VerbKind::Submit,
    VerbKind::Idle,
];
const ORIGINS: [&str; 5] = [
    "https://shop.example",
    "https://pay.shop.example:8443",
    "http://shop.example",
    "https://evil.test",
    "http://evil.test",
];

fn one<T: Clone>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len() as u64) as usize].clone()
}

fn maybe<T: Clone>(random: &mut Random, choices: &[T]) -> Option<T> {
    (random.below(4) != 0).then(|| one(random, choices))
}

/// `count` samples, the same for the same seed.
pub fn samples(count: usize, seed: u64) -> Vec<Sample> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| {
            let mut sample = good(&mut random);
            for _ in 0..random.below(4) {
                spoil(&mut sample, &mut random);
            }
            sample
        })
        .collect()
}

fn good(random: &mut Random) -> Sample {
    let kind = one(random, &Kind::ALL);
    let shop = TASK_ORIGINS[0].to_owned();
    let request = random.below(3) != 0;
    let act = if request {
        let named = kind.allowed_fields().iter().filter(|_| random.below(2) == 0).collect();
        let amount = (kind == Kind::Purchase).then(|| 1 + random.below(BUDGET_MINOR));
        let claim = Claims {
            origin: maybe(random, &[TASK_ORIGINS[0]]).map(str::to_owned),
            top_origin: maybe(random, &[TASK_ORIGINS[0]]).map(str::to_owned),
            tier: maybe(random, &[2]),
            tls: maybe(random, &[true]),
            sink: maybe(random, &["address_form"]),
            total: amount,
        };
        Act::Request { kind, fields: named, amount, claim }
    } else {
        let verb = one(random, &VERBS);
        let to = (verb == VerbKind::Open).then(|| shop.clone());
        Act::Verb { verb, to, foreign: Some(false) }
    };
    let chosen = match &act {
        Act::Request { kind, fields, .. } => placed(*kind, fields),
        Act::Verb { .. } => placed(Kind::Otp, &[]),
    };
    let page = PageFacts {
        tier: Some(2),
        document: Some("loader-1".to_owned()),
        top_document: Some("loader-1".to_owned()),
        origin: Some(shop.clone()),
        top_origin: Some(shop.clone()),
        ancestors: Some(Vec::new()),
        tls: Some("valid"),
        destination: Some((shop, "/order".to_owned())),
        sink: Some(if request { "address_form" } else { "other" }),
        chosen,
    };
    Sample {
        act,
        page: Some(page),
        raised: 2,
        kinds: Kind::ALL.to_vec(),
        consent: one(random, &[Consent::None, Consent::Given]),
        purchases: 0,
        prompts: random.below(5) as u32,
        spent_minor: 0,
        tainted: false,
    }
}

/// Places one good control for each requested field.
fn placed(kind: Kind, fields: &[Field]) -> Vec<Chosen> {
    let asked: Vec<Field> =
        if fields.is_empty() { kind.default_fields().iter().collect() } else { fields.to_vec() };
    let control = |(field, node): (&Field, i64)| Chosen {
        field: *field,
        node,
        form: FORM,
        on_page: true,
        editable: true,
        text_area: false,
        visible: Some(true),
        hit: Some(true),
    };
    asked.iter().zip(10..).map(control).collect()
}

/// Changes one fact, often for the worse.
fn spoil(sample: &mut Sample, random: &mut Random) {
    let origin = maybe(random, &ORIGINS).map(str::to_owned);
    let number = random.next_u64();
    let fact = maybe(random, &[true, false]);
    let Some(page) = &mut sample.page else { return };
    match random.below(24) {
        0 => sample.consent = one(random, &[Consent::None, Consent::Refused, Consent::Expired]),
        1 => sample.kinds.retain(|kind| !number.is_multiple_of(2 + *kind as u64)),
        2 => sample.purchases = 1,
        3 => sample.prompts = 5,
        4 => {
            sample.purchases = 1;
            sample.spent_minor = number % BUDGET_MINOR;
        }
        5 => sample.tainted = true,
        6 => sample.raised = (number % 3) as u8,
        7 => page.tier = maybe(random, &[0, 1, 2]),
        8 => page.document = None,
        9 => page.top_document = maybe(random, &["loader-2".to_owned()]),
        10 => page.origin = origin,
        11 => page.top_origin = origin,
        12 => (page.origin, page.top_origin) = (origin.clone(), origin),
        13 => {
            page.ancestors = maybe(random, &[vec![TASK_ORIGINS[0].to_owned()], vec![ORIGINS[3].to_owned()]])
        }
        14 => page.tls = maybe(random, &["valid", "broken", "insecure"]),
        15 => page.destination = origin.map(|origin| (origin, "/elsewhere".to_owned())),
        16 => {
            page.sink = maybe(random, &["other", "payment_form", "address_form", "login_form", "free_text"])
        }
        17 => sample.page = None,
        18 => spoil_placement(page, random),
        19 => {
            let to_tier = (number % 3) as u8;
            (sample.raised, page.tier) = (to_tier, Some(to_tier));
        }
        _ => match &mut sample.act {
            Act::Request { claim, amount, fields, .. } => match number % 7 {
                0 => claim.origin = origin,
                1 => claim.top_origin = Some("the shop".to_owned()),
                2 => claim.tier = Some((number / 7 % 3) as u8),
                3 => claim.tls = fact,
                4 => claim.sink = maybe(random, &["payment_form", "address_form", "till"]),
                5 => *amount = amount.map(|amount| amount + number / 7 % BUDGET_MINOR),
                _ => *fields = vec![one(random, &Field::ALL)],
            },
            Act::Verb { to, foreign, .. } => match number % 2 {
                0 => *to = origin,
                _ => *foreign = fact,
            },
        },
    }
}

fn spoil_placement(page: &mut PageFacts, random: &mut Random) {
    let Some(last) = page.chosen.last_mut() else { return };
    match random.below(8) {
        0 => last.on_page = false,
        1 => last.editable = false,
        2 => last.text_area = true,
        3 => last.form = FORM + 1,
        4 => last.visible = maybe(random, &[true, false]),
        5 => last.hit = maybe(random, &[true, false]),
        6 => last.node = 10,
        _ => {
            page.chosen.pop();
        }
    }
}
