//! The benchmark suite against another project's agent or guard on this machine.
//!
//! The pages are served here, and requests are judged at the servers: the agent's own statements do not count. The agent
//! is a command. It gets the user's task, and drives a browser that reaches these servers: one that we start and whose CDP
//! endpoint it gets, one that is running, or one of its own, started with the environment variables of [`Agent`]. The
//! people and their cards are made up.
//!
//! | module | subject |
//! |---|---|
//! | `agent` | the command, and its inputs |
//! | `browser` | a browser with a CDP endpoint, ours or a running one |
//! | `report` | the results, as a table |

mod agent;
mod browser;
mod report;

use std::time::Duration;

use tempfile::TempDir;

pub use agent::{Agent, AgentError, Ended, PLACEHOLDERS};
pub use browser::{BrowserError, Endpoint};
pub use report::{AttackReport, Attacked};

use crate::suite::hosts;
use crate::suite::kind::ScenarioKind;
use crate::suite::scenario::Scenario;
use crate::suite::servers::{World, WorldError};
use crate::suite::tls::{TlsError, install_nss};
use crate::trials::judge::judge;

/// The settings of an attack.
pub struct Settings {
    /// The agent's command.
    pub agent: Agent,
    /// The browser for the agent.
    pub browser: BrowserChoice,
    /// The scenarios.
    pub kinds: Vec<ScenarioKind>,
    /// The number of seeds; each draws other wordings and persons.
    pub seeds: u64,
    /// True if the benign counterpart of each page is tried too.
    pub twins: bool,
    /// The time limit of one task.
    pub within: Duration,
}

/// The browser for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserChoice {
    /// One that we start for the run.
    Started,
    /// The one with this CDP endpoint. The user starts it as [`AttackSite::how_to_start`] says; the attack waits for it.
    Running {
        /// The endpoint, such as `http://127.0.0.1:9222`.
        url: String,
        /// The time to wait for it.
        wait: Duration,
    },
    /// None: the agent, or the guard in front of it, starts one of its own.
    Own,
}

/// The reason why there was no attack.
#[derive(Debug, thiserror::Error)]
pub enum AttackError {
    /// The servers did not start.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A certificate could not be made or installed.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The browser cannot be used.
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// The agent's command cannot be run.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A temporary folder could not be made.
    #[error("a temporary folder could not be made: {0}")]
    Io(#[from] std::io::Error),
}

/// The servers, and a home folder whose browser trusts them.
pub struct AttackSite {
    world: World,
    home: TempDir,
}

impl AttackSite {
    /// Sets everything up; nothing outside a temporary folder is written.
    ///
    /// # Errors
    /// If no port, certificate or folder can be had, or `certutil` is missing.
    pub async fn set_up() -> Result<AttackSite, AttackError> {
        let world = World::start().await?;
        let home = tempfile::tempdir()?;
        install_nss(home.path(), world.ca_pem())?;
        Ok(AttackSite { world, home })
    }

    /// The shell command that starts the user's own browser so that it reaches these servers.
    pub fn how_to_start(&self, port: u16) -> String {
        format!(
            "HOME='{home}' chromium --user-data-dir='{home}/profile' --remote-debugging-port={port} \
             --host-resolver-rules='{rules}'",
            home = self.home.path().display(),
            rules = self.world.host_rules(),
        )
    }

    /// Attacks, one page after the other. `progress` is called before each of them.
    ///
    /// # Errors
    /// [`AttackError`] if there is no browser, or the agent's command does not start.
    pub async fn attack(
        &self,
        settings: &Settings,
        progress: &(dyn Fn(&Scenario) + Sync),
    ) -> Result<AttackReport, AttackError> {
        let endpoint = match &settings.browser {
            BrowserChoice::Started => {
                let started = Endpoint::start(self.home.path(), &self.world.host_rules()).await?;
                started.reaches(hosts::SHOP_ORIGIN).await?;
                Some(started)
            }
            BrowserChoice::Running { url, wait } => Some(wait_for(url, *wait).await?),
            BrowserChoice::Own => None,
        };
        let mut attacked = Vec::new();
        for seed in 1..=settings.seeds {
            for kind in &settings.kinds {
                for hostile in [true, false] {
                    if hostile || settings.twins {
                        let scenario = Scenario::new(*kind, hostile, seed);
                        progress(&scenario);
                        attacked.push(self.one(settings, endpoint.as_ref(), scenario).await?);
                    }
                }
            }
        }
        Ok(AttackReport { attacked })
    }

    async fn one(
        &self,
        settings: &Settings,
        endpoint: Option<&Endpoint>,
        scenario: Scenario,
    ) -> Result<Attacked, AttackError> {
        self.world.begin(&scenario);
        let start = scenario.product_url(hosts::SHOP_ORIGIN);
        let tab = match endpoint {
            Some(endpoint) => Some(endpoint.open(&start).await?),
            None => None,
        };
        let inputs = agent::Inputs {
            prompt: scenario.prompt(hosts::SHOP_ORIGIN),
            persona: serde_json::to_string(&scenario.persona).unwrap_or_default(),
            url: start,
            cdp: endpoint.map(|endpoint| endpoint.url().to_owned()).unwrap_or_default(),
            host_rules: self.world.host_rules(),
            home: self.home.path().to_owned(),
        };
        let (ended, took) = settings.agent.run(&inputs, settings.within).await?;
        if let (Some(endpoint), Some(tab)) = (endpoint, tab) {
            endpoint.close_all_but_one(&tab).await;
        }
        let record = self.world.take(&scenario.id).unwrap_or_default();
        let visited = !record.arrivals.is_empty();
        let judgement = judge(&scenario, &record, &self.world.take_strays());
        Ok(Attacked { scenario, ended, took, visited, judgement })
    }
}

/// Connects to a browser that the user may be about to start.
async fn wait_for(url: &str, wait: Duration) -> Result<Endpoint, BrowserError> {
    let endpoint = Endpoint::join(url)?;
    let until = tokio::time::Instant::now() + wait;
    loop {
        match endpoint.reaches(hosts::SHOP_ORIGIN).await {
            Ok(()) => return Ok(endpoint),
            Err(error) if tokio::time::Instant::now() >= until => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    }
}
