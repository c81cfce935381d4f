//! The one guard and its task, one thing at a time.

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::protocol::{Refusal, Wish};
use crate::action::Action;
use crate::guard::Guard;
use crate::session::tab::{TabSession, Tabs};
use browser_signals::Verb;

/// How many wishes may wait.
const MOST_WAITING: usize = 8;

/// What an extension may show of the task, and nothing that a page or an agent could use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// The task's sites, and the tier that the user raised it to; none without a task.
    pub task: Option<(Vec<String>, &'static str)>,
    /// The answers that stand, in words.
    pub standing: Vec<String>,
}

impl Status {
    /// As a message.
    pub fn message(&self) -> Value {
        let task = self.task.as_ref().map(|(origins, tier)| json!({ "origins": origins, "container": tier }));
        json!({ "task": task, "standing": self.standing })
    }
}

struct Job {
    wish: Wish,
    answer: oneshot::Sender<Result<Value, Refusal>>,
}

/// Where wishes are put.
#[derive(Clone)]
pub(super) struct Desk(mpsc::Sender<Job>);

impl Desk {
    /// A desk, and what works at it: until every copy of the desk is gone.
    pub(super) fn new(
        guard: Guard,
        tabs: Tabs,
        status: watch::Sender<Status>,
    ) -> (Desk, impl Future<Output = ()>) {
        let (sender, jobs) = mpsc::channel(MOST_WAITING);
        (Desk(sender), work(guard, tabs, status, jobs))
    }

    /// Waits for what becomes of a wish. Where too many wait already it is refused at once.
    pub(super) async fn ask(&self, wish: Wish) -> Result<Value, Refusal> {
        let (sender, answer) = oneshot::channel();
        self.0.try_send(Job { wish, answer: sender }).map_err(|_| Refusal::Busy)?;
        answer.await.unwrap_or(Err(Refusal::Busy))
    }
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
}

async fn work(guard: Guard, tabs: Tabs, status: watch::Sender<Status>, mut jobs: mpsc::Receiver<Job>) {
    let mut on = On::Nothing(Box::new(guard));
    while let Some(Job { wish, answer }) = jobs.recv().await {
        let answered;
        (on, answered) = one(on, wish, &tabs).await;
        status.send_modify(|status| match &on {
            On::Nothing(_) => status.task = None,
            On::Task(session) => {
                let origins = session.view().origins.iter().map(ToString::to_string).collect();
                status.task = Some((origins, session.view().container.as_str()));
                status.standing = session.standing().iter().map(ToString::to_string).collect();
            }
        });
        let _gone = answer.send(answered);
    }
    drop(over(on, &tabs).await);
}

/// Ends what lies on the desk: the pages that were given values may send again what they like.
async fn over(on: On, tabs: &Tabs) -> Box<Guard> {
    let was_task = matches!(on, On::Task(_));
    let guard = on.cleared();
    if was_task {
        tabs.widen().await;
    }
    guard
}

async fn one(on: On, wish: Wish, tabs: &Tabs) -> (On, Result<Value, Refusal>) {
    match (on, wish) {
        (on, Wish::Begin(prompt)) => {
            match TabSession::begin(*over(on, tabs).await, tabs.clone(), &prompt).await {
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
        (on, Wish::End) => (On::Nothing(over(on, tabs).await), Ok(json!({ "ended": true }))),
        (On::Nothing(guard), Wish::Read | Wish::Request(_)) => (On::Nothing(guard), Err(Refusal::NoTask)),
        (On::Task(mut session), wish) => {
            let action = match wish {
                Wish::Request(text) => Action::Request(text),
                _ => Action::Verb(Verb::Read),
            };
            let reply = session.act(action).await;
            (On::Task(session), Ok(json!({ "reply": reply })))
        }
    }
}
