//! The guarded browser as a tool of rig.

use std::future::Future;

use browser_signals::playwright::Browser;
use browser_signals::tool;
use portcullis::{Action, Session, SessionReport};
use rig_core::tool::{Tool, ToolContext};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

/// The session or its browser is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionUnavailable {
    /// The session could not start.
    #[error("the guarded session could not begin: {0}")]
    NotStarted(String),
    /// The session has ended.
    #[error("the guarded session has ended")]
    Ended,
}

/// A command for the session.
enum Command {
    Act(Action, oneshot::Sender<String>),
    Finish(oneshot::Sender<SessionReport>),
}

/// A session on a thread of its own. It carries out one action after the other, and rig may call it from any task.
#[derive(Clone)]
pub struct GuardedBrowser {
    commands: mpsc::Sender<Command>,
    prompt: String,
}

impl GuardedBrowser {
    /// Starts a session. `begin` starts the browser and the session, on the session's own thread.
    ///
    /// # Errors
    /// [`SessionUnavailable::NotStarted`] with the error of `begin`.
    pub async fn begin<F, Begun>(begin: F) -> Result<GuardedBrowser, SessionUnavailable>
    where
        F: FnOnce() -> Begun + Send + 'static,
        Begun: Future<Output = Result<(Browser, Session), String>>,
    {
        let (commands, inbox) = mpsc::channel(8);
        let (ready, begun) = oneshot::channel();
        let run = move || {
            let runtime =
                match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
                    Ok(runtime) => runtime,
                    Err(error) => return drop(ready.send(Err(error.to_string()))),
                };
            runtime.block_on(async move {
                match begin().await {
                    Ok((browser, session)) => {
                        let _nobody_waits = ready.send(Ok(session.prompt().to_owned()));
                        serve(browser, session, inbox).await;
                    }
                    Err(error) => drop(ready.send(Err(error))),
                }
            });
        };
        let thread = std::thread::Builder::new().name("guarded-browser".to_owned());
        thread.spawn(run).map_err(|error| SessionUnavailable::NotStarted(error.to_string()))?;
        let prompt =
            begun.await.map_err(|_| SessionUnavailable::Ended)?.map_err(SessionUnavailable::NotStarted)?;
        Ok(GuardedBrowser { commands, prompt })
    }

    /// The prompt as the model may see it: handles in place of the values.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Carries out one action, or denies it. The text is all that the model sees.
    ///
    /// # Errors
    /// [`SessionUnavailable::Ended`].
    pub async fn act(&self, action: Action) -> Result<String, SessionUnavailable> {
        let (done, answer) = oneshot::channel();
        self.commands.send(Command::Act(action, done)).await.map_err(|_| SessionUnavailable::Ended)?;
        answer.await.map_err(|_| SessionUnavailable::Ended)
    }

    /// Ends the session and closes its browser.
    ///
    /// # Errors
    /// [`SessionUnavailable::Ended`] if it has ended already.
    pub async fn finish(&self) -> Result<SessionReport, SessionUnavailable> {
        let (done, report) = oneshot::channel();
        self.commands.send(Command::Finish(done)).await.map_err(|_| SessionUnavailable::Ended)?;
        report.await.map_err(|_| SessionUnavailable::Ended)
    }

    /// The tool by which a model drives the session.
    pub fn tool(&self) -> BrowserTool {
        BrowserTool { browser: self.clone() }
    }
}

async fn serve(browser: Browser, mut session: Session, mut inbox: mpsc::Receiver<Command>) {
    let mut finished = None;
    while let Some(order) = inbox.recv().await {
        match order {
            Command::Act(action, done) => {
                let outcome = session.act(action).await;
                drop(done.send(session.with_next_steps(&outcome)));
            }
            Command::Finish(done) => {
                finished = Some(done);
                break;
            }
        }
    }
    let (report, _guard) = session.finish().await;
    browser.close().await;
    if let Some(done) = finished {
        let _nobody_waits = done.send(report);
    }
}

/// The tool `browser`.
pub struct BrowserTool {
    browser: GuardedBrowser,
}

impl Tool for BrowserTool {
    const NAME: &'static str = "browser";
    type Args = Action;
    type Output = String;
    type Error = SessionUnavailable;

    fn description(&self) -> String {
        "Drives a browser, one step at a time. Data of the user are never typed: ask for them with `request`, in lines \
         such as REQ.address and REQ.purchase, ended by REQ.end."
            .to_owned()
    }

    fn parameters(&self) -> Value {
        tool::one_tool::<Action>()
    }

    async fn call(&self, _context: &mut ToolContext, action: Action) -> Result<String, SessionUnavailable> {
        self.browser.act(action).await
    }
}
