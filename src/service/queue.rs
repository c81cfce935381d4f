//! The queue of requests to the one guard and its task, which serves one request at a time.

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::protocol::{ClientRequest, Refusal};
use crate::consent::{Change, StandingConsent};
use crate::guard::Guard;
use crate::guard::dependencies::standing_consents;
use crate::guard::shared_vault::SharedVault;
use crate::session::changes::{ChangeQueue, ChangeRequest, ChangeStatus};
use crate::session::tab::{TabSession, Tabs, kinds};

/// The maximum number of waiting requests.
const MAX_WAITING: usize = 8;

/// The maximum number of waiting changes of standing consents. An agent's requests do not use up this queue.
const MAX_CHANGES: usize = 32;

/// The open task's sites and container tier; `None` without a task.
pub(super) type OpenTask = Option<(Vec<String>, &'static str)>;

/// The status that the extension shows: the task and the standing consents, and no data that a page or an agent could use.
pub(super) fn status(task: &OpenTask, all: &[StandingConsent]) -> Value {
    let task = task.as_ref().map(|(origins, tier)| json!({ "origins": origins, "container": tier }));
    let kinds: Vec<&str> = kinds().map(sirl::Kind::as_str).collect();
    json!({ "task": task, "standing": standing(all), "kinds": kinds })
}

/// Standing consents, as a message.
fn standing(all: &[StandingConsent]) -> Value {
    let one = |it: &StandingConsent| {
        let fields: Vec<&str> = it.fields.iter().map(sirl::Field::as_str).collect();
        json!({
            "kind": it.kind.as_str(),
            "site": it.to.to_string(),
            "given": it.given,
            "fields": fields,
            "until": it.until,
            "says": it.to_string(),
        })
    };
    all.iter().map(one).collect()
}

/// A waiting request, and the channel for its answer.
struct QueuedRequest {
    request: ClientRequest,
    answer: oneshot::Sender<Result<Value, Refusal>>,
}

/// The sending end of the queue.
#[derive(Clone)]
pub(super) struct TaskQueue {
    requests: mpsc::Sender<QueuedRequest>,
    changes: mpsc::Sender<ChangeRequest>,
    /// Standing consents are read from the vault directly, because the current request may take minutes.
    vault: SharedVault,
}

impl TaskQueue {
    /// A queue, and the worker that serves it until every copy of the queue is dropped.
    pub(super) fn new(
        guard: Guard,
        tabs: Tabs,
        task: watch::Sender<OpenTask>,
    ) -> (TaskQueue, impl Future<Output = ()>) {
        let (requests, waiting) = mpsc::channel(MAX_WAITING);
        let (changes, waiting_changes) = mpsc::channel(MAX_CHANGES);
        let vault = guard.dependencies.vault.clone();
        (TaskQueue { requests, changes, vault }, serve(guard, tabs, task, waiting, waiting_changes))
    }

    /// The standing consents.
    pub(super) fn standing(&self) -> Vec<StandingConsent> {
        standing_consents(&self.vault)
    }

    /// Queues a request and waits for its answer. A full queue refuses it at once.
    pub(super) async fn ask(&self, request: ClientRequest) -> Result<Value, Refusal> {
        match request {
            ClientRequest::Change(change) => return change_status(self.change(change)?).await,
            ClientRequest::Standing => return Ok(json!({ "standing": standing(&self.standing()) })),
            _ => {}
        }
        let (sender, answer) = oneshot::channel();
        self.requests.try_send(QueuedRequest { request, answer: sender }).map_err(|_| Refusal::Busy)?;
        answer.await.unwrap_or(Err(Refusal::Busy))
    }

    /// Queues a change. The session makes it even within an agent's action, but not before an open prompt is answered or
    /// expires.
    pub(super) fn change(&self, change: Change) -> Result<oneshot::Receiver<ChangeStatus>, Refusal> {
        let (done, answer) = oneshot::channel();
        self.changes.try_send(ChangeRequest { change, done }).map_err(|_| Refusal::Busy)?;
        Ok(answer)
    }
}

/// The status of a change, once it is made.
pub(super) async fn change_status(answer: oneshot::Receiver<ChangeStatus>) -> Result<Value, Refusal> {
    let changed = answer.await.map_err(|_| Refusal::Busy)?;
    Ok(json!({ "changed": changed.as_str() }))
}

/// The guard, with or without an open task.
enum Current {
    Idle(Box<Guard>),
    Task(Box<TabSession>),
}

impl Current {
    /// Ends the task, if there is one, and returns the guard.
    fn into_guard(self) -> Box<Guard> {
        match self {
            Current::Idle(guard) => guard,
            Current::Task(session) => Box::new(session.finish().1),
        }
    }

    fn change(&mut self, change: &Change) -> ChangeStatus {
        match self {
            Current::Idle(guard) => guard.change(change),
            Current::Task(session) => session.change(change),
        }
    }

    /// The open task, as the extension shows it.
    fn task(&self) -> OpenTask {
        match self {
            Current::Idle(_) => None,
            Current::Task(session) => {
                let origins = session.view().origins.iter().map(ToString::to_string).collect();
                Some((origins, session.view().container.as_str()))
            }
        }
    }
}

/// Serves the queue until all senders are gone, and then ends the task.
async fn serve(
    guard: Guard,
    tabs: Tabs,
    task: watch::Sender<OpenTask>,
    mut requests: mpsc::Receiver<QueuedRequest>,
    mut changes: ChangeQueue,
) {
    let mut current = Current::Idle(Box::new(guard));
    loop {
        tokio::select! {
            biased;
            Some(ChangeRequest { change, done }) = changes.recv() => {
                let changed = current.change(&change);
                let _gone = done.send(changed);
            }
            Some(QueuedRequest { request, answer }) = requests.recv() => {
                let answered;
                (current, answered) = serve_one(current, request, &tabs, &task, &mut changes).await;
                task.send_replace(current.task());
                let _gone = answer.send(answered);
            }
            else => break,
        }
    }
    drop(end_task(current, &tabs, &task).await);
}

/// Ends the task, if there is one, and lifts the browser's rules: pages with values may send requests again.
async fn end_task(current: Current, tabs: &Tabs, task: &watch::Sender<OpenTask>) -> Box<Guard> {
    let was_task = matches!(current, Current::Task(_));
    let guard = current.into_guard();
    if was_task {
        task.send_replace(None);
        tabs.widen().await;
    }
    guard
}

/// Serves one request.
async fn serve_one(
    current: Current,
    request: ClientRequest,
    tabs: &Tabs,
    task: &watch::Sender<OpenTask>,
    changes: &mut ChangeQueue,
) -> (Current, Result<Value, Refusal>) {
    match (current, request) {
        (current, ClientRequest::Begin { prompt, pages }) => {
            match TabSession::begin(*end_task(current, tabs, task).await, tabs.clone(), &prompt, pages).await
            {
                Ok(session) => {
                    let ruled_out: Vec<[String; 2]> = session
                        .ruled_out()
                        .iter()
                        .map(|(kind, reason)| [kind.as_str().to_owned(), reason.code()])
                        .collect();
                    let begun = json!({
                        "prompt": session.prompt(),
                        "container": session.view().container.as_str(),
                        "ruled_out": ruled_out,
                    });
                    (Current::Task(Box::new(session)), Ok(json!({ "begun": begun })))
                }
                Err((error, guard)) => (Current::Idle(guard), Err(Refusal::Task(error.to_string()))),
            }
        }
        (current, ClientRequest::End) => {
            (Current::Idle(end_task(current, tabs, task).await), Ok(json!({ "ended": true })))
        }
        // `ask` answers the one itself, and changes have a queue of their own.
        (current, ClientRequest::Standing | ClientRequest::Change(_)) => (current, Err(Refusal::NotForRole)),
        (Current::Idle(guard), ClientRequest::Act(_)) => (Current::Idle(guard), Err(Refusal::NoTask)),
        (Current::Task(mut session), ClientRequest::Act(action)) => {
            let reply = session.act(action, changes).await;
            (Current::Task(session), Ok(json!({ "reply": reply.to_string() })))
        }
    }
}
