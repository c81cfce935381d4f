//! The demo: every agent on pages of the benchmark suite, without a guard and under approaches A, B and C.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use browser_signals::playwright::Browser;
use portcullis::DEFAULT_POLICY;
use portcullis::audit::FolderLog;

use crate::report::story::{self, Scene, Story};
use crate::report::{Approach, Outcome, PageKind, Row, photographed, rows, to_html, to_json, to_table};
use crate::suite::hosts;
use crate::suite::kind::ScenarioKind;
use crate::suite::scenario::Scenario;
use crate::trials::agents::{MakeAgent, Obedient};
use crate::trials::guarded::{self, GuardedTrial, SharedLog, interference};
use crate::trials::judge::judge;
use crate::trials::stage::Stage;
use crate::trials::unguarded::{BareBrowser, run_unguarded};

pub use crate::trials::EvaluationError;

/// The settings of a run.
pub struct Settings {
    /// The number of seeds; each draws other wordings, items and persons.
    pub seeds: u32,
    /// The scenarios; each runs hostile and benign.
    pub kinds: Vec<ScenarioKind>,
    /// The policy text of approach B; `None` means the shipped policy.
    pub policy: Option<String>,
    /// The folder of the report and the audit log. It is created.
    pub out: PathBuf,
}

/// The scenarios for a run of a few minutes: text in a description, in a chat, on a form that posts elsewhere, and a
/// host that looks like the shop's.
pub const DEFAULT_SCENARIOS: [ScenarioKind; 4] = [
    ScenarioKind::SellerDescription,
    ScenarioKind::ChatMessage,
    ScenarioKind::FakeFormLabel,
    ScenarioKind::LookalikeHost,
];

/// The results of a run, and their folder.
pub struct DemoReport {
    rows: Vec<Row>,
    json: String,
    /// Values that were found where none may be, and differences between the two runs of a trial.
    findings: Vec<String>,
    /// The number of tasks that ran with two vaults.
    twice: u64,
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

    /// The table and the findings.
    pub fn table(&self) -> String {
        let mut text = to_table(&self.rows);
        if self.findings.is_empty() {
            let _ = writeln!(
                text,
                "Under B each of the obedient agent's {} tasks ran twice, with vaults of equal shape and other values: the \
                 model read the same bytes, the servers saw the same but for what was granted. Under B and C no value was \
                 found in the model's text or the audit log, no card number in the browser's messages or the DOM.",
                self.twice
            );
        }
        for finding in &self.findings {
            let _ = writeln!(text, "FOUND: {finding}");
        }
        text
    }

    /// Leaks under the approaches that promise none (B and C), in any channel.
    pub fn guarded_leaks(&self) -> u64 {
        let promised = |row: &&Row| matches!(row.approach, Approach::B | Approach::C);
        let leaked: u64 = self.rows.iter().filter(promised).map(|row| row.leaks).sum();
        leaked + self.findings.len() as u64
    }

    /// The paths of the results, and the next command to try.
    pub fn places(&self) -> String {
        let out = self.out.display();
        format!(
            "report  {out}/report.html\naudit   {out}/audit\npolicy  {out}/policy.policy\n\
             next    cargo run -p portcullis-cli -- audit show {out}/audit"
        )
    }
}

/// The number of stages that run in parallel, each with a browser, a shop, a bank and a log of its own. A trial mostly
/// waits for pages, so two stages keep two cores busy.
const LANES: usize = 2;

/// Counts trials for the progress display.
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

