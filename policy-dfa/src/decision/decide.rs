//! The decision point: from a question to a verdict, with the grant in it.

use std::sync::Arc;

use browser_signals::{Origin, Snapshot};
use sha2::{Digest, Sha256};
use sirl::{FieldSet, Kind, Money, Tier};

use super::grant::{AuthorityId, Fill, Grant, Model, PaymentApi, Placements, Terms, Ucp, Verifier, Wire};
use super::history::{History, SessionEvent};
use super::possible::{Possible, Prospect};
use super::provider::ProviderFrame;
use super::question::{Event, Millis, Question, Task};
use super::valuation::destination;
use crate::automaton::compile::{Checked, Compiled};
use crate::language::policy::Thresholds;
use crate::language::provider::Provider;
use crate::vocabulary::alphabet::Valuation;
use crate::vocabulary::event::{Root, VerbKind};
use crate::vocabulary::outcome::{ConsentScope, Delivery, Outcome};
use crate::vocabulary::reason::Reason;

/// The answer to one question.
#[allow(clippy::large_enum_variant, reason = "a verdict is used at once and never stored in numbers")]
#[derive(Debug)]
#[must_use = "a verdict that is ignored protects nothing"]
pub enum Verdict {
    /// Granted, with the capability.
    Grant(Granted),
    /// Denied, with the first reason.
    Deny(Reason),
    /// Granted only if the user agrees to this prompt.
    Ask(Prompt),
}

/// The event that was granted, with its capability.
#[derive(Debug)]
#[must_use = "an unused grant is lost"]
pub enum Granted {
    /// A verb may be carried out.
    Verb,
    /// Values may be filled into the page.
    Fill(Grant<Fill>),
    /// Values may be inserted into an outgoing request.
    Wire(Grant<Wire>),
    /// A purchase may be made by the guard.
    PaymentApi(Grant<PaymentApi>),
    /// Values may be shown to the model.
    Model(Grant<Model>),
    /// The address of an order may be told to the shop's endpoint, or the order may be placed there.
    Ucp(Grant<Ucp>),
}

/// The prompt that the user must answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The kind of request, or `None` for a verb.
    pub kind: Option<Kind>,
    /// The fields that it is about.
    pub fields: FieldSet,
    /// For a purchase, the amount.
    pub amount: Option<Money>,
    /// How long the consent holds.
    pub scope: ConsentScope,
}

/// How long a grant can be redeemed, in milliseconds.
pub const GRANT_LIFETIME_MS: u64 = 60_000;

/// Decides questions by one policy. Only it and those that it makes [for other sessions](DecisionPoint::for_another_session) have grants
/// that its [`Verifier`] honours.
///
/// ```compile_fail
/// // A policy that is not checked cannot decide.
/// let policy = policy_dfa::Policy::parse("").unwrap();
/// policy_dfa::authority(policy.compile().unwrap(), [0; 16]);
/// ```
pub struct DecisionPoint {
    policy: Arc<Compiled<Checked>>,
    authority: AuthorityId,
    requests: u64,
}

/// Makes a decision point for a checked policy, and the one verifier that honours its grants.
///
/// `entropy` must be fresh and unguessable: it keeps the grants of two authorities apart.
///
/// ```
/// use policy_dfa::{EXAMPLE_POLICY, Policy, authority};
///
/// let compiled = Policy::parse(EXAMPLE_POLICY).unwrap().compile().unwrap();
/// let checked = compiled.check().unwrap();
/// let (decision_point, verifier) = authority(checked, [7; 16]);
/// # let _ = (decision_point, verifier);
/// ```
pub fn authority(policy: Compiled<Checked>, entropy: [u8; 16]) -> (DecisionPoint, Verifier) {
    // The policy is part of the id, so that two policies differ even with the same entropy.
    let digest: [u8; 32] = Sha256::new()
        .chain_update(b"portcullis authority")
        .chain_update(entropy)
        .chain_update(policy.policy_hash())
        .finalize()
        .into();
    let mut id = [0; 16];
    id.iter_mut().zip(digest).for_each(|(slot, byte)| *slot = byte);
    let decision_point = DecisionPoint { policy: Arc::new(policy), authority: AuthorityId(id), requests: 0 };
    (decision_point, Verifier::new(AuthorityId(id)))
}

impl DecisionPoint {
    /// The same policy and authority for a session at the same time, with request numbers of its own. A grant of one session opens
    /// nothing in another: it names its container.
    #[must_use]
    pub fn for_another_session(&self) -> DecisionPoint {
        DecisionPoint { policy: Arc::clone(&self.policy), authority: self.authority, requests: 0 }
    }

