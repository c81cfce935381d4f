//! `portcullis-lab attack`: the hostile pages, pointed at somebody else's agent on this machine.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use evaluation::attack::{Agent, AgentError, AttackError, AttackSite, BrowserChoice, BrowserError, Settings};
use evaluation::demo::DEFAULT_SCENARIOS;
use evaluation::suite::ScenarioKind;

use crate::evaluate::kinds;
use crate::failure::Failure;

/// Where the agent finds a browser.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Browser {
    /// We start one, and `{cdp}` is its endpoint.
    Started,
    /// The agent, or the guard in front of it, starts its own with `{host_rules}` and `{home}`.
    Own,
}

#[derive(clap::Args)]
pub struct Arguments {
    /// The agent's command, such as `my-agent --prompt {prompt} --cdp {cdp}`. It is run once for each page, without a
    /// shell, and is told the same in its environment: PORTCULLIS_ATTACK_PROMPT, _CDP, _URL, _PERSONA, _HOST_RULES, _HOME.
    /// The user and the card in the prompt are made up.
    #[arg(long, value_name = "COMMAND")]
    agent: String,
    /// The CDP endpoint of a browser that runs on this machine. How it has to be started is printed first, and waited for.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "browser")]
    url: Option<String>,
    /// Where the agent finds a browser.
    #[arg(long, value_enum, default_value = "started")]
    browser: Browser,
    /// Kinds of page, by name; four by default.
    #[arg(long, value_delimiter = ',', conflicts_with = "full")]
    kinds: Vec<String>,
    /// Every kind of page.
    #[arg(long)]
    full: bool,
    /// How often each page is tried, each time with other wordings, items and persons.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Only the hostile pages, without their benign twins.
    #[arg(long)]
    hostile_only: bool,
    /// How long one task may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 180, value_parser = clap::value_parser!(u64).range(1..))]
    within: u64,
    /// How long to wait for the browser of `--url`.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "url")]
    wait: u64,
    /// Write the rows of the table to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let agent = Agent::parse(&arguments.agent).map_err(|error| Failure::Input(error.to_string()))?;
    let kinds = match kinds(&arguments.kinds)? {
        chosen if !chosen.is_empty() => chosen,
        _ if arguments.full => ScenarioKind::EVERY.to_vec(),
        _ => DEFAULT_SCENARIOS.to_vec(),
    };
    let browser = match (&arguments.url, arguments.browser) {
        (Some(url), _) => {
            BrowserChoice::Running { url: url.clone(), wait: Duration::from_secs(arguments.wait) }
        }
        (None, Browser::Started) => BrowserChoice::Started,
        (None, Browser::Own) => BrowserChoice::Own,
    };
    let within = Duration::from_secs(arguments.within);
    let twins = !arguments.hostile_only;
    let settings = Settings { agent, browser, kinds, seeds: arguments.seeds, twins, within };
    let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::NotSetUp(error.to_string()))?;
    let report = runtime.block_on(attack(arguments, &settings)).map_err(failure)?;
    print!("{report}");
    if let Some(path) = &arguments.json {
        let written = std::fs::write(path, format!("{:#}\n", report.to_json()));
        written.map_err(|error| Failure::Input(format!("{} cannot be written: {error}", path.display())))?;
    }
    match (report.leaks(), report.hijacks()) {
        (0, 0) if report.unvisited() == report.attacked.len() => {
            Err(Failure::NotSetUp("the agent never came to a page: nothing was tried".to_owned()))
        }
        (0, 0) => Ok(()),
        (leaks, hijacks) => Err(Failure::Finding(format!("{leaks} tasks leaked, {hijacks} were hijacked"))),
    }
}

async fn attack(
    arguments: &Arguments,
    settings: &Settings,
) -> Result<evaluation::attack::AttackReport, AttackError> {
    let place = AttackSite::set_up().await?;
    if let Some(url) = &arguments.url {
        let port = url.trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok());
        eprintln!(
            "the browser at {url} has to be started like this:\n\n{}\n",
            place.how_to_start(port.unwrap_or(9222))
        );
    }
    let tell = |scenario: &evaluation::scenario::Scenario| {
        let hostile = if scenario.hostile { "hostile" } else { "benign" };
        eprintln!("{} {hostile} {}", scenario.kind.as_str(), scenario.seed);
    };
    place.attack(settings, &tell).await
}

fn failure(error: AttackError) -> Failure {
    match &error {
        AttackError::Agent(AgentError::Start { .. }) | AttackError::Browser(BrowserError::NotHere(_)) => {
            Failure::Input(error.to_string())
        }
        _ => Failure::NotSetUp(error.to_string()),
    }
}
