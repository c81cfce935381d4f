//! The main job: the whole family of pages, unguarded and under approach B, on one stage.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use portcullis::audit::FolderLog;
use portcullis::session::driver::SessionError;
use portcullis::{DEFAULT_POLICY, GuardError};

use crate::agent::{Agent, ObedientAgent};
use crate::guarded::{self, Guarded, SharedLog, interference};
use crate::hosts;
use crate::judge::judge;
use crate::report::{Approach, Outcome, PageKind, Row, rows, to_html, to_json, to_table};
use crate::scenario::Scenario;
use crate::stage::{Stage, StageError};
use crate::tls::TlsError;
use crate::unguarded::{BareBrowser, UnguardedError, run_unguarded};

/// What to run.
pub struct Settings {
    /// How often each page is tried, each time with other wordings, items and persons.
    pub seeds: u32,
    /// The policy's text; the shipped one of approach B where there is none.
    pub policy: Option<String>,
    /// Where the report and the audit log go. The folder is made.
    pub out: PathBuf,
}

/// Why there is no report.
#[derive(Debug)]
pub enum DemoError {
    /// Something is not installed.
    NotSetUp(String),
    /// The policy cannot be used.
    Input(String),
    /// A trial could not be run.
    Failed(String),
}

impl From<StageError> for DemoError {
    fn from(error: StageError) -> DemoError {
        match error {
            StageError::NoChromium | StageError::Tls(TlsError::NoCertutil) | StageError::Browser(_) => {
                DemoError::NotSetUp(error.to_string())
            }
            other => DemoError::Failed(other.to_string()),
        }
    }
}

impl From<UnguardedError> for DemoError {
    fn from(error: UnguardedError) -> DemoError {
        DemoError::NotSetUp(error.to_string())
    }
}

impl From<SessionError> for DemoError {
    fn from(error: SessionError) -> DemoError {
        match error {
            SessionError::Guard(GuardError::Policy(_) | GuardError::Refused(_)) => {
                DemoError::Input(error.to_string())
            }
            other => DemoError::Failed(other.to_string()),
        }
    }
}

impl From<std::io::Error> for DemoError {
    fn from(error: std::io::Error) -> DemoError {
        DemoError::Failed(format!("the report's folder cannot be written: {error}"))
    }
}

/// What a run found, and where it put it.
pub struct DemoReport {
    rows: Vec<Row>,
    json: String,
    /// Values found where none may be, and differences between the two runs of a trial.
    findings: Vec<String>,
    out: PathBuf,
}

impl DemoReport {
    /// The rows of the table.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The rows as JSON.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The table, and what was found beside it.
    pub fn table(&self) -> String {
        let mut text = to_table(&self.rows);
        let trials: u64 =
            self.rows.iter().filter(|row| row.approach == Approach::B).map(|row| row.trials).sum();
        if self.findings.is_empty() {
            let _ = writeln!(
                text,
                "Under B each of {} tasks ran twice, with vaults of equal shape and other values: the model read \
                 the same bytes, the servers saw the same but for what was granted; no value was found in the model's text \
                 or the audit log, no card number in the browser's messages or the DOM.",
                trials / 2
            );
        }
        for finding in &self.findings {
            let _ = writeln!(text, "FOUND: {finding}");
        }
        text
    }

    /// Leaks under the guard, wherever they were seen.
    pub fn guarded_leaks(&self) -> u64 {
        let leaked: u64 =
            self.rows.iter().filter(|row| row.approach == Approach::B).map(|row| row.leaks).sum();
        leaked + self.findings.len() as u64
    }

    /// Where everything is, and what to try next.
    pub fn places(&self) -> String {
        let out = self.out.display();
        format!(
            "report  {out}/report.html\naudit   {out}/audit\npolicy  {out}/policy.policy\n\
             next    cargo run -p portcullis-cli -- audit show {out}/audit"
        )
    }
}

/// How many stages run side by side, each with a browser, a shop, a bank and a log of its own. Much of a trial
/// is waiting for a page; two keep two cores busy.
const LANES: usize = 2;

/// Counts trials for whoever watches.
struct Progress<'a> {
    done: AtomicU64,
    all: u64,
    tell: &'a (dyn Fn(u64, u64, &str) + Sync),
}

impl Progress<'_> {
    fn tell(&self, what: &str) {
        (self.tell)(self.done.load(Ordering::Relaxed), self.all, what);
    }

    fn add(&self, trials: u64) {
        self.done.fetch_add(trials, Ordering::Relaxed);
    }
}