    /// Answers one question. The first guard that fails gives the reason. The user is asked only about events that
    /// consent would grant.
    ///
    /// It allocates nothing, since a grant shares its strings with the snapshot. The one exception is a claim with an
    /// origin in a form that no browser writes, see [`Origin::is_written_as`](browser_signals::Origin::is_written_as).
    pub fn decide(&mut self, question: &Question<'_>) -> Verdict {
        let (root, outcome) = self.policy.answer(question);
        match outcome {
            Outcome::Deny(_, reason) => Verdict::Deny(reason),
            Outcome::Ask(scope) => Verdict::Ask(prompt(question, scope)),
            Outcome::Grant(None) => match root {
                Root::Verb(_) => Verdict::Grant(Granted::Verb),
                Root::Request(..) | Root::Checkout(..) => Verdict::Deny(Reason::DeliveryForbidden),
            },
            Outcome::Grant(Some(delivery)) => self.mint(question, delivery),
        }
    }

    /// The root and the valuation of a question, on which alone the verdict of [`decide`](Self::decide) depends.
    pub fn valuation(&self, question: &Question<'_>) -> (Root, Valuation) {
        (self.policy.root(&question.event), self.policy.valuation(question))
    }

    /// The compiled policy as bytes, as `spec/policy-bytes.md` describes them.
    pub fn policy_bytes(&self) -> Vec<u8> {
        self.policy.to_bytes()
    }

    /// The outcomes that a request can still have, judged by the task and the history before any page is open. So a
    /// request that can never be granted can be refused without a prompt.
    ///
    /// Where the policy delivers it by `ucp` too, they are those of the better way: in a page, or at a shop's endpoint.
    pub fn preflight(&self, kind: Kind, fields: FieldSet, task: &Task, history: &History) -> Possible {
        let policy = self.policy.policy();
        let possible = |root| self.policy.possible(root, &self.policy.before_page(root, task, history));
        let in_page = possible(policy.root_of(kind, fields));
        let Some(rule) = policy.requests.get(&kind).filter(|rule| rule.orders()) else { return in_page };
        let ordered = possible(policy.checkout_root_of(kind, fields));
        // A policy that delivers by `ucp` alone has no reason for the page but that.
        if rule.in_page().is_none() || ordered.prospect > in_page.prospect { ordered } else { in_page }
    }

    /// The ways in which the policy delivers this kind of request, in its order; none where it delivers nothing. An order of the
    /// guard ([`Event::Checkout`]) is granted by [`Delivery::Ucp`], and a request in a page by the first other way.
    pub fn deliveries(&self, kind: Kind) -> &[Delivery] {
        self.policy.policy().requests.get(&kind).map_or(&[], |rule| &rule.deliver)
    }

    /// Whether the agent could open a page of an origin, judged by the task and the history before any page is open.
    pub fn may_open(&self, origin: &Origin, task: &Task, history: &History) -> bool {
        let root = Root::Verb(VerbKind::Open);
        let known = self.policy.before_page(root, task, history);
        let known = known.among(&[destination(
            Some(origin),
            |goal| task.is_about(goal),
            task.has_on_this_machine(origin),
        )]);
        known.is_some_and(|known| self.policy.possible(root, &known).prospect != Prospect::Never)
    }

    /// The payment provider whose frame in a page of the task this is, if the policy names it.
    pub fn provider_frame(&self, page: &Snapshot, task: &Task) -> Option<ProviderFrame> {
        self.policy.policy().provider_frame(page, task)
    }

    /// The payment providers that the policy names and lets be paid in their frames.
    pub fn providers(&self) -> &[Arc<Provider>] {
        let policy = self.policy.policy();
        let rule = policy.requests.get(&Kind::Payment);
        let is_used =
            rule.is_some_and(|rule| rule.clauses.iter().any(|clause| clause.test.passes_provider()));
        if is_used { policy.providers() } else { &[] }
    }

    /// Whether released values keep to the path of their grant (`values keep to their path`). Otherwise they may go to every path of the
    /// origin that they were granted to.
    pub fn values_keep_to_path(&self) -> bool {
        self.policy.policy().session.own_path
    }

    /// How long the policy lets consent to this kind of request hold; `None` where the user is not asked, or where no
    /// request of the kind is ever granted.
    pub fn consent_scope(&self, kind: Kind) -> Option<ConsentScope> {
        self.policy.policy().requests.get(&kind).and_then(|rule| rule.consent)
    }

