//! The session of a task: guarded, or unguarded and only observed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use portcullis::audit::AuditLog;
use portcullis::guard::SystemEntropy;
use portcullis::guard::upload_folder::FileRefused;
use portcullis::observe::{ObservationReport, ObservedTask, Observer, UnguardedSession};
use portcullis::session::{ActionOutcome, ListedPage, Proposal, SessionError, ShownDialog, ToldDownload};
use portcullis::signals::playwright::developer_tools::console::ConsoleMessage;
use portcullis::signals::playwright::developer_tools::requests::{PageRequest, ResponseBody};
use portcullis::signals::playwright::developer_tools::{Recording, ScriptResult};
use portcullis::signals::playwright::{BridgeError, Browser, ElementBox, Picture, PictureSettings};
use portcullis::signals::{Container, ElementRef, Origin, PlaceInElement};
use portcullis::{Action, Guard, Session};

use crate::downloads::unguarded;

/// Opens a log for each observed task.
pub type OpenTaskLog = Box<dyn FnMut() -> Result<Box<dyn AuditLog>, String> + Send>;

/// Receives the report of each observed task.
pub type ReceiveReport = Box<dyn FnMut(&ObservationReport) + Send>;

/// The mode of the gateway, with all that it needs to start a session.
pub enum Mode {
    /// A guard decides; `None` while a session has it.
    Guard(Option<Box<Guard>>),
    /// Nothing is blocked. The decisions of a guard under this policy are recorded, and reported at the end of a task.
    Observe { policy: String, log: Arc<Mutex<OpenTaskLog>>, report: Arc<Mutex<ReceiveReport>> },
}

/// The session of an open task.
pub enum TaskSession {
    Guarded(Box<Session>),
    Observed(Box<UnguardedSession>),
}

impl Mode {
    /// The mode of a session at the same time, whose questions name the client by this label.
    pub fn for_client(&self, label: &str) -> Mode {
        match self {
            Mode::Guard(guard) => {
                let named = |guard: &Guard| guard.for_another_session().named_in_questions(label);
                Mode::Guard(guard.as_deref().map(named).map(Box::new))
            }
            Mode::Observe { policy, log, report } => {
                Mode::Observe { policy: policy.clone(), log: log.clone(), report: report.clone() }
            }
        }
    }

    /// Starts the task of the user's prompt.
    pub async fn begin(&mut self, browser: &Browser, task: &str) -> Result<TaskSession, String> {
        match self {
            Mode::Guard(guard) => {
                let begun = guard.take().ok_or_else(stopped)?;
                let begun = Session::begin_or_give_back(*begun, browser, task).await;
                started(begun, guard)
            }
            Mode::Observe { .. } => {
                let task = ObservedTask::of_prompt(task).map_err(|error| not_started(&error))?;
                self.observe(browser, task).await
            }
        }
    }

    /// Starts a task that the agent proposes.
    pub async fn begin_proposed(
        &mut self,
        browser: &Browser,
        proposal: Proposal,
    ) -> Result<TaskSession, String> {
        match self {
            Mode::Guard(guard) => {
                let begun = guard.take().ok_or_else(stopped)?;
                let begun = Session::begin_proposed(*begun, browser, proposal).await;
                started(begun, guard)
            }
            Mode::Observe { .. } => {
                let Proposal { origins, kinds, .. } = proposal;
                self.observe(browser, ObservedTask { origins, kinds, ..ObservedTask::default() }).await
            }
        }
    }

    async fn observe(&mut self, browser: &Browser, task: ObservedTask) -> Result<TaskSession, String> {
        let Mode::Observe { policy, log, .. } = self else { return Err(stopped()) };
        let opened = (*log.lock().unwrap_or_else(PoisonError::into_inner))();
        let observer = Observer::that_blocks_nothing(policy, task, opened?, &mut SystemEntropy);
        let observer = observer.map_err(|error| not_started(&error))?;
        let begun = UnguardedSession::begin(observer, browser).await;
        Ok(TaskSession::Observed(Box::new(begun.map_err(|error| not_started(&error))?)))
    }

