//! The outcome of an action, and its text for the agent.

use std::fmt;
use std::sync::Arc;

use policy_dfa::Reason;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use sirl::reply::Delivered;
use sirl::{FieldSet, Kind, Money, PurchaseMethod, Reply};
use vault::ValuesForModel;
use zeroize::Zeroizing;

/// The outcome of one action. Its `Display` is the text that the agent reads: `ok`, the text of a page, or lines of the
/// request language.
///
/// Reasons in it are those that an agent may know: what depends on the vault is one reason
/// ([`Reason::as_read_by_the_model`]).
///
/// It can be written, for a log or another process, without the values of [`ShownValues`]. It cannot be read back: only a
/// session makes one.
///
/// ```
/// use portcullis::session::ActionOutcome;
/// assert_eq!(serde_json::to_string(&ActionOutcome::done()).unwrap(), r#"{"result":"done"}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionOutcome {
    /// What became of the action.
    #[serde(flatten)]
    pub result: ActionResult,
    /// The words, scrubbed, by which a form that could not be sent says what it misses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form_asks_for: Option<String>,
}

/// What became of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "result", content = "content", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ActionResult {
    /// The page was read. This is its text, scrubbed and masked.
    Page(String),
    /// The verb was carried out.
    Done,
    /// The verb was refused, or failed.
    Refused(#[serde(serialize_with = "code")] Reason),
    /// Each request of a block was answered, in its order. A request that was filled in part has two answers.
    Requests(Vec<RequestResult>),
    /// A request block was refused as a whole.
    BlockRefused {
        /// The reason.
        #[serde(serialize_with = "code")]
        reason: Reason,
        /// Where the block's text has an error; empty where it has none.
        detail: String,
    },
    /// A plan was read. These kinds can never be granted in the task, and nothing is decided about the others.
    Planned(#[serde(serialize_with = "each_code")] Vec<(Kind, Reason)>),
}

/// The answer to one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RequestResult {
    /// Values were delivered as granted. The agent does not see them.
    Delivered {
        /// The kind of request.
        kind: Kind,
        /// The way of the values.
        delivered: Delivered,
        /// The fields.
        fields: FieldSet,
    },
    /// A purchase was carried out.
    Purchased {
        /// The handle of the card or account that paid, such as `card:personal`.
        card: String,
        /// The amount.
        amount: Money,
        /// The method.
        method: PurchaseMethod,
    },
    /// The model is shown values, under a policy with `deliver model`.
    Shown(ShownValues),
    /// The request was refused.
    Denied {
        /// The kind of request.
        kind: Kind,
        /// The reason.
        #[serde(serialize_with = "code")]
        reason: Reason,
    },
}

/// Writes a reason as the agent may know it.
fn code<S: Serializer>(reason: &Reason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&reason.code())
}

fn each_code<S: Serializer>(never: &[(Kind, Reason)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(never.iter().map(|(kind, reason)| (kind, reason.code())))
}

/// The answer that shows values to the model. No other answer contains values. Its text is wiped when the last copy is
/// dropped; `Debug` does not print it, and serde writes the kind of request alone.
#[derive(Clone, PartialEq, Eq)]
pub struct ShownValues {
    kind: Kind,
    text: Arc<Zeroizing<String>>,
}

impl ActionOutcome {
    /// An outcome in which no form asks for anything.
    pub(crate) fn new(result: ActionResult) -> ActionOutcome {
        ActionOutcome { result, form_asks_for: None }
    }

    pub(crate) fn page(text: String) -> ActionOutcome {
        ActionOutcome::new(ActionResult::Page(text))
    }

    /// The outcome of a verb that was carried out.
    pub fn done() -> ActionOutcome {
        ActionOutcome::new(ActionResult::Done)
    }

    pub(crate) fn refused(reason: Reason) -> ActionOutcome {
        ActionOutcome::new(ActionResult::Refused(reason.as_read_by_the_model()))
    }

    pub(crate) fn block_refused(reason: Reason, detail: &str) -> ActionOutcome {
        let (reason, detail) = (reason.as_read_by_the_model(), detail.to_owned());
        ActionOutcome::new(ActionResult::BlockRefused { reason, detail })
    }

    pub(crate) fn of_requests(answers: Vec<RequestResult>) -> ActionOutcome {
        ActionOutcome::new(ActionResult::Requests(answers))
    }

    /// Whether the verb was carried out.
    pub fn is_done(&self) -> bool {
        self.result == ActionResult::Done
    }

    /// The text of the page, if it was read.
    pub fn page_text(&self) -> Option<&str> {
        if let ActionResult::Page(text) = &self.result { Some(text) } else { None }
    }

    /// The kinds of request that were granted, in order.
    pub fn granted(&self) -> impl Iterator<Item = Kind> {
        let ActionResult::Requests(answers) = &self.result else {
            return [].iter().filter_map(kind_if_granted);
        };
        answers.iter().filter_map(kind_if_granted)
    }

    /// The reasons of all refusals in it, in order, each once.
    pub fn reasons(&self) -> Vec<Reason> {
        let all: Vec<Reason> = match &self.result {
            ActionResult::Page(_) | ActionResult::Done => Vec::new(),
            ActionResult::Refused(reason) | ActionResult::BlockRefused { reason, .. } => vec![*reason],
            ActionResult::Planned(never) => never.iter().map(|(_, reason)| *reason).collect(),
            ActionResult::Requests(answers) => answers.iter().filter_map(RequestResult::reason).collect(),
        };
        let mut each = Vec::new();
        for reason in all {
            if !each.contains(&reason) {
                each.push(reason);
            }
        }
        each
    }
}

fn kind_if_granted(answer: &RequestResult) -> Option<Kind> {
    answer.reason().is_none().then(|| answer.kind())
}

impl RequestResult {
    pub(crate) fn denied(kind: Kind, reason: Reason) -> RequestResult {
        RequestResult::Denied { kind, reason: reason.as_read_by_the_model() }
    }

    /// The kind of request.
    pub fn kind(&self) -> Kind {
        match self {
            RequestResult::Delivered { kind, .. } | RequestResult::Denied { kind, .. } => *kind,
            RequestResult::Purchased { .. } => Kind::Purchase,
            RequestResult::Shown(shown) => shown.kind,
        }
    }

    /// The reason of a refusal.
    pub fn reason(&self) -> Option<Reason> {
        if let RequestResult::Denied { reason, .. } = self { Some(*reason) } else { None }
    }
}

impl ShownValues {
    pub(crate) fn new(kind: Kind, values: &ValuesForModel) -> ShownValues {
        let mut text = Zeroizing::new(String::with_capacity(1024));
        text.push_str(&format!("GRANT.{} {{\"delivered\":\"model\",\"values\":{{", kind.as_str()));
        let mut comma = "";
        values.expose_to_the_model(|field, value| {
            let value = Zeroizing::new(serde_json::Value::from(value).to_string());
            for part in [comma, "\"", field.as_str(), "\":", &value] {
                text.push_str(part);
            }
            comma = ",";
        });
        text.push_str("}}");
        ShownValues { kind, text: Arc::new(text) }
    }
}

impl Serialize for ShownValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut written = serializer.serialize_struct("ShownValues", 1)?;
        written.serialize_field("kind", &self.kind)?;
        written.end()
    }
}

