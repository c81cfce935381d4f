//! The decision point: from a question to a verdict, and the grant inside it.

use browser_signals::Snapshot;
use sha2::{Digest, Sha256};
use sirl::{FieldSet, Kind};

use crate::grant::AuthorityId;
use crate::policy::{Delivery, Thresholds};
use crate::table::{Outcome, Root};
use crate::{
    Checked, Compiled, ConsentScope, Event, Grant, Granted, Happened, History, Millis, Placements, Possible,
    Prompt, Question, Reason, Task, Terms, Valuation, Verdict, Verifier,
};

/// How long a grant can be redeemed, in milliseconds.
pub const GRANT_LIFETIME_MS: u64 = 60_000;

/// Decides. There is exactly one for each [`Verifier`], and neither can be copied.
///
/// ```compile_fail
/// // A policy about which nothing is proved cannot decide.
/// let policy = policy_dfa::Policy::parse("").unwrap();
/// policy_dfa::authority(policy.compile().unwrap(), [0; 16]);
/// ```
pub struct DecisionPoint {
    policy: Compiled<Checked>,
    authority: AuthorityId,
    requests: u64,
}

/// Makes a decision point for a checked policy, and the one verifier that honours its grants.
///
/// `entropy` must be fresh and unguessable: it keeps the grants of two authorities apart.
///
/// ```
/// # let text = include_str!("../../policies/default.policy");
/// use policy_dfa::{Policy, authority};
///
/// let compiled = Policy::parse(text).unwrap().compile().unwrap();
/// let checked = compiled.check().unwrap();
/// let (decision_point, verifier) = authority(checked, [7; 16]);
/// # let _ = (decision_point, verifier);
/// ```
pub fn authority(policy: Compiled<Checked>, entropy: [u8; 16]) -> (DecisionPoint, Verifier) {
    // The policy is part of the name, so that even repeated entropy does not join two policies.
    let digest: [u8; 32] = Sha256::new()
        .chain_update(b"portcullis authority")
        .chain_update(entropy)
        .chain_update(policy.policy_hash())
        .finalize()
        .into();
    let mut id = [0; 16];
    id.iter_mut().zip(digest).for_each(|(slot, byte)| *slot = byte);
    let decision_point = DecisionPoint { policy, authority: AuthorityId(id), requests: 0 };
    (decision_point, Verifier::new(AuthorityId(id)))
}

impl DecisionPoint {
    /// Answers one question. The first guard that fails gives the reason; the user is asked only about
    /// what would be granted with a yes.
    ///
    /// Allocates nothing: a grant shares its texts with the snapshot. The one exception is a claim that
    /// writes an origin as no browser does, see [`Origin::is_written_as`](browser_signals::Origin::is_written_as).
    pub fn decide(&mut self, question: &Question<'_>) -> Verdict {
        let root = self.policy.root(&question.event);
        let valuation = self.policy.valuation(question);
        match self.policy.outcome(root, &valuation) {
            Outcome::Deny(_, reason) => Verdict::Deny(reason),
            Outcome::Ask(scope) => Verdict::Ask(prompt(question, scope)),
            Outcome::Grant(None) => match root {
                Root::Verb(_) => Verdict::Grant(Granted::Verb),
                Root::Request(..) => Verdict::Deny(Reason::DeliveryForbidden),
            },
            Outcome::Grant(Some(way)) => self.mint(question, way),
        }
    }

    /// Where the walk for a question starts, and by which signals it goes: all that [`decide`](Self::decide) looks at.
    pub fn valuation(&self, question: &Question<'_>) -> (Root, Valuation) {
        (self.policy.root(&question.event), self.policy.valuation(question))
    }

    /// The compiled policy as bytes, as `spec/policy-bytes.md` describes them.
    pub fn policy_bytes(&self) -> Vec<u8> {
        self.policy.to_bytes()
    }

    /// What remains possible of a request with what is known before any page is open: the task, and what
    /// happened so far. What can never be granted can be said at once, before anybody is asked.
    pub fn foresee(&self, kind: Kind, fields: FieldSet, task: &Task, history: &History) -> Possible {
        let root = self.policy.root_of(kind, fields);
        self.policy.possible(root, &self.policy.before_page(root, task, history))
    }

    /// How long the policy lets a yes to this kind of request stand; `None` where nobody is asked, or where
    /// no request of the kind is ever granted.
    pub fn consent_scope(&self, kind: Kind) -> Option<ConsentScope> {
        self.policy.policy().requests.get(&kind).and_then(|rule| rule.consent)
    }

    /// The history after something happened: what the next questions are asked with.
    pub fn after(&self, history: History, happened: Happened) -> History {
        self.policy.after(history, happened)
    }

    /// The SHA-256 of the policy's canonical text.
    pub fn policy_hash(&self) -> [u8; 32] {
        self.policy.policy_hash()
    }

    /// The safety thresholds, where the policy names them.
    pub fn thresholds(&self) -> Option<Thresholds> {
        self.policy.thresholds()
    }

    fn mint(&mut self, question: &Question<'_>, way: Delivery) -> Verdict {
        self.requests = self.requests.saturating_add(1);
        let Some(terms) = self.terms(question, way) else {
            // A grant needs a page, an origin, a document, and each field placed once; the check has proved
            // that they are known and whole.
            return Verdict::Deny(Reason::StaleDocument);
        };
        Verdict::Grant(match way {
            Delivery::Fill => Granted::Fill(Grant::mint(terms, self.authority)),
            Delivery::Wire => Granted::Wire(Grant::mint(terms, self.authority)),
            Delivery::PaymentApi => Granted::PaymentApi(Grant::mint(terms, self.authority)),
            Delivery::Model => Granted::Model(Grant::mint(terms, self.authority)),
        })
    }

    fn terms(&self, question: &Question<'_>, way: Delivery) -> Option<Terms> {
        let Event::Request { request, placements, amount } = question.event else { return None };
        let observed = question.page?;
        let page: &Snapshot = observed.value();
        let in_page = matches!(way, Delivery::Fill | Delivery::Wire);
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
            destination: page.destination.known().filter(|_| in_page).cloned(),
            amount: amount.filter(|_| request.kind == Kind::Purchase),
            policy: self.policy.policy_hash(),
            observed: observed.number(),
            expires: Millis(question.now.0.saturating_add(GRANT_LIFETIME_MS)),
        })
    }
}

fn prompt(question: &Question<'_>, scope: ConsentScope) -> Prompt {
    match question.event {
        Event::Request { request, amount, .. } => Prompt {
            kind: Some(request.kind),
            fields: request.effective_fields(),
            amount: amount.filter(|_| request.kind == Kind::Purchase),
            scope,
        },
        Event::Verb { .. } => Prompt { kind: None, fields: FieldSet::EMPTY, amount: None, scope },
    }
}
