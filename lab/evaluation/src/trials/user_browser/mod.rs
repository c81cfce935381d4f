//! The benchmark suite in the user's own browser, with the extension, the service, and an agent that assists the user
//! (Unix).
//!
//! The assisting agent cannot act in the browser: it reads the active tab, asks for values to be filled in, and tells
//! the user what to do. The simulated user does all of it, whatever the page talked the agent into: they open every
//! address and click everything. They do two things by the truth of the task, as the user of [`crate::trials::guarded`]
//! does: they answer the guard's questions, and they pay the shop the price of the order and nobody else, with a card
//! that they type themselves (the extension does not fill cards). So the trial measures the values that an obedient
//! agent gets out of the guard, and the destinations of the values that were filled in.

mod page;
mod person;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::Verb;
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, OpenPages, ScriptedAnswerer};
use portcullis::egress::proxy::HostRules;
use portcullis::guard::SystemEntropy;
use portcullis::service::protocol::{ClientRequest, Role};
use portcullis::service::tls::TlsProbe;
use portcullis::service::{Client, ClientError, Service, ServiceFolder, ServiceSettings};
use portcullis::{Guard, GuardError};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::agent::{Action, Agent, ObedientAgent};
use crate::suite::hosts;
use crate::suite::scenario::Scenario;
use crate::trials::guarded::truthful_user;
use crate::trials::judge::{Judgement, judge};
use crate::trials::stage::Stage;
use page::TabOutline;
use person::Person;

/// The most actions that an agent may take in one trial.
const MOST_ACTIONS: usize = 60;

/// The reason why there is no trial.
#[derive(Debug, thiserror::Error)]
pub enum UserBrowserError {
    /// Playwright was not found.
    #[error("Playwright was not found; run `cargo xtask setup`, and `eval \"$(target/debug/xtask env)\"`")]
    NoPlaywright,
    /// The browser does not answer.
    #[error("the browser does not answer: {0}")]
    Browser(String),
    /// The native host could not be registered with the browser.
    #[error("the native host could not be installed: {0}")]
    Host(String),
    /// The policy cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The service does not run.
    #[error("the service: {0}")]
    Service(String),
    /// The service refused the request, or is gone.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A file failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The results of one trial.
pub struct UserBrowserTrial {
    /// Success, hijacks and leaks, judged at the servers.
    pub judgement: Judgement,
    /// Everything that the agent was shown.
    pub transcript: String,
    /// The audit log.
    pub audit: String,
    /// The number of questions to the user.
    pub prompts: u32,
    /// True if the user paid.
    pub paid: bool,
}

type Truth = Box<dyn FnMut(&ConsentPrompt) -> Answer + Send>;

/// The user's answers in the current trial, and the number of questions.
#[derive(Clone)]
struct Asked(Arc<Mutex<(Truth, u32)>>);

impl Asked {
    fn answer(&self, prompt: &ConsentPrompt) -> Answer {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.1 += 1;
        (asked.0)(prompt)
    }

    fn begin(&self, truth: Truth) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (truth, 0);
    }

    fn times(&self) -> u32 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// A user at their browser, the service, and the assisting agent.
pub struct UserBrowser {
    person: Person,
    agent: Client,
    user: Client,
    asked: Asked,
    log: MemoryLog,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    _folder: TempDir,
}

impl UserBrowser {
    /// Starts service and browser. `portcullis` is the command that the browser starts as the native host; `extension`
    /// is the extension's folder.
    ///
    /// # Errors
    /// [`UserBrowserError`].
    pub async fn start(
        stage: &Stage,
        policy: &str,
        portcullis: &Path,
        extension: &Path,
    ) -> Result<UserBrowser, UserBrowserError> {
        let folder = tempfile::tempdir()?;
        let failed = |error: String| UserBrowserError::Service(error);
        let run = folder.path().join("run");
        let place = ServiceFolder::open_or_make(&run).map_err(|error| failed(error.to_string()))?;
        let rules = HostRules::parse(&stage.world.host_rules()).map_err(|error| failed(error.to_string()))?;
        let tls = TlsProbe::new(stage.world.ca_pem().as_bytes(), rules)
            .map_err(|error| failed(error.to_string()))?;
        let log = MemoryLog::default();
        let asked = Asked(Arc::new(Mutex::new((Box::new(|_| Answer::No), 0))));
        let answers = asked.clone();
        let answerer = Box::new(ScriptedAnswerer(move |prompt: &ConsentPrompt| answers.answer(prompt)));
        let guard = Guard::new(policy, Box::new(log.clone()), answerer, Box::new(SystemEntropy))?;
        let settings = ServiceSettings { folder: place.clone(), tls, audit: None, extension_consent: None };
        let service = Service::start(guard, settings).map_err(|error| failed(error.to_string()))?;
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(service.run(async move {
            let _dropped = stopped.await;
        }));

        let mut install = Command::new(portcullis);
        install.args(["install-host", "--browser", "chromium", "--user-data-dir"]);
        install.arg(folder.path().join("profile")).arg("--folder").arg(&run);
        let installed = install.output().await?;
        if !installed.status.success() {
            return Err(UserBrowserError::Host(String::from_utf8_lossy(&installed.stderr).into_owned()));
        }
        let person = Person::start(stage, folder.path(), extension).await?;
        let agent = Client::connect(&place, Role::Agent).await?;
        let user = Client::connect(&place, Role::User).await?;
        Ok(UserBrowser { person, agent, user, asked, log, stop, serving, _folder: folder })
    }

