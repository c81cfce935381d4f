//! `portcullis-lab classify eval`.

use std::io::Write;
use std::path::{Path, PathBuf};

use classifier_training::corpora::toxicity;
use classifier_training::judging::{self, Judged, MeasureRow};
use classifier_training::recipe::Subject;
use classifier_training::report;
use serde_json::{Value, json};

use super::Model;
use crate::failure::Failure;
use crate::files::write_whole;
use crate::progress::Progress;

#[derive(clap::Args)]
pub struct Eval {
    /// The model.
    model: Model,
    /// The folder that holds the collections.
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
    /// A model of your own in place of the shipped one.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Write pictures (SVG) into this folder.
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
    /// Write the numbers to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also train on each source alone and evaluate on every other; for toxicity only.
    #[arg(long)]
    pairs: bool,
    /// The random seed: that of the training, so that the split is the same.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub fn run(arguments: &Eval) -> Result<(), Failure> {
    let progress = Progress::new();
    let subject = arguments.model.subject();
    if arguments.pairs && subject != Subject::Toxicity {
        return Err(Failure::Input(
            "--pairs is for toxicity: the other models have one source of texts".to_owned(),
        ));
    }
    progress.say(format!("reading {}", arguments.data.display()));
    let corpus = super::corpus(subject, &arguments.data, arguments.seed, |what| progress.say(what))?;
    let model = super::model(subject, arguments.file.as_deref())?;
    let judged = judging::judge(&model, &corpus.documents, arguments.seed, |what| progress.say(what));
    let identities = match subject {
        Subject::Toxicity => identities(&model, &arguments.data, judged.threshold, arguments.seed)?,
        _ => Vec::new(),
    };
    let pairs = if arguments.pairs {
        judging::pairs(&corpus.documents, arguments.seed, |what| progress.say(what))
    } else {
        Vec::new()
    };
    progress.finish();
    print!("{}", text(subject, &judged, &identities, &pairs));
    if let Some(path) = &arguments.json {
        let mut value = report::json(&judged);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("model".to_owned(), json!(subject.name()));
            fields.insert("seed".to_owned(), json!(arguments.seed));
            fields.insert("absent".to_owned(), json!(corpus.absent));
            let gap = judging::gap(&identities);
            fields.insert(
                "identities".to_owned(),
                json!({"rows": identities.iter().map(report::row).collect::<Vec<Value>>(), "gap": gap}),
            );
            let listed = pairs.iter().map(
                |pair| json!({"trained_on": pair.trained_on, "judged_on": pair.judged_on, "auc": pair.auc}),
            );
            fields.insert("pairs".to_owned(), listed.collect());
        }
        write_whole(path, |file| writeln!(file, "{value:#}"))?;
    }
    if let Some(folder) = &arguments.plots {
        pictures(folder, subject.name(), &judged)?;
    }
    Ok(())
}

/// The model's scores of texts that differ only in the named group.
fn identities(
    model: &classifier::LinearClassifier,
    folder: &Path,
    threshold: f64,
    seed: u64,
) -> Result<Vec<MeasureRow>, Failure> {
    if !folder.join("tox-madlibs").is_dir() {
        return Ok(Vec::new());
    }
    let terms = toxicity::by_identity(folder).map_err(|error| Failure::Input(error.to_string()))?;
    let row = |(term, documents): &(String, Vec<classifier_training::Document>)| {
        let documents: Vec<&classifier_training::Document> = documents.iter().collect();
        judging::measure(term, &judging::scores(model, &documents), threshold, seed)
    };
    Ok(terms.iter().map(row).collect())
}

fn text(
    subject: Subject,
    judged: &Judged,
    identities: &[MeasureRow],
    pairs: &[judging::CrossSource],
) -> String {
    let mut out = format!(
        "{}: the part that is only judged on; own threshold {:.3}, chosen for 1 % of harmless texts\n\n",
        subject.name(),
        judged.threshold
    );
    let mut rows = judged.sources.clone();
    rows.push(judged.all.clone());
    out.push_str(&report::rows_as_text("source", &rows));
    out.push('\n');
    out.push_str(&report::rows_as_text("all, hidden", &judged.disguises));
    if let Some(gap) = judging::gap(identities) {
        out.push_str(&format!(
            "\nof harmless texts that name an identity, {:.3} are flagged for the least and {:.3} for the most flagged \
             of {} identities\n",
            gap.least,
            gap.most,
            identities.len()
        ));
    }
    if !pairs.is_empty() {
        out.push_str("\ntrained on -> judged on: AUC\n");
        for pair in pairs {
            out.push_str(&format!("{} -> {}: {:.3}\n", pair.trained_on, pair.judged_on, pair.auc));
        }
        let mean = pairs.iter().map(|pair| pair.auc).sum::<f64>() / pairs.len() as f64;
        out.push_str(&format!("mean {mean:.3}\n"));
    }
    out.push_str(
        "\nin brackets: 95 % intervals; ECE and Brier: with as many harmful texts as harmless ones\n",
    );
    out
}

fn pictures(folder: &Path, name: &str, judged: &Judged) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::NotSetUp(format!("{} cannot be made: {error}", folder.display())))?;
    for (kind, svg) in [
        ("roc", report::roc_picture(name, &judged.scores, judged.threshold)),
        ("reliability", report::reliability_picture(name, &judged.scores)),
        ("risks", report::score_picture(name, &judged.scores)),
    ] {
        write_whole(&folder.join(format!("{name}-{kind}.svg")), |file| file.write_all(svg.as_bytes()))?;
    }
    Ok(())
}
