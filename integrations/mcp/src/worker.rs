//! The worker owns the guard and the session, and carries out one call after the other.
//!
//! A call that has started is carried out to its end even if the client cancels it: if a session were dropped in the middle
//! of a release, the outcome of the release would be unknown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use portcullis::Action;
use portcullis::session::Proposal;
use portcullis::signals::playwright::developer_tools::Recording;
use portcullis::signals::{Origin, Verb};
use tokio::sync::{mpsc, watch};

use crate::call::{Answer, Block, Call};
use crate::engine::Engine;
use crate::known_page::KnownPage;
use crate::queue::{PendingCall, QueuedCall};
use crate::settings::GatewaySettings;
use crate::task_session::{Mode, TaskSession};
use crate::uploads;

/// The most consecutive refusals of a task; after that the user is not asked any more.
const MOST_REFUSED: u32 = 3;

/// The state that outlives a client's session: the guard with its memory, and the number of refused tasks.
pub struct Lasting {
    mode: Mode,
    /// The number of tasks that the user refused in a row, over all clients.
    refused: Arc<AtomicU32>,
}

impl Lasting {
    pub fn new(mode: Mode) -> Lasting {
        Lasting { mode, refused: Arc::default() }
    }

    /// The same for the sessions of one client, whose questions name it by this label.
    pub fn for_client(&self, label: &str) -> Lasting {
        Lasting { mode: self.mode.for_client(label), refused: self.refused.clone() }
    }
}

/// Owns the guard and the session.
pub struct Worker {
    pub(crate) engine: Engine,
    pub(crate) settings: GatewaySettings,
    lasting: Lasting,
    pub(crate) session: Option<TaskSession>,
    /// The page as it was last rendered for the agent.
    pub(crate) rendered: String,
    /// The text of the page that the agent was told.
    pub(crate) known: KnownPage,
    /// True while the tools that bypass the session are on.
    observing: watch::Sender<bool>,
}

impl Worker {
    pub fn new(
        lasting: Lasting,
        engine: Engine,
        settings: GatewaySettings,
        observing: watch::Sender<bool>,
    ) -> Worker {
        Worker {
            engine,
            settings,
            lasting,
            session: None,
            rendered: String::new(),
            known: KnownPage::default(),
            observing,
        }
    }

    /// True while the tools that bypass the session are on, as at the beginning; it also signals changes.
    pub fn observing() -> watch::Sender<bool> {
        watch::Sender::new(true)
    }

    /// Works until all senders of the queue are dropped. Then the container is closed and the log is ended.
    pub async fn work(mut self, mut calls: mpsc::Receiver<PendingCall>) {
        while let Some(pending) = calls.recv().await {
            let Ok(QueuedCall { call, reply }) = pending.await else {
                continue;
            };
            // The client cancelled the call before it started, or has disconnected.
            if reply.is_closed() {
                continue;
            }
            let answer = self.carry_out(call).await;
            let allowed = self.session.as_ref().is_none_or(|session| !session.is_private());
            self.observing.send_if_modified(|now| std::mem::replace(now, allowed) != allowed);
            let _cancelled = reply.send(answer);
        }
        self.end().await;
        self.engine.stop().await;
    }

    /// Carries out one call. If the page is lost before the call or during it, with its process or with the browser, the task
    /// ends and the answer says so: no call that was meant for the old container is carried out in a new one.
    async fn carry_out(&mut self, call: Call) -> Answer {
        if self.page_is_gone() && call != Call::Close {
            return self.end_lost_task().await;
        }
        let mut answer = self.dispatch(call).await;
        self.tell_downloads(&mut answer).await;
        if self.page_is_gone() {
            // The result so far is reported as well, so that a purchase is not made twice.
            answer.blocks.extend(self.end_lost_task().await.blocks);
            answer.is_error = true;
        }
        answer
    }

