//! The answer of a policy to the call of a tool.

use portcullis::policy::{
    Carried, Consent, DecisionPoint, Event, History, Millis, Policy, Question, Task, VerbKind, Verdict,
    authority,
};
use portcullis::signals::{
    Container, ContainerId, Destination, DocumentId, Fact, FrameId, NodeId, Observed, Origin, Sink, Snapshot,
    TlsState,
};
use tool_provenance::{Covered, Why};

/// The policy for an agent with tools, as shipped in `policies/tool_agent.policy`.
pub const POLICY: &str = include_str!("../../../../policies/tool_agent.policy");

/// The service that all tools belong to.
const SERVICE: &str = "https://tools.example";

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
    /// The service's address is not one.
    #[error("the service of the tools has no valid address")]
    Address,
}

/// A decision point with a simulated page of the tools' service.
pub struct Judge {
    decision: DecisionPoint,
    task: Task,
    page: Observed<Snapshot>,
}

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
        let origin = Origin::parse(SERVICE).map_err(|_| JudgeError::Address)?;
        let page = observe(page(&origin));
        let task = Task::new(vec![origin], Vec::new(), None, Container::T2);
        Ok(Judge { decision: authority(checked, [0; 16]).0, task, page })
    }

    /// Decides a call that carries text of this origin, or one that only reads.
    pub fn decide(&mut self, call: Option<Carried>) -> Answer {
        let (verb, carried) = match call {
            Some(carried) => (VerbKind::Submit, carried),
            None => (VerbKind::Read, Carried::Own),
        };
        let question = Question {
            event: Event::Verb { verb, to: None, carries: Fact::Known(carried) },
            page: Some(&self.page),
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

/// The flow of an effect: the user's own where their words cover it. Words of others that would reach others were read elsewhere; all else
/// that is not covered counts as read where it goes, which `flow own` refuses as well.
pub fn flow_of(covered: Covered) -> Carried {
    match covered {
        Covered::Yes => Carried::Own,
        Covered::No(Why::Content) => Carried::Elsewhere,
        Covered::No(_) => Carried::Here,
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
