//! `portcullis-lab classify fit-monitor`: the monitor over the risks of a page's windows.

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use classifier::WindowPlace;
use classifier_training::corpora::Corpus;
use classifier_training::corpora::honest::HonestPage;
use classifier_training::metrics::conformal_threshold;
use classifier_training::pages::{WITH_INJECTION, WITH_SCAM, compose};
use classifier_training::recipe::Subject;
use classifier_training::{CorpusPart, Document, hash};
use portcullis::hmm_control::monitor::{Judge, Monitor, MonitorError, Window};
use portcullis::safety::{PageScale, WindowSafety};
use serde_json::json;

use crate::failure::Failure;
use crate::files::write_whole;
use crate::progress::Progress;

/// The numbers of composed pages for fitting, calibration and evaluation.
const PAGES: usize = 4000;
/// Safeties that are always reported.
const THRESHOLDS: [f64; 6] = [0.2, 0.5, 0.6, 0.8, 0.9, 0.95];
/// Shares of harmless pages for which thresholds are reported.
const SHARES: [f64; 4] = [0.90, 0.95, 0.98, 0.99];

#[derive(clap::Args)]
pub struct FitMonitor {
    /// The folder that holds the collections.
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
    /// The output file of the monitor.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The output file of the scale of its safety.
    #[arg(long, value_name = "FILE")]
    scale: PathBuf,
    /// The number of windows after the present one that are part of its judgement.
    #[arg(long, value_name = "N", default_value_t = 2)]
    horizon: usize,
    /// The random seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// The levels of the scale: a safety, and the share of honest pages that may be below it. The safeties are the thresholds of
/// the tiers in the shipped policies.
const LEVELS: [(f64, f64); 3] = [(0.20, 0.01), (0.50, 0.02), (0.60, 0.05)];

/// The states by their numbers.
struct States {
    ordinary: usize,
    injection: usize,
    scam: usize,
}

pub fn run(arguments: &FitMonitor) -> Result<(), Failure> {
    let progress = Progress::new();
    let read = |subject, what: &str| {
        progress.say(format!("reading what is known of {what}"));
        super::corpus(subject, &arguments.data, arguments.seed, |absent| progress.say(absent))
    };
    let Corpus { documents: injections, pages: honest, .. } = read(Subject::Injection, "injections")?;
    let scams = read(Subject::Scam, "scams")?.documents;
    let safety = WindowSafety::unmonitored()
        .map_err(|error| Failure::NotSetUp(format!("a shipped model: {error}")))?;

    let mut builder = Monitor::builder();
    let states = States {
        ordinary: builder.appropriate("ordinary"),
        injection: builder.harmful("injection"),
        scam: builder.harmful("scam"),
    };
    builder.detector("injection");
    builder.detector("scam");
    let scored = |part, seed, what: &str| -> Vec<Vec<Window>> {
        progress.say(format!("judging {PAGES} pages to {what}"));
        let pages = compose((&injections, &scams), part, PAGES, seed);
        pages
            .iter()
            .map(|page| page.iter().flat_map(|one| windows(one, &scams, &safety, &states)).collect())
            .collect()
    };
    // The models learnt from the training part, on which they are more certain than elsewhere.
    let mut fitted = scored(CorpusPart::Development, arguments.seed, "fit");
    // One half of the honest pages shows the monitor what is ordinary, and the scale is chosen on the other half.
    let calibration: Vec<&HonestPage> =
        honest.iter().filter(|page| page.part == CorpusPart::Development).collect();
    let (shown, kept): (Vec<&HonestPage>, Vec<&HonestPage>) =
        calibration.into_iter().partition(|page| hash(&page.path).is_multiple_of(2));
    fitted.extend(shown.iter().map(|page| ordinary(page, &safety, &states)));
    let held_out = scored(CorpusPart::Development, arguments.seed + 1, "calibrate");
    let failed = |error: MonitorError| Failure::Input(format!("{}: {error}", arguments.data.display()));
    let monitor = builder.fit(&fitted).map_err(failed)?;
    let judge = Judge::fit(monitor, arguments.horizon, &held_out).map_err(failed)?;
    let tested = scored(CorpusPart::Test, arguments.seed, "test");
    let json = judge.to_json();
    write_whole(&arguments.out, |file| file.write_all(json.as_bytes()))?;
    progress.finish();

    println!("{}: {} bytes", arguments.out.display(), json.len());
    println!("pages put together: {WITH_INJECTION} % with an injection, {WITH_SCAM} % with a scam");
    println!("{}", judge.reliability(&tested, 10).map_err(failed)?);
    let safety = safety.with_monitor(judge).map_err(failed)?;
    let raw: Vec<f64> = kept.iter().map(|page| -safety_of(page, &safety)).collect();
    let pair = |(level, share): (f64, f64)| Some((-conformal_threshold(&raw, share)?, level));
    let few =
        || Failure::Input(format!("{}: {} honest pages are too few", arguments.data.display(), raw.len()));
    let pairs: Vec<(f64, f64)> = LEVELS.into_iter().map(pair).collect::<Option<_>>().ok_or_else(few)?;
    let scale = PageScale::new(pairs.clone())
        .map_err(|error| Failure::Input(format!("{}: {error}: {pairs:?}", arguments.data.display())))?;
    write_whole(&arguments.scale, |file| writeln!(file, "{}", json!(pairs)))?;
    let safety = safety.with_scale(scale);
    let judged: Vec<f64> = honest
        .iter()
        .filter(|page| page.part == CorpusPart::Test)
        .map(|page| safety_of(page, &safety))
        .collect();
    for (level, share) in LEVELS {
        let below = judged.iter().filter(|one| **one < level).count();
        println!(
            "honest pages of other sources below safety {level:.2}: {below} of {} (bound for exchangeable pages: {share})",
            judged.len()
        );
    }
    let reached = |part, seed| -> [Vec<f64>; 2] {
        let pages = compose((&injections, &scams), part, PAGES, seed);
        [false, true].map(|hostile| {
            let of = pages.iter().filter(|page| page.iter().any(|one| one.harmful.is_some()) == hostile);
            of.map(|page| reached_by(&safety, page)).collect()
        })
    };
    // Thresholds are chosen on pages that nothing was fitted to, and reported for others.
    let [chosen_on, _] = reached(CorpusPart::Development, arguments.seed + 2);
    let [harmless, hostile] = reached(CorpusPart::Test, arguments.seed);
    let shares = SHARES.map(|share| least_of(&chosen_on, share));
    for threshold in THRESHOLDS.into_iter().chain(shares) {
        println!(
            "safety {threshold:.4}: reached by {} of {} harmless pages and {} of {} with an attack",
            harmless.iter().filter(|one| **one >= threshold).count(),
            harmless.len(),
            hostile.iter().filter(|one| **one >= threshold).count(),
            hostile.len()
        );
    }
    Ok(())
}

/// The safety of an honest page.
fn safety_of(page: &HonestPage, safety: &WindowSafety) -> f64 {
    let names = page.text.names.iter().map(|name| (name.as_str(), WindowPlace::Shown));
    safety.of_texts(std::iter::once((page.text.running.as_str(), WindowPlace::Shown)), names).value()
}

/// The windows of an honest page, which are ordinary.
fn ordinary(page: &HonestPage, safety: &WindowSafety, states: &States) -> Vec<Window> {
    let windows = safety.windows(&page.text.running, WindowPlace::Shown).into_iter();
    let scores = windows.map(|window| window.risks.into_iter().map(Some).collect());
    scores.map(|scores| Window { state: Some(states.ordinary), scores }).collect()
}

/// The lowest safety at any moment of a page.
fn reached_by(safety: &WindowSafety, page: &[&Document]) -> f64 {
    let windows: Vec<_> = page.iter().flat_map(|one| safety.windows(&one.text, one.place)).collect();
    safety.of_windows(&windows).value()
}

/// The safety that a share of the pages reaches.
fn least_of(safeties: &[f64], share: f64) -> f64 {
    let mut sorted = safeties.to_vec();
    sorted.sort_by(|one, other| other.total_cmp(one));
    let at = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(at.saturating_sub(1)).copied().unwrap_or_default()
}

/// The windows of one text, labelled if the label is certain.
fn windows(document: &Document, scams: &[Document], safety: &WindowSafety, states: &States) -> Vec<Window> {
    // A text counts as a scam if it comes from a collection of scams.
    let is_scam = scams.as_ptr_range().contains(&std::ptr::from_ref(document));
    let harm = if is_scam { states.scam } else { states.injection };
    let scored = safety.windows(&document.text, document.place);
    scored
        .into_iter()
        .map(|window| {
            let state = match document.harmful.as_ref().map(|span| share(&window.span, span)) {
                None | Some(Share::None) => Some(states.ordinary),
                Some(Share::Much) => Some(harm),
                Some(Share::Little) => None,
            };
            Window { state, scores: window.risks.into_iter().map(Some).collect() }
        })
        .collect()
}

/// The share of a window that is harmful.
enum Share {
    None,
    /// The share is too small to label the window.
    Little,
    Much,
}

fn share(window: &Range<usize>, span: &Range<usize>) -> Share {
    let shared = window.end.min(span.end).saturating_sub(window.start.max(span.start));
    match shared {
        0 => Share::None,
        // The share is a third of the window, or most of the attack.
        _ if shared * 3 >= window.len() || shared * 10 >= span.len() * 7 => Share::Much,
        _ => Share::Little,
    }
}
