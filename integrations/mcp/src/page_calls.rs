//! Calls that act on the page of the open session, or observe it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use portcullis::Action;
use portcullis::session::{ActionOutcome, ActionResult, ShownDialog};
use portcullis::signals::playwright::{BridgeError, Picture};
use portcullis::signals::verb::ClickManner;
use portcullis::signals::{ElementRef, Verb};

use crate::call::{Answer, Block, Call, FieldToFill, FieldValue, SearchPattern};
use crate::developer_tools;
use crate::downloads;
use crate::rendered;
use crate::settings::Snapshots;
use crate::target::{self, Target};
use crate::task_session::TaskSession;
use crate::uploads;
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
            Call::Request { block } => {
                let outcome = self.act(Action::Request(block)).await?;
                let mut answer = self.answer_of(&outcome);
                if self.session.as_mut().is_some_and(TaskSession::take_pages_changed) {
                    let closed = "a request for values closes the other tabs of its container";
                    answer.blocks.push(Block::Text(closed.to_owned()));
                }
                Ok(self.with_page(answer).await)
            }
            Call::Snapshot { target, depth, limit, boxes } => {
                self.snapshot(target.as_deref(), depth, limit, boxes).await
            }
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
            Call::Verify(check) => self.verify(check).await,
            Call::KeepAsPdf => {
                let session = self.session.as_mut().ok_or_else(no_page)?;
                session.keep_as_pdf().await.map_err(|error| match error {
                    BridgeError::TextWithheld => "the page was handed over to the user".to_owned(),
                    error => error.to_string(),
                })?;
                Ok(Answer::text("ok"))
            }
            Call::Act(mut verb) => {
                self.find_elements(&mut verb).await?;
                self.verb(verb).await
            }
            Call::ClickAt { x, y, manner } => {
                let session = self.session.as_ref().ok_or_else(no_page)?;
                let (target, place) = session.element_at(x, y).await.map_err(|error| match error {
                    BridgeError::TextWithheld => OFF.to_owned(),
                    BridgeError::NotOne(_) => "the point is outside of the window".to_owned(),
                    error => error.to_string(),
                })?;
                let manner = ClickManner { place: Some(place), ..manner };
                self.verb(Verb::Click { target, manner }).await
            }
            Call::ActAndSubmit(mut verb) => {
                self.find_elements(&mut verb).await?;
                let target = verb.elements_mut().next().cloned();
                let outcome = self.act(Action::Verb(verb)).await?;
                match target {
                    Some(target) if outcome.is_done() => self.verb(Verb::Submit { target }).await,
                    _ => self.answered(outcome).await,
                }
            }
            Call::Fill(fields) => self.fill(fields).await,
            Call::Dialog { accept, words } => {
                let session = self.session.as_mut().ok_or_else(no_page)?;
                if session.dialog().is_none() {
                    return Err("the page shows no dialog".to_owned());
                }
                let outcome = session.answer_dialog(accept, words.as_deref()).await?;
                self.answered(outcome).await
            }
            Call::Upload { files } => self.upload(files).await,
            Call::Wait { milliseconds, text, text_gone } => self.wait(milliseconds, text, text_gone).await,
            Call::Screenshot { target, settings } => {
                let of = match &target {
                    Some(target) => Some(self.find(target).await?),
                    None => None,
                };
                let session = self.session.as_mut().ok_or_else(no_page)?;
                let Picture { base64, form } = match session.picture(of.as_ref(), settings).await {
                    Err(BridgeError::TextWithheld) => return Err(OFF.to_owned()),
                    other => other.map_err(|error| error.to_string())?,
                };
                let what = match (&of, settings.whole_page) {
                    (Some(_), _) => "the element",
                    (None, true) => "the whole page",
                    (None, false) => "the viewport",
                };
                let said = Block::Text(format!("### Result\nA picture of {what}"));
                let picture = Block::Picture { data: base64, media_type: form.media_type().to_owned() };
                Ok(Answer { blocks: vec![said, picture], is_error: false })
            }
            Call::Console { .. }
            | Call::Resize { .. }
            | Call::Evaluate { .. }
            | Call::Requests { .. }
            | Call::PageRequest { .. } => self.on_developer_tools(call).await,
            Call::ListTabs | Call::NewTab { .. } | Call::SelectTab { .. } | Call::CloseTab { .. } => {
                self.on_tabs(call).await
            }
            Call::Plan { .. } | Call::Status | Call::Navigate { .. } | Call::Close => {
                Err("this call needs no page".to_owned())
            }
        }
    }

    /// Carries out a call about the tabs. Its answer lists them, as playwright-mcp's does.
    async fn on_tabs(&mut self, call: Call) -> Result<Answer, String> {
        let session = self.session.as_mut().ok_or_else(no_page)?;
        let (mut status, mut opens) = (None, None);
        match call {
            Call::NewTab { url } => {
                session.open_page().await?;
                opens = url;
            }
            Call::SelectTab { number } => session.select_page(number).await?,
            Call::CloseTab { number } => session.close_page(number).await?,
            _ => {}
        }
        self.forget_page();
        if let Some(url) = opens {
            let outcome = self.act(Action::Verb(Verb::Open { url })).await?;
            if !outcome.is_done() {
                return self.answered(outcome).await;
            }
            status = self.session.as_mut().and_then(TaskSession::take_http_status).and_then(error_status);
        }
        let tabs = self.tabs().await?;
        let mut answer = Answer::text(format!("### Result\n{tabs}"));
        answer.blocks.extend(status.map(|status| Block::Text(format!("HTTP status: {status}"))));
        Ok(answer)
    }

    /// The tabs, one on a line.
    async fn tabs(&mut self) -> Result<String, String> {
        let session = self.session.as_mut().ok_or_else(no_page)?;
        Ok(rendered::tabs(&session.pages().await))
    }

    /// Forgets what the agent knows of the page: the next answer tells the page whole.
    pub(crate) fn forget_page(&mut self) {
        self.rendered.clear();
        self.known.forget();
    }

    pub(crate) async fn act(&mut self, action: Action) -> Result<ActionOutcome, String> {
        let session = self.session.as_mut().ok_or_else(no_page)?;
        let blind = session.is_private();
        // A difference from the page before a release would tell of the values.
        if matches!(action, Action::Request(_)) {
            self.known.forget();
        }
        let outcome = session.act(action).await;
        if session.is_private() && !blind {
            self.known.forget();
        }
        Ok(outcome)
    }

    /// The text of an outcome for the agent.
    pub(crate) fn text_of(&self, outcome: &ActionOutcome) -> String {
        self.session.as_ref().map_or_else(|| outcome.to_string(), |session| session.told(outcome))
    }

    /// The answer that tells an outcome. A refused verb is an error.
    fn answer_of(&self, outcome: &ActionOutcome) -> Answer {
        let is_error = matches!(outcome.result, ActionResult::Refused(_));
        Answer { is_error, ..Answer::text(self.text_of(outcome)) }
    }

    /// Carries out a call of the developer tools.
    async fn on_developer_tools(&mut self, call: Call) -> Result<Answer, String> {
        let element = match &call {
            Call::Evaluate { target: Some(target), .. } => Some(self.find(target).await?),
            _ => None,
        };
        let session = self.session.as_mut().ok_or_else(no_page)?;
        let failed = |error: BridgeError| match error {
            BridgeError::TextWithheld => OFF.to_owned(),
            error => error.to_string(),
        };
        let missing = |number: usize| {
            format!(
                "### Error\nRequest #{number} not found. browser_network_requests lists them with their numbers"
            )
        };
        let said = match call {
            Call::Console { level, all } => {
                developer_tools::console(&session.console(all).map_err(failed)?, level)
            }
            Call::Resize { width, height } => {
                session.resize(width, height).await.map_err(failed)?;
                return Ok(self.with_page(Answer::text("ok")).await);
            }
            Call::Evaluate { function, .. } => {
                let result = session.run_script(&function, element.as_ref()).await.map_err(failed)?;
                match developer_tools::script_result(result) {
                    Ok(value) => value,
                    Err(thrown) => return scrubbed(session, "Error", &thrown, true),
                }
            }
            Call::Requests { all, filter } => {
                let filter = filter.map(|filter| match filter {
                    SearchPattern::Text(words) => rendered::compiled(&words, true),
                    SearchPattern::Expression { pattern, any_case } => rendered::compiled(&pattern, any_case),
                });
                let requests = session.requests().map_err(failed)?;
                developer_tools::requests(&requests, all, filter.transpose()?.as_ref())
            }
            Call::PageRequest { number, part } => {
                let requests = session.requests().map_err(failed)?;
                let request = number.checked_sub(1).and_then(|at| requests.get(at));
                let request = request.ok_or_else(|| missing(number))?;
                let known = part.map(|part| developer_tools::part(request, part));
                match known {
                    None => developer_tools::details(number, request),
                    Some(Some(known)) => known,
                    Some(None) => {
                        let body = session.response_body(request).await.map_err(|error| match error {
                            BridgeError::NotApplicable => "the browser has not kept the content".to_owned(),
                            error => failed(error),
                        })?;
                        developer_tools::body(body)
                    }
                }
            }
            _ => return Err("this call is none of the developer tools".to_owned()),
        };
        scrubbed(session, "Result", &said, false)
    }

    /// Reads the page for the agent. The error is the reason of a denial.
    pub(crate) async fn read(&mut self) -> Result<(), String> {
        let outcome = self.act(Action::Verb(Verb::Read)).await?;
        if let ActionResult::Page(text) = outcome.result {
            self.rendered = text;
            return Ok(());
        }
        self.rendered.clear();
        let dialog = self.session.as_mut().and_then(TaskSession::dialog);
        Err(dialog.map_or_else(|| self.text_of(&outcome), |dialog| told(&dialog)))
    }

    pub(crate) async fn verb(&mut self, verb: Verb) -> Result<Answer, String> {
        let outcome = self.act(Action::Verb(verb)).await?;
        self.answered(outcome).await
    }

    /// The answer after an action: what it led to, and the page.
    pub(crate) async fn answered(&mut self, mut outcome: ActionOutcome) -> Result<Answer, String> {
        // The page that follows is read at once: what else is told belongs to the same moment.
        if outcome.is_done()
            && self.settings.snapshots == Snapshots::AfterActions
            && let Some(session) = self.session.as_mut()
        {
            let rested = session.rest().await;
            if !rested.is_done() {
                outcome = rested;
            }
        }
        if let Some(dialog) = self.session.as_mut().and_then(TaskSession::dialog) {
            return Ok(Answer::text(told(&dialog)));
        }
        let mut answer = self.answer_of(&outcome);
        if let Some(address) = self.session.as_mut().and_then(TaskSession::take_refused_window) {
            answer.blocks.push(Block::Text(format!(
                "the page opened another window, which was closed: with values of the user's in it, or with eight pages, a container \
                 gets no further one; nor is there one at an address that may not be opened. browser_navigate opens its address here:\n{address}"
            )));
        }
        if let Some(status) =
            self.session.as_mut().and_then(TaskSession::take_http_status).and_then(error_status)
        {
            answer.blocks.push(Block::Text(format!("HTTP status: {status}")));
        }
        answer.blocks.extend(self.session.as_mut().and_then(uploads::asked_for).map(Block::Text));
        if self.session.as_mut().is_some_and(TaskSession::take_pages_changed) {
            self.forget_page();
            answer.blocks.push(Block::Text(format!("### Open tabs\n{}", self.tabs().await?)));
        }
        Ok(if outcome.is_done() { self.with_page(answer).await } else { answer })
    }

    /// Adds the downloads that ended since the agent was told of them last.
    pub(crate) async fn tell_downloads(&mut self, answer: &mut Answer) {
        let Some(session) = self.session.as_mut() else { return };
        let ended = session.take_downloads().await;
        answer.blocks.extend((!ended.is_empty()).then(|| Block::Text(downloads::told(&ended))));
    }

    /// Adds the current page, if the settings ask for it.
    async fn with_page(&mut self, mut answer: Answer) -> Answer {
        if self.settings.snapshots == Snapshots::AfterActions {
            match self.read().await {
                Ok(()) => answer.blocks.push(Block::Text(self.known.after_action(&self.rendered))),
                // A dialog that the action led to may have opened meanwhile.
                Err(said) if self.session.as_mut().is_some_and(|session| session.dialog().is_some()) => {
                    answer.blocks.push(Block::Text(said));
                }
                Err(_) => {}
            }
        }
        answer
    }

    async fn snapshot(
        &mut self,
        target: Option<&str>,
        depth: Option<usize>,
        limit: Option<usize>,
        boxes: bool,
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
        let boxes = match boxes {
            false => HashMap::new(),
            true => {
                let session = self.session.as_ref().ok_or_else(no_page)?;
                session.boxes().await.map_err(|error| match error {
                    BridgeError::TextWithheld => OFF.to_owned(),
                    error => error.to_string(),
                })?
            }
        };
        // The line of the document, or of the element, and those in it: `depth` counts what is below them.
        let (text, outermost) = match (&part, depth) {
            (None, None) => {
                let told = rendered::with_boxes(&self.rendered, &boxes);
                return Ok(Answer::text(self.known.whole(&self.rendered, &told, limit)));
            }
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
        Ok(Answer::text(self.known.part(&rendered::with_boxes(&text, &boxes), limit)))
    }

    /// Puts refs in the place of what the call names the elements of a verb by.
    async fn find_elements(&mut self, verb: &mut Verb) -> Result<(), String> {
        for element in verb.elements_mut() {
            *element = self.find(&element.0).await?;
        }
        Ok(())
    }

    /// Resolves the element that a call names.
    pub(crate) async fn find(&mut self, written: &str) -> Result<ElementRef, String> {
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
                FieldValue::Text(text) => Verb::typed(target, text),
                FieldValue::On(on) => Verb::Check { target, on },
                FieldValue::Option(option) => Verb::select(target, option),
            };
            let outcome = self.act(Action::Verb(verb)).await?;
            if !outcome.is_done() {
                let mut answer = self.answered(outcome).await?;
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
                |words: &Option<String>| words.as_ref().map(|words| rendered::shows(&self.rendered, words));
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

/// A dialog as the agent is told it.
fn told(dialog: &ShownDialog) -> String {
    let ShownDialog { kind, message } = dialog;
    let kind = kind.name();
    format!(
        "### Dialog\nThe page shows this {kind}, and does nothing until browser_handle_dialog answers it: {message}"
    )
}

/// What the developer tools say, scrubbed for the agent.
fn scrubbed(session: &mut TaskSession, title: &str, said: &str, is_error: bool) -> Result<Answer, String> {
    let text = session.scrub(&format!("### {title}\n{said}")).map_err(|error| error.to_string())?;
    Ok(Answer { is_error, ..Answer::text(text) })
}
