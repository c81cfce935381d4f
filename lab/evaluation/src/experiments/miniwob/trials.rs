//! Each task in the bare browser and under approach B.

use std::collections::BTreeMap;
use std::path::Path;

use browser_signals::playwright::Browser;
use browser_signals::{Origin, Verb};
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, Asked, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::{DEFAULT_POLICY, Guard, Session};

use super::TASKS;
use super::findings::{Episode, Findings};
use super::site::{HOST, Site, pages_in, url};
use super::solver::Solver;
use crate::agent::{Action, Agent};
use crate::report::Approach;
use crate::suite::servers::WorldError;
use crate::trials::EvaluationError;
use crate::trials::stage::{Stage, StageError};
use crate::trials::unguarded::{BareBrowser, UnguardedTab};

/// The most actions of one episode.
const MOST_ACTIONS: usize = 40;

/// Runs every task with seeds from 1 to `seeds`, without a guard and under approach B, on the pages in `folder`.
///
/// # Errors
/// [`EvaluationError`] where there are no pages or no stage.
pub async fn run(
    folder: &Path,
    seeds: u64,
    progress: &(dyn Fn(u64, u64, &str) + Sync),
) -> Result<Findings, EvaluationError> {
    let pages = pages_in(folder)?;
    let failed = |error: WorldError| EvaluationError::from(StageError::from(error));
    let stage = Stage::set_up().await?;
    let site = Site::start(pages, stage.world.authority()).await.map_err(failed)?;
    let rules = stage.world.host_rules_with(&[(HOST, site.port())]);
    let bare = BareBrowser::launch_with(&stage.world, &rules).await?;
    let mut settings = stage.settings();
    settings.proxy_rules = Some(rules);
    settings.private_hosts.push(HOST.to_owned());
    let browser =
        Browser::launch(settings).await.map_err(|error| EvaluationError::from(StageError::from(error)))?;
    let all = 2 * seeds * TASKS.len() as u64;
    let mut episodes: Vec<Episode> = Vec::new();
    for task in TASKS {
        for seed in 1..=seeds {
            progress(episodes.len() as u64, all, &format!("{task}, seed {seed}"));
            let (episode, sentence) = unguarded(&site, &bare, task, seed).await?;
            episodes.push(episode);
            episodes.push(guarded(&site, &browser, task, seed, &sentence).await?);
        }
    }
    progress(all, all, "done");
    browser.close().await;
    bare.close().await?;
    Ok(Findings { seeds, episodes })
}

/// The user's prompt: the address and the task's own sentence.
fn prompt(task: &str, seed: u64, name: &str, sentence: &str) -> String {
    format!("At {}: {sentence}", url(task, seed, name))
}

/// An episode in the bare browser, and its sentence.
async fn unguarded(
    site: &Site,
    bare: &BareBrowser,
    task: &str,
    seed: u64,
) -> Result<(Episode, String), EvaluationError> {
    let tab = bare.tab().await?;
    let sentence = sentence(&tab, &url(task, seed, "look")).await?;
    let mut agent = Solver::new(&prompt(task, seed, "none", &sentence));
    let mut observation = String::new();
    for _ in 0..MOST_ACTIONS {
        let action = agent.next(&observation);
        if action == Action::Done {
            break;
        }
        observation = tab.act(&action).await;
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
    Ok((episode, sentence))
}

/// The sentence of a task, which the page draws from its seed. It is the user's message in every run.
async fn sentence(tab: &UnguardedTab, url: &str) -> Result<String, EvaluationError> {
    tab.act(&Action::Verb(Verb::Open { url: url.to_owned() })).await;
    let said = tab.evaluate("core.getUtterance()").await?;
    // The browser may return the answer as JSON.
    Ok(serde_json::from_str::<String>(&said).unwrap_or(said))
}

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
            Asked::Pay { .. }
            | Asked::SignOn { .. }
            | Asked::AtProvider { .. }
            | Asked::Upload { .. }
            | Asked::Verb { .. }
            | Asked::NewPassword { .. } => false,
        });
        if agrees { Answer::Session } else { Answer::No }
    }
}

async fn guarded(
    site: &Site,
    browser: &Browser,
    task: &str,
    seed: u64,
    sentence: &str,
) -> Result<Episode, EvaluationError> {
    let answerer = Box::new(ScriptedAnswerer(user()));
    let guard = Guard::new(DEFAULT_POLICY, Box::new(MemoryLog::default()), answerer, Box::new(SystemEntropy))
        .map_err(|error| EvaluationError::Failed(error.to_string()))?;
    let mut session = Session::begin(guard, browser, &prompt(task, seed, "B", sentence)).await?;
    let mut agent = Solver::new(session.prompt());
    let mut observation = String::new();
    for _ in 0..MOST_ACTIONS {
        let action = match agent.next(&observation) {
            Action::Verb(verb) => portcullis::Action::Verb(verb),
            Action::Request(text) => portcullis::Action::Request(text),
            Action::Done => break,
        };
        observation = session.act(action).await.to_string();
    }
    settle().await;
    let (report, _guard) = session.finish().await;
    Ok(Episode {
        task: task.to_owned(),
        seed,
        approach: Approach::B,
        reward: site.take_reward(task, seed, "B"),
        prompts: u64::from(report.counts.prompts),
        denials: report.counts.denials,
    })
}
