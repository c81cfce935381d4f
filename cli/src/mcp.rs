//! `portcullis mcp`: a guard in the place of playwright-mcp.

mod by_http;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use mcp_guard::consent::form::ClientForm;
use mcp_guard::consent::{ClientSlot, ThroughClient};
use mcp_guard::{Allowed, Capabilities, Gateway, GatewaySettings, Snapshots};
use portcullis::Guard;
use portcullis::consent::page::Opener;
use portcullis::consent::page::{ConsentPage, PageSettings};
use portcullis::consent::{Answerer, TerminalAnswerer};
use portcullis::egress::proxy::HostRules;
use portcullis::guard::SystemEntropy;
use portcullis::guard::upload_folder::UploadFolder;
use portcullis::observe::ObservationReport;
use portcullis::signals::playwright::{BridgeError, BrowserSettings, FileChoosers, OwnBrowser};
use portcullis::vault::Entropy;
use tokio::io::DuplexStream;

use crate::failure::Failure;
use crate::guarding::Guarding;
use crate::serve::stopped;
use crate::task::TaskArguments;
use crate::vault::Guarded;

/// The place of the consent page.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Consent {
    /// Through the MCP client, if it can show addresses to its user; otherwise in a window.
    Client,
    /// In a window of the guard, for a client that might answer in the user's place.
    Window,
    /// On this terminal, with `--port` only.
    Terminal,
}

/// The optional tools.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Tools {
    /// `browser_evaluate`.
    Scripts,
    /// `browser_network_requests`, `browser_network_request`.
    Network,
}

/// The groups of tools of playwright-mcp's option of the same name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Group {
    /// `browser_mouse_click_xy`: a click at a point of a picture.
    Vision,
    /// `browser_pdf_save`: the page as a PDF in the folder of `--downloads`.
    Pdf,
    /// `browser_verify_…`: checks of what the page shows.
    Testing,
}

