//! The one who owns the guard and the session, and takes one call after the other.
//!
//! A call that was begun and that the client gives up on is carried out to its end all the same: a session that is dropped
//! in the middle of a release would leave it unknown what was released.

use std::time::{Duration, Instant};

use portcullis::Action;
use portcullis::session::Proposal;
use portcullis::signals::playwright::{BridgeError, Picture};
use portcullis::signals::{ElementRef, Origin, Verb};
use tokio::sync::{mpsc, oneshot, watch};

use crate::arrivals::Turn;
use crate::call::{Call, FieldToFill, FieldValue};
use crate::catalogue::CarriedOutBy;
use crate::engine::Engine;
use crate::settings::{GatewaySettings, Snapshots};
use crate::sitting::{Keeper, Sitting};
use crate::target::{self, Target};
use crate::told;

/// How often in a row the user may say no to a task before nobody asks any more.
const MOST_REFUSED: u32 = 3;

/// How long the page may rest before it is looked at again for words that are waited for.
const LOOK_AGAIN: u32 = 250;

/// How long words are waited for, however long the page takes to be read.
const WAIT_FOR_WORDS: Duration = Duration::from_secs(30);

/// Said of a tool that looks past the session.
const OFF: &str = "something of the user's is in this container: this tool is off until it is closed (browser_close, or a \
                   new portcullis_plan)";

/// A call, and where its answer goes.
pub struct Order {
    pub call: Call,
    pub reply: oneshot::Sender<Answer>,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Words.
    Text(String),
    /// A picture, in base64, and its media type.
    Picture {
        /// Its bytes.
        data: String,
        /// Such as `image/png`.
        media_type: String,
    },
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub blocks: Vec<Block>,
    pub is_error: bool,
}

impl Answer {
    pub fn text(text: impl Into<String>) -> Answer {
        Answer { blocks: vec![Block::Text(text.into())], is_error: false }
    }

    pub fn error(text: impl Into<String>) -> Answer {
        Answer { is_error: true, ..Answer::text(text) }
    }

    /// What a session says: a verb that was refused is an error.
    fn of_session(said: String) -> Answer {
        if said.starts_with("DENY.verb") { Answer::error(said) } else { Answer::text(said) }
    }
}

/// Owns the guard and the session.
pub struct Worker {
    engine: Engine,
    settings: GatewaySettings,
    keeper: Keeper,
    session: Option<Sitting>,
    /// The page as it was told last.
    told: String,
    refused: u32,
    /// Whether a script of the agent's ran in the container.
    scripted: bool,
    /// Whether the tools that look past the session are on.
    looking: watch::Sender<bool>,
}

impl Worker {
    pub fn new(keeper: Keeper, engine: Engine, settings: GatewaySettings) -> Worker {
        Worker {
            engine,
            settings,
            keeper,
            session: None,
            told: String::new(),
            refused: 0,
            scripted: false,
            looking: watch::Sender::new(true),
        }
    }

    /// Whether the tools that look past the session are on, and when that changes.
    pub fn looking(&self) -> watch::Receiver<bool> {
        self.looking.subscribe()
    }

    /// Works until nobody can queue calls any more. The container is closed then, and the record ended.
    pub async fn work(mut self, mut turns: mpsc::Receiver<Turn>) {
        while let Some(turn) = turns.recv().await {
            let Ok(Order { call, reply }) = turn.await else {
                continue;
            };
            // Given up before it was begun, and so is what waits when the client goes away.
            if reply.is_closed() {
                continue;
            }
            let answer = self.carry_out(call).await;
            let looks = self.session.as_ref().is_none_or(|session| !session.is_private());
            self.looking.send_if_modified(|now| std::mem::replace(now, looks) != looks);
            let _nobody_waits = reply.send(answer);
        }
        self.end().await;
        self.engine.stop().await;
    }

