//! Calls that are refused by their HTTP status. UCP's body for them is an object with a code and a text.

use serde_json::json;

use crate::http::Answer;
use crate::order::Unavailable;
use crate::profile::VERSION;
use crate::trade::Form;

/// Why a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("there is nothing at this path")]
    Path,
    #[error("this path has no such method")]
    Method,
    #[error("the header UCP-Agent has to name a profile by its address")]
    Agent,
    #[error("the call is not signed by a key that the shop knows")]
    Signature,
    #[error("the header Content-Type has to be application/json")]
    ContentType,
    #[error("the header Idempotency-Key has to be there once, with at least 22 characters")]
    Key,
    #[error("the idempotency key was used for another call")]
    Conflict,
    #[error("the body is not what this call takes")]
    Body,
    #[error("there is no such checkout session")]
    Session,
    #[error("the checkout session is closed, or its completion is in progress")]
    State,
    #[error("the token is not one of the test money")]
    Token,
    #[error("Fulfillment address and option must be selected before the checkout is completed")]
    NotReady,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error("the call did not reach the shop's till")]
    Dropped,
}

impl Refusal {
    fn status(self) -> u16 {
        match self {
            Refusal::Path | Refusal::Session => 404,
            Refusal::Method => 405,
            Refusal::Signature => 401,
            Refusal::Agent | Refusal::ContentType | Refusal::Key => 422,
            Refusal::Conflict | Refusal::State => 409,
            Refusal::Body | Refusal::NotReady | Refusal::Unavailable(_) => 400,
            Refusal::Token => 402,
            Refusal::Dropped => 504,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Refusal::Path | Refusal::Session => "not_found",
            Refusal::Method => "method_not_allowed",
            Refusal::Agent => "invalid_profile_url",
            Refusal::Signature => "signature_invalid",
            Refusal::ContentType => "content_type_required",
            Refusal::Key => "idempotency_key_required",
            Refusal::Conflict => "idempotency_conflict",
            Refusal::Body | Refusal::NotReady => "invalid_request",
            Refusal::Unavailable(why) => why.code(),
            Refusal::Token => "payment_failed",
            Refusal::State => "invalid_state",
            Refusal::Dropped => "timeout",
        }
    }

    /// The answer. A session in the wrong state is a matter of the protocol and of the order, so that answer has both of UCP's forms.
    /// In the first form the text is in the member `detail`.
    pub(crate) fn answer(self, form: Form) -> Answer {
        let (code, content) = (self.code(), self.to_string());
        if form == Form::First {
            let body = json!({"code": code, "detail": content});
            return Answer { is_late: self == Refusal::Dropped, ..Answer::json(self.status(), &body) };
        }
        let mut body = json!({"code": code, "content": content});
        if let (Refusal::State, Some(body)) = (self, body.as_object_mut()) {
            body.insert("ucp".to_owned(), json!({"version": VERSION, "status": "error"}));
            let message =
                json!({"type": "error", "code": code, "severity": "unrecoverable", "content": content});
            body.insert("messages".to_owned(), json!([message]));
        }
        Answer { is_late: self == Refusal::Dropped, ..Answer::json(self.status(), &body) }
    }
}
