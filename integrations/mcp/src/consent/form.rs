//! Simple questions by a client's own form ("form elicitation").

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use portcullis::consent::{
    ANSWER_TIMEOUT, Answer, AnswerFuture, Answerer, AskedCode, ChoiceFuture, CodeFuture, ConsentPrompt,
    FormQuestion, HandOver, HandOverFuture, MIN_READING_TIME, WarnFuture, Warning, WhichAccount,
};
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, EnumSchema,
    PrimitiveSchemaDefinition,
};
use rmcp::service::{ElicitationMode, Peer, RoleServer, ServiceError};
use serde_json::Value;

use super::ClientSlot;

/// The form's only field, and the words that it takes. No word is selected beforehand.
const FIELD: &str = "answer";
const NO: &str = "no";
const YES: &str = "yes";

/// The time after which the guard withdraws the form. It ends before the question does, so that the client is told.
const WITHDRAWN_AFTER: Duration = Duration::from_millis(ANSWER_TIMEOUT.0.saturating_sub(1_000));

/// Asks simple questions by the own form of a client that the user named, and all others in another way.
///
/// Such a client could answer in the user's place, without showing the question. The user trusts it with these questions by naming it;
/// [`ConsentPrompt::by_form`] decides which they are. A client's name is what the client declares (`clientInfo.name`) and proves
/// nothing: it keeps the form from other clients of the same configuration, and not from a program that pretends.
pub struct ClientForm {
    client: ClientSlot,
    named: Vec<String>,
    otherwise: Box<dyn Answerer>,
    /// The client's form showed the last question, or failed to; none where it was asked in another way.
    reached_form: Option<bool>,
}

impl ClientForm {
    /// An answerer for clients of these names, in the slot into which [`crate::Gateway::serve`] puts the client.
    pub fn new(client: ClientSlot, named: Vec<String>, otherwise: Box<dyn Answerer>) -> ClientForm {
        ClientForm { client, named, otherwise, reached_form: None }
    }

    /// The client, if the user named it and it declares that it shows forms.
    fn named_client(&self) -> Option<Peer<RoleServer>> {
        let client = self.client.that_asks(ElicitationMode::Form)?;
        let info = client.peer_info()?;
        self.named.contains(&info.client_info.name).then_some(client)
    }

    async fn ask(&mut self, client: &Peer<RoleServer>, question: &FormQuestion) -> Answer {
        self.reached_form = Some(true);
        let shown_at = Instant::now();
        let asked = client.create_elicitation_with_timeout(form(question), Some(WITHDRAWN_AFTER)).await;
        match asked {
            Ok(_) if shown_at.elapsed() < MIN_READING_TIME => Answer::No,
            Ok(result) => answer_of(&result),
            Err(ServiceError::McpError(error)) => {
                // The words are the client's.
                tracing::warn!("the client could not show its form: error {}", error.code.0);
                self.reached_form = Some(false);
                Answer::No
            }
            // Silence, and what is no answer to a form.
            Err(_) => Answer::No,
        }
    }
}

fn form(question: &FormQuestion) -> ElicitRequestParams {
    let words = EnumSchema::builder(vec![NO.to_owned(), YES.to_owned()]).title("Your answer").build();
    let field = BTreeMap::from([(FIELD.to_owned(), PrimitiveSchemaDefinition::Enum(words))]);
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.message().to_owned(),
        requested_schema: ElicitationSchema::new(field).with_required(vec![FIELD.to_owned()]),
    }
}

/// Yes, this once, for exactly the form's yes; no for everything else.
fn answer_of(result: &ElicitResult) -> Answer {
    match (&result.action, &result.content) {
        (ElicitationAction::Accept, Some(Value::Object(fields)))
            if fields.len() == 1 && fields.get(FIELD).is_some_and(|answer| answer == YES) =>
        {
            Answer::Once
        }
        _ => Answer::No,
    }
}

impl Answerer for ClientForm {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        Box::pin(async move {
            self.reached_form = None;
            match (self.named_client(), prompt.by_form()) {
                (Some(client), Ok(question)) => self.ask(&client, &question).await,
                (None, _) | (_, Err(_)) => self.otherwise.answer(prompt).await,
            }
        })
    }

    fn code<'a>(&'a mut self, asked: &'a AskedCode, prompt: &'a ConsentPrompt) -> CodeFuture<'a> {
        self.otherwise.code(asked, prompt)
    }

    fn choose<'a>(&'a mut self, which: &'a WhichAccount) -> ChoiceFuture<'a> {
        self.otherwise.choose(which)
    }

    fn reached_the_user(&self) -> bool {
        self.reached_form.unwrap_or_else(|| self.otherwise.reached_the_user())
    }

    fn offers_hand_over(&self) -> bool {
        self.otherwise.offers_hand_over()
    }

    fn hand_over<'a>(&'a mut self, offer: &'a HandOver) -> HandOverFuture<'a> {
        self.otherwise.hand_over(offer)
    }

    fn warn<'a>(&'a mut self, warning: &'a Warning) -> WarnFuture<'a> {
        self.otherwise.warn(warning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_forms_own_yes_is_one() {
        let answer = |action, content: Value| answer_of(&ElicitResult::new(action).with_content(content));
        let yes = json!({ "answer": "yes" });
        assert_eq!(answer(ElicitationAction::Accept, yes.clone()), Answer::Once);
        assert_eq!(answer(ElicitationAction::Decline, yes.clone()), Answer::No);
        assert_eq!(answer(ElicitationAction::Cancel, yes), Answer::No);
        assert_eq!(answer_of(&ElicitResult::new(ElicitationAction::Accept)), Answer::No);
        for garbage in [
            json!({ "answer": "no" }),
            json!({ "answer": "Yes" }),
            json!({ "answer": "session" }),
            json!({ "answer": true }),
            json!({ "answer": ["yes"] }),
            json!({ "answer": "yes", "scope": "site" }),
            json!({ "Answer": "yes" }),
            json!({}),
            json!("yes"),
            json!(["yes"]),
            json!(true),
            Value::Null,
        ] {
            assert_eq!(answer(ElicitationAction::Accept, garbage.clone()), Answer::No, "{garbage}");
        }
    }
}
