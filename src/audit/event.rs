//! The events that a record can hold. No type here has room for a value: they are enums, field names, origins, money,
//! numbers, and hashes of random numbers.

use browser_signals::{Container, Origin};
use policy_dfa::{Delivery, Reason, VerbKind};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use sirl::{FieldSet, Kind, Money};

use super::record::{LogId, hex};
use super::vocabulary::{AuditSubject, BlockedByBrowser, VaultAct, WouldHave};
use crate::consent::Answer;

/// The most bytes of a host in a record: no name of the DNS is longer.
const MAX_HOST_BYTES: usize = 253;

/// The most origins that a record lists.
const MAX_ORIGINS: usize = 32;

/// An event.
///
/// Its JSON names are listed in `spec/audit.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditEvent {
    /// A session began under a policy.
    Started {
        /// The policy's hash.
        policy: [u8; 32],
    },
    /// A session began that only observes and blocks nothing, in the place of [`AuditEvent::Started`].
    Observing {
        /// The hash of the policy by which the guard's decisions are simulated.
        policy: [u8; 32],
    },
    /// The decision that a guard would have made; nothing was asked, refused or withheld.
    Observed {
        /// The subject of the decision.
        about: AuditSubject,
        /// The fields, of a request.
        fields: FieldSet,
        /// The page.
        origin: Option<Origin>,
        /// The decision that a guard would have made.
        would: WouldHave,
        /// Whether the action was carried out all the same. A request never is: nothing is released.
        done: bool,
    },
    /// The task was sealed.
    Sealed {
        /// The origins where it may act. The first 32 are listed.
        origins: Vec<Origin>,
        /// The kinds of request that it may make.
        kinds: Vec<Kind>,
        /// The amount that it may spend.
        budget: Option<Money>,
        /// The container that the user agreed to.
        container: Container,
    },
    /// The user made an identity provider part of the task.
    SignOn {
        /// The site of the task.
        site: Origin,
        /// The provider.
        provider: Origin,
    },
    /// The user was asked.
    ConsentAsked {
        /// The hash that the question, its answer and its single-use nonce share.
        ticket: [u8; 32],
        /// The subjects, one for each thing in the prompt.
        about: Vec<AuditSubject>,
        /// The fields that would be released.
        fields: FieldSet,
        /// The origin that would get them.
        origin: Option<Origin>,
    },
    /// The user's answer to a question; a missing answer counts as no.
    ConsentAnswered {
        /// The question's hash.
        ticket: [u8; 32],
        /// The answer.
        answer: Answer,
    },
    /// A standing consent was revoked.
    ConsentRevoked {
        /// Its subject.
        about: AuditSubject,
        /// The fields that it covered.
        fields: FieldSet,
        /// The site that it was for.
        origin: Option<Origin>,
    },
    /// The user declared, outside of any question, that something is never to be granted on a site.
    ConsentNever {
        /// The subject.
        about: AuditSubject,
        /// The site.
        origin: Origin,
    },
    /// An operation on the vault as a whole.
    Vault {
        /// The operation.
        act: VaultAct,
        /// The generation of the vault's file after it.
        generation: u64,
    },
    /// A verb was decided.
    Verb {
        /// The verb.
        verb: VerbKind,
        /// The page that it was aimed at.
        origin: Option<Origin>,
        /// The reason, if it was refused.
        refused: Option<Reason>,
    },
    /// A verb that was granted failed, or the page could not be read.
    VerbFailed {
        /// The verb.
        verb: VerbKind,
        /// The page that it was aimed at.
        origin: Option<Origin>,
        /// The reason, which holds no text of a page.
        reason: Reason,
    },
    /// A request was refused.
    Refused {
        /// Its number in the session.
        request: u64,
        /// Its kind; none if it could not be parsed.
        kind: Option<Kind>,
        /// Its fields.
        fields: FieldSet,
        /// The page.
        origin: Option<Origin>,
        /// The reason.
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
        /// The way of delivery.
        delivery: Delivery,
        /// For a purchase: the amount. For a card in a form: the total that the page named.
        amount: Option<Money>,
    },
    /// That purchase is made by the mandate that the user gave with the task, and without a question of its own.
    Mandated {
        /// Its number in the session.
        request: u64,
        /// The most that the mandate allows.
        ceiling: Money,
    },
    /// A new password was made for that release, and is in the vault's file.
    PasswordMade {
        /// Its number in the session.
        request: u64,
        /// The site that it is for.
        origin: Origin,
    },
    /// A one-time code was made for that release, and its step is noted in the vault's file.
    CodeMade {
        /// Its number in the session.
        request: u64,
        /// The site that it is for.
        origin: Origin,
    },
    /// A password manager of the user's was asked for values of that release.
    Fetched {
        /// Its number in the session.
        request: u64,
        /// The password manager.
        source: String,
        /// The site that they are for.
        origin: Origin,
        /// The end of it: `fetched`, `nothing`, or why there is no value.
        outcome: &'static str,
    },
    /// The outcome of that release.
    Outcome {
        /// Its number in the session.
        request: u64,
        /// The reason, if it failed.
        failed: Option<Reason>,
    },
    /// The user was offered to finish a refused request manually.
    HandOver {
        /// The request's number in the session.
        request: u64,
        /// Its kind.
        kind: Kind,
        /// The origin of the page.
        origin: Origin,
        /// Whether the user reported that they finished.
        finished: bool,
    },
    /// A file was downloaded into the folder that the user named.
    Downloaded {
        /// The origin that it came from; none for an address of the page's own making.
        origin: Option<Origin>,
        /// The number of its bytes; none where values of the user's may be in the container, since a page can make a file as long as
        /// a value says.
        bytes: Option<u64>,
    },
    /// Files of the user's are about to be given to a page.
    Uploaded {
        /// The site that gets them.
        origin: Origin,
        /// The number of files.
        files: u64,
        /// The number of their bytes together.
        bytes: u64,
    },
    /// An upload was refused, or one that was about to happen failed.
    UploadFailed {
        /// The page that was read last.
        origin: Option<Origin>,
        /// The reason.
        reason: Reason,
    },
    /// A saved login is about to be put into the task's container.
    LoginRestoring {
        /// Its site.
        origin: Origin,
    },
    /// The outcome of that.
    LoginRestored {
        /// Its site.
        origin: Origin,
        /// The reason, if it failed.
        failed: Option<Reason>,
    },
    /// The saved login was renewed with cookies that its site set in the container.
    LoginRenewed {
        /// Its site.
        origin: Origin,
        /// The reason, if it could not be renewed: then a site that ends a cookie with its next one asks for a login again.
        failed: Option<Reason>,
    },
    /// A login that the user made by hand was kept for later tasks.
    LoginKept {
        /// Its site.
        origin: Origin,
        /// The reason, if it could not be kept.
        failed: Option<Reason>,
    },
    /// The browser blocked something without a decision of the policy.
    Browser {
        /// The kind of thing that was blocked.
        what: BlockedByBrowser,
    },
    /// The session ended.
    Ended,
}