    /// Whether the policy lets a mandate of the user's take the place of the question about a purchase.
    pub fn takes_mandates(&self) -> bool {
        self.policy.policy().requests.get(&Kind::Purchase).is_some_and(|rule| rule.mandate)
    }

    /// The tier of these fields under the policy, which raises the tier of some; `T0` for none.
    pub fn tier(&self, fields: FieldSet) -> Tier {
        let policy = self.policy.policy();
        fields.iter().map(|field| policy.tier(field)).max().unwrap_or(Tier::T0)
    }

    /// The history after an event, for the next questions.
    pub fn after(&self, history: History, event: SessionEvent) -> History {
        self.policy.after(history, event)
    }

    /// The SHA-256 of the policy's canonical text.
    pub fn policy_hash(&self) -> [u8; 32] {
        self.policy.policy_hash()
    }

    /// The safety thresholds, where the policy names them.
    pub fn thresholds(&self) -> Option<Thresholds> {
        self.policy.thresholds()
    }

    pub(super) fn policy(&self) -> &Compiled<Checked> {
        &self.policy
    }

    pub(super) fn authority(&self) -> AuthorityId {
        self.authority
    }

    /// The number of the next grant.
    pub(super) fn next_request(&mut self) -> u64 {
        self.requests = self.requests.saturating_add(1);
        self.requests
    }

    fn mint(&mut self, question: &Question<'_>, delivery: Delivery) -> Verdict {
        self.next_request();
        let Some(terms) = self.terms(question, delivery) else {
            // A grant needs a page, an origin, a document and a control for each field. The check has proved that they
            // are known, so this is never reached.
            return Verdict::Deny(Reason::StaleDocument);
        };
        Verdict::Grant(match delivery {
            Delivery::Fill => Granted::Fill(Grant::mint(terms, self.authority)),
            Delivery::Wire => Granted::Wire(Grant::mint(terms, self.authority)),
            Delivery::PaymentApi => Granted::PaymentApi(Grant::mint(terms, self.authority)),
            Delivery::Model => Granted::Model(Grant::mint(terms, self.authority)),
            Delivery::Ucp => Granted::Ucp(Grant::mint(terms, self.authority)),
        })
    }

    fn terms(&self, question: &Question<'_>, delivery: Delivery) -> Option<Terms> {
        let observed = question.page?;
        let page: &Snapshot = observed.value();
        let in_page = matches!(delivery, Delivery::Fill | Delivery::Wire);
        let form_goal = || page.destination.known().filter(|_| in_page);
        // A grant of one way is never minted for an event of another.
        let (request, placements, amount, destination) = match (question.event, delivery) {
            (Event::Checkout { request, endpoint, amount }, Delivery::Ucp) => {
                (request, &[][..], amount, Some(endpoint))
            }
            (Event::Checkout { .. } | Event::Verb { .. }, _) | (_, Delivery::Ucp) => return None,
            (Event::Request { request, placements, amount }, _) => (request, placements, amount, form_goal()),
        };
        Some(Terms {
            request: self.requests,
            kind: request.kind,
            fields: request.effective_fields(),
            placements: if in_page { Placements::new(placements)? } else { Placements::NONE },
            container_id: page.container_id.clone(),
            frame: page.frame.clone(),
            document: page.document.known()?.clone(),
            origin: page.origin.known()?.clone(),
            form: page.form.filter(|_| in_page),
            destination: destination.cloned(),
            provider: self.policy.policy().provider_frame(page, question.task).filter(|_| in_page),
            tls: *page.tls.known()?,
            amount: amount.filter(|_| matches!(request.kind, Kind::Purchase | Kind::Payment)),
            policy: self.policy.policy_hash(),
            observed: observed.number(),
            expires: Millis(question.now.0.saturating_add(GRANT_LIFETIME_MS)),
        })
    }
}

fn prompt(question: &Question<'_>, scope: ConsentScope) -> Prompt {
    match question.event {
        Event::Request { request, amount, .. } | Event::Checkout { request, amount, .. } => Prompt {
            kind: Some(request.kind),
            fields: request.effective_fields(),
            amount: amount.filter(|_| request.kind == Kind::Purchase),
            scope,
        },
        Event::Verb { .. } => Prompt { kind: None, fields: FieldSet::EMPTY, amount: None, scope },
    }
}
