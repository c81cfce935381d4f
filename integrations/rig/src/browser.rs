//! The guarded browser as a tool of rig.

use std::future::Future;

use browser_signals::playwright::Browser;
use browser_signals::{ElementRef, Verb};
use portcullis::{Action, Session, SessionReport};
use rig_core::tool::{Tool, ToolContext};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// The session or its browser is not available.
#[derive(Debug, thiserror::Error)]
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

/// The actions of a model in the browser.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Go to an address.
    Open {
        /// The address.
        url: String,
    },
    /// Read the page.
    Read,
    /// Click an element.
    Click {
        /// The element's ref in the page's text.
        r#ref: String,
    },
    /// Type into a control.
    Type {
        /// The control's ref in the page's text.
        r#ref: String,
        /// The text to type.
        text: String,
    },
    /// Choose an option.
    Select {
        /// The list's ref in the page's text.
        r#ref: String,
        /// The option.
        option: String,
    },
    /// Set a box.
    Check {
        /// The box's ref in the page's text.
        r#ref: String,
        /// True to set it, false to clear it.
        on: bool,
    },
    /// Submit a form.
    Submit {
        /// The ref of an element of the form.
        r#ref: String,
    },
    /// Press a key.
    Press {
        /// Its name.
        key: String,
    },
    /// Go back.
    Back,
    /// Ask for data of the user, or for a purchase, in the request language.
    Request {
        /// `REQ.` lines up to `REQ.end`.
        text: String,
    },
}

impl From<Step> for Action {
    fn from(step: Step) -> Action {
        Action::Verb(match step {
            Step::Open { url } => Verb::Open { url },
            Step::Read => Verb::Read,
            Step::Click { r#ref } => Verb::click(ElementRef(r#ref)),
            Step::Type { r#ref, text } => Verb::typed(ElementRef(r#ref), text),
            Step::Select { r#ref, option } => Verb::select(ElementRef(r#ref), option),
            Step::Check { r#ref, on } => Verb::Check { target: ElementRef(r#ref), on },
            Step::Submit { r#ref } => Verb::Submit { target: ElementRef(r#ref) },
            Step::Press { key } => Verb::Press { key },
            Step::Back => Verb::Back,
            Step::Request { text } => return Action::Request(text),
        })
    }
}

/// The tool `browser`.
pub struct BrowserTool {
    browser: GuardedBrowser,
}

impl Tool for BrowserTool {
    const NAME: &'static str = "browser";
    type Args = Step;
    type Output = String;
    type Error = SessionUnavailable;

    fn description(&self) -> String {
        "Drives a browser, one step at a time. Data of the user are never typed: ask for them with `request`, in lines \
         such as REQ.address and REQ.purchase, ended by REQ.end."
            .to_owned()
    }

    fn parameters(&self) -> Value {
        let text = json!({ "type": "string" });
        json!({
            "type": "object",
            "properties": {
                "do": { "type": "string", "enum": [
                    "open", "read", "click", "type", "select", "check", "submit", "press", "back", "request"
                ] },
                "url": text, "ref": text, "text": text, "option": text, "key": text,
                "on": { "type": "boolean" },
            },
            "required": ["do"],
        })
    }

    async fn call(&self, _context: &mut ToolContext, step: Step) -> Result<String, SessionUnavailable> {
        self.browser.act(step.into()).await
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use super::*;

    #[test]
    fn valid_steps_are_parsed_and_others_refused() {
        let read = |value: Value| serde_json::from_value::<Step>(value);
        let typed = read(json!({ "do": "type", "ref": "e1", "text": "two" })).unwrap();
        assert_eq!(typed, Step::Type { r#ref: "e1".to_owned(), text: "two".to_owned() });
        assert_eq!(read(json!({ "do": "read" })).unwrap(), Step::Read);
        assert!(read(json!({ "do": "evaluate", "script": "1" })).is_err());
        assert!(read(json!({ "do": "click" })).is_err());
        let asked = Action::from(Step::Request { text: "REQ.end".to_owned() });
        assert_eq!(asked, Action::Request("REQ.end".to_owned()));
    }
}
