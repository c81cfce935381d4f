//! Calls that act on the page of the open session, or observe it.

use std::time::{Duration, Instant};

use axum::http::StatusCode;
use portcullis::Action;
use portcullis::session::ShownDialog;
use portcullis::signals::playwright::{BridgeError, Picture};
use portcullis::signals::{ElementRef, Verb};
use serde_json::Value;

use crate::call::{Answer, Block, Call, FieldToFill, FieldValue};
use crate::catalogue::CarriedOutBy;
use crate::rendered;
use crate::settings::Snapshots;
use crate::target::{self, Target};
use crate::task_session::TaskSession;
use crate::worker::{Worker, no_page};

/// The pause in milliseconds between two searches for a text that is waited for.
const SEARCH_INTERVAL: u32 = 250;

/// The time limit for a text to appear or disappear, including the reading of the page.
const TEXT_TIMEOUT: Duration = Duration::from_secs(30);

/// The error of a tool that bypasses the session.
const OFF: &str = "values of the user are in this container: this tool is off until it is closed (browser_close, or a \
                   new portcullis_plan)";

impl Worker {
    /// Carries out a call that needs an open session.
    pub(crate) async fn on_the_page(&mut self, call: Call) -> Result<Answer, String> {
        if self.session.is_none() && self.settings.task.is_some() {
            self.begin_users_task().await?;
        }
        match call {
            Call::Request { .. } if self.scripted => Err(
                // A script that waits in the page could report a filled value in an encoding that no mask covers.
                "a script of yours ran in this container, so nothing is released into it; close it with \
                 browser_close and start again"
                    .to_owned(),
            ),
            Call::Request { block } => {
                let said = self.request(block).await?;
                Ok(self.with_page(Answer::of_session(said)).await)
            }
            Call::Back => self.verb(Verb::Back).await,
            Call::Snapshot { target, depth, limit } => self.snapshot(target.as_deref(), depth, limit).await,
            Call::Continue { name, limit } => Ok(Answer::text(self.known.continued(&name, limit)?)),
            Call::Find(pattern) => {
                self.read().await?;
                let (count, found) = rendered::find(&self.rendered, &pattern)?;
                Ok(Answer::text(match count {
                    0 => "nothing was found".to_owned(),
                    1 => self.known.found("1 line matches", &found.join("\n")),
                    _ => self.known.found(&format!("{count} lines match"), &found.join("\n")),
                }))
            }
            Call::Click { target, manner } => {
                let target = self.find(&target).await?;
                self.verb(Verb::Click { target, manner }).await
            }
            Call::Hover { target } => {
                let target = self.find(&target).await?;
                self.verb(Verb::Hover { target }).await
            }
            Call::Type { target, text, submit } => {
                let target = self.find(&target).await?;
                let typed = Verb::Type { target: target.clone(), text };
                if !submit {
                    return self.verb(typed).await;
                }
                let said = self.act(Action::Verb(typed)).await?;
                if said != "ok" {
                    return self.answered(said).await;
                }
                self.verb(Verb::Submit { target }).await
            }
            Call::Fill(fields) => self.fill(fields).await,
            Call::Select { target, options } => {
                let target = self.find(&target).await?;
                self.verb(Verb::Select { target, options }).await
            }
            Call::Press { key } => self.verb(Verb::Press { key }).await,
            Call::Dialog { accept } => {
                let session = self.session.as_mut().ok_or_else(no_page)?;
                if session.dialog().is_none() {
                    return Err("the page shows no dialog".to_owned());
                }
                let said = session.answer_dialog(accept).await;
                self.answered(said).await
            }
            Call::Wait { milliseconds, text, text_gone } => self.wait(milliseconds, text, text_gone).await,
            Call::Screenshot(settings) => {
                let session = self.session.as_mut().ok_or_else(no_page)?;
                let Picture { base64, form } = match session.picture(settings).await {
                    Err(BridgeError::TextWithheld) => return Err(OFF.to_owned()),
                    other => other.map_err(|error| error.to_string())?,
                };
                let what = if settings.whole_page { "the whole page" } else { "the viewport" };
                let said = Block::Text(format!("### Result\nA picture of {what}"));
                let picture = Block::Picture { data: base64, media_type: form.media_type().to_owned() };
                Ok(Answer { blocks: vec![said, picture], is_error: false })
            }
            Call::Upstream { tool, arguments, by } => {
                let session = self.session.as_mut().ok_or_else(no_page)?;
                if session.is_private() {
                    return Err(OFF.to_owned());
                }
                let upstream =
                    self.engine.upstream.as_mut().ok_or("there is no playwright-mcp behind the guard")?;
                self.scripted |= by == CarriedOutBy::UpstreamScripts;
                let said = upstream.call(tool, arguments).await.map_err(|error| error.to_string())?;
                scrubbed(session, said)
            }
            Call::Plan { .. } | Call::Status | Call::Navigate { .. } | Call::Close | Call::ListTabs => {
                Err("this call needs no page".to_owned())
            }
        }
    }