    fn is_only_tab(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.page_count() == 1)
    }

    fn page_is_gone(&self) -> bool {
        self.session.as_ref().is_some_and(TaskSession::is_gone)
    }

    async fn end_lost_task(&mut self) -> Answer {
        let what = if self.engine.is_running() { "the page's process" } else { "the browser" };
        self.end().await;
        Answer::error(format!(
            "{what} is gone, and the page and its container with it. Open it again with browser_navigate, or start again with \
             portcullis_plan"
        ))
    }

    async fn dispatch(&mut self, call: Call) -> Answer {
        let done = match call {
            Call::Plan { origins, plan, uploads } => self.plan(&origins, plan.as_deref(), uploads).await,
            Call::Status => Ok(self.status()),
            Call::Navigate { url } => self.navigate(url).await,
            Call::Close => {
                self.end().await;
                Ok(Answer::text("the page and its container are closed"))
            }
            // Before the first address there is no container, and an empty page to an agent.
            Call::ListTabs | Call::NewTab { url: None } if self.session.is_none() => {
                Ok(Answer::text("### Result\n- 0: (current) [](about:blank)"))
            }
            Call::NewTab { url: Some(url) } if self.session.is_none() => self.navigate(url).await,
            Call::CloseTab { .. } if self.is_only_tab() => {
                self.end().await;
                Ok(Answer::text("the only tab is closed, and its container with it"))
            }
            call => self.on_the_page(call).await,
        };
        done.unwrap_or_else(Answer::error)
    }

    async fn navigate(&mut self, url: String) -> Result<Answer, String> {
        if self.session.is_none() {
            match &self.settings.task {
                Some(_) => self.begin_users_task().await?,
                None => {
                    let origin = Origin::parse(&url).map_err(|_| format!("`{url}` is not a web address"))?;
                    self.begin(Proposal { origins: vec![origin], ..Proposal::default() }).await?;
                }
            }
        }
        self.verb(Verb::Open { url }).await
    }

    /// Opens a task as the agent proposes it. If the user set the task, that one stays open.
    async fn plan(
        &mut self,
        origins: &[String],
        plan: Option<&str>,
        uploads: bool,
    ) -> Result<Answer, String> {
        let parsed = plan.map(sirl::parse_plan).transpose().map_err(|error| error.to_string())?;
        let origins = origins
            .iter()
            .map(|origin| {
                Origin::parse(origin)
                    .map_err(|_| format!("`{origin}` is not a site, such as https://shop.example"))
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
            if !kinds.is_empty() || uploads {
                self.may_ask()?;
            }
            self.end().await;
            self.begin(Proposal { origins, kinds, uploads }).await?;
        }
        let preflight = match plan {
            Some(plan) => {
                let outcome = self.act(Action::Request(plan.to_owned())).await?;
                self.text_of(&outcome) + "\n"
            }
            None => String::new(),
        };
        let status = self.status();
        let mut blocks = vec![Block::Text(preflight)];
        blocks.extend(status.blocks);
        blocks.retain(|block| !matches!(block, Block::Text(text) if text.is_empty()));
        Ok(Answer { blocks, is_error: false })
    }

    fn status(&mut self) -> Answer {
        let Some(session) = &mut self.session else {
            return Answer::text(
                "no page is open; open one with browser_navigate to look around, or say what you need with \
                 portcullis_plan",
            );
        };
        let mut status = session.status();
        if self.settings.allowed.files {
            // In T0 the agent could carry the names to any site, and nothing is uploaded there.
            let names = session.is_raised().then(|| session.offered_files());
            status.push_str(&uploads::listed(names.as_deref()));
        }
        Answer::text(status)
    }

    pub(crate) async fn begin_users_task(&mut self) -> Result<(), String> {
        self.may_ask()?;
        let task = self.settings.task.clone().unwrap_or_default();
        let browser = self.engine.browser().await.map_err(|error| error.to_string())?;
        let begun = self.lasting.mode.begin(browser, &task).await?;
        self.note_answer(&begun);
        self.opened(begun);
        Ok(())
    }

    async fn begin(&mut self, proposal: Proposal) -> Result<(), String> {
        let browser = self.engine.browser().await.map_err(|error| error.to_string())?;
        let begun = self.lasting.mode.begin_proposed(browser, proposal).await?;
        self.note_answer(&begun);
        self.opened(begun);
        Ok(())
    }

    /// Fails if the user has refused too many tasks in a row.
    fn may_ask(&self) -> Result<(), String> {
        match self.lasting.refused.load(Ordering::SeqCst) >= MOST_REFUSED {
            true => Err("the user was asked several times, did not agree, and is not asked again".to_owned()),
            false => Ok(()),
        }
    }

    /// Counts the user's refusals of tasks. Only a yes resets the count; browsing in between does not.
    fn note_answer(&mut self, begun: &TaskSession) {
        match (begun.is_raised(), begun.has_asked()) {
            (true, _) => self.lasting.refused.store(0, Ordering::SeqCst),
            (false, true) => drop(self.lasting.refused.fetch_add(1, Ordering::SeqCst)),
            (false, false) => {}
        }
    }

    fn opened(&mut self, mut session: TaskSession) {
        session.record_pages(Recording { console: true, requests: self.settings.allowed.network });
        self.rendered.clear();
        self.known.forget();
        self.session = Some(session);
    }

    async fn end(&mut self) {
        self.rendered.clear();
        self.known.forget();
        if let Some(session) = self.session.take() {
            self.lasting.mode.end(session).await;
        }
    }
}

pub(crate) fn no_page() -> String {
    "no page is open; open one with browser_navigate, or say what you need with portcullis_plan".to_owned()
}
