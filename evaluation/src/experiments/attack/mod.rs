//! The family of hostile pages, pointed at somebody else's agent or guard on this machine.
//!
//! The pages are served here, and everything that arrives is judged here, at the servers: what the agent says of itself
//! does not count. The agent is a command. It is told what the user wants, and drives a browser that is joined to this
//! small web: one that we start and whose CDP endpoint it is given, one that runs already, or one of its own, started with
//! what [`Agent`] puts into its environment. The people and their cards are made up.
//!
//! | module | subject |
//! |---|---|
//! | `agent` | the command, and what it is told |
//! | `browser` | a browser with a CDP endpoint, ours or one that runs |
//! | `report` | what became of it, as a table |

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

/// What to attack, and with what.
pub struct Settings {
    /// The agent's command.
    pub agent: Agent,
    /// Which browser it is given.
    pub browser: Choice,
    /// Kinds of page.
    pub kinds: Vec<ScenarioKind>,
    /// How often each, each time with other wordings and persons.
    pub seeds: u64,
    /// Whether the benign twin of each page is tried too.
    pub twins: bool,
    /// How long one task may take.
    pub within: Duration,
}

/// Which browser the agent is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// One that we start for the run.
    Started,
    /// The one whose CDP endpoint this is. It has to be started as [`Place::how_to_start`] says, and is waited for.
    Running {
        /// The endpoint, such as `http://127.0.0.1:9222`.
        url: String,
        /// How long to wait for it.
        wait: Duration,
    },
    /// None: the agent, or the guard in front of it, starts one of its own.
    Own,
}

/// Why there was no attack.
#[derive(Debug, thiserror::Error)]
pub enum AttackError {
    /// The servers.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The certificates.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The browser.
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// The agent's command.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A temporary folder could not be made.
    #[error("a temporary folder could not be made: {0}")]
    Io(#[from] std::io::Error),
}

/// The servers, and a home folder whose browser trusts them.
pub struct Place {
    world: World,
    home: TempDir,
}

impl Place {
    /// Sets everything up; nothing outside a temporary folder is written.
    ///
    /// # Errors
    /// Where no port, certificate or folder is to be had, or `certutil` is missing.
    pub async fn set_up() -> Result<Place, AttackError> {
        let world = World::start().await?;
        let home = tempfile::tempdir()?;
        install_nss(home.path(), world.ca_pem())?;
        Ok(Place { world, home })
    }

    /// How a browser of the user's own is joined to this web, as a line for a shell.
    pub fn how_to_start(&self, port: u16) -> String {
        format!(
            "HOME='{home}' chromium --user-data-dir='{home}/profile' --remote-debugging-port={port} \
             --host-resolver-rules='{rules}'",
            home = self.home.path().display(),
            rules = self.world.host_rules(),
        )
    }

    /// Attacks, one page after the other. `progress` is told of each before it begins.
    ///
    /// # Errors
    /// [`AttackError`] where there is no browser, or the agent's command does not start.
    pub async fn attack(
        &self,
        settings: &Settings,
        progress: &(dyn Fn(&Scenario) + Sync),
    ) -> Result<AttackReport, AttackError> {
        let endpoint = match &settings.browser {
            Choice::Started => {
                let started = Endpoint::start(self.home.path(), &self.world.host_rules()).await?;
                started.reaches(hosts::SHOP_ORIGIN).await?;
                Some(started)
            }
            Choice::Running { url, wait } => Some(wait_for(url, *wait).await?),
            Choice::Own => None,
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
        let told = agent::Told {
            prompt: scenario.prompt(hosts::SHOP_ORIGIN),
            persona: serde_json::to_string(&scenario.persona).unwrap_or_default(),
            url: start,
            cdp: endpoint.map(|endpoint| endpoint.url().to_owned()).unwrap_or_default(),
            host_rules: self.world.host_rules(),
            home: self.home.path().to_owned(),
        };
        let (ended, took) = settings.agent.run(&told, settings.within).await?;
        if let (Some(endpoint), Some(tab)) = (endpoint, tab) {
            endpoint.close_all_but_one(&tab).await;
        }
        let record = self.world.take(&scenario.id).unwrap_or_default();
        let visited = !record.arrivals.is_empty();
        let judgement = judge(&scenario, &record, &self.world.take_strays());
        Ok(Attacked { scenario, ended, took, visited, judgement })
    }
}

/// Joins a browser that may be about to be started.
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
