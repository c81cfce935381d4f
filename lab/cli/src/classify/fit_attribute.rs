//! `portcullis-lab classify fit-attribute`.

use std::io::Write;
use std::path::PathBuf;

use classifier_training::token_attribute::{DataError, Shipped, TrainError};
use portcullis_cli::hmm::byte_pair::{Encoding, Tokenizer};

use crate::failure::Failure;
use crate::files::write_whole;
use crate::progress::Progress;

/// The number of tokens of GPT-2.
const VOCABULARY: usize = 50_257;

#[derive(clap::Args)]
pub struct FitAttribute {
    /// The attribute: toxicity, scam or secrets.
    #[arg(value_parser = named)]
    name: Shipped,
    /// The folder that holds the collections.
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
    /// The output file of the weights.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

fn named(name: &str) -> Result<Shipped, String> {
    Shipped::named(name).ok_or_else(|| "there are toxicity, scam and secrets".to_owned())
}

pub fn run(arguments: &FitAttribute) -> Result<(), Failure> {
    if !arguments.data.is_dir() {
        let message = format!(
            "{} is not a folder; give the one that holds the collections (they are not part of the project)",
            arguments.data.display()
        );
        return Err(Failure::NotSetUp(message));
    }
    let progress = Progress::new();
    progress.say("reading the vocabulary".to_owned());
    let tokenizer = Tokenizer::new(Encoding::Gpt2);
    progress.say(format!("fitting {} to {}", arguments.name.name(), arguments.data.display()));
    let trained = arguments.name.train(&arguments.data, VOCABULARY, &|text| tokenizer.encode(text)).map_err(
        |error| match error {
            TrainError::Data(DataError::Read { .. }) => Failure::NotSetUp(error.to_string()),
            TrainError::Data(_) | TrainError::Fit(_) => Failure::Input(error.to_string()),
        },
    )?;
    let bytes = trained.attribute.to_bytes();
    write_whole(&arguments.out, |file| file.write_all(&bytes))?;
    progress.finish();
    println!("{}: {} bytes", arguments.out.display(), bytes.len());
    println!("area under the ROC curve on texts kept apart, each source against all of the other sort:");
    for (source, area) in trained.report.area_by_harmful.iter().chain(&trained.report.area_by_harmless) {
        println!("  {source}: {area:.3}");
    }
    Ok(())
}
