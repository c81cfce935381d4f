//! `portcullis serve`, `task` and `ask`: the guard as a service, for the user's own browser with the extension.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use portcullis::Action;
use portcullis::consent::page::OpenError;
use portcullis::consent::page::{ConsentPage, PageSettings};
use portcullis::consent::{Answerer, OpenPages, TerminalAnswerer};
use portcullis::egress::proxy::HostRules;
use portcullis::guard::SystemEntropy;
use portcullis::service::protocol::{ClientRequest, Role};
use portcullis::service::tls::TlsProbe;
use portcullis::service::{Client, ClientError, ExtensionConsent, Service, ServiceFolder, ServiceSettings};
use portcullis::signals::Verb;
use portcullis::signals::playwright::OwnBrowser;
use portcullis::vault::Entropy;
use serde_json::Value;

use crate::failure::Failure;
use crate::vault::{Guarded, SourceArguments, Target};

/// The folder of the service.
#[derive(Args)]
pub struct Folder {
    /// The service's folder, for you alone; by default `portcullis` in `XDG_RUNTIME_DIR`, else `~/.portcullis/run`.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Folder {
    /// The folder's path.
    pub fn path(&self) -> Result<PathBuf, Failure> {
        match &self.folder {
            Some(folder) => Ok(folder.clone()),
            None => ServiceFolder::usual().map_err(|error| Failure::NotSetUp(error.to_string())),
        }
    }
}

/// The place of the consent prompt.
#[derive(Clone, Copy, ValueEnum)]
enum Asked {
    /// On a page in a browser of its own.
    Page,
    /// In a window of the extension, in your own browser: a program that controls that browser can answer there too.
    Extension,
    /// On this terminal.
    Terminal,
}

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    sources: SourceArguments,
    /// The policy; by default the one that is shipped, `policies/default.policy`.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Where you are asked for consent.
    #[arg(long, value_enum, default_value = "page")]
    consent: Asked,
    /// Also trust these certificates (PEM) when connections are judged, as your browser does.
    #[arg(long, value_name = "FILE")]
    trust: Vec<PathBuf>,
    /// Host rules in the format of the browser's `--host-resolver-rules`.
    #[arg(long, value_name = "RULES", default_value = "")]
    host_rules: String,
    /// Lock the vault after this many minutes without a new task or an answer of yours. `portcullis vault unlock`
    /// opens it again.
    #[arg(long, value_name = "MINUTES", default_value_t = 15)]
    idle: u64,
}

#[derive(Args)]
pub struct TaskArguments {
    #[command(flatten)]
    folder: Folder,
    /// End the open task.
    #[arg(long)]
    end: bool,
    /// Trust the pages of the task's sites that are open, or were open in the last five minutes. Without this nothing
    /// is filled in on such a site until five minutes have passed: an earlier page of it may have left an invisible
    /// program in the browser that could pass the values on.
    #[arg(long, conflicts_with = "end")]
    trust_open_pages: bool,
    /// The agent's task, with its web addresses; `-` or nothing reads it from standard input. Values in it are removed
    /// before any model sees it.
    prompt: Option<String>,
}

#[derive(Args)]
pub struct AskArguments {
    #[command(flatten)]
    folder: Folder,
    /// The request block, `REQ.` lines up to `REQ.end`; `-` reads it from standard input. Without one, the text of the
    /// active tab is printed.
    request: Option<String>,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let runtime = crate::serve::runtime()?;
    runtime.block_on(serve(arguments))
}

async fn serve(arguments: Arguments) -> Result<(), Failure> {
    let Arguments { target, folder, sources, policy, consent, trust, host_rules, idle } = arguments;
    let policy = match &policy {
        Some(path) => crate::read_text(path)?,
        None => portcullis::DEFAULT_POLICY.to_owned(),
    };
    let mut pem = Vec::new();
    for path in &trust {
        pem.extend_from_slice(crate::read_text(path)?.as_bytes());
        pem.push(b'\n');
    }
    let rules = HostRules::parse(&host_rules).map_err(|error| Failure::Input(error.to_string()))?;
    let tls = TlsProbe::new(&pem, rules).map_err(|error| Failure::Input(error.to_string()))?;
    let place =
        ServiceFolder::open_or_make(&folder.path()?).map_err(|error| Failure::Input(error.to_string()))?;
    let audit = target.audit.clone().unwrap_or_else(|| default_log(&target.vault));
    let opened = Guarded::open(&target, &audit, None)?;
    let asking = matches!(consent, Asked::Extension).then(ExtensionConsent::default);
    let answerer: Box<dyn Answerer> = match (consent, &asking) {
        (Asked::Extension, Some(asking)) => {
            eprintln!("{}", IN_THE_EXTENSION);
            Box::new(asking.answerer(opened.phrase(), entropy()).reporting(unasked))
        }
        (Asked::Terminal, _) => Box::new(TerminalAnswerer::default()),
        (Asked::Page | Asked::Extension, _) => Box::new(page(opened.phrase()).await?),
    };
    let guard =
        opened.guard(&policy, answerer, &sources, None)?.with_idle_lock(Duration::from_secs(60 * idle));
    let settings =
        ServiceSettings { folder: place.clone(), tls, audit: Some(audit), extension_consent: asking };
    let service = Service::start(guard, settings).map_err(|error| Failure::NotSetUp(error.to_string()))?;
    println!("listening at {}", place.socket().display());
    service.run(stopped()).await;
    Ok(())
}