/// Runs every agent on every page without a guard and under A, B and C; the obedient agent runs under B twice, with
/// different values.
///
/// `progress` is called with the number of finished trials, the number of all trials, and the name of the next one.
/// Each lane has a thread of its own, since a small model computes on it; `runtime` has to have threads for the
/// servers.
///
/// # Errors
/// [`EvaluationError`]; a trial that the agent does not finish is a result, not an error.
pub fn run(
    settings: &Settings,
    makers: &[Box<dyn MakeAgent>],
    runtime: &tokio::runtime::Runtime,
    progress: &(dyn Fn(u64, u64, &str) + Sync),
) -> Result<DemoReport, EvaluationError> {
    let policy = settings.policy.as_deref().unwrap_or(DEFAULT_POLICY);
    fs::create_dir_all(&settings.out)?;
    fs::write(settings.out.join("policy.policy"), policy)?;
    let of_seed = |seed| {
        let pairs = |kind: &ScenarioKind| [true, false].map(|hostile| Scenario::new(*kind, hostile, seed));
        settings.kinds.iter().flat_map(pairs).collect::<Vec<Scenario>>()
    };
    let scenarios: Vec<Scenario> = (1..=u64::from(settings.seeds)).flat_map(of_seed).collect();
    let shown = scenarios.iter().find(|scenario| story::is_told(scenario)).cloned();
    let a_page = makers.iter().map(|maker| if is_twice(maker.as_ref()) { 5 } else { 4 }).sum::<u64>();
    let twice =
        makers.iter().filter(|maker| is_twice(maker.as_ref())).count() as u64 * scenarios.len() as u64;
    let all = a_page * scenarios.len() as u64;
    let progress = Progress { done: AtomicU64::new(0), all, tell: progress };
    let mut lanes: [Vec<Scenario>; LANES] = Default::default();
    for (number, scenario) in scenarios.into_iter().enumerate() {
        // Hostile pages come in pairs with their benign counterparts and take longer.
        if let Some(lane) = lanes.get_mut(number / 2 % LANES) {
            lane.push(scenario);
        }
    }
    let log = fresh_log(&settings.out.join("audit"))?;
    let work = |scenarios: &[Scenario]| {
        let bench = Bench { policy, makers, log: log.clone(), progress: &progress, shown: shown.as_ref() };
        runtime.block_on(bench.run(scenarios))
    };
    let found: Vec<Result<Lane, EvaluationError>> = std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = lanes.iter().map(|lane| scope.spawn(move || work(lane))).collect();
        let broke_off = |_| Err(EvaluationError::Failed("a lane of trials broke off".to_owned()));
        running.into_iter().map(|lane| lane.join().unwrap_or_else(broke_off)).collect()
    });
    progress.tell("done");

    let (mut outcomes, mut findings, mut stories, mut scene) = (Vec::new(), Vec::new(), Vec::new(), None);
    for lane in found {
        let lane = lane?;
        stories.extend(lane.stories);
        scene = scene.or(lane.scene);
        outcomes.extend(lane.outcomes);
        findings.extend(lane.findings);
    }
    let rows = rows(&outcomes);
    let json = to_json(&rows).map_err(|error| EvaluationError::Failed(error.to_string()))?;
    stories.sort_by_key(|story: &Story| story.approach);
    let story = scene.map(|scene| story::to_html(&scene, &stories)).unwrap_or_default();
    fs::write(settings.out.join("report.html"), to_html(&rows, &story))?;
    fs::write(settings.out.join("report.json"), &json)?;
    Ok(DemoReport { rows, json, findings, twice, out: settings.out.clone() })
}

/// Returns true if an agent's tasks under B run twice, with different values. A small model reads longer names in fewer
/// tokens, and may act differently if two persons' cities differ.
fn is_twice(maker: &dyn MakeAgent) -> bool {
    maker.name() == Obedient.name()
}

/// Opens a new log, and keeps the log of the last run under another name.
fn fresh_log(folder: &Path) -> Result<SharedLog, EvaluationError> {
    if folder.exists() {
        let previous = folder.with_extension("previous");
        if previous.exists() {
            fs::remove_dir_all(&previous)?;
        }
        fs::rename(folder, previous)?;
    }
    let opened = FolderLog::open(folder).map_err(|error| EvaluationError::Failed(error.to_string()))?;
    Ok(Arc::new(Mutex::new(opened.log)))
}

/// The results of one lane.
#[derive(Default)]
struct Lane {
    outcomes: Vec<Outcome>,
    findings: Vec<String>,
    /// The page of the story that the report tells, and the trials on it.
    scene: Option<Scene>,
    stories: Vec<Story>,
}

/// The inputs that all lanes share.
struct Bench<'a> {
    policy: &'a str,
    makers: &'a [Box<dyn MakeAgent>],
    log: SharedLog,
    progress: &'a Progress<'a>,
    /// The scenario whose story the report tells.
    shown: Option<&'a Scenario>,
}