/// Events about the log itself. Only the log can write them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LogEvent {
    /// The log was made, or opened to go on.
    Opened {
        log: LogId,
        /// The number of bytes of a torn last line that were cut off.
        cut: u64,
    },
    /// An intent without an outcome was found; its outcome is unknown.
    UnknownOutcome {
        request: u64,
        /// The number of the intent's record.
        intent: u64,
    },
    /// The head of the log was signed.
    HeadSigned {
        /// The number of records that it covers.
        records: u64,
        /// The hash of the key in the note.
        key: [u8; 4],
    },
}

/// The text of an origin. A host that is longer than any name of the DNS is replaced.
fn origin_text(origin: &Origin) -> String {
    if origin.host().len() > MAX_HOST_BYTES {
        return format!("{}://(more than {MAX_HOST_BYTES} bytes)", origin.scheme());
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
    reason.map_or(Value::Null, |reason| Value::from(reason.name()))
}

fn about_json(about: &[AuditSubject]) -> Value {
    about.iter().map(|about| Value::from(about.as_str())).collect()
}

impl AuditEvent {
    /// The event as the object that a record of the audit log holds (`spec/audit.md`), for a log of one's own. It has no value of the
    /// user's.
    ///
    /// ```
    /// use portcullis::audit::AuditEvent;
    /// assert_eq!(AuditEvent::Ended.to_json()["event"], "ended");
    /// assert_eq!(serde_json::to_string(&AuditEvent::Ended).unwrap(), r#"{"event":"ended"}"#);
    /// ```
    pub fn to_json(&self) -> Value {
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
                "origins": origins.iter().take(MAX_ORIGINS).map(origin_text).collect::<Vec<_>>(),
                "kinds": kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(),
                "budget": money_json(*budget),
                "container": container.as_str(),
            }),
            AuditEvent::SignOn { site, provider } => json!({
                "event": "sign_on",
                "site": origin_text(site),
                "provider": origin_text(provider),
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
            AuditEvent::VerbFailed { verb, origin, reason } => json!({
                "event": "verb_failed",
                "verb": verb.as_str(),
                "origin": origin_json(origin.as_ref()),
                "reason": reason.name(),
            }),
            AuditEvent::Refused { request, kind, fields, origin, reason } => json!({
                "event": "refused",
                "request": request,
                "kind": kind.map(Kind::as_str),
                "fields": fields_json(*fields),
                "origin": origin_json(origin.as_ref()),
                "reason": reason.name(),
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
            AuditEvent::Mandated { request, ceiling } => {
                json!({"event": "mandated", "request": request, "ceiling": money_json(Some(*ceiling))})
            }
            AuditEvent::PasswordMade { request, origin } => {
                json!({"event": "password_made", "request": request, "origin": origin_text(origin)})
            }
            AuditEvent::CodeMade { request, origin } => {
                json!({"event": "code_made", "request": request, "origin": origin_text(origin)})
            }
            AuditEvent::Fetched { request, source, origin, outcome } => json!({
                "event": "fetched",
                "request": request,
                "source": source,
                "origin": origin_text(origin),
                "outcome": outcome,
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
            AuditEvent::Downloaded { origin, bytes } => {
                json!({"event": "downloaded", "origin": origin_json(origin.as_ref()), "bytes": bytes})
            }
            AuditEvent::Uploaded { origin, files, bytes } => json!({
                "event": "uploaded",
                "origin": origin_text(origin),
                "files": files,
                "bytes": bytes,
            }),
            AuditEvent::UploadFailed { origin, reason } => json!({
                "event": "upload_failed",
                "origin": origin_json(origin.as_ref()),
                "reason": reason.name(),
            }),
            AuditEvent::LoginRestoring { origin } => {
                json!({"event": "login_restoring", "origin": origin_text(origin)})
            }
            AuditEvent::LoginRestored { origin, failed } => json!({
                "event": "login_restored",
                "origin": origin_text(origin),
                "failed": reason_json(*failed),
            }),
            AuditEvent::LoginRenewed { origin, failed } => json!({
                "event": "login_renewed",
                "origin": origin_text(origin),
                "failed": reason_json(*failed),
            }),
            AuditEvent::LoginKept { origin, failed } => json!({
                "event": "login_kept",
                "origin": origin_text(origin),
                "failed": reason_json(*failed),
            }),
            AuditEvent::Browser { what } => json!({"event": "browser", "what": what.as_str()}),
            AuditEvent::Ended => json!({"event": "ended"}),
        }
    }
}

/// The object of [`AuditEvent::to_json`].
impl Serialize for AuditEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
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