/// The cost of `--consent extension`.
const IN_THE_EXTENSION: &str = "warning: you are asked in a window of the extension. A program that holds the control channel of that \
     browser (--remote-debugging-port, --remote-debugging-pipe, an extension with the permission `debugger`) can say yes \
     in your place: use it only in a browser that no program drives";

/// The default log next to the vault.
fn default_log(vault: &Path) -> PathBuf {
    let mut name = vault.file_name().unwrap_or_default().to_owned();
    name.push(".audit");
    vault.with_file_name(name)
}

async fn page(phrase: Option<String>) -> Result<ConsentPage, Failure> {
    let missing =
        |error: String| Failure::NotSetUp(format!("{error}; or be asked here with `--consent terminal`"));
    let chromium = discovery::chromium().map_err(|_| missing("no Chromium was found".to_owned()))?.path;
    let opener = OwnBrowser::new(chromium).map_err(|error| missing(error.to_string()))?;
    let opener = if discovery::chromium_sandbox() { opener } else { opener.without_sandbox() };
    let settings = PageSettings { opener: Box::new(opener), phrase, entropy: entropy() };
    let page = ConsentPage::open(settings).await.map_err(|error| missing(error.to_string()))?;
    Ok(page.reporting(unasked))
}

/// If a question is refused without an answer, the waiting user is told.
fn unasked(error: &OpenError) {
    eprintln!("{error}; so the answer was no");
}

fn entropy() -> [u8; 32] {
    let mut entropy = [0; 32];
    SystemEntropy.fill(&mut entropy);
    entropy
}

/// Ends with the signal to stop.
pub async fn stopped() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut stop), Ok(mut end)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = stop.recv() => {}
        _ = end.recv() => {}
    }
}

/// A runtime for one command.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| Failure::NotSetUp(error.to_string()))
}

pub fn task(arguments: &TaskArguments) -> Result<(), Failure> {
    let wish = match (arguments.end, &arguments.prompt) {
        (true, _) => ClientRequest::End,
        (false, prompt) => ClientRequest::Begin {
            prompt: words(prompt.as_deref().unwrap_or("-"))?,
            pages: if arguments.trust_open_pages { OpenPages::Trusted } else { OpenPages::Wait },
        },
    };
    let answer = request(&arguments.folder, Role::User, &wish)?;
    let Some(begun) = answer.get("begun") else {
        println!("the task is ended");
        return Ok(());
    };
    let text = |name: &str| begun.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    println!("{}", text("prompt").trim_end());
    let container = text("container");
    let meaning =
        if container == "T0" { ": you did not agree, so none of your data is released in it" } else { "" };
    eprintln!("the task is sealed, in {container}{meaning}");
    for ruled_out in begun.get("ruled_out").and_then(Value::as_array).into_iter().flatten() {
        let word = |at: usize| ruled_out.get(at).and_then(Value::as_str).unwrap_or_default();
        eprintln!("it can never be granted here: {} ({})", word(0), word(1));
    }
    Ok(())
}

pub fn ask(arguments: &AskArguments) -> Result<(), Failure> {
    let action = match &arguments.request {
        Some(request) => Action::Request(words(request)?),
        None => Action::Verb(Verb::Read),
    };
    let answer = request(&arguments.folder, Role::Agent, &ClientRequest::Act(action))?;
    let reply = answer.get("reply").and_then(Value::as_str).unwrap_or_default();
    println!("{}", reply.trim_end());
    Ok(())
}

fn words(argument: &str) -> Result<String, Failure> {
    if argument == "-" { crate::read_text(Path::new("-")) } else { Ok(argument.to_owned()) }
}

/// Sends a request to the running service.
pub fn request(folder: &Folder, role: Role, wish: &ClientRequest) -> Result<Value, Failure> {
    let path = folder.path()?;
    let absent = || Failure::NotSetUp(ClientError::Absent.to_string());
    let place = ServiceFolder::open(&path).map_err(|error| match error {
        portcullis::service::ServiceFolderError::Folder(error) if error.is_missing() => absent(),
        error => Failure::Input(error.to_string()),
    })?;
    let answered = runtime()?.block_on(async { Client::connect(&place, role).await?.ask(wish).await });
    answered.map_err(|error| match error {
        ClientError::Refused { .. } => Failure::Input(error.to_string()),
        error => Failure::NotSetUp(error.to_string()),
    })
}