impl fmt::Debug for ShownValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShownValues({})", self.kind.as_str())
    }
}

impl fmt::Display for ActionOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.result {
            ActionResult::Page(text) => f.write_str(text)?,
            ActionResult::Done => f.write_str("ok")?,
            ActionResult::Refused(reason) => write!(f, "DENY.verb {{\"reason\":\"{}\"}}", reason.code())?,
            ActionResult::BlockRefused { reason, detail } => {
                let space = if detail.is_empty() { "" } else { " " };
                write!(f, "DENY.block {{\"reason\":\"{}\"}}{space}{detail}", reason.code())?;
            }
            ActionResult::Requests(answers) => {
                for (at, answer) in answers.iter().enumerate() {
                    let line = if at == 0 { "" } else { "\n" };
                    write!(f, "{line}{answer}")?;
                }
            }
            ActionResult::Planned(never) => {
                for (kind, reason) in never {
                    writeln!(f, "{}", RequestResult::denied(*kind, *reason))?;
                }
                f.write_str("PLAN.end")?;
            }
        }
        match &self.form_asks_for {
            Some(words) => write!(f, "\nThe form asks for:\n{words}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for RequestResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reply = match self {
            RequestResult::Delivered { kind, delivered, fields } => {
                Reply::Delivered { kind: *kind, delivered: *delivered, fields: *fields }
            }
            RequestResult::Purchased { card, amount, method } => {
                Reply::Purchased { method: *method, card: card.clone(), amount: *amount }
            }
            RequestResult::Shown(shown) => return f.write_str(&shown.text),
            RequestResult::Denied { kind, reason } => Reply::Denied { kind: *kind, reason: reason.code() },
        };
        write!(f, "{reply}")
    }
}

#[cfg(test)]
mod tests {
    use sirl::{Currency, Field};

    use super::*;

    #[test]
    fn an_outcome_is_written_without_the_values_in_it() {
        let text = Arc::new(Zeroizing::new("GRANT.contact {\"values\":{\"phone\":\"555 0100\"}}".to_owned()));
        let shown = RequestResult::Shown(ShownValues { kind: Kind::Contact, text });
        let fields = FieldSet::EMPTY.with(Field::Street);
        let delivered =
            RequestResult::Delivered { kind: Kind::Address, delivered: Delivered::Filled, fields };
        let usd = Currency::new("USD").and_then(|currency| Money::parse("64.15", currency));
        let paid = usd.map(|amount| RequestResult::Purchased {
            card: "card:personal".into(),
            amount,
            method: PurchaseMethod::PaymentRequest,
        });
        let denied = RequestResult::denied(Kind::Login, Reason::ValueDamaged);
        let answers = [Some(delivered), paid, Some(shown), Some(denied)].into_iter().flatten().collect();
        let mut outcome = ActionOutcome::of_requests(answers);
        outcome.form_asks_for = Some("a country".to_owned());
        assert_eq!(
            serde_json::json!(outcome),
            serde_json::json!({
                "result": "requests",
                "content": [
                    { "answer": "delivered", "kind": "address", "delivered": "filled", "fields": ["street"] },
                    { "answer": "purchased", "card": "card:personal", "amount": "64.15 USD", "method": "PaymentRequest" },
                    { "answer": "shown", "kind": "contact" },
                    { "answer": "denied", "kind": "login", "reason": "no_value" },
                ],
                "form_asks_for": "a country",
            })
        );
        let refused = ActionOutcome::block_refused(Reason::MalformedRequest, "at line 2");
        for (outcome, written) in [
            (ActionOutcome::page("- document".into()), r#"{"result":"page","content":"- document"}"#),
            (ActionOutcome::refused(Reason::NoForm), r#"{"result":"refused","content":"no_form"}"#),
            (
                ActionOutcome::new(ActionResult::Planned(vec![(Kind::Login, Reason::ValueDamaged)])),
                r#"{"result":"planned","content":[["login","no_value"]]}"#,
            ),
            (
                refused,
                r#"{"result":"block_refused","content":{"reason":"malformed_request","detail":"at line 2"}}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&outcome).ok().as_deref(), Some(written));
        }
    }
}
