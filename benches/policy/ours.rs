//! Our side: from a sample to a question, and its answer.

use browser_signals::{
    Container, ContainerId, Control, Destination, DocumentId, Fact, FrameId, NodeId, Observed, Origin, Sink,
    Snapshot, TlsState,
};
use policy_dfa::{
    Basis, Carried, Checked, Compiled, Event, Goal, History, Millis, Placement, Question, SessionEvent, Task,
    Verdict,
};
use sirl::{Claim, Currency, Items, Money, Pointers, Request, Tier};

use crate::sample::{Act, BUDGET_MINOR, Chosen, Claims, FORM, PageFacts, Sample, TASK_ORIGINS};

/// The three answers. Reasons are not compared: Cedar has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    Grant,
    Ask,
    Deny,
}

/// The data that [`Question`] borrows.
pub struct Built {
    page: Option<Observed<Snapshot>>,
    request: Option<(Request, Vec<Placement>, Option<Money>)>,
    to: Option<Origin>,
}

fn dollars(minor: u64) -> Money {
    Money { minor, currency: Currency::new("USD").unwrap() }
}

fn origin(text: &str) -> Origin {
    Origin::parse(text).unwrap()
}

const TIERS: [(Container, Tier); 3] =
    [(Container::T0, Tier::T0), (Container::T1, Tier::T1), (Container::T2, Tier::T2)];

/// The sealed task, which outlives one question.
fn task(sample: &Sample) -> Task {
    let origins = TASK_ORIGINS.map(origin).to_vec();
    let raised = TIERS[usize::from(sample.raised)].0;
    Task::new(origins, sample.kinds.clone(), Some(dollars(BUDGET_MINOR)), raised)
}

fn claim(words: &Claims) -> Claim {
    Claim {
        origin: words.origin.clone(),
        top_origin: words.top_origin.clone(),
        container: words.tier.map(|tier| TIERS[usize::from(tier)].1),
        tls: words.tls,
        sink: words.sink.map(str::to_owned),
        total: words.total.map(dollars),
        ..Claim::default()
    }
}

fn control(chosen: &Chosen) -> Control {
    Control {
        node: NodeId(chosen.node),
        form: Some(NodeId(chosen.form)),
        tag: if chosen.text_area { "textarea" } else { "input" }.to_owned(),
        input_type: "text".to_owned(),
        autocomplete: String::new(),
        name: String::new(),
        label: String::new(),
        visible: chosen.visible.into(),
        hit: chosen.hit.into(),
        editable: chosen.editable,
        filled: false,
        words: Default::default(),
    }
}

fn snapshot(page: &PageFacts) -> Snapshot {
    Snapshot {
        container: page.tier.map(|tier| TIERS[usize::from(tier)].0).into(),
        container_id: ContainerId::new("context-1"),
        frame: FrameId::new("frame-1"),
        document: page.document.as_deref().map(DocumentId::new).into(),
        top_document: page.top_document.as_deref().map(DocumentId::new).into(),
        origin: page.origin.as_deref().map(origin).into(),
        path: Fact::Unknown,
        top_origin: page.top_origin.as_deref().map(origin).into(),
        ancestors: page.ancestors.as_ref().map(|all| all.iter().map(|text| origin(text)).collect()).into(),
        tls: match page.tls {
            Some("valid") => Fact::Known(TlsState::Valid),
            Some("broken") => Fact::Known(TlsState::Broken),
            Some(_) => Fact::Known(TlsState::Insecure),
            None => Fact::Unknown,
        },
        sandboxed: Fact::Known(false),
        secure_context: Fact::Unknown,
        form: Some(NodeId(FORM)),
        destination: page
            .destination
            .as_ref()
            .map(|(to, path)| Destination {
                origin: origin(to),
                path: path.as_str().into(),
                method: "POST".into(),
            })
            .into(),
        sink: match page.sink {
            Some("payment_form") => Fact::Known(Sink::PaymentForm),
            Some("address_form") => Fact::Known(Sink::AddressForm),
            Some("login_form") => Fact::Known(Sink::LoginForm),
            Some("free_text") => Fact::Known(Sink::FreeText),
            Some(_) => Fact::Known(Sink::Other),
            None => Fact::Unknown,
        },
        target: page.chosen.first().map(control),
        controls: page.chosen.iter().filter(|chosen| chosen.on_page).map(control).collect(),
        words: Default::default(),
    }
}

/// Builds everything for one question from its texts.
pub fn build(sample: &Sample) -> Built {
    let page = sample.page.as_ref().map(|page| Observed::simulated(snapshot(page), 1));
    match &sample.act {
        Act::Request { kind, fields, amount, claim: words } => {
            let request = Request {
                kind: *kind,
                fields: fields.iter().copied().collect(),
                at: Pointers::default(),
                items: Items::default(),
                claim: claim(words),
            };
            // The guard pays a purchase, so no field is placed.
            let chosen = sample.page.iter().flat_map(|page| &page.chosen).filter(|_| !is_purchase(&request));
            let placement =
                |it: &Chosen| Placement { field: it.field, node: NodeId(it.node), basis: Basis::Page };
            let placements = chosen.map(placement).collect();
            Built { page, request: Some((request, placements, amount.map(dollars))), to: None }
        }
        Act::Verb { to, .. } => Built { page, request: None, to: to.as_deref().map(origin) },
    }
}

fn is_purchase(request: &Request) -> bool {
    request.kind == sirl::Kind::Purchase
}

/// The history before the question, as the policy counts it. A session keeps it from one question to the next.
fn history(sample: &Sample, policy: &Compiled<Checked>) -> History {
    let mut happened = vec![SessionEvent::Prompted; sample.prompts as usize];
    if sample.tainted {
        happened.push(SessionEvent::Suspected);
    }
    if sample.purchases > 0 {
        happened.push(SessionEvent::Paid(dollars(sample.spent_minor)));
    }
    happened.into_iter().fold(History::default(), |history, next| policy.after(history, next))
}

/// Makes the question that borrows the built data.
pub fn question<'a>(sample: &Sample, built: &'a Built, task: &'a Task, history: History) -> Question<'a> {
    let event = match (&built.request, &sample.act) {
        (Some((request, placements, amount)), _) => Event::Request { request, placements, amount: *amount },
        (None, Act::Verb { verb, foreign, .. }) => {
            let to = built.to.as_ref().map(|origin| Goal { origin, path: "/" });
            let carried = |foreign| if foreign { Carried::Elsewhere } else { Carried::Own };
            Event::Verb { verb: *verb, to, carries: foreign.map(carried).into() }
        }
        (None, Act::Request { .. }) => unreachable!("a request is always built"),
    };
    Question {
        event,
        page: built.page.as_ref(),
        task,
        consent: sample.consent,
        history,
        safety: Fact::Unknown,
        now: Millis(1_000),
    }
}

/// A sample, with everything that exists before the question.
pub struct Case {
    pub sample: Sample,
    pub task: Task,
    pub history: History,
    built: Built,
}

impl Case {
    pub fn new(sample: Sample, policy: &Compiled<Checked>) -> Case {
        Case { task: task(&sample), history: history(&sample, policy), built: build(&sample), sample }
    }

    pub fn question(&self) -> Question<'_> {
        question(&self.sample, &self.built, &self.task, self.history)
    }
}

/// The answer of a verdict.
pub fn answer(verdict: &Verdict) -> Answer {
    match verdict {
        Verdict::Grant(_) => Answer::Grant,
        Verdict::Ask(_) => Answer::Ask,
        Verdict::Deny(_) => Answer::Deny,
    }
}