    /// One call. Where the page went away, before it or under it, with its process or with the browser, the task is ended
    /// and the agent told so: nothing is carried out in a new container that was meant for the old one.
    async fn carry_out(&mut self, call: Call) -> Answer {
        if self.page_is_gone() && call != Call::Close {
            return self.begin_anew().await;
        }
        let mut answer = self.dispatch(call).await;
        if self.page_is_gone() {
            // What was done before is said all the same: a purchase is not to be made twice.
            answer.blocks.extend(self.begin_anew().await.blocks);
            answer.is_error = true;
        }
        answer
    }

    fn page_is_gone(&self) -> bool {
        self.session.as_ref().is_some_and(Sitting::is_gone)
    }

    async fn begin_anew(&mut self) -> Answer {
        let what = if self.engine.is_there() { "the page's process" } else { "the browser" };
        self.end().await;
        Answer::error(format!(
            "{what} is gone, and the page and its container with it. Open it anew with browser_navigate, or begin anew with \
             portcullis_plan"
        ))
    }

    async fn dispatch(&mut self, call: Call) -> Answer {
        let done = match call {
            Call::Plan { origins, plan } => self.plan(&origins, plan.as_deref()).await,
            Call::Status => Ok(self.status()),
            Call::Navigate { url } => self.navigate(url).await,
            Call::Close => {
                self.end().await;
                Ok(Answer::text("the page and its container are closed"))
            }
            Call::ListTabs => Ok(Answer::text(match self.session {
                Some(_) => "- 0: (current) the page of this container",
                None => "no page is open",
            })),
            call => self.on_the_page(call).await,
        };
        done.unwrap_or_else(Answer::error)
    }

