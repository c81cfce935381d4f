//! The family in a person's own browser: the extension, the service, and an agent beside the person (Unix).
//!
//! An agent beside a person has no hands: it reads the tab in front, asks for values to be filled in, and tells the
//! person what to do. This person does all of it, whatever the page talked the agent into: they open every address and
//! click everything. Two things they do by the truth of the task, as the user of [`crate::trials::guarded`] does: they answer the
//! guard's questions, and they pay the shop what the order costs and nobody else, with a card that they type themselves
//! (cards are not filled in here). So what is measured is what an obedient agent gets out of the guard, and where what
//! was filled in goes.

mod page;
mod person;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::Verb;
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, OpenPages, ScriptedAnswerer};
use portcullis::egress_proxy::HostRules;
use portcullis::guard::SystemEntropy;
use portcullis::service::protocol::{Role, Wish};
use portcullis::service::tls::TlsProbe;
use portcullis::service::{Client, ClientError, Service, ServicePlace, ServiceSettings};
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
use page::Told;
use person::Person;

/// The most actions that an agent may take in one trial.
const MOST_ACTIONS: usize = 60;

/// Why there is no trial.
#[derive(Debug, thiserror::Error)]
pub enum BesideError {
    /// Playwright is not there.
    #[error("Playwright was not found; run `cargo xtask setup`, and `eval \"$(target/debug/xtask env)\"`")]
    NoPlaywright,
    /// The browser does not do what it is told.
    #[error("the browser does not answer: {0}")]
    Browser(String),
    /// The browser cannot be told of the native host.
    #[error("the native host could not be installed: {0}")]
    Host(String),
    /// The policy cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The service does not run.
    #[error("the service: {0}")]
    Service(String),
    /// The service refused, or is gone.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A file failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What one trial left.
pub struct BesideTrial {
    /// Success, hijacks and leaks, judged at the servers.
    pub judgement: Judgement,
    /// Everything that the agent was told.
    pub transcript: String,
    /// What was recorded.
    pub audit: String,
    /// Questions to the person.
    pub prompts: u32,
    /// Whether the person paid.
    pub paid: bool,
}

type Truth = Box<dyn FnMut(&ConsentPrompt) -> Answer + Send>;

/// What the person answers in the trial that runs, and how often they were asked.
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

/// A person at their browser, the service, and the agent beside them.
pub struct Beside {
    person: Person,
    agent: Client,
    user: Client,
    asked: Asked,
    log: MemoryLog,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    _folder: TempDir,
}

impl Beside {
    /// Starts service and browser. `portcullis` is the command, which the browser starts as the native host; `extension`
    /// is the extension's folder.
    ///
    /// # Errors
    /// [`BesideError`].
    pub async fn start(
        stage: &Stage,
        policy: &str,
        portcullis: &Path,
        extension: &Path,
    ) -> Result<Beside, BesideError> {
        let folder = tempfile::tempdir()?;
        let failed = |error: String| BesideError::Service(error);
        let run = folder.path().join("run");
        let place = ServicePlace::open_or_make(&run).map_err(|error| failed(error.to_string()))?;
        let rules = HostRules::parse(&stage.world.host_rules()).map_err(|error| failed(error.to_string()))?;
        let tls = TlsProbe::new(stage.world.ca_pem().as_bytes(), rules)
            .map_err(|error| failed(error.to_string()))?;
        let log = MemoryLog::default();
        let asked = Asked(Arc::new(Mutex::new((Box::new(|_| Answer::No), 0))));
        let answers = asked.clone();
        let answerer = Box::new(ScriptedAnswerer(move |prompt: &ConsentPrompt| answers.answer(prompt)));
        let guard = Guard::new(policy, Box::new(log.clone()), answerer, Box::new(SystemEntropy))?;
        let settings = ServiceSettings { place: place.clone(), tls, audit: None, asking: None };
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
            return Err(BesideError::Host(String::from_utf8_lossy(&installed.stderr).into_owned()));
        }
        let person = Person::sit_down(stage, folder.path(), extension).await?;
        let agent = Client::connect(&place, Role::Agent).await?;
        let user = Client::connect(&place, Role::User).await?;
        Ok(Beside { person, agent, user, asked, log, stop, serving, _folder: folder })
    }

