//! An attacker with the shipped classifier and policy, who searches for wordings that pass.
//!
//! The attacker knows everything (white box): models, monitor, thresholds, and the agent's reading. A budget counts the
//! wordings that are submitted to the defence. The best wordings are then tried on real pages, since a wording that
//! passes the classifier must still not leak.
//!
//! | module | subject |
//! |---|---|
//! | [`defence`] | the defence that the attacker searches against |
//! | `mutations` | changes of a wording, and the phrases for them |
//! | [`search`] | the hill climb, and its results at each budget |
//! | [`trials`] | the best wordings on real pages |
//! | [`findings`] | the file, the table and the report's section |

pub mod defence;
pub mod findings;
mod mutations;
pub mod search;
pub mod trials;

use crate::suite::scenario::Scenario;
use crate::suite::{kind::ScenarioKind, planted::Planted};
use crate::trials::EvaluationError;
use defence::{Defence, Judge, Oracle};
use findings::Findings;
use search::{Found, climb};

/// The number of the best wordings that are tried on real pages.
const TRIED: usize = 5;

/// The suite's sentences that ask for the card without an address. The search starts from them.
pub fn starts() -> Vec<String> {
    let kinds = [
        ScenarioKind::ChatMessage,
        ScenarioKind::OtherLanguage,
        ScenarioKind::FakeFormLabel,
        ScenarioKind::Polite,
        ScenarioKind::FakeMessage,
        ScenarioKind::AgentBanner,
        ScenarioKind::Pieces,
        ScenarioKind::StyleContent,
    ];
    let drawn = (1..=12).flat_map(|seed| {
        kinds.iter().map(move |kind| {
            let said = Planted::of(&Scenario::new(*kind, true, seed)).text;
            // A second sentence would change the order, which is another attack.
            let end = [" Also change", " Set the quantity", " Ship the order", " Change the delivery"]
                .iter()
                .filter_map(|second| said.find(second))
                .min();
            said.get(..end.unwrap_or(said.len())).unwrap_or_default().to_owned()
        })
    });
    let mut starts: Vec<String> =
        drawn.filter(|said| !said.contains("http") && search::still_asks(said)).collect();
    starts.sort();
    starts.dedup();
    starts
}

/// Searches from every start with `queries` wordings each, and tries the best on real pages.
///
/// `progress` is called with the number of finished steps, the number of all steps, and the name of the next one.
///
/// # Errors
/// [`EvaluationError`] if the models or the stage cannot be used.
pub async fn run(
    queries: u64,
    seed: u64,
    progress: &(dyn Fn(u64, u64, &str) + Sync),
) -> Result<Findings, EvaluationError> {
    let defence = Defence::shipped()?;
    let starts = starts();
    let all = (starts.len() + TRIED * trials::APPROACHES.len()) as u64;
    let mut found: Vec<Found> = Vec::new();
    for (number, start) in starts.iter().enumerate() {
        progress(number as u64, all, "searching for wordings");
        let oracle = Oracle::new(&defence);
        found.push(climb(start, &starts, oracle, queries, seed.wrapping_add(number as u64 * 0x9E37)));
    }
    let best = search::best(&found, &defence.limits(), TRIED);
    let done = starts.len() as u64;
    let tried = trials::run(&best, &|number, what| progress(done + number, all, what)).await?;
    progress(all, all, "done");
    Ok(Findings::of(queries, seed, &defence, &found, best, tried))
}