    pub(crate) async fn act(&mut self, action: Action) -> Result<String, String> {
        let session = self.session.as_mut().ok_or_else(no_page)?;
        let blind = session.is_private();
        // A difference from the page before a release would tell of the values.
        if matches!(action, Action::Request(_)) {
            self.known.forget();
        }
        let said = session.act(action).await;
        if session.is_private() && !blind {
            self.known.forget();
            self.blind_upstream().await;
        }
        Ok(said)
    }

    /// Carries a request out while playwright-mcp has no access: a page may write a filled value to its console, and
    /// playwright-mcp stores console messages in a file. If nothing was released, its access is restored.
    async fn request(&mut self, block: String) -> Result<String, String> {
        self.blind_upstream().await;
        let said = self.act(Action::Request(block)).await;
        if let (Some(session), Some(upstream)) = (&self.session, &self.engine.upstream)
            && !session.is_private()
        {
            upstream.follow(session);
        }
        said
    }

    /// Takes playwright-mcp's access away, and its memory of the page.
    pub(crate) async fn blind_upstream(&mut self) {
        if let Some(upstream) = &mut self.engine.upstream {
            upstream.leave().await;
        }
    }

    /// Reads the page for the agent. The error is the reason of a denial.
    async fn read(&mut self) -> Result<(), String> {
        let said = self.act(Action::Verb(Verb::Read)).await?;
        if said.starts_with("DENY.") {
            self.rendered.clear();
            let dialog = self.session.as_mut().and_then(TaskSession::dialog);
            return Err(dialog.map_or(said, |dialog| told(&dialog)));
        }
        self.rendered = said;
        Ok(())
    }

    pub(crate) async fn verb(&mut self, verb: Verb) -> Result<Answer, String> {
        let said = self.act(Action::Verb(verb)).await?;
        self.answered(said).await
    }

    /// The answer after an action: what it led to, and the page.
    async fn answered(&mut self, said: String) -> Result<Answer, String> {
        if let Some(dialog) = self.session.as_mut().and_then(TaskSession::dialog) {
            return Ok(Answer::text(told(&dialog)));
        }
        let done = said == "ok";
        let mut answer = Answer::of_session(said);
        if let Some(address) = self.session.as_mut().and_then(TaskSession::take_refused_window) {
            answer.blocks.push(Block::Text(format!(
                "the page opened another window, which was closed: a container has one page. browser_navigate opens its address \
                 here:\n{address}"
            )));
        }
        if let Some(status) =
            self.session.as_mut().and_then(TaskSession::take_http_status).and_then(error_status)
        {
            answer.blocks.push(Block::Text(format!("HTTP status: {status}")));
        }
        Ok(if done { self.with_page(answer).await } else { answer })
    }

    /// Adds the current page, if the settings ask for it.
    async fn with_page(&mut self, mut answer: Answer) -> Answer {
        if self.settings.snapshots == Snapshots::AfterActions && self.read().await.is_ok() {
            answer.blocks.push(Block::Text(self.known.after_action(&self.rendered)));
        }
        answer
    }