    /// Ends a task.
    pub async fn end(&mut self, session: TaskSession) {
        match (self, session) {
            (Mode::Guard(guard), TaskSession::Guarded(session)) => {
                let (_report, given_back) = session.finish().await;
                *guard = Some(Box::new(given_back));
            }
            (Mode::Observe { report, .. }, TaskSession::Observed(session)) => {
                let seen = session.finish().await;
                (*report.lock().unwrap_or_else(PoisonError::into_inner))(&seen);
            }
            // A session always ends in the mode that started it.
            (Mode::Guard(_), TaskSession::Observed(_)) | (Mode::Observe { .. }, TaskSession::Guarded(_)) => {}
        }
    }
}

impl TaskSession {
    /// Carries an action out.
    pub async fn act(&mut self, action: Action) -> ActionOutcome {
        match self {
            TaskSession::Guarded(session) => session.act(action).await,
            TaskSession::Observed(session) => session.act(action).await,
        }
    }

    /// Waits until what the last action led to has happened. In an observed session the next look does so.
    pub async fn rest(&mut self) -> ActionOutcome {
        match self {
            TaskSession::Guarded(session) => session.rest().await,
            TaskSession::Observed(_) => ActionOutcome::done(),
        }
    }

    /// The text of an outcome for the agent. A refusal says what the agent can do next.
    pub fn told(&self, outcome: &ActionOutcome) -> String {
        match self {
            TaskSession::Guarded(session) => session.with_next_steps(outcome),
            TaskSession::Observed(_) => outcome.to_string(),
        }
    }

    /// Returns true if values of the user may be in the container: released ones, or ones that they typed themselves. An
    /// observed session releases none.
    pub fn is_private(&self) -> bool {
        match self {
            TaskSession::Guarded(session) => session.is_private(),
            TaskSession::Observed(_) => false,
        }
    }

    /// Returns true if the page is lost, with its process or with the browser.
    pub fn is_gone(&self) -> bool {
        match self {
            TaskSession::Guarded(session) => session.is_gone(),
            TaskSession::Observed(session) => session.is_gone(),
        }
    }

    pub async fn query(&self, selector: &str) -> Result<ElementRef, BridgeError> {
        match self {
            TaskSession::Guarded(session) => session.query(selector).await,
            TaskSession::Observed(session) => session.query(selector).await,
        }
    }

    pub async fn element_at(&self, x: f64, y: f64) -> Result<(ElementRef, PlaceInElement), BridgeError> {
        match self {
            TaskSession::Guarded(session) => session.element_at(x, y).await,
            TaskSession::Observed(session) => session.tab().element_at(x, y).await,
        }
    }

    pub async fn boxes(&self) -> Result<HashMap<ElementRef, ElementBox>, BridgeError> {
        match self {
            TaskSession::Guarded(session) => session.boxes().await,
            TaskSession::Observed(session) => session.tab().boxes().await,
        }
    }

    pub async fn keep_as_pdf(&mut self) -> Result<(), BridgeError> {
        match self {
            TaskSession::Guarded(session) => session.keep_as_pdf().await,
            TaskSession::Observed(session) => session.tab().keep_as_pdf().await,
        }
    }

    pub async fn picture(
        &mut self,
        of: Option<&ElementRef>,
        settings: PictureSettings,
    ) -> Result<Picture, BridgeError> {
        match (self, of) {
            (TaskSession::Guarded(session), of) => session.picture(of, settings).await,
            (TaskSession::Observed(session), None) => session.tab().picture(settings).await,
            (TaskSession::Observed(session), Some(of)) => session.tab().picture_of(of, settings).await,
        }
    }

    /// Scrubs text from the page for the agent.
    pub fn scrub(&mut self, text: &str) -> Result<String, BridgeError> {
        match self {
            TaskSession::Guarded(session) => session.tell(text),
            TaskSession::Observed(_) => Ok(text.to_owned()),
        }
    }

    /// The address of a window that the page opened in the last action, and that was closed.
    pub fn take_refused_window(&mut self) -> Option<String> {
        match self {
            TaskSession::Guarded(session) => session.take_refused_window(),
            TaskSession::Observed(_) => None,
        }
    }

    /// The dialog that the page shows. In an observed session dialogs are dismissed as they open.
    pub fn dialog(&mut self) -> Option<ShownDialog> {
        match self {
            TaskSession::Guarded(session) => session.dialog(),
            TaskSession::Observed(_) => None,
        }
    }