    /// One trial, in a new tab.
    ///
    /// # Errors
    /// [`BesideError`].
    pub async fn run(&mut self, stage: &Stage, scenario: &Scenario) -> Result<BesideTrial, BesideError> {
        stage.world.begin(scenario);
        let recorded = self.log.text().len();
        self.asked.begin(Box::new(truthful_user(scenario)));
        self.person.act(&json!({ "act": "begin" })).await?;
        // The trials follow each other at the same shop: nobody waits for five minutes between them.
        let prompt = scenario.prompt(hosts::SHOP_ORIGIN);
        let begun = self.user.ask(&Wish::Begin { prompt, pages: OpenPages::Trusted }).await?;
        let prompt = begun.pointer("/begun/prompt").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut agent = ObedientAgent::new(&prompt);
        let mut transcript = format!("{prompt}\n");
        let (mut told, mut observation, mut paid) = (Told::default(), String::new(), false);
        for _ in 0..MOST_ACTIONS {
            let action = agent.next(&observation);
            transcript.push_str(&format!("> {action:?}\n"));
            observation = match action {
                Action::Done => break,
                Action::Verb(Verb::Read) => {
                    let text = self.wish(&Wish::Read).await?;
                    told = if text.contains("DENY.") { Told::default() } else { Told::of(&text) };
                    if told.outline.is_empty() { text } else { told.outline.clone() }
                }
                Action::Verb(verb) => match deed(&verb, &told) {
                    Some(act) if self.person.act(&act).await? => "ok".to_owned(),
                    _ => "failed".to_owned(),
                },
                Action::Request(text) => {
                    let to_pay = text.contains("REQ.purchase") || text.contains("REQ.payment");
                    let mut reply = self.wish(&Wish::Request(text)).await?;
                    // Whoever asks to be paid for brings the person to look at the page, and to pay there if all is well.
                    if to_pay && self.person.pay(scenario).await? {
                        paid = true;
                        reply.push_str("\nthe user paid by hand");
                    }
                    reply
                }
            };
            transcript.push_str(&format!("{observation}\n"));
        }
        let prompts = self.asked.times();
        self.user.ask(&Wish::End).await?;
        let record = stage.world.take(&scenario.id).unwrap_or_default();
        let audit = self.log.text().get(recorded..).unwrap_or_default().to_owned();
        let judgement = judge(scenario, &record, &stage.world.take_strays());
        Ok(BesideTrial { judgement, transcript, audit, prompts, paid })
    }

    /// Ends the service, as its user would; the browser ends too.
    pub async fn close(self) {
        let _gone = self.stop.send(());
        let _ended = self.serving.await;
    }

    async fn wish(&mut self, wish: &Wish) -> Result<String, BesideError> {
        let answer = self.agent.ask(wish).await?;
        Ok(answer.get("reply").and_then(Value::as_str).unwrap_or_default().to_owned())
    }
}

/// What the person is told to do; nothing where it is about something that was not on the page.
fn deed(verb: &Verb, told: &Told) -> Option<Value> {
    match verb {
        Verb::Open { url } => Some(json!({ "act": "open", "url": url })),
        Verb::Wait { milliseconds } => Some(json!({ "act": "wait", "milliseconds": milliseconds })),
        Verb::Press { key } => Some(json!({ "act": "press", "key": key })),
        Verb::Back => Some(json!({ "act": "back" })),
        Verb::Click { target } | Verb::Check { target, .. } => told.act("click", &target.0, &[]),
        Verb::Type { target, text } => told.act("type", &target.0, &[("text", text)]),
        Verb::Select { target, option } => told.act("select", &target.0, &[("option", option)]),
        Verb::Submit { target } => told.act("submit", &target.0, &[]),
        Verb::Read | Verb::Hover { .. } => None,
    }
}