    async fn snapshot(
        &mut self,
        target: Option<&str>,
        depth: Option<usize>,
        limit: Option<usize>,
    ) -> Result<Answer, String> {
        // The ref of a part belongs to the last snapshot; the next one assigns refs anew.
        let part = match target {
            None => None,
            Some(written) => match Target::read(written).map_err(|error| error.to_string())? {
                Target::Ref(element) => Some(element),
                _ => return Err("name the element by a ref of the last snapshot, such as e12".to_owned()),
            },
        };
        self.read().await?;
        // The line of the document, or of the element, and those in it: `depth` counts what is below them.
        let (text, outermost) = match (&part, depth) {
            (None, None) => return Ok(Answer::text(self.known.whole(&self.rendered, limit))),
            (Some(element), _) => {
                let part = rendered::within(&self.rendered, &element.0);
                (part.ok_or_else(|| format!("the page has no element {} any more", element.0))?, 1)
            }
            (None, Some(_)) => (self.rendered.clone(), 2),
        };
        let text = match depth {
            Some(depth) => rendered::levels(&text, depth.saturating_add(outermost)),
            None => text,
        };
        Ok(Answer::text(self.known.part(&text, limit)))
    }

    /// Resolves the element that a call names.
    async fn find(&mut self, written: &str) -> Result<ElementRef, String> {
        match Target::read(written).map_err(|error| error.to_string())? {
            Target::Ref(element) => Ok(element),
            Target::Rendered { role, name, exact } => {
                if self.rendered.is_empty() {
                    self.read().await?;
                }
                target::look_up(&self.rendered, written, role.as_deref(), name.as_deref(), exact)
                    .map_err(|error| error.to_string())
            }
            Target::Selector(selector) => {
                let session = self.session.as_ref().ok_or_else(no_page)?;
                session.query(&selector).await.map_err(|error| match error {
                    BridgeError::TextWithheld => {
                        "values of the user are in this container: name elements by a \
                                                  ref of the snapshot, or by role and name"
                            .to_owned()
                    }
                    error => format!("`{written}`: {error}"),
                })
            }
        }
    }

    async fn fill(&mut self, fields: Vec<FieldToFill>) -> Result<Answer, String> {
        let count = fields.len();
        for (done, FieldToFill { target, value }) in fields.into_iter().enumerate() {
            let target = self.find(&target).await?;
            let verb = match value {
                FieldValue::Text(text) => Verb::Type { target, text },
                FieldValue::On(on) => Verb::Check { target, on },
                FieldValue::Option(option) => Verb::select(target, option),
            };
            let said = self.act(Action::Verb(verb)).await?;
            if said != "ok" {
                let mut answer = self.answered(said).await?;
                answer.blocks.push(Block::Text(format!("of {count} fields the first {done} are filled")));
                return Ok(answer);
            }
        }
        Ok(self.with_page(Answer::text("ok")).await)
    }

    async fn wait(
        &mut self,
        milliseconds: u32,
        text: Option<String>,
        text_gone: Option<String>,
    ) -> Result<Answer, String> {
        let mut left = milliseconds;
        while left > 0 {
            // One wait of the bridge lasts ten seconds at most.
            let step = left.min(10_000);
            self.act(Action::Verb(Verb::Wait { milliseconds: step })).await?;
            left -= step;
        }
        let until = Instant::now() + TEXT_TIMEOUT;
        while text.is_some() || text_gone.is_some() {
            self.read().await?;
            let there =
                |words: &Option<String>| words.as_ref().map(|words| self.rendered.contains(words.as_str()));
            if there(&text) != Some(false) && there(&text_gone) != Some(true) {
                break;
            }
            if Instant::now() >= until {
                return Err("the text did not appear or disappear in time".to_owned());
            }
            self.act(Action::Verb(Verb::Wait { milliseconds: SEARCH_INTERVAL })).await?;
        }
        Ok(self.with_page(Answer::text("ok")).await)
    }
}

/// The status of a response that is no success, in the words of the standard: a server's own words are not told.
fn error_status(status: u16) -> Option<StatusCode> {
    StatusCode::from_u16(status)
        .ok()
        .filter(|status| !status.is_success() && status.canonical_reason().is_some())
}

/// A dialog as the agent is told it. Its message cannot leave the quotes.
fn told(dialog: &ShownDialog) -> String {
    let (kind, message) = (dialog.kind.name(), Value::from(dialog.message.as_str()));
    format!(
        "### Dialog\nThe page shows this {kind}, and does nothing until browser_handle_dialog answers it: {message}"
    )
}

/// Scrubs the answer of playwright-mcp for the agent.
fn scrubbed(session: &mut TaskSession, (said, is_error): (Vec<String>, bool)) -> Result<Answer, String> {
    let texts = said.into_iter().map(|text| session.scrub(&text).map(Block::Text));
    let blocks = texts.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    Ok(Answer { blocks, is_error })
}