    /// Accepts or dismisses the dialog that the page shows.
    pub async fn answer_dialog(
        &mut self,
        accept: bool,
        words: Option<&str>,
    ) -> Result<ActionOutcome, String> {
        match self {
            TaskSession::Guarded(session) => Ok(session.answer_dialog(accept, words).await),
            TaskSession::Observed(_) => Err("there is no dialog".to_owned()),
        }
    }

    /// The pages of the container. An observed session has one.
    pub async fn pages(&mut self) -> Vec<ListedPage> {
        match self {
            TaskSession::Guarded(session) => session.pages().await,
            TaskSession::Observed(_) => {
                vec![ListedPage { is_current: true, title: String::new(), address: String::new() }]
            }
        }
    }

    /// How many pages the container has.
    pub fn page_count(&self) -> usize {
        match self {
            TaskSession::Guarded(session) => session.page_count(),
            TaskSession::Observed(_) => 1,
        }
    }

    /// Opens an empty page, and turns to it.
    pub async fn open_page(&mut self) -> Result<(), String> {
        match self {
            TaskSession::Guarded(session) => session.open_page().await.map_err(|error| error.to_string()),
            TaskSession::Observed(_) => Err(one_page()),
        }
    }

    /// Turns to another page, by its place in the list.
    pub async fn select_page(&mut self, number: usize) -> Result<(), String> {
        match self {
            TaskSession::Guarded(session) => {
                session.select_page(number).await.map_err(|error| error.to_string())
            }
            TaskSession::Observed(_) => Err(one_page()),
        }
    }

    /// Closes a page, by its place in the list, or the current one.
    pub async fn close_page(&mut self, number: Option<usize>) -> Result<(), String> {
        match self {
            TaskSession::Guarded(session) => {
                session.close_page(number).await.map_err(|error| error.to_string())
            }
            TaskSession::Observed(_) => Err(one_page()),
        }
    }

    /// The names of the files that the user offers. An observed session has none.
    pub fn offered_files(&mut self) -> Vec<String> {
        match self {
            TaskSession::Guarded(session) => session.offered_files(),
            TaskSession::Observed(_) => Vec::new(),
        }
    }

    /// Whether the page asks for files, and the user offers some.
    pub fn asks_for_files(&self) -> bool {
        match self {
            TaskSession::Guarded(session) => session.asks_for_files(),
            TaskSession::Observed(_) => false,
        }
    }

    /// Whether the page asked for files in vain since the last call.
    pub fn take_cancelled_chooser(&mut self) -> bool {
        match self {
            TaskSession::Guarded(session) => session.take_cancelled_chooser(),
            TaskSession::Observed(_) => false,
        }
    }

    /// Gives the page these files. Without files the page is told that none was chosen, and there is no outcome.
    pub async fn upload(&mut self, files: Option<&[String]>) -> Result<Option<ActionOutcome>, String> {
        let TaskSession::Guarded(session) = self else {
            return Err(FileRefused::NoFolder.to_string());
        };
        let Some(files) = files else {
            session.cancel_upload();
            return Ok(None);
        };
        session.upload(files).await.map(Some).map_err(|refused| refused.to_string())
    }

    /// The downloads that ended since the last call.
    pub async fn take_downloads(&mut self) -> Vec<ToldDownload> {
        match self {
            TaskSession::Guarded(session) => session.take_downloads().await,
            TaskSession::Observed(session) => {
                session.tab().take_downloads().into_iter().map(unguarded).collect()
            }
        }
    }

    /// Whether pages opened or closed by themselves, or at a request, since the last call.
    pub fn take_pages_changed(&mut self) -> bool {
        match self {
            TaskSession::Guarded(session) => session.take_pages_changed(),
            TaskSession::Observed(_) => false,
        }
    }

    /// The status of the HTTP response that a new page came from.
    pub fn take_http_status(&mut self) -> Option<u16> {
        match self {
            TaskSession::Guarded(session) => session.take_http_status(),
            TaskSession::Observed(_) => None,
        }
    }

    /// Returns true if this site is part of the task. An observed task is for all sites.
    pub fn is_for(&self, origin: &Origin) -> bool {
        match self {
            TaskSession::Guarded(session) => session.task().is_about(origin),
            TaskSession::Observed(_) => true,
        }
    }

    /// Returns true if the user agreed to a container with releases, or if the session is only observed.
    pub fn is_raised(&self) -> bool {
        match self {
            TaskSession::Guarded(session) => session.task().container() != Container::T0,
            TaskSession::Observed(_) => true,
        }
    }