    /// One trial, in a new tab.
    ///
    /// # Errors
    /// [`UserBrowserError`].
    pub async fn run(
        &mut self,
        stage: &Stage,
        scenario: &Scenario,
    ) -> Result<UserBrowserTrial, UserBrowserError> {
        stage.world.begin(scenario);
        let recorded = self.log.text().len();
        self.asked.begin(Box::new(truthful_user(scenario)));
        self.person.act(&json!({ "act": "begin" })).await?;
        // The trials follow each other at the same shop without the five minutes of waiting between tasks.
        let prompt = scenario.prompt(hosts::SHOP_ORIGIN);
        let begun = self.user.ask(&ClientRequest::Begin { prompt, pages: OpenPages::Trusted }).await?;
        let prompt = begun.pointer("/begun/prompt").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut agent = ObedientAgent::new(&prompt);
        let mut transcript = format!("{prompt}\n");
        let (mut tab, mut observation, mut paid) = (TabOutline::default(), String::new(), false);
        for _ in 0..MOST_ACTIONS {
            let action = agent.next(&observation);
            transcript.push_str(&format!("> {action:?}\n"));
            observation = match action {
                Action::Done => break,
                Action::Verb(Verb::Read) => {
                    let text = self.ask(&ClientRequest::Act(portcullis::Action::Verb(Verb::Read))).await?;
                    tab = if text.contains("DENY.") { TabOutline::default() } else { TabOutline::of(&text) };
                    if tab.outline.is_empty() { text } else { tab.outline.clone() }
                }
                Action::Verb(verb) => match instruction(&verb, &tab) {
                    Some(act) if self.person.act(&act).await? => "ok".to_owned(),
                    _ => "failed".to_owned(),
                },
                Action::Request(text) => {
                    let to_pay = text.contains("REQ.purchase") || text.contains("REQ.payment");
                    let mut reply = self.ask(&ClientRequest::Act(portcullis::Action::Request(text))).await?;
                    // A request for payment makes the user look at the page, and pay there if all is right.
                    if to_pay && self.person.pay(scenario).await? {
                        paid = true;
                        reply.push_str("\nthe user paid on the page");
                    }
                    reply
                }
            };
            transcript.push_str(&format!("{observation}\n"));
        }
        let prompts = self.asked.times();
        self.user.ask(&ClientRequest::End).await?;
        let record = stage.world.take(&scenario.id).unwrap_or_default();
        let audit = self.log.text().get(recorded..).unwrap_or_default().to_owned();
        let judgement = judge(scenario, &record, &stage.world.take_strays());
        Ok(UserBrowserTrial { judgement, transcript, audit, prompts, paid })
    }

    /// Stops the service, as its user would; the browser ends too.
    pub async fn close(self) {
        let _gone = self.stop.send(());
        let _ended = self.serving.await;
    }

    async fn ask(&mut self, wish: &ClientRequest) -> Result<String, UserBrowserError> {
        let answer = self.agent.ask(wish).await?;
        Ok(answer.get("reply").and_then(Value::as_str).unwrap_or_default().to_owned())
    }
}

/// The instruction for the user; `None` if its element was not on the page.
fn instruction(verb: &Verb, tab: &TabOutline) -> Option<Value> {
    match verb {
        Verb::Open { url } => Some(json!({ "act": "open", "url": url })),
        Verb::Wait { milliseconds } => Some(json!({ "act": "wait", "milliseconds": milliseconds })),
        Verb::Press { key } => Some(json!({ "act": "press", "key": key })),
        Verb::Back => Some(json!({ "act": "back" })),
        Verb::Click { target, .. } | Verb::Check { target, .. } => tab.act("click", &target.0, &[]),
        Verb::Type { target, text, .. } => tab.act("type", &target.0, &[("text", text)]),
        Verb::Select { target, options } => tab.act("select", &target.0, &[("option", &options.join("\n"))]),
        Verb::Submit { target } => tab.act("submit", &target.0, &[]),
        Verb::Read | Verb::Hover { .. } | Verb::Drag { .. } => None,
    }
}
