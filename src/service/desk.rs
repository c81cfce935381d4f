//! The one guard and its task, one thing at a time.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::protocol::{Refusal, Wish};
use crate::action::Action;
use crate::consent::{Change, StandingConsent};
use crate::guard::Guard;
use crate::session::kit::standing_in;
use crate::session::standing::{Changed, Changes, Wanted};
use crate::session::tab::{TabSession, Tabs, kinds};
use browser_signals::Verb;
use vault::Vault;

/// How many wishes may wait.
const MOST_WAITING: usize = 8;

/// How many changes of what stands may wait. An agent's wishes take no place from them.
const MOST_CHANGES: usize = 32;

/// The task's sites, and the tier that the user raised it to; none without a task.
pub(super) type TaskNow = Option<(Vec<String>, &'static str)>;

/// What an extension may show of the task and of what stands, and nothing that a page or an agent could use.
pub(super) fn status(task: &TaskNow, all: &[StandingConsent]) -> Value {
    let task = task.as_ref().map(|(origins, tier)| json!({ "origins": origins, "container": tier }));
    let kinds: Vec<&str> = kinds().map(sirl::Kind::as_str).collect();
    json!({ "task": task, "standing": standing(all), "kinds": kinds })
}

/// Answers that stand, as a message.
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

struct Job {
    wish: Wish,
    answer: oneshot::Sender<Result<Value, Refusal>>,
}

/// Where wishes are put.
#[derive(Clone)]
pub(super) struct Desk {
    jobs: mpsc::Sender<Job>,
    changes: mpsc::Sender<Wanted>,
    /// What stands is asked of it alone: whoever is at work may be at it for minutes.
    vault: Arc<Mutex<Vault>>,
}

impl Desk {
    /// A desk, and what works at it: until every copy of the desk is gone.
    pub(super) fn new(
        guard: Guard,
        tabs: Tabs,
        task: watch::Sender<TaskNow>,
    ) -> (Desk, impl Future<Output = ()>) {
        let (jobs, waiting) = mpsc::channel(MOST_WAITING);
        let (changes, wanted) = mpsc::channel(MOST_CHANGES);
        let vault = Arc::clone(&guard.kit.vault);
        (Desk { jobs, changes, vault }, work(guard, tabs, task, waiting, wanted))
    }

    /// The answers that stand now.
    pub(super) fn standing(&self) -> Vec<StandingConsent> {
        standing_in(&self.vault)
    }

    /// Waits for what becomes of a wish. Where too many wait already it is refused at once.
    pub(super) async fn ask(&self, wish: Wish) -> Result<Value, Refusal> {
        match wish {
            Wish::Change(change) => return changed(self.change(change)?).await,
            Wish::Standing => return Ok(json!({ "standing": standing(&self.standing()) })),
            _ => {}
        }
        let (sender, answer) = oneshot::channel();
        self.jobs.try_send(Job { wish, answer: sender }).map_err(|_| Refusal::Busy)?;
        answer.await.unwrap_or(Err(Refusal::Busy))
    }

    /// Puts a change in its place among the others. It is made also in the middle of what an agent asked for, but not
    /// before an open question is answered or over.
    pub(super) fn change(&self, change: Change) -> Result<oneshot::Receiver<Changed>, Refusal> {
        let (done, answer) = oneshot::channel();
        self.changes.try_send(Wanted { change, done }).map_err(|_| Refusal::Busy)?;
        Ok(answer)
    }
}

/// What became of a change, once it is made.
pub(super) async fn changed(answer: oneshot::Receiver<Changed>) -> Result<Value, Refusal> {
    let changed = answer.await.map_err(|_| Refusal::Busy)?;
    Ok(json!({ "changed": changed.as_str() }))
}

/// What lies on the desk.
enum On {
    Nothing(Box<Guard>),
    Task(Box<TabSession>),
}

impl On {
    /// The guard, the task ended if there was one.
    fn cleared(self) -> Box<Guard> {
        match self {
            On::Nothing(guard) => guard,
            On::Task(session) => Box::new(session.finish().1),
        }
    }

    fn change(&mut self, change: &Change) -> Changed {
        match self {
            On::Nothing(guard) => guard.change(change),
            On::Task(session) => session.change(change),
        }
    }

    /// The task, as it may be shown.
    fn task(&self) -> TaskNow {
        match self {
            On::Nothing(_) => None,
            On::Task(session) => {
                let origins = session.view().origins.iter().map(ToString::to_string).collect();
                Some((origins, session.view().container.as_str()))
            }
        }
    }
}

async fn work(
    guard: Guard,
    tabs: Tabs,
    task: watch::Sender<TaskNow>,
    mut jobs: mpsc::Receiver<Job>,
    mut changes: Changes,
) {
    let mut on = On::Nothing(Box::new(guard));
    loop {
        tokio::select! {
            biased;
            Some(Wanted { change, done }) = changes.recv() => {
                let changed = on.change(&change);
                let _gone = done.send(changed);
            }
            Some(Job { wish, answer }) = jobs.recv() => {
                let answered;
                (on, answered) = one(on, wish, &tabs, &task, &mut changes).await;
                task.send_replace(on.task());
                let _gone = answer.send(answered);
            }
            else => break,
        }
    }
    drop(over(on, &tabs, &task).await);
}

/// Ends what lies on the desk: the pages that were given values may send again what they like.
async fn over(on: On, tabs: &Tabs, task: &watch::Sender<TaskNow>) -> Box<Guard> {
    let was_task = matches!(on, On::Task(_));
    let guard = on.cleared();
    if was_task {
        task.send_replace(None);
        tabs.widen().await;
    }
    guard
}

async fn one(
    on: On,
    wish: Wish,
    tabs: &Tabs,
    task: &watch::Sender<TaskNow>,
    changes: &mut Changes,
) -> (On, Result<Value, Refusal>) {
    match (on, wish) {
        (on, Wish::Begin { prompt, pages }) => {
            match TabSession::begin(*over(on, tabs, task).await, tabs.clone(), &prompt, pages).await {
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
                    (On::Task(Box::new(session)), Ok(json!({ "begun": begun })))
                }
                Err((error, guard)) => (On::Nothing(guard), Err(Refusal::Task(error.to_string()))),
            }
        }
        (on, Wish::End) => (On::Nothing(over(on, tabs, task).await), Ok(json!({ "ended": true }))),
        // What is not for this hand: the desk answers the one, and changes come by a way of their own.
        (on, Wish::Standing | Wish::Change(_)) => (on, Err(Refusal::NotForRole)),
        (On::Nothing(guard), Wish::Read | Wish::Request(_)) => (On::Nothing(guard), Err(Refusal::NoTask)),
        (On::Task(mut session), wish) => {
            let action = match wish {
                Wish::Request(text) => Action::Request(text),
                _ => Action::Verb(Verb::Read),
            };
            let reply = session.act(action, changes).await;
            (On::Task(session), Ok(json!({ "reply": reply })))
        }
    }
}