#[derive(clap::Args)]
pub struct Arguments {
    /// Further options from this TOML file: `headed = true`, `private-hosts = ["localhost:8080"]`. Its keys are the names of these
    /// options, and its relative paths begin at its own folder. An option on the command line replaces that of the file.
    // Read before these arguments, in `options_file`.
    #[arg(id = "config", long = "config", value_name = "FILE")]
    _config: Option<PathBuf>,
    #[command(flatten)]
    guarding: Guarding,
    #[command(flatten)]
    task: TaskArguments,
    #[command(flatten)]
    http: by_http::HttpArguments,
    /// Where you are asked for consent; by default `client`, and with `--port` `window`.
    #[arg(long, value_enum)]
    consent: Option<Consent>,
    /// Let the client of this name (`clientInfo.name`, as the client declares it) ask you simple questions by its own form: whether your
    /// name, e-mail address, phone number, city, region, country, company or user name may go into a form, in a task of your own words. Such
    /// a client can answer yes by itself, without showing you the question, so name only one that you trust with that. Everything else
    /// is asked as without this option. It can be given several times.
    #[arg(long, value_name = "CLIENT", value_parser = NonEmptyStringValueParser::new(), conflicts_with_all = ["observe", "port"])]
    consent_form: Vec<String>,
    /// Show the agent's browser. You may then finish steps yourself that are withheld from the agent.
    #[arg(long)]
    headed: bool,
    /// Chromium; by default `PORTCULLIS_CHROMIUM`, or the one on the path.
    #[arg(long, value_name = "FILE")]
    chromium: Option<PathBuf>,
    /// Offer tools that are otherwise withheld. In a container with the user's values they are off nevertheless.
    #[arg(long, value_enum, value_delimiter = ',')]
    allow: Vec<Tools>,
    /// Offer further groups of tools, as playwright-mcp does.
    #[arg(long, value_enum, value_delimiter = ',')]
    caps: Vec<Group>,
    /// Let pages download files into this folder, for you. Without it every download is refused. The agent gets no content of the
    /// files, and nothing opens them.
    #[arg(long, value_name = "FOLDER")]
    downloads: Option<PathBuf>,
    /// Offer the files of this folder for uploads, without folders in it and links. You are asked about each upload.
    #[arg(long, value_name = "FOLDER", conflicts_with = "observe")]
    files: Option<PathBuf>,
    /// Answer actions without the page afterwards; the agent reads it with a call of its own.
    #[arg(long)]
    no_snapshots: bool,
    /// Guard nothing: carry everything out, record the questions and denials of a guard, and report them at the end.
    /// There is no vault and no consent in this mode.
    #[arg(long, conflicts_with_all = ["vault", "allow", "port"])]
    observe: bool,
    /// Private hosts (`host` or `host:port`) that may be opened nevertheless. Without TLS only `127.0.0.1`, `[::1]` and
    /// `localhost`, each with its port.
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    private_hosts: Vec<String>,
    /// Host rules in the format of the browser's `--host-resolver-rules`, by which the guard's proxies find hosts: for pages that are
    /// served on this machine under other names, such as those of `portcullis-lab attack --browser own`.
    #[arg(long, value_name = "RULES")]
    host_rules: Option<String>,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    if let Some(rules) = &arguments.host_rules {
        HostRules::parse(rules).map_err(|error| Failure::Input(error.to_string()))?;
    }
    let task = arguments.task.read()?;
    let chromium = arguments.chromium.clone().or_else(|| discovery::chromium_to_start().ok());
    let chromium = chromium.ok_or_else(|| {
        Failure::NotSetUp(
            "no Chromium was found; name one with `--chromium` or PORTCULLIS_CHROMIUM".to_owned(),
        )
    })?;
    if let Some(folder) = arguments.downloads.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::Input(format!(
            "{} is no folder; make it, or name another one",
            folder.display()
        )));
    }
    if arguments.caps.contains(&Group::Pdf) && arguments.downloads.is_none() {
        return Err(Failure::Input(
            "`--caps pdf` keeps pages in the folder for downloads; name one with `--downloads FOLDER`"
                .to_owned(),
        ));
    }
    let files =
        arguments.files.as_deref().map(|folder| upload_folder(folder, arguments.downloads.as_deref()));
    let files = files.transpose()?;
    let unlocked = arguments.guarding.unlock()?;
    let phrase = unlocked.as_ref().and_then(Guarded::phrase);
    let mut browser = BrowserSettings::new(&chromium);
    browser.sandbox = discovery::chromium_sandbox();
    browser.headless = !arguments.headed;
    browser.private_hosts.clone_from(&arguments.private_hosts);
    browser.proxy_rules.clone_from(&arguments.host_rules);
    browser.downloads.clone_from(&arguments.downloads);
    if files.is_some() {
        browser.file_choosers = FileChoosers::Wait;
    }
    let settings = GatewaySettings {
        task,
        allowed: Allowed {
            scripts: arguments.observe || arguments.allow.contains(&Tools::Scripts),
            network: arguments.observe || arguments.allow.contains(&Tools::Network),
            files: files.is_some(),
        },
        capabilities: Capabilities {
            vision: arguments.caps.contains(&Group::Vision),
            pdf: arguments.caps.contains(&Group::Pdf),
            testing: arguments.caps.contains(&Group::Testing),
        },
        snapshots: if arguments.no_snapshots { Snapshots::OnRequest } else { Snapshots::AfterActions },
    };
    let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::NotSetUp(error.to_string()))?;
    if arguments.observe {
        let served = runtime.block_on(observe(arguments.guarding, browser, settings));
        runtime.shutdown_background();
        return served;
    }
    let served = runtime.block_on(async {
        let listening = arguments.http.listen().await?;
        let consent = consent(arguments.consent, listening.is_some(), &arguments.consent_form)?;
        let window = || own_window(chromium, browser.sandbox);
        let (answerer, client) = answerer(consent, window, phrase, arguments.headed).await?;
        let answerer = with_form(answerer, &client, arguments.consent_form);
        if let Some(listening) = listening {
            let guard = offering(arguments.guarding.guard(unlocked, answerer)?, files);
            return listening.serve(Gateway::new(guard, browser, settings)).await;
        }
        let guard = offering(arguments.guarding.guard(unlocked, answerer)?, files);
        let gateway = Gateway::new(guard, browser, settings).with_client_slot(client);
        let served = gateway.serve(from_client(), tokio::io::stdout()).await;
        served.map_err(|error| Failure::NotSetUp(error.to_string()))
    });
    // After a signal another thread may still be waiting for standard input.
    runtime.shutdown_background();
    served
}

/// The folder for uploads. What pages download is not offered to other pages.
fn upload_folder(folder: &Path, downloads: Option<&Path>) -> Result<UploadFolder, Failure> {
    let shown = folder.display();
    let opened = UploadFolder::open(folder)
        .map_err(|error| Failure::Input(format!("{shown} cannot be read as a folder: {error}")))?;
    match downloads {
        Some(downloads) if opened.overlaps(downloads) => Err(Failure::Input(format!(
            "{shown} and the folder for downloads are one or within each other: what a page downloads could go to another \
             one; name two folders apart"
        ))),
        _ => Ok(opened),
    }
}

