//! The comparison of approaches that `spec/experiments.md` fixes: which trials, their records, what they show.
//!
//! | module | subject |
//! |---|---|
//! | [`plan`] | which trials there are |
//! | [`line`] | one trial as a line of JSON |
//! | [`journal`] | the file of those lines: it survives being killed |
//! | [`run`] | the trials that are lacking, on several lanes |
//! | [`harness`] | one trial in a browser, under each approach |
//! | [`summary`] | S, C, leaks and the rest, by approach and agent |
//! | [`verdict`] | the hypotheses |
//! | [`fatigue`] | what a user who errs would have made of the recorded trials |
//! | [`analysis`] | everything that is computed from the trials |
//! | `figures`, `roc`, `leaks` | sections of the report |
//! | [`report`] | one page with everything |

pub mod analysis;
pub mod fatigue;
mod figures;
pub mod harness;
pub mod journal;
mod leaks;
pub mod line;
pub mod plan;
pub mod report;
mod roc;
pub mod run;
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
use run::Tell;

impl From<JournalError> for EvaluationError {
    fn from(error: JournalError) -> EvaluationError {
        match error {
            JournalError::Io { .. } => EvaluationError::Failed(error.to_string()),
            other => EvaluationError::Input(other.to_string()),
        }
    }
}

/// Makes the trials that `out` lacks, and writes the report of all that are there. Where none is lacking, no browser
/// is started.
///
/// # Errors
/// [`EvaluationError`]; what was done before is kept, and the same call goes on from there.
pub async fn evaluate(
    settings: Settings,
    makers: Vec<Box<dyn MakeAgent>>,
    out: &Path,
    tell: Tell<'_>,
) -> Result<Evaluated, EvaluationError> {
    let (plan, gallery) = (settings.trials(), out.join("gallery"));
    let mut journal = Journal::open(out, &settings)?;
    if plan.iter().any(|key| !journal.has(key)) {
        let (settings, makers) = (Arc::new(settings), Rc::new(makers));
        let lanes = tokio::try_join!(
            Harness::set_up(settings.clone(), makers.clone(), &gallery),
            Harness::set_up(settings.clone(), makers.clone(), &gallery),
        )?;
        run::run_missing(&plan, &mut journal, lanes, tell).await?;
    }
    drop(journal);
    analyse(out)
}

/// Writes the report of the trials in `out`, whether or not all are there.
///
/// # Errors
/// [`EvaluationError`] where there are none.
pub fn analyse(out: &Path) -> Result<Evaluated, EvaluationError> {
    let (settings, lines) = journal::read(out)?;
    let analysis = Analysis::of(&lines, &Resampling { times: 10_000, ..Resampling::default() });
    let report = out.join("report.html");
    fs::write(&report, to_html(&settings, &lines, &analysis, out))?;
    Ok(Evaluated { analysis, report, trials: lines.len() as u64 })
}

/// What a comparison came to.
pub struct Evaluated {
    /// What was computed.
    pub analysis: Analysis,
    /// Where the page is.
    pub report: PathBuf,
    /// Trials that are done.
    pub trials: u64,
}
