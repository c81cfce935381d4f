//! `portcullis-lab classify train`.

use std::io::Write;
use std::path::PathBuf;

use classifier::Calibrated;
use classifier_training::CorpusPart;

use super::Model;
use crate::failure::Failure;
use crate::files::write_whole;
use crate::progress::Progress;

#[derive(clap::Args)]
pub struct Train {
    /// The model.
    model: Model,
    /// The folder that holds the collections.
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
    /// The output file of the model.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The random seed: the same data and the same seed give the same file.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub fn run(arguments: &Train) -> Result<(), Failure> {
    let progress = Progress::new();
    let subject = arguments.model.subject();
    progress.say(format!("reading {}", arguments.data.display()));
    let corpus = super::corpus(subject, &arguments.data, arguments.seed, |what| progress.say(what))?;
    let learned = corpus.documents.iter().filter(|one| one.part != CorpusPart::Test).count();
    progress.say(format!("fitting to {learned} texts"));
    let model = subject
        .train(&corpus, arguments.seed)
        .map_err(|error| Failure::Input(format!("{}: {error}", arguments.data.display())))?;
    let bytes = model.to_bytes();
    write_whole(&arguments.out, |file| file.write_all(&bytes))?;
    progress.finish();
    println!("{}: {} bytes, from {learned} texts", arguments.out.display(), bytes.len());
    println!("calibration error on the development part: {:.3}", model.calibration_error());
    for (rate, risk) in &model.parameters().thresholds {
        let what = if corpus.pages.is_empty() { "harmless texts" } else { "honest pages, at most," };
        println!("at risk {risk:.5} and above {:.1} % of the {what} are flagged", 100.0 * rate);
    }
    Ok(())
}