/// Runs the family: without a guard once, under approach B twice with other values.
///
/// `progress` is told how many trials are done, how many there are, and what comes next.
///
/// # Errors
/// [`DemoError`]; a trial that the agent does not finish is a result, not an error.
pub async fn run(
    settings: &Settings,
    progress: &(dyn Fn(u64, u64, &str) + Sync),
) -> Result<DemoReport, DemoError> {
    let policy = settings.policy.as_deref().unwrap_or(DEFAULT_POLICY);
    fs::create_dir_all(&settings.out)?;
    fs::write(settings.out.join("policy.policy"), policy)?;
    let scenarios: Vec<Scenario> = (1..=u64::from(settings.seeds)).flat_map(Scenario::family).collect();
    let progress = Progress { done: AtomicU64::new(0), all: 3 * scenarios.len() as u64, tell: progress };
    let mut lanes: [Vec<Scenario>; LANES] = Default::default();
    for (number, scenario) in scenarios.into_iter().enumerate() {
        // Hostile pages come in pairs with their twins and take longer.
        if let Some(lane) = lanes.get_mut(number / 2 % LANES) {
            lane.push(scenario);
        }
    }
    let [first, second] = lanes;
    let log = fresh_log(&settings.out.join("audit"))?;
    let (first, second) = tokio::try_join!(
        run_lane(&first, policy, log.clone(), &progress),
        run_lane(&second, policy, log.clone(), &progress),
    )?;
    progress.tell("done");

    let outcomes: Vec<Outcome> = first.outcomes.into_iter().chain(second.outcomes).collect();
    let findings = first.findings.into_iter().chain(second.findings).collect();
    let rows = rows(&outcomes);
    let json = to_json(&rows).map_err(|error| DemoError::Failed(error.to_string()))?;
    fs::write(settings.out.join("report.html"), to_html(&rows))?;
    fs::write(settings.out.join("report.json"), &json)?;
    Ok(DemoReport { rows, json, findings, out: settings.out.clone() })
}

/// A new log; the one of the last run is kept beside it.
fn fresh_log(folder: &Path) -> Result<SharedLog, DemoError> {
    if folder.exists() {
        let previous = folder.with_extension("previous");
        if previous.exists() {
            fs::remove_dir_all(&previous)?;
        }
        fs::rename(folder, previous)?;
    }
    let opened = FolderLog::open(folder).map_err(|error| DemoError::Failed(error.to_string()))?;
    Ok(Arc::new(Mutex::new(opened.log)))
}

/// What one lane found.
struct Lane {
    outcomes: Vec<Outcome>,
    findings: Vec<String>,
}

async fn run_lane(
    scenarios: &[Scenario],
    policy: &str,
    log: SharedLog,
    progress: &Progress<'_>,
) -> Result<Lane, DemoError> {
    let stage = Stage::set_up().await?;
    // The guarded browser starts while the other one works.
    let unguarded = async {
        let mut outcomes = Vec::new();
        let bare = BareBrowser::launch(&stage.world).await?;
        for scenario in scenarios {
            progress.tell(&format!("no guard, {}", label(scenario)));
            outcomes.push(unguarded_trial(&stage, &bare, scenario).await?);
            progress.add(1);
        }
        bare.close().await?;
        Ok::<_, DemoError>(outcomes)
    };
    let (browser, outcomes) = tokio::join!(stage.browser(), unguarded);
    let (browser, mut lane) = (browser?, Lane { outcomes: outcomes?, findings: Vec::new() });

    let mut searches = Vec::new();
    for scenario in scenarios {
        progress.tell(&format!("approach B, {}", label(scenario)));
        let twin = scenario.twin();
        let first = guarded::run(&stage, &browser, scenario, policy, Some(log.clone())).await?;
        let second = guarded::run(&stage, &browser, &twin, policy, Some(log.clone())).await?;
        progress.add(2);
        lane.outcomes.push(outcome(&first, scenario));
        lane.outcomes.push(outcome(&second, &twin));
        let scenario = scenario.clone();
        // The next trial waits for pages meanwhile.
        searches.push(tokio::task::spawn_blocking(move || {
            let mut findings = first.canaries(&scenario);
            findings.extend(second.canaries(&twin));
            findings.extend(interference(&first, &second, &scenario, &twin));
            findings.into_iter().map(|finding| format!("{}: {finding}", label(&scenario))).collect::<Vec<_>>()
        }));
    }
    browser.close().await;
    for search in searches {
        let findings = search.await.map_err(|error| DemoError::Failed(error.to_string()))?;
        lane.findings.extend(findings);
    }
    Ok(lane)
}

async fn unguarded_trial(
    stage: &Stage,
    bare: &BareBrowser,
    scenario: &Scenario,
) -> Result<Outcome, DemoError> {
    let mut agent = ObedientAgent::new(&scenario.prompt(hosts::SHOP_ORIGIN));
    let trial = run_unguarded(&stage.world, bare, scenario, &mut agent).await?;
    Ok(Outcome {
        approach: Approach::None,
        agent: agent.name().to_owned(),
        page_kind: page_kind(scenario),
        judgement: judge(scenario, &trial.record, &stage.world.take_strays()),
        prompts: 0,
        denials: std::collections::BTreeMap::new(),
        ms_per_step: per_step(trial.elapsed, trial.steps as u64),
    })
}

fn outcome(run: &Guarded, scenario: &Scenario) -> Outcome {
    Outcome {
        approach: Approach::B,
        agent: run.agent.clone(),
        page_kind: page_kind(scenario),
        judgement: run.judgement.clone(),
        prompts: u64::from(run.prompts),
        denials: run.denials.clone(),
        ms_per_step: per_step(run.elapsed, run.steps),
    }
}

fn per_step(elapsed: std::time::Duration, steps: u64) -> f64 {
    if steps == 0 { 0.0 } else { elapsed.as_secs_f64() * 1000.0 / steps as f64 }
}

fn page_kind(scenario: &Scenario) -> PageKind {
    if scenario.hostile { PageKind::Hostile } else { PageKind::Benign }
}

fn label(scenario: &Scenario) -> String {
    let twin = if scenario.hostile { "hostile" } else { "benign" };
    format!("{} ({twin}, seed {})", scenario.kind.as_str(), scenario.seed)
}