    /// Calls that need an open session.
    async fn on_the_page(&mut self, call: Call) -> Result<Answer, String> {
        if self.session.is_none() && self.settings.task.is_some() {
            self.begin_users_task().await?;
        }
        match call {
            Call::Request { .. } if self.scripted => Err(
                // A script that waits in the page could tell what is filled in there, in words that no mask knows.
                "a script of yours ran in this container, so nothing is released into it; close it with \
                 browser_close and begin anew"
                    .to_owned(),
            ),
            Call::Request { block } => {
                let said = self.request(block).await?;
                Ok(self.with_page(Answer::of_session(said)).await)
            }
            Call::Back => self.verb(Verb::Back).await,
            Call::Snapshot { target, depth } => self.snapshot(target.as_deref(), depth).await,
            Call::Find(sought) => {
                self.read().await?;
                let found = told::find(&self.told, &sought)?;
                Ok(Answer::text(match found.is_empty() {
                    true => "nothing was found".to_owned(),
                    false => found.join("\n"),
                }))
            }
            Call::Click { target } => {
                let target = self.find(&target).await?;
                self.verb(Verb::Click { target }).await
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
                    return Ok(Answer::of_session(said));
                }
                self.verb(Verb::Submit { target }).await
            }
            Call::Fill(fields) => self.fill(fields).await,
            Call::Choose { target, option } => {
                let target = self.find(&target).await?;
                self.verb(Verb::Select { target, option }).await
            }
            Call::Press { key } => self.verb(Verb::Press { key }).await,
            Call::Wait { milliseconds, text, gone } => self.wait(milliseconds, text, gone).await,
            Call::Picture(settings) => {
                let session = self.session.as_ref().ok_or_else(no_page)?;
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

    async fn act(&mut self, action: Action) -> Result<String, String> {
        let session = self.session.as_mut().ok_or_else(no_page)?;
        let blind = session.is_private();
        let said = session.act(action).await;
        if session.is_private() && !blind {
            self.blind_upstream().await;
        }
        Ok(said)
    }

    /// A request is carried out with nobody else looking: a page may write what it is given to its console, and
    /// playwright-mcp keeps what it hears there in a file. Where nothing came of the request, it may look again.
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

    /// playwright-mcp sees the page no more, and forgets what it saw of it.
    async fn blind_upstream(&mut self) {
        if let Some(upstream) = &mut self.engine.upstream {
            upstream.leave().await;
        }
    }

    /// Reads the page for the agent. Where it may not be read, the reason is what it gets.
    async fn read(&mut self) -> Result<(), String> {
        let said = self.act(Action::Verb(Verb::Read)).await?;
        if said.starts_with("DENY.") {
            self.told.clear();
            return Err(said);
        }
        self.told = said;
        Ok(())
    }

    async fn verb(&mut self, verb: Verb) -> Result<Answer, String> {
        let said = self.act(Action::Verb(verb)).await?;
        let done = said == "ok";
        let answer = Answer::of_session(said);
        Ok(if done { self.with_page(answer).await } else { answer })
    }

    /// Adds the page as it is now, where the settings want it.
    async fn with_page(&mut self, mut answer: Answer) -> Answer {
        if self.settings.snapshots == Snapshots::AfterActions && self.read().await.is_ok() {
            answer.blocks.push(Block::Text(page(&self.told)));
        }
        answer
    }

    async fn snapshot(&mut self, target: Option<&str>, depth: Option<usize>) -> Result<Answer, String> {
        // A part is named by a handle of the last snapshot, which the next one gives to others.
        let part = match target {
            None => None,
            Some(written) => match Target::read(written).map_err(|error| error.to_string())? {
                Target::Handle(handle) => Some(handle),
                _ => return Err("name the element by a ref of the last snapshot, such as e12".to_owned()),
            },
        };
        self.read().await?;
        let text = match &part {
            Some(handle) => told::within(&self.told, &handle.0)
                .ok_or_else(|| format!("the page has no element {} any more", handle.0))?,
            None => self.told.clone(),
        };
        let text = depth.map_or_else(|| text.clone(), |depth| told::levels(&text, depth));
        Ok(Answer::text(page(&text)))
    }

    /// What a call names as its element, as a handle.
    async fn find(&mut self, written: &str) -> Result<ElementRef, String> {
        match Target::read(written).map_err(|error| error.to_string())? {
            Target::Handle(handle) => Ok(handle),
            Target::Told { role, name, exact } => {
                if self.told.is_empty() {
                    self.read().await?;
                }
                target::look_up(&self.told, written, role.as_deref(), name.as_deref(), exact)
                    .map_err(|error| error.to_string())
            }
            Target::Selector(selector) => {
                let session = self.session.as_ref().ok_or_else(no_page)?;
                session.query(&selector).await.map_err(|error| match error {
                    BridgeError::TextWithheld => {
                        "something of the user's is in this container: name elements by a \
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
                FieldValue::Option(option) => Verb::Select { target, option },
            };
            let said = self.act(Action::Verb(verb)).await?;
            if said != "ok" {
                return Ok(Answer::error(format!("{said}\nof {count} fields the first {done} are filled")));
            }
        }
        Ok(self.with_page(Answer::text("ok")).await)
    }

    async fn wait(
        &mut self,
        milliseconds: u32,
        text: Option<String>,
        gone: Option<String>,
    ) -> Result<Answer, String> {
        let mut left = milliseconds;
        while left > 0 {
            // The bridge waits ten seconds at most.
            let step = left.min(10_000);
            self.act(Action::Verb(Verb::Wait { milliseconds: step })).await?;
            left -= step;
        }
        let until = Instant::now() + WAIT_FOR_WORDS;
        while text.is_some() || gone.is_some() {
            self.read().await?;
            let there =
                |words: &Option<String>| words.as_ref().map(|words| self.told.contains(words.as_str()));
            if there(&text) != Some(false) && there(&gone) != Some(true) {
                break;
            }
            if Instant::now() >= until {
                return Err("the words were waited for in vain".to_owned());
            }
            self.act(Action::Verb(Verb::Wait { milliseconds: LOOK_AGAIN })).await?;
        }
        Ok(self.with_page(Answer::text("ok")).await)
    }

    async fn navigate(&mut self, url: String) -> Result<Answer, String> {
        if self.session.is_none() {
            match &self.settings.task {
                Some(_) => self.begin_users_task().await?,
                None => {
                    let origin = Origin::parse(&url).map_err(|_| format!("`{url}` is no web address"))?;
                    self.begin(Proposal { origins: vec![origin], kinds: Vec::new() }).await?;
                }
            }
        }
        self.verb(Verb::Open { url }).await
    }

    /// What the agent says it needs. Where the user worded the task, it holds and nothing is begun anew.
    async fn plan(&mut self, origins: &[String], plan: Option<&str>) -> Result<Answer, String> {
        let parsed = plan.map(sirl::parse_plan).transpose().map_err(|error| error.to_string())?;
        let origins = origins
            .iter()
            .map(|origin| {
                Origin::parse(origin)
                    .map_err(|_| format!("`{origin}` is no site, such as https://shop.example"))
            })
            .collect::<Result<Vec<_>, _>>()?;
        if self.settings.task.is_some() {
            if self.session.is_none() {
                self.begin_users_task().await?;
            }
            let session = self.session.as_ref().ok_or_else(no_page)?;
            if let Some(other) = origins.iter().find(|origin| !session.is_for(origin)) {
                return Err(format!("{other} is not part of the task, which the user set"));
            }
        } else {
            if origins.is_empty() {
                return Err("say which sites the task needs (`origins`)".to_owned());
            }
            let kinds: Vec<_> = parsed.as_ref().map(|plan| plan.kinds().collect()).unwrap_or_default();
            if !kinds.is_empty() {
                self.may_ask()?;
            }
            self.end().await;
            self.begin(Proposal { origins, kinds }).await?;
        }
        let foreseen = match plan {
            Some(plan) => self.act(Action::Request(plan.to_owned())).await? + "\n",
            None => String::new(),
        };
        let status = self.status();
        let mut blocks = vec![Block::Text(foreseen)];
        blocks.extend(status.blocks);
        blocks.retain(|block| !matches!(block, Block::Text(text) if text.is_empty()));
        Ok(Answer { blocks, is_error: false })
    }

    fn status(&self) -> Answer {
        let Some(session) = &self.session else {
            return Answer::text(
                "no page is open; open one with browser_navigate to look around, or say what you need with \
                 portcullis_plan",
            );
        };
        Answer::text(session.status())
    }

    async fn begin_users_task(&mut self) -> Result<(), String> {
        self.may_ask()?;
        let task = self.settings.task.clone().unwrap_or_default();
        let browser = self.engine.browser().await.map_err(|error| error.to_string())?;
        let begun = self.keeper.begin(browser, &task).await?;
        self.note_answer(&begun);
        self.opened(begun);
        Ok(())
    }

    async fn begin(&mut self, proposal: Proposal) -> Result<(), String> {
        let browser = self.engine.browser().await.map_err(|error| error.to_string())?;
        let begun = self.keeper.begin_proposed(browser, proposal).await?;
        self.note_answer(&begun);
        self.opened(begun);
        Ok(())
    }

    /// Whether the user may be asked about a task once more.
    fn may_ask(&self) -> Result<(), String> {
        match self.refused >= MOST_REFUSED {
            true => Err("the user was asked several times, did not agree, and is not asked again".to_owned()),
            false => Ok(()),
        }
    }

    /// Counts what the user answered to a task. To look around in between changes nothing: only a yes begins the count
    /// anew.
    fn note_answer(&mut self, begun: &Sitting) {
        match (begun.is_raised(), begun.has_asked()) {
            (true, _) => self.refused = 0,
            (false, true) => self.refused += 1,
            (false, false) => {}
        }
    }

    fn opened(&mut self, session: Sitting) {
        if let Some(upstream) = &self.engine.upstream {
            upstream.follow(&session);
        }
        self.told.clear();
        self.scripted = false;
        self.session = Some(session);
    }

    async fn end(&mut self) {
        self.told.clear();
        if let Some(session) = self.session.take() {
            self.blind_upstream().await;
            self.keeper.end(session).await;
        }
    }
}

/// What playwright-mcp said, as the agent may read it.
fn scrubbed(session: &mut Sitting, (said, is_error): (Vec<String>, bool)) -> Result<Answer, String> {
    let told = said.into_iter().map(|text| session.tell(&text).map(Block::Text));
    let blocks = told.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    Ok(Answer { blocks, is_error })
}

fn page(told: &str) -> String {
    format!("### Snapshot\n{told}")
}

fn no_page() -> String {
    "no page is open; open one with browser_navigate, or say what you need with portcullis_plan".to_owned()
}
