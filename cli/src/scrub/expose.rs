//! `portcullis expose`: the text that the agent reads of many pages, for an external judge.

use std::path::PathBuf;

use clap::Args;
use portcullis::signals::outline::tidy;
use portcullis_cli::pages::Served;
use serde::Deserialize;
use serde_json::json;

use super::Manner;
use super::reader::Reader;
use crate::failure::Failure;

#[derive(Args)]
pub struct Arguments {
    /// The pages: a JSON list of records `{id, html}`; other fields are ignored.
    #[arg(long, value_name = "FILE")]
    pages: PathBuf,
    /// The output file: a JSON list of records `{id, text, visible, withheld, ms}`. `text` is the page's text that the
    /// agent reads, without its outline; `visible` is the text that a person sees, without the contents of controls.
    #[arg(long, value_name = "FILE")]
    json: PathBuf,
    #[command(flatten)]
    manner: Manner,
}

/// A page to read. Its payload fields are for the judge alone.
#[derive(Deserialize)]
struct Page {
    id: String,
    html: String,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let text = crate::read_text(&arguments.pages)?;
    let pages: Vec<Page> = serde_json::from_str(&text).map_err(|error| {
        Failure::Input(format!("{} is no list of pages: {error}", arguments.pages.display()))
    })?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::NotSetUp(error.to_string()))?;
    let records = runtime.block_on(read_all(arguments, pages))?;
    let written = std::fs::write(&arguments.json, serde_json::Value::Array(records).to_string());
    written
        .map_err(|error| Failure::Input(format!("{} cannot be written: {error}", arguments.json.display())))
}

async fn read_all(arguments: &Arguments, pages: Vec<Page>) -> Result<Vec<serde_json::Value>, Failure> {
    let served = Served::start().await?;
    let reader = Reader::start(arguments.manner.scrubber()?, Some(&served)).await?;
    let mut records = Vec::with_capacity(pages.len());
    for (number, page) in pages.into_iter().enumerate() {
        let path = format!("/page/{number}");
        served.put(&path, page.html);
        match reader.read(&served.url(&path)?).await {
            Ok(read) => records.push(json!({
                "id": page.id,
                "text": tidy(&read.words),
                "visible": tidy(&read.seen),
                "withheld": read.withheld(),
                "ms": read.ms,
            })),
            Err(failure) => {
                eprint!("{}: ", page.id);
                failure.report();
            }
        }
        served.put(&path, String::new());
    }
    reader.stop().await;
    Ok(records)
}
