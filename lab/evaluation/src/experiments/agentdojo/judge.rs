//! The policy's answer to a call.

use portcullis::policy::{
    Carried, Consent, DecisionPoint, Event, History, Millis, Policy, Question, Task, VerbKind, Verdict,
    authority,
};
use portcullis::signals::{
    Container, ContainerId, Destination, DocumentId, Fact, FrameId, NodeId, Observed, Origin, Sink, Snapshot,
    TlsState,
};

use super::label::Label;
use super::tools::App;

/// The policy of the replay, as shipped in `policies/agentdojo.policy`.
pub const POLICY: &str = include_str!("../../../../../policies/agentdojo.policy");

/// The answer to a call, ordered from the safest to the least safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// It is refused.
    Denied,
    /// The user is asked.
    Asked,
    /// It is made without a prompt.
    Granted,
}

/// The reason why a policy cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The policy text does not parse.
    #[error("the policy does not read: {0}")]
    Text(String),
    /// A statement about it does not hold.
    #[error("the policy does not hold: {0}")]
    Violated(String),
    /// A service's address is not one.
    #[error("a service has no valid address")]
    Address,
}

/// A decision point with a simulated page for each service.
pub struct Judge {
    decision: DecisionPoint,
    task: Task,
    pages: Vec<(App, Observed<Snapshot>)>,
}

const SERVICES: [(App, &str); 6] = [
    (App::Bank, "https://bank.example"),
    (App::Files, "https://files.example"),
    (App::Mail, "https://mail.example"),
    (App::Calendar, "https://calendar.example"),
    (App::Drive, "https://drive.example"),
    (App::Other, "https://other.example"),
];

impl Judge {
    /// A judge by a policy's text. Only browsers and tests can make observations, so the caller supplies them: a test
    /// or example passes `|page| Observed::simulated(page, 1)`.
    ///
    /// # Errors
    /// The text is not a policy, or one of its statements does not hold.
    pub fn new(policy: &str, observe: fn(Snapshot) -> Observed<Snapshot>) -> Result<Judge, JudgeError> {
        let compiled = Policy::parse(policy)
            .and_then(|policy| policy.compile())
            .map_err(|error| JudgeError::Text(error.to_string()))?;
        let checked = compiled.check().map_err(|violations| {
            JudgeError::Violated(violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?;
        let mut origins = Vec::new();
        let mut pages = Vec::new();
        for (app, address) in SERVICES {
            let origin = Origin::parse(address).map_err(|_| JudgeError::Address)?;
            pages.push((app, observe(page(&origin))));
            origins.push(origin);
        }
        let task = Task::new(origins, Vec::new(), None, Container::T2);
        Ok(Judge { decision: authority(checked, [0; 16]).0, task, pages })
    }

    /// Decides a call by the service it acts on and the label of what it carries; a call that only reads
    /// carries nothing.
    pub fn decide(&mut self, call: Option<(App, Label)>) -> Answer {
        let (verb, app, label) = match call {
            Some((app, label)) => (VerbKind::Submit, app, label),
            None => (VerbKind::Read, App::Other, Label::Own),
        };
        let page = self.pages.iter().find(|(of, _)| *of == app).map(|(_, page)| page);
        let question = Question {
            event: Event::Verb { verb, to: None, carries: Fact::Known(carried(label)) },
            page,
            task: &self.task,
            consent: Consent::None,
            history: History::default(),
            safety: Fact::Unknown,
            now: Millis(0),
        };
        match self.decision.decide(&question) {
            Verdict::Grant(_) => Answer::Granted,
            Verdict::Ask(_) => Answer::Asked,
            Verdict::Deny(_) => Answer::Denied,
        }
    }
}

/// The label that counts as the user's own.
fn carried(label: Label) -> Carried {
    match label {
        Label::Own | Label::Singled => Carried::Own,
        Label::Here | Label::Nowhere => Carried::Here,
        Label::Elsewhere => Carried::Elsewhere,
    }
}

/// A page of a service with a form that posts to the same service.
fn page(origin: &Origin) -> Snapshot {
    let document = Fact::Known(DocumentId::new("document"));
    Snapshot {
        container: Fact::Known(Container::T2),
        container_id: ContainerId::new("container"),
        frame: FrameId::new("frame"),
        document: document.clone(),
        top_document: document,
        origin: Fact::Known(origin.clone()),
        path: Fact::Known("/checkout".into()),
        top_origin: Fact::Known(origin.clone()),
        ancestors: Fact::Known(Vec::new()),
        tls: Fact::Known(TlsState::Valid),
        sandboxed: Fact::Known(false),
        secure_context: Fact::Known(true),
        form: Some(NodeId(1)),
        destination: Fact::Known(Destination {
            origin: origin.clone(),
            path: "/".into(),
            method: "POST".into(),
        }),
        sink: Fact::Known(Sink::Other),
        target: None,
        controls: Vec::new(),
        words: Default::default(),
    }
}
