//! The comparison of approaches that `spec/experiments.md` specifies: its trials, their records, the analysis.
//!
//! | module | subject |
//! |---|---|
//! | [`plan`] | the list of trials |
//! | `line` | one trial as a line of JSON |
//! | [`journal`] | the file of those lines; it survives a killed run |
//! | [`run`] | running the missing trials on several lanes |
//! | [`harness`] | one trial in a browser, under each approach |
//! | [`summary`] | S, C, leaks and the rest, by approach and agent |
//! | [`verdict`] | the hypotheses |
//! | `ablations` | approach B without its parts |
//! | `factorial` | the arms of question RQ4a |
//! | `asking` | how often to ask: question RQ2 |
//! | [`detector`] | a user of signal detection theory, who tires |
//! | [`fatigue`] | the effect of a user's errors on the recorded trials |
//! | [`analysis`] | everything that is computed from the trials |
//! | `figures`, `roc` | plots of the report |
//! | [`report`] | the report as one page |

mod ablations;
pub mod analysis;
mod asking;
pub mod detector;
mod factorial;
pub mod fatigue;
mod figures;
pub mod harness;
pub mod journal;
pub mod line;
pub mod plan;
pub mod report;
mod roc;
pub mod run;
pub mod shards;
pub mod summary;
pub mod verdict;

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::statistics::Resampling;
use crate::trials::EvaluationError;
use crate::trials::agents::MakeAgent;
use analysis::Analysis;
use harness::Harness;
use journal::{Journal, JournalError};
use plan::Settings;
use report::to_html;
use run::{Part, Progress};

impl From<JournalError> for EvaluationError {
    fn from(error: JournalError) -> EvaluationError {
        match error {
            JournalError::Io { .. } => EvaluationError::Failed(error.to_string()),
            other => EvaluationError::Input(other.to_string()),
        }
    }
}

/// Runs the trials of a part of the plan that are missing in `out`, and writes the report of all. No browser starts if none is missing.
///
/// # Errors
/// [`EvaluationError`]; finished trials are kept, and the same call continues from there.
pub async fn evaluate(
    settings: Settings,
    makers: Vec<Box<dyn MakeAgent>>,
    out: &Path,
    part: &Part,
    progress: Progress<'_>,
) -> Result<Evaluated, EvaluationError> {
    let (plan, gallery) = (settings.trials(), out.join("gallery"));
    let mut journal = Journal::open(out, &settings)?;
    if plan.iter().any(|key| !journal.has(key)) {
        let (settings, makers) = (Arc::new(settings), Rc::new(makers));
        let lanes = tokio::try_join!(
            Harness::set_up(settings.clone(), makers.clone(), &gallery),
            Harness::set_up(settings.clone(), makers.clone(), &gallery),
        )?;
        run::run_missing(&plan, part, &mut journal, lanes, progress).await?;
    }
    drop(journal);
    analyse(out)
}

/// The figure of S against C, as a file of its own beside the report.
pub const FIGURE: &str = "success-against-prompts.svg";

/// Writes the report of the trials in `out`, even if some are missing.
///
/// # Errors
/// [`EvaluationError`] if there are none.
pub fn analyse(out: &Path) -> Result<Evaluated, EvaluationError> {
    let (settings, lines) = journal::read(out)?;
    let analysis = Analysis::of(&lines, &Resampling { times: 10_000, ..Resampling::default() });
    let report = out.join("report.html");
    fs::write(&report, to_html(&settings, &lines, &analysis, out))?;
    fs::write(out.join(FIGURE), figures::plot_of_success(&analysis).finish_alone())?;
    if let Some(figure) = asking::figure(&lines, &settings.agents, &Resampling::default()) {
        fs::write(out.join(asking::FIGURE), figure)?;
    }
    Ok(Evaluated { analysis, report, trials: lines.len() as u64 })
}

/// The results of a comparison.
pub struct Evaluated {
    /// The analysis.
    pub analysis: Analysis,
    /// The path of the report.
    pub report: PathBuf,
    /// The number of finished trials.
    pub trials: u64,
}
