//! What a record can say. No type here has room for a value: enums, field names, origins, money, numbers,
//! hashes of random things.

use browser_signals::{Container, Origin};
use policy_dfa::{Delivery, Reason, VerbKind};
use serde_json::{Value, json};
use sirl::{FieldSet, Kind, Money};

use super::canonical::hex;
use super::record::LogId;
use super::words::{About, Stopped, VaultAct, WouldHave};
use crate::consent::Answer;

/// The longest host that a record spells out, in bytes: no name of the DNS is longer.
const LONGEST_HOST: usize = 253;

/// How many origins a record lists.
const MOST_ORIGINS: usize = 32;

/// What happened.
///
/// Its JSON names are listed in `spec/audit.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditEvent {
    /// A session began under a policy.
    Started {
        /// The policy's hash.
        policy: [u8; 32],
    },
    /// A session began in which nothing is blocked: in the place of [`AuditEvent::Started`].
    Observing {
        /// The hash of the policy that says what a guard would have done.
        policy: [u8; 32],
    },
    /// What a guard would have done; nothing was asked, refused or withheld.
    Observed {
        /// What it is about.
        about: About,
        /// The fields, of a request.
        fields: FieldSet,
        /// The page.
        origin: Option<Origin>,
        /// What a guard would have done.
        would: WouldHave,
        /// Whether it was carried out all the same. A request never is: nothing is released.
        done: bool,
    },
    /// The task was sealed.
    Sealed {
        /// Where it may act. The first 32 are listed.
        origins: Vec<Origin>,
        /// What it may ask for.
        kinds: Vec<Kind>,
        /// What it may spend.
        budget: Option<Money>,
        /// The container the user agreed to.
        container: Container,
    },
    /// The user was asked.
    ConsentAsked {
        /// The hash that the question, its answer and its one-use nonce have in common.
        ticket: [u8; 32],
        /// What about: one word for each thing in the prompt.
        about: Vec<About>,
        /// The fields that would go.
        fields: FieldSet,
        /// Where they would go.
        origin: Option<Origin>,
    },
    /// The user's answer to a question, or that none came in time, which is no.
    ConsentAnswered {
        /// The question's hash.
        ticket: [u8; 32],
        /// What the user said.
        answer: Answer,
    },
    /// A consent that stood was taken back.
    ConsentRevoked {
        /// What it was about.
        about: About,
        /// The fields it covered.
        fields: FieldSet,
        /// The site it was for.
        origin: Option<Origin>,
    },
    /// The user said, outside of any question, that something is never to be granted on a site.
    ConsentNever {
        /// What.
        about: About,
        /// The site.
        origin: Origin,
    },
    /// Something was done to the vault as a whole.
    Vault {
        /// What.
        act: VaultAct,
        /// The generation of the vault's file after it.
        generation: u64,
    },
    /// A verb was decided.
    Verb {
        /// The verb.
        verb: VerbKind,
        /// The page it was aimed at.
        origin: Option<Origin>,
        /// Why not, if it was refused.
        refused: Option<Reason>,
    },
    /// A request was refused.
    Refused {
        /// Its number in the session.
        request: u64,
        /// Its kind; none if it could not be read.
        kind: Option<Kind>,
        /// Its fields.
        fields: FieldSet,
        /// The page.
        origin: Option<Origin>,
        /// Why.
        reason: Reason,
    },
    /// A release is about to happen.
    Intent {
        /// Its number in the session.
        request: u64,
        /// Its kind.
        kind: Kind,
        /// Its fields.
        fields: FieldSet,
        /// The page, or the payee.
        origin: Origin,
        /// How it goes.
        delivery: Delivery,
        /// For a purchase: the amount.
        amount: Option<Money>,
    },
    /// How that release ended.
    Outcome {
        /// Its number in the session.
        request: u64,
        /// Why it failed, if it did.
        failed: Option<Reason>,
    },
    /// The user was offered to finish a refused request by hand.
    HandOver {
        /// The request's number in the session.
        request: u64,
        /// Its kind.
        kind: Kind,
        /// On whose page.
        origin: Origin,
        /// Whether they say that they did.
        finished: bool,
    },
    /// Something the browser tried was refused below the policy.
    Browser {
        /// What.
        what: Stopped,
    },
    /// The session ended.
    Ended,
}

/// What a log says of itself. Nobody else can write these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LogEvent {
    /// The log was made, or opened to go on.
    Opened {
        log: LogId,
        /// How many bytes of a torn last line were cut off.
        cut: u64,
    },
    /// An intent without an outcome was found; how it ended is not known.
    UnknownOutcome {
        request: u64,
        /// The number of the intent's record.
        intent: u64,
    },
    /// The head of the log was signed.
    HeadSigned {
        /// How many records it covers.
        records: u64,
        /// The hash of the key in the note.
        key: [u8; 4],
    },
}