    /// Returns true if the user was asked a question in this task.
    pub fn has_asked(&self) -> bool {
        match self {
            TaskSession::Guarded(session) => session.questions() > 0,
            TaskSession::Observed(_) => false,
        }
    }

    /// Describes the task and its container to the agent.
    pub fn status(&self) -> String {
        let session = match self {
            TaskSession::Guarded(session) => session,
            TaskSession::Observed(session) if session.prompt().is_empty() => {
                return "- nothing is guarded here".to_owned();
            }
            TaskSession::Observed(session) => {
                return format!("- nothing is guarded here\n- task: {}", session.prompt());
            }
        };
        let task = session.task();
        let list = |items: Vec<String>| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
        let kinds = task.kinds().iter().map(|kind| format!("REQ.{}", kind.as_str())).collect();
        let mut lines = vec![
            format!("- container: {}", task.container().as_str()),
            format!("- sites: {}", list(task.origins().iter().map(ToString::to_string).collect())),
            format!("- requests: {}", list(kinds)),
        ];
        let provider = task.sign_on().map(|both| format!("- login for {} at: {}", both.site, both.provider));
        lines.extend(provider);
        lines.extend((!session.prompt().is_empty()).then(|| format!("- task: {}", session.prompt())));
        lines
            .extend(session.has_released().then(|| "- values of the user's are in the container".to_owned()));
        lines.extend(
            session
                .is_vault_locked()
                .then(|| "- the user's vault is locked: ask the user to unlock it".to_owned()),
        );
        lines.extend(session.logged_in().map(|site| {
            format!("- the user is logged in at: {site}, by a saved login; no other site is reached")
        }));
        lines.extend(session.is_taken_over().then(|| {
            "- this page was handed over to the user: nothing more is read or done on it. Continue the task in a new container, \
             with portcullis_plan or after browser_close"
                .to_owned()
        }));
        lines.join("\n")
    }

    /// Has the pages record what the developer tools tell, as far as the agent may ask for it.
    pub fn record_pages(&mut self, recording: Recording) {
        match self {
            TaskSession::Guarded(session) => session.record_pages(recording),
            TaskSession::Observed(session) => session.tab().record(recording),
        }
    }

    pub fn console(&self, all: bool) -> Result<Vec<ConsoleMessage>, BridgeError> {
        match self {
            TaskSession::Guarded(session) => session.console(all),
            TaskSession::Observed(session) => session.tab().console(all),
        }
    }

    pub fn requests(&self) -> Result<Vec<PageRequest>, BridgeError> {
        match self {
            TaskSession::Guarded(session) => session.requests(),
            TaskSession::Observed(session) => session.tab().requests(),
        }
    }

    pub async fn response_body(&self, of: &PageRequest) -> Result<ResponseBody, BridgeError> {
        match self {
            TaskSession::Guarded(session) => session.response_body(of).await,
            TaskSession::Observed(session) => session.tab().response_body(of).await,
        }
    }

    pub async fn run_script(
        &mut self,
        script: &str,
        element: Option<&ElementRef>,
    ) -> Result<ScriptResult, BridgeError> {
        match self {
            TaskSession::Guarded(session) => session.run_script(script, element).await,
            TaskSession::Observed(session) => session.tab().run_script(script, element).await,
        }
    }

    pub async fn resize(&self, width: u32, height: u32) -> Result<(), BridgeError> {
        match self {
            TaskSession::Guarded(session) => session.resize(width, height).await,
            TaskSession::Observed(session) => session.tab().resize(width, height).await,
        }
    }
}

/// Wraps a session that was started. If it was not, the guard is returned for the next task.
fn started(
    begun: Result<Session, (SessionError, Box<Guard>)>,
    guard: &mut Option<Box<Guard>>,
) -> Result<TaskSession, String> {
    match begun {
        Ok(mut session) => {
            session.let_dialogs_wait();
            session.let_pages_open();
            Ok(TaskSession::Guarded(Box::new(session)))
        }
        Err((error, given_back)) => {
            *guard = Some(given_back);
            Err(not_started(&error))
        }
    }
}

fn one_page() -> String {
    "a task that is only observed has one page".to_owned()
}

fn stopped() -> String {
    "the guard has stopped; start it again".to_owned()
}

fn not_started(error: &impl std::fmt::Display) -> String {
    format!("the task could not be started: {error}")
}
