//! Each task in the bare browser and under approach B.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use browser_signals::playwright::Browser;
use browser_signals::{Origin, Verb};
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, Asked, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::{DEFAULT_POLICY, Guard, Session};

use super::findings::{Episode, Findings};
use super::site::{HOST, Site, pages_in, url};
use super::solver::Solver;
use super::tasks::TASKS;
use crate::agent::{Action, Agent};
use crate::report::Approach;
use crate::suite::servers::WorldError;
use crate::trials::EvaluationError;
use crate::trials::stage::{Stage, StageError};
use crate::trials::unguarded::{BareBrowser, UnguardedTab};

/// The most actions of one episode.
const MOST_ACTIONS: usize = 400;

/// What is run.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The unpacked package.
    pub folder: PathBuf,
    /// The number of seeds, from 1 on.
    pub seeds: u64,
    /// Tasks by name; all where there are none.
    pub tasks: Vec<String>,
    /// A folder for what each agent did and was told, a file for an episode.
    pub transcripts: Option<PathBuf>,
}

/// Runs the tasks of a plan, without a guard and under approach B.
///
/// # Errors
/// [`EvaluationError`] where there are no pages, no such task, or no stage.
pub async fn run(
    plan: &Plan,
    progress: &(dyn Fn(u64, u64, &str) + Sync),
) -> Result<Findings, EvaluationError> {
    let tasks = chosen(&plan.tasks)?;
    let pages = pages_in(&plan.folder)?;
    let failed = |error: WorldError| EvaluationError::from(StageError::from(error));
    let stage = Stage::set_up().await?;
    let site = Site::start(pages, stage.world.authority()).await.map_err(failed)?;
    let rules = stage.world.host_rules_with(&[(HOST, site.port())]);
    let bare = BareBrowser::launch_with(&stage.world, &rules).await?;
    let mut settings = stage.settings();
    settings.proxy_rules = Some(rules);
    settings.private_hosts.push(HOST.to_owned());
    let browser =
        Browser::start(settings).await.map_err(|error| EvaluationError::from(StageError::from(error)))?;
    let all = 2 * plan.seeds * tasks.len() as u64;
    let mut episodes: Vec<Episode> = Vec::new();
    for task in tasks {
        for seed in 1..=plan.seeds {
            progress(episodes.len() as u64, all, &format!("{task}, seed {seed}"));
            let (episode, sentence, transcript) = unguarded(&site, &bare, task, seed).await?;
            keep(plan.transcripts.as_deref(), &episode, &transcript)?;
            episodes.push(episode);
            let (episode, transcript) = guarded(&site, &browser, task, seed, &sentence).await?;
            keep(plan.transcripts.as_deref(), &episode, &transcript)?;
            episodes.push(episode);
        }
    }
    progress(all, all, "done");
    browser.close().await;
    bare.close().await?;
    Ok(Findings { seeds: plan.seeds, episodes })
}

/// The tasks with these names, or all.
fn chosen(names: &[String]) -> Result<Vec<&'static str>, EvaluationError> {
    let known = |name: &String| {
        let found = TASKS.iter().copied().find(|task| *task == name.as_str());
        found.ok_or_else(|| EvaluationError::Input(format!("there is no task `{name}` that the solver does")))
    };
    if names.is_empty() { Ok(TASKS.to_vec()) } else { names.iter().map(known).collect() }
}

/// Writes an episode's transcript, where there is a folder for it.
fn keep(folder: Option<&Path>, episode: &Episode, transcript: &str) -> Result<(), EvaluationError> {
    let Some(folder) = folder else { return Ok(()) };
    let name = format!("{}-{}-{}.txt", episode.task, episode.seed, episode.approach.as_str());
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let reward = episode.reward.map_or("none".to_owned(), |reward| reward.to_string());
        std::fs::write(folder.join(name), format!("{transcript}reward {reward}\n"))
    });
    written
        .map_err(|error| EvaluationError::Input(format!("{} cannot be written: {error}", folder.display())))
}

/// Adds a step to a transcript.
fn note(transcript: &mut String, action: &Action, answer: &str) {
    let _ = writeln!(transcript, "> {action:?}\n{answer}");
}

/// The user's prompt: the address and the task's own sentence.
fn prompt(task: &str, seed: u64, name: &str, sentence: &str) -> String {
    format!("At {}: {sentence}", url(task, seed, name))
}