/// An origin, but for a host that no name server knows and that is only there to be long.
fn origin_text(origin: &Origin) -> String {
    if origin.host().len() > LONGEST_HOST {
        return format!("{}://(more than {LONGEST_HOST} bytes)", origin.scheme());
    }
    origin.to_string()
}

fn origin_json(origin: Option<&Origin>) -> Value {
    origin.map_or(Value::Null, |origin| Value::from(origin_text(origin)))
}

fn fields_json(fields: FieldSet) -> Value {
    fields.iter().map(|field| Value::from(field.as_str())).collect()
}

fn money_json(amount: Option<Money>) -> Value {
    amount.map_or(Value::Null, |amount| Value::from(amount.to_string()))
}

fn reason_json(reason: Option<Reason>) -> Value {
    reason.map_or(Value::Null, |reason| Value::from(reason.code()))
}

fn about_json(about: &[About]) -> Value {
    about.iter().map(|about| Value::from(about.as_str())).collect()
}

impl AuditEvent {
    pub(super) fn to_json(&self) -> Value {
        match self {
            AuditEvent::Started { policy } => json!({"event": "started", "policy": hex(policy)}),
            AuditEvent::Observing { policy } => json!({"event": "observing", "policy": hex(policy)}),
            AuditEvent::Observed { about, fields, origin, would, done } => json!({
                "event": "observed",
                "about": about.as_str(),
                "fields": fields_json(*fields),
                "origin": origin_json(origin.as_ref()),
                "would_have_been": would.as_str(),
                "reason": reason_json(would.reason()),
                "done": done,
            }),
            AuditEvent::Sealed { origins, kinds, budget, container } => json!({
                "event": "sealed",
                "origins": origins.iter().take(MOST_ORIGINS).map(origin_text).collect::<Vec<_>>(),
                "kinds": kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(),
                "budget": money_json(*budget),
                "container": container.as_str(),
            }),
            AuditEvent::ConsentAsked { ticket, about, fields, origin } => json!({
                "event": "consent_asked",
                "ticket": hex(ticket),
                "about": about_json(about),
                "fields": fields_json(*fields),
                "origin": origin_json(origin.as_ref()),
            }),
            AuditEvent::ConsentAnswered { ticket, answer } => {
                json!({"event": "consent_answered", "ticket": hex(ticket), "answer": answer.as_str()})
            }
            AuditEvent::ConsentRevoked { about, fields, origin } => json!({
                "event": "consent_revoked",
                "about": about.as_str(),
                "fields": fields_json(*fields),
                "origin": origin_json(origin.as_ref()),
            }),
            AuditEvent::ConsentNever { about, origin } => json!({
                "event": "consent_never",
                "about": about.as_str(),
                "origin": origin_text(origin),
            }),
            AuditEvent::Vault { act, generation } => {
                json!({"event": "vault", "act": act.as_str(), "generation": generation})
            }
            AuditEvent::Verb { verb, origin, refused } => json!({
                "event": "verb",
                "verb": verb.as_str(),
                "origin": origin_json(origin.as_ref()),
                "refused": reason_json(*refused),
            }),
            AuditEvent::Refused { request, kind, fields, origin, reason } => json!({
                "event": "refused",
                "request": request,
                "kind": kind.map(Kind::as_str),
                "fields": fields_json(*fields),
                "origin": origin_json(origin.as_ref()),
                "reason": reason.code(),
            }),
            AuditEvent::Intent { request, kind, fields, origin, delivery, amount } => json!({
                "event": "intent",
                "request": request,
                "kind": kind.as_str(),
                "fields": fields_json(*fields),
                "origin": origin_text(origin),
                "delivery": delivery.as_str(),
                "amount": money_json(*amount),
            }),
            AuditEvent::Outcome { request, failed } => {
                json!({"event": "outcome", "request": request, "failed": reason_json(*failed)})
            }
            AuditEvent::HandOver { request, kind, origin, finished } => json!({
                "event": "hand_over",
                "request": request,
                "kind": kind.as_str(),
                "origin": origin_text(origin),
                "finished": finished,
            }),
            AuditEvent::Browser { what } => json!({"event": "browser", "what": what.as_str()}),
            AuditEvent::Ended => json!({"event": "ended"}),
        }
    }
}

impl LogEvent {
    pub(super) fn to_json(&self) -> Value {
        match self {
            LogEvent::Opened { log, cut } => {
                json!({"event": "log_opened", "log": log.to_string(), "cut": cut})
            }
            LogEvent::UnknownOutcome { request, intent } => {
                json!({"event": "unknown_outcome", "request": request, "intent": intent})
            }
            LogEvent::HeadSigned { records, key } => {
                json!({"event": "head_signed", "records": records, "key": hex(key)})
            }
        }
    }
}
