//! A model whose output is shown clause by clause, after each clause has passed.
//!
//! rig's hooks see text only after it was shown, so this gate wraps the model. It is a completion handler, which the
//! agent has as a route, and which [`Gatekeeper::with_gated_model`](crate::Gatekeeper::with_gated_model) selects for
//! every completion. A clause that does not pass is never sent on; the model is asked for another wording, a bounded
//! number of times, and then the answer ends with a notice. The record of the reply holds only the text that was shown.
//!
//! Tool calls pass, since the hook decides them. Reasoning is not gated, so it is not shown; it stays in the record of
//! the reply, where providers want it back.

use std::sync::Arc;

use futures::StreamExt;
use hmm_control::{ClausePolicy, Next, Scorer, StreamGate};
use rig_core::DynModel;
use rig_core::completion::{AssistantContent, CompletionRequest, CompletionResponse, Message, ModelRef};
use rig_core::effect::{EffectKind, FamilyDescriptor, HandlerDescriptor, Outcome, family, model_key};
use rig_core::error::{ErrorKind, ErrorReport};
use rig_core::operation::Completion;
use rig_core::serve::{Dispatch, Reply, Serve};
use rig_core::streaming::{Item, Part, PartKind, Relayed, StreamEvent, StreamEvents};

/// The label of the route.
pub const GATED: &str = "gated";

/// The number of characters of the shown text that are part of the judgement of a clause.
const CONTEXT: usize = 200;

/// Makes a scorer of clauses for each reply. A higher score is better.
pub type MakeScorer = dyn Fn() -> Box<dyn FnMut(&str) -> f64 + Send> + Send + Sync;

/// A model behind a gate.
pub struct GatedModel {
    model: Arc<DynModel<Completion>>,
    policy: ClausePolicy,
    scorer: Arc<MakeScorer>,
}

impl GatedModel {
    /// Shows those clauses of `model` that `scorer` rates at the policy's threshold or above.
    pub fn new<Score, Make>(
        model: impl Into<DynModel<Completion>>,
        policy: ClausePolicy,
        scorer: Make,
    ) -> GatedModel
    where
        Score: FnMut(&str) -> f64 + Send + 'static,
        Make: Fn() -> Score + Send + Sync + 'static,
    {
        let scorer: Arc<MakeScorer> = Arc::new(move || Box::new(scorer()));
        GatedModel { model: Arc::new(model.into()), policy, scorer }
    }

    fn gate(&self) -> StreamGate<Boxed> {
        StreamGate::new(self.policy.clone(), Boxed((self.scorer)()), CONTEXT)
    }
}

/// A scorer behind a pointer.
struct Boxed(Box<dyn FnMut(&str) -> f64 + Send>);

impl Scorer for Boxed {
    fn score(&mut self, text: &str) -> f64 {
        (self.0)(text)
    }
}

impl Serve for GatedModel {
    type Family = family::Completion;

    fn descriptor(&self) -> HandlerDescriptor {
        HandlerDescriptor {
            key: model_key(GATED),
            family: FamilyDescriptor::Completion {
                model: ModelRef::from(GATED),
                capabilities: self.model.capabilities().completion,
            },
            layers: Vec::new(),
        }
    }

    async fn serve(&self, kind: EffectKind, _: Dispatch) -> Reply {
        match kind {
            EffectKind::Completion { request, stream: true } => {
                Reply::Stream(streamed(self.model.clone(), request, self.gate()))
            }
            EffectKind::Completion { request, stream: false } => {
                Reply::Outcome(whole(&self.model, request, self.gate()).await.map(Outcome::Completion))
            }
            other => Reply::Outcome(Err(ErrorReport::new(
                ErrorKind::HandlerUnavailable,
                format!("a gated model cannot serve a `{}` effect", other.name()),
            ))),
        }
    }
}

/// The same request with the text shown so far, and the instruction to continue differently.
fn asked_anew(request: &CompletionRequest, shown: &str, instruction: &str) -> CompletionRequest {
    let mut request = request.clone();
    if !shown.is_empty() {
        request.chat_history.push(Message::assistant(shown));
    }
    request.chat_history.push(Message::user(instruction));
    request
}

/// The reply with the shown text in place of its own.
fn as_shown(mut response: CompletionResponse, shown: &str, stopped: bool) -> CompletionResponse {
    let is_text = |content: &AssistantContent| matches!(content, AssistantContent::Text(_));
    let at = response.choice.iter().position(is_text).unwrap_or(0);
    response.choice.retain(|content| {
        // An answer that was withheld makes no tool calls either.
        let withheld = stopped && matches!(content, AssistantContent::ToolCall(_));
        !is_text(content) && !withheld
    });
    if !shown.is_empty() {
        let at = at.min(response.choice.len());
        response.choice.insert(at, AssistantContent::text(shown));
    }
    // The provider's raw document contains the withheld text.
    response.raw = serde_json::Value::Null;
    response
}

fn has_calls(response: &CompletionResponse) -> bool {
    response.choice.iter().any(|content| matches!(content, AssistantContent::ToolCall(_)))
}

fn text_of(response: &CompletionResponse) -> String {
    let texts = response.choice.iter().filter_map(|content| match content {
        AssistantContent::Text(text) => Some(text.text()),
        _ => None,
    });
    texts.collect()
}