/// An episode in the bare browser, its sentence and its transcript.
async fn unguarded(
    site: &Site,
    bare: &BareBrowser,
    task: &str,
    seed: u64,
) -> Result<(Episode, String, String), EvaluationError> {
    let tab = bare.tab().await?;
    let sentence = sentence(&tab, &url(task, seed, "look")).await?;
    let prompt = prompt(task, seed, "none", &sentence);
    let mut agent = Solver::new(&prompt);
    let (mut observation, mut transcript) = (String::new(), format!("{prompt}\n"));
    for _ in 0..MOST_ACTIONS {
        let action = agent.next(&observation);
        if action == Action::Done {
            break;
        }
        observation = tab.act(&action).await;
        note(&mut transcript, &action, &observation);
    }
    settle().await;
    tab.close().await?;
    let episode = Episode {
        task: task.to_owned(),
        seed,
        approach: Approach::None,
        reward: site.take_reward(task, seed, "none"),
        prompts: 0,
        denials: BTreeMap::new(),
    };
    Ok((episode, sentence, transcript))
}

/// The sentence of a task, which the page draws from its seed. It is the user's message in every run.
async fn sentence(tab: &UnguardedTab, url: &str) -> Result<String, EvaluationError> {
    tab.act(&Action::Verb(Verb::Open { url: url.to_owned() })).await;
    let said = tab.evaluate(SENTENCE).await?;
    // The browser may return the answer as JSON.
    Ok(serde_json::from_str::<String>(&said).unwrap_or(said))
}

/// The sentence of a page. Some pages return it with its parts; their sentence is the one that they show.
const SENTENCE: &str = "(()=>{const said=core.getUtterance();return typeof said==='string'?said:\
    String(said.utterance||document.getElementById('query').textContent).replace(/\\s+/g,' ').trim()})()";

/// Waits for the page's report of its reward.
async fn settle() {
    tokio::time::sleep(std::time::Duration::from_millis(150)).await;
}

/// A user who agrees to everything that concerns the task's own site.
fn user() -> impl FnMut(&ConsentPrompt) -> Answer + Send + 'static {
    let site = Origin::parse(&format!("https://{HOST}")).ok();
    move |prompt| {
        let site = site.as_ref();
        let agrees = prompt.asked.iter().all(|asked| match asked {
            Asked::Container { origins, .. } => origins.iter().all(|origin| Some(origin) == site),
            Asked::Release { to, .. } => Some(to) == site,
            // The task consists of such actions.
            Asked::Order(order) => Some(&order.site) == site,
            // The user has just written this text.
            Asked::Reveal { .. } => true,
            Asked::Tell { .. }
            | Asked::Buy { .. }
            | Asked::Pay { .. }
            | Asked::Mandate { .. }
            | Asked::SignOn { .. }
            | Asked::AtProvider { .. }
            | Asked::Upload { .. }
            | Asked::Restore { .. }
            | Asked::KeepLogin { .. }
            | Asked::Verb { .. }
            | Asked::NewPassword { .. } => false,
        });
        if agrees { Answer::Session } else { Answer::No }
    }
}

/// An episode under approach B and its transcript.
async fn guarded(
    site: &Site,
    browser: &Browser,
    task: &str,
    seed: u64,
    sentence: &str,
) -> Result<(Episode, String), EvaluationError> {
    let answerer = Box::new(ScriptedAnswerer(user()));
    let guard = Guard::new(DEFAULT_POLICY, Box::new(MemoryLog::default()), answerer, Box::new(SystemEntropy))
        .map_err(|error| EvaluationError::Failed(error.to_string()))?;
    let mut session = Session::begin(guard, browser, &prompt(task, seed, "B", sentence)).await?;
    let (mut observation, mut transcript) = (String::new(), format!("{}\n", session.prompt()));
    let mut agent = Solver::new(session.prompt());
    for _ in 0..MOST_ACTIONS {
        let action = agent.next(&observation);
        let asked = match action.clone() {
            Action::Verb(verb) => portcullis::Action::Verb(verb),
            Action::Request(text) => portcullis::Action::Request(text),
            Action::Done => break,
        };
        observation = session.act(asked).await.to_string();
        note(&mut transcript, &action, &observation);
    }
    settle().await;
    let (report, _guard) = session.finish().await;
    let episode = Episode {
        task: task.to_owned(),
        seed,
        approach: Approach::B,
        reward: site.take_reward(task, seed, "B"),
        prompts: u64::from(report.counts.prompts),
        denials: report.counts.denials,
    };
    Ok((episode, transcript))
}