fn offering(guard: Guard, files: Option<UploadFolder>) -> Guard {
    match files {
        Some(folder) => guard.with_upload_folder(folder),
        None => guard,
    }
}

/// The place of the consent page: the given one if it is possible, or the default.
fn consent(given: Option<Consent>, by_http: bool, by_form: &[String]) -> Result<Consent, Failure> {
    let input = |message: &str| Err(Failure::Input(message.to_owned()));
    match (given, by_http) {
        (Some(Consent::Window), false) if !by_form.is_empty() => input(
            "`--consent window` lets no client answer, and `--consent-form` names one that may; leave one of them out",
        ),
        (Some(Consent::Client), true) => {
            input("by HTTP no client shows the consent page; use `--consent window` or `--consent terminal`")
        }
        (Some(Consent::Terminal), false) => {
            input("without `--port` the terminal is the client's; use `--consent window`")
        }
        (Some(consent), _) => Ok(consent),
        (None, true) => Ok(Consent::Window),
        (None, false) => Ok(Consent::Client),
    }
}

/// The interface to the user, and the slot of the client that may show the consent page.
async fn answerer(
    consent: Consent,
    window: impl FnOnce() -> Option<Box<dyn Opener>>,
    phrase: Option<String>,
    headed: bool,
) -> Result<(Box<dyn Answerer>, ClientSlot), Failure> {
    let (through_client, client) = match consent {
        Consent::Terminal => {
            let terminal = TerminalAnswerer::default();
            let terminal = if headed { terminal.with_visible_browser() } else { terminal };
            return Ok((Box::new(terminal), ClientSlot::default()));
        }
        Consent::Client => ThroughClient::new(window()),
        Consent::Window => {
            let window = window().ok_or_else(|| {
                Failure::NotSetUp("there is no display to show the consent page on".to_owned())
            })?;
            ThroughClient::never(Some(window))
        }
    };
    let mut entropy = [0; 32];
    SystemEntropy.fill(&mut entropy);
    let page = PageSettings { opener: Box::new(through_client), phrase, entropy };
    let page = ConsentPage::open(page).await.map_err(|error| {
        Failure::NotSetUp(format!("the consent page cannot be served on this machine: {error}"))
    })?;
    let page = if headed { page.with_visible_browser() } else { page };
    Ok((Box::new(page), client))
}

/// The same interface, with simple questions by the form of the clients of these names.
fn with_form(answerer: Box<dyn Answerer>, client: &ClientSlot, named: Vec<String>) -> Box<dyn Answerer> {
    if named.is_empty() { answerer } else { Box::new(ClientForm::new(client.clone(), named, answerer)) }
}

/// The client's messages, until it closes the stream or this process gets a signal. After a signal too the container is
/// closed and the log is ended.
fn from_client() -> DuplexStream {
    let (mut to, from) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        let mut input = tokio::io::stdin();
        tokio::select! {
            _ = tokio::io::copy(&mut input, &mut to) => {}
            () = stopped() => {}
        }
    });
    from
}

/// Serves without a guard.
async fn observe(
    guarding: Guarding,
    browser: BrowserSettings,
    settings: GatewaySettings,
) -> Result<(), Failure> {
    eprintln!("nothing is guarded: what a guard would have done is recorded, and said at the end");
    let policy = guarding.policy()?;
    // A log that cannot be opened is reported before anything starts.
    drop(guarding.log()?);
    let log = Box::new(move || guarding.log().map_err(|_| "the audit log cannot be opened".to_owned()));
    let seen = Box::new(|report: &ObservationReport| eprintln!("{report}"));
    let gateway = Gateway::that_blocks_nothing(&policy, log, seen, browser, settings);
    let served = gateway.serve(from_client(), tokio::io::stdout()).await;
    served.map_err(|error| Failure::NotSetUp(error.to_string()))
}

/// A window of the guard, if there is a display. Without one, and with a client that shows no addresses, every question
/// is answered with no.
fn own_window(chromium: PathBuf, sandbox: bool) -> Option<Box<dyn Opener>> {
    match OwnBrowser::new(chromium) {
        Ok(window) if sandbox => Some(Box::new(window)),
        Ok(window) => Some(Box::new(window.without_sandbox())),
        Err(error) => {
            let why = match error {
                BridgeError::NoDisplay => "there is no display for the consent page".to_owned(),
                error => error.to_string(),
            };
            eprintln!(
                "{why}: you can be asked only if the client shows addresses (URL elicitation), and simple questions also by the form \
                 of a client that `--consent-form` names"
            );
            None
        }
    }
}