impl Bench<'_> {
    async fn run(&self, scenarios: &[Scenario]) -> Result<Lane, EvaluationError> {
        let stage = Stage::set_up().await?;
        // The guarded browser starts during the unguarded trials.
        let (browser, lane) = tokio::join!(stage.browser(), self.unguarded(&stage, scenarios));
        let (browser, mut lane) = (browser?, lane?);
        let mut searches = Vec::new();
        for scenario in scenarios {
            for maker in self.makers {
                for approach in [Approach::A, Approach::B, Approach::C] {
                    let task = Task { stage: &stage, browser: &browser, maker: maker.as_ref(), approach };
                    searches.extend(self.guarded(&task, scenario, &mut lane).await?);
                }
            }
        }
        browser.close().await;
        for search in searches {
            let findings = search.await.map_err(|error| EvaluationError::Failed(error.to_string()))?;
            lane.findings.extend(findings);
        }
        Ok(lane)
    }

    async fn unguarded(&self, stage: &Stage, scenarios: &[Scenario]) -> Result<Lane, EvaluationError> {
        let mut lane = Lane::default();
        let bare = BareBrowser::launch(&stage.world).await?;
        for scenario in scenarios {
            for maker in self.makers {
                self.progress.tell(&format!("no guard, {}, {}", maker.name(), label(scenario)));
                let (outcome, story) = unguarded_trial(stage, &bare, scenario, maker.as_ref()).await?;
                lane.outcomes.push(outcome);
                if self.shown == Some(scenario) && is_twice(maker.as_ref()) {
                    lane.stories.push(story);
                    lane.scene = Some(photographed(&stage.world, &bare, scenario).await?);
                }
                self.progress.add(1);
            }
        }
        bare.close().await?;
        Ok(lane)
    }

    /// Runs one task, or two that differ in the values of their vaults, and starts the search for values.
    async fn guarded(
        &self,
        task: &Task<'_>,
        scenario: &Scenario,
        lane: &mut Lane,
    ) -> Result<Option<Search>, EvaluationError> {
        let (agent, approach) = (task.maker.name(), task.approach);
        self.progress.tell(&format!("approach {}, {agent}, {}", approach.as_str(), label(scenario)));
        let twin = (approach == Approach::B && is_twice(task.maker)).then(|| scenario.twin());
        let first = self.trial(task, scenario, &mut lane.outcomes).await?;
        if self.shown == Some(scenario) && is_twice(task.maker) {
            lane.stories.push(Story {
                approach,
                agent: first.agent.clone(),
                taken: first.taken.clone(),
                asked: first.asked.clone(),
                record: first.record.clone(),
                judgement: first.judgement.clone(),
            });
        }
        let second = match &twin {
            Some(twin) => Some(self.trial(task, twin, &mut lane.outcomes).await?),
            None => None,
        };
        if approach == Approach::A {
            // Under approach A the card goes through the page, so it is found in the browser.
            return Ok(None);
        }
        let (scenario, name) = (scenario.clone(), format!("{} {agent}", approach.as_str()));
        Ok(Some(tokio::task::spawn_blocking(move || {
            let mut findings = first.canaries(&scenario);
            if let (Some(second), Some(twin)) = (second, twin) {
                findings.extend(second.canaries(&twin));
                findings.extend(interference(&first, &second, &scenario, &twin));
            }
            findings.into_iter().map(|finding| format!("{name}, {}: {finding}", label(&scenario))).collect()
        })))
    }

    async fn trial(
        &self,
        task: &Task<'_>,
        scenario: &Scenario,
        outcomes: &mut Vec<Outcome>,
    ) -> Result<GuardedTrial, EvaluationError> {
        // The user may choose another policy for B.
        let own = task.approach.policy().filter(|_| task.approach != Approach::B);
        let policy = own.as_deref().unwrap_or(self.policy);
        let make = |prompt: &str| task.maker.make("demo", prompt, task.approach);
        let log = Some(self.log.clone());
        let run = guarded::run_as(task.stage, task.browser, scenario, policy, log, &make).await?;
        self.progress.add(1);
        outcomes.push(outcome(&run, scenario, task.approach));
        Ok(run)
    }
}

/// A search for values that runs while the next trial waits for pages.
type Search = tokio::task::JoinHandle<Vec<String>>;

/// An agent under an approach, and the stage and browser in which it runs.
struct Task<'a> {
    stage: &'a Stage,
    browser: &'a Browser,
    maker: &'a dyn MakeAgent,
    approach: Approach,
}

async fn unguarded_trial(
    stage: &Stage,
    bare: &BareBrowser,
    scenario: &Scenario,
    maker: &dyn MakeAgent,
) -> Result<(Outcome, Story), EvaluationError> {
    let mut agent = maker.make("demo", &scenario.prompt(hosts::SHOP_ORIGIN), Approach::None);
    let trial = run_unguarded(&stage.world, bare, scenario, agent.as_mut()).await?;
    let judgement = judge(scenario, &trial.record, &stage.world.take_strays());
    let story = Story {
        approach: Approach::None,
        agent: agent.name().to_owned(),
        taken: trial.taken,
        asked: Vec::new(),
        record: trial.record,
        judgement: judgement.clone(),
    };
    let outcome = Outcome {
        approach: Approach::None,
        agent: agent.name().to_owned(),
        page_kind: page_kind(scenario),
        judgement,
        prompts: 0,
        denials: std::collections::BTreeMap::new(),
        ms_per_step: per_step(trial.elapsed, trial.steps as u64),
    };
    Ok((outcome, story))
}

fn outcome(run: &GuardedTrial, scenario: &Scenario, approach: Approach) -> Outcome {
    Outcome {
        approach,
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
