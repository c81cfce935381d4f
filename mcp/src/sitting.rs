//! What calls are carried out in: a guarded session, or one that nothing guards and that is only watched.

use portcullis::audit::AuditLog;
use portcullis::guard::SystemEntropy;
use portcullis::observe::{ObservationReport, ObservedTask, Observer, UnguardedSession};
use portcullis::session::Proposal;
use portcullis::session::driver::SessionError;
use portcullis::signals::playwright::{BridgeError, Browser, Picture, PictureSettings, SecondProgram};
use portcullis::signals::{Container, ElementRef, Origin};
use portcullis::{Action, Guard, Session};

/// Gives a log for each task that is watched.
pub type LogFor = Box<dyn FnMut() -> Result<Box<dyn AuditLog>, String> + Send>;

/// Takes what was seen of each task that was watched.
pub type Seen = Box<dyn FnMut(&ObservationReport) + Send>;

/// Who decides.
pub enum Keeper {
    /// A guard; none while a session has it.
    Guard(Option<Box<Guard>>),
    /// Nobody: what a guard under this policy would have done is recorded and told in the end.
    Nobody { policy: String, log: LogFor, seen: Seen },
}

/// A task that is open.
pub enum Sitting {
    Guarded(Box<Session>),
    Watched(Box<UnguardedSession>),
}

impl Keeper {
    /// Begins the task that the user worded.
    pub async fn begin(&mut self, browser: &Browser, task: &str) -> Result<Sitting, String> {
        match self {
            Keeper::Guard(guard) => {
                let begun = guard.take().ok_or_else(stopped)?;
                let begun = Session::begin_or_give_back(*begun, browser, task).await;
                kept(begun, guard)
            }
            Keeper::Nobody { .. } => {
                let task = ObservedTask::of_prompt(task).map_err(|error| not_begun(&error))?;
                self.watch(browser, task).await
            }
        }
    }

    /// Begins a task that the agent proposes.
    pub async fn begin_proposed(&mut self, browser: &Browser, proposal: Proposal) -> Result<Sitting, String> {
        match self {
            Keeper::Guard(guard) => {
                let begun = guard.take().ok_or_else(stopped)?;
                let begun = Session::begin_proposed(*begun, browser, proposal).await;
                kept(begun, guard)
            }
            Keeper::Nobody { .. } => {
                let Proposal { origins, kinds } = proposal;
                self.watch(browser, ObservedTask { origins, kinds, ..ObservedTask::default() }).await
            }
        }
    }

    async fn watch(&mut self, browser: &Browser, task: ObservedTask) -> Result<Sitting, String> {
        let Keeper::Nobody { policy, log, .. } = self else { return Err(stopped()) };
        let observer = Observer::that_blocks_nothing(policy, task, log()?, &mut SystemEntropy);
        let observer = observer.map_err(|error| not_begun(&error))?;
        let begun = UnguardedSession::begin(observer, browser).await;
        Ok(Sitting::Watched(Box::new(begun.map_err(|error| not_begun(&error))?)))
    }

    /// Ends a task.
    pub async fn end(&mut self, sitting: Sitting) {
        match (self, sitting) {
            (Keeper::Guard(guard), Sitting::Guarded(session)) => {
                let (_report, given_back) = session.finish().await;
                *guard = Some(Box::new(given_back));
            }
            (Keeper::Nobody { seen, .. }, Sitting::Watched(session)) => seen(&session.finish().await),
            // Each keeper gets back what it gave.
            (Keeper::Guard(_), Sitting::Watched(_)) | (Keeper::Nobody { .. }, Sitting::Guarded(_)) => {}
        }
    }
}

impl Sitting {
    pub async fn act(&mut self, action: Action) -> String {
        match self {
            Sitting::Guarded(session) => session.act(action).await,
            Sitting::Watched(session) => session.act(action).await,
        }
    }

    /// Whether something of the user's may be in the container: a released value, or what they typed by hand. Where nothing
    /// guards, neither comes about by us.
    pub fn is_private(&self) -> bool {
        match self {
            Sitting::Guarded(session) => session.is_private(),
            Sitting::Watched(_) => false,
        }
    }

    /// Whether the page is gone for good, with its process or with the browser.
    pub fn is_gone(&self) -> bool {
        match self {
            Sitting::Guarded(session) => session.is_gone(),
            Sitting::Watched(session) => session.is_gone(),
        }
    }

    pub async fn query(&self, selector: &str) -> Result<ElementRef, BridgeError> {
        match self {
            Sitting::Guarded(session) => session.query(selector).await,
            Sitting::Watched(session) => session.query(selector).await,
        }
    }

    pub async fn picture(&self, settings: PictureSettings) -> Result<Picture, BridgeError> {
        match self {
            Sitting::Guarded(session) => session.picture(settings).await,
            Sitting::Watched(session) => session.picture(settings).await,
        }
    }

    /// What the agent may be told of words that came out of the page.
    pub fn tell(&mut self, text: &str) -> Result<String, BridgeError> {
        match self {
            Sitting::Guarded(session) => session.tell(text),
            Sitting::Watched(_) => Ok(text.to_owned()),
        }
    }

    /// Whether the task is for this site. Where nothing guards, it is for all.
    pub fn is_for(&self, origin: &Origin) -> bool {
        match self {
            Sitting::Guarded(session) => session.task().origins().contains(origin),
            Sitting::Watched(_) => true,
        }
    }

    /// Whether the user agreed to a container in which something can be released, or nobody was asked.
    pub fn is_raised(&self) -> bool {
        match self {
            Sitting::Guarded(session) => session.task().container() != Container::T0,
            Sitting::Watched(_) => true,
        }
    }

    /// Whether the user was asked something in this task.
    pub fn has_asked(&self) -> bool {
        match self {
            Sitting::Guarded(session) => session.prompts() > 0,
            Sitting::Watched(_) => false,
        }
    }

    /// The task and its container, for the agent.
    pub fn status(&self) -> String {
        let session = match self {
            Sitting::Guarded(session) => session,
            Sitting::Watched(session) if session.prompt().is_empty() => {
                return "- nothing is guarded here".to_owned();
            }
            Sitting::Watched(session) => {
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
        lines.extend((!session.prompt().is_empty()).then(|| format!("- task: {}", session.prompt())));
        lines
            .extend(session.has_released().then(|| "- values of the user's are in the container".to_owned()));
        lines.extend(session.is_taken_over().then(|| {
            "- this page was the user's to finish by hand: nothing more is read or done on this page. What is left of the task begins \
             anew, with portcullis_plan or after browser_close"
                .to_owned()
        }));
        lines.join("\n")
    }

    pub fn show_to(&self, program: &SecondProgram) {
        match self {
            Sitting::Guarded(session) => session.show_to(program),
            Sitting::Watched(session) => session.show_to(program),
        }
    }
}

/// What was begun. Where nothing was, the guard stays for the next task.
fn kept(
    begun: Result<Session, (SessionError, Box<Guard>)>,
    guard: &mut Option<Box<Guard>>,
) -> Result<Sitting, String> {
    match begun {
        Ok(session) => Ok(Sitting::Guarded(Box::new(session))),
        Err((error, given_back)) => {
            *guard = Some(given_back);
            Err(not_begun(&error))
        }
    }
}

fn stopped() -> String {
    "the guard has stopped; start it again".to_owned()
}

fn not_begun(error: &impl std::fmt::Display) -> String {
    format!("the task could not be begun: {error}")
}