async fn whole(
    model: &DynModel<Completion>,
    request: CompletionRequest,
    mut gate: StreamGate<Boxed>,
) -> Result<CompletionResponse, ErrorReport> {
    let (mut shown, mut asked) = (String::new(), request.clone());
    loop {
        let response = model.call(asked.clone()).await.map_err(ErrorReport::from)?;
        let first = gate.push(text_of(&response).as_bytes());
        shown += &first.released;
        let next = match first.next {
            Next::Continue => {
                let last = gate.finish();
                shown += &last.released;
                last.next
            }
            next => next,
        };
        match next {
            Next::Continue => return Ok(as_shown(response, &shown, false)),
            Next::Rewrite(rewrite) if !has_calls(&response) => {
                asked = asked_anew(&request, &shown, &rewrite.instruction);
                gate.resume();
            }
            // Asking again would repeat the tool calls.
            Next::Rewrite(_) => return Ok(as_shown(response, &shown, false)),
            Next::Stop { notice } => {
                shown += &notice;
                return Ok(as_shown(response, &shown, true));
            }
        }
    }
}

fn streamed(
    model: Arc<DynModel<Completion>>,
    request: CompletionRequest,
    mut gate: StreamGate<Boxed>,
) -> StreamEvents {
    Box::pin(async_stream::stream! {
        let (mut shown, mut asked) = (String::new(), request.clone());
        // All text is shown under the part that was opened first.
        let mut under: Option<Part> = None;
        let (mut begun, mut stopped, mut called) = (false, false, false);
        loop {
            let mut reply = match model.stream(asked.clone()) {
                Ok(reply) => reply.into_relay(),
                Err(error) => {
                    yield Err(ErrorReport::from(error));
                    return;
                }
            };
            let mut rewrite = None;
            while let Some(item) = reply.next().await {
                match item {
                    Ok(Relayed::Origin(origin)) if !begun => {
                        begun = true;
                        yield Ok(Relayed::Origin(origin));
                    }
                    Ok(Relayed::Origin(_)) => {}
                    Ok(Relayed::Item(Item::Event(event))) => match event {
                        StreamEvent::Start { part, kind: PartKind::Text, name } => {
                            if under.is_none() {
                                under = Some(part);
                                yield Ok(Relayed::Item(Item::Event(StreamEvent::Start { part, kind: PartKind::Text, name })));
                            }
                        }
                        StreamEvent::Text { part, text } if !stopped => {
                            let part = *under.get_or_insert(part);
                            let verdict = gate.push(text.as_bytes());
                            if !verdict.released.is_empty() {
                                shown += &verdict.released;
                                let text = verdict.released;
                                yield Ok(Relayed::Item(Item::Event(StreamEvent::Text { part, text })));
                            }
                            match verdict.next {
                                Next::Continue => {}
                                Next::Rewrite(_) if called => stopped = true,
                                Next::Rewrite(asks) => {
                                    rewrite = Some(asks);
                                    break;
                                }
                                Next::Stop { notice } => {
                                    stopped = true;
                                    shown += &notice;
                                    yield Ok(Relayed::Item(Item::Event(StreamEvent::Text { part, text: notice })));
                                }
                            }
                        }
                        StreamEvent::Text { .. } | StreamEvent::Reasoning { .. } => {}
                        StreamEvent::Start { kind: PartKind::Reasoning, .. }
                        | StreamEvent::End { content: AssistantContent::Text(_) | AssistantContent::Reasoning(_), .. } => {}
                        _ if stopped && !called => {}
                        event => {
                            called |= matches!(event, StreamEvent::Start { kind: PartKind::ToolCall, .. });
                            yield Ok(Relayed::Item(Item::Event(event)));
                        }
                    },
                    // Content that the decoder does not know may contain text.
                    Ok(Relayed::Item(Item::Unknown(_))) => {}
                    Ok(Relayed::Done(response)) => {
                        if !stopped {
                            let last = gate.finish();
                            if let (Some(part), false) = (under, last.released.is_empty()) {
                                shown += &last.released;
                                let text = last.released;
                                yield Ok(Relayed::Item(Item::Event(StreamEvent::Text { part, text })));
                            }
                            match last.next {
                                Next::Rewrite(asks) if !has_calls(&response) => {
                                    rewrite = Some(asks);
                                    break;
                                }
                                Next::Stop { notice } => {
                                    stopped = true;
                                    shown += &notice;
                                    if let Some(part) = under {
                                        yield Ok(Relayed::Item(Item::Event(StreamEvent::Text { part, text: notice })));
                                    }
                                }
                                Next::Continue | Next::Rewrite(_) => {}
                            }
                        }
                        if let Some(part) = under {
                            let content = AssistantContent::text(shown.clone());
                            yield Ok(Relayed::Item(Item::Event(StreamEvent::End { part, content })));
                        }
                        yield Ok(Relayed::Done(Box::new(as_shown(*response, &shown, stopped && !called))));
                        return;
                    }
                    Err(error) => {
                        yield Err(error);
                        return;
                    }
                }
            }
            match rewrite {
                Some(rewrite) => {
                    asked = asked_anew(&request, &shown, &rewrite.instruction);
                    gate.resume();
                }
                // The reply broke off, so this one does too.
                None => return,
            }
        }
    })
}
