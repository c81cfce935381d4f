//! `portcullis scrub` and `portcullis expose`: the text that the agent reads of pages, in a real Chromium.

pub mod expose;
mod reader;

use std::path::Path;

use clap::Args;
use portcullis::page_text::{HiddenText, Scrubber, WithholdReason};
use portcullis::signals::outline::quoted;
use url::Url;

use crate::failure::Failure;
use portcullis_cli::pages::{PAGE_HOST, Served};
use reader::{Read, Reader};

/// The settings of the rendering.
#[derive(Args)]
pub struct Manner {
    /// The treatment of text that a person does not see: `drop` it, or `quote` it with a mark.
    #[arg(long, value_name = "HOW", default_value = "drop")]
    hidden: String,
    /// The least risk at which text is taken for an attack, from 0 to 1.
    #[arg(long, value_name = "RISK")]
    quarantine_from: Option<f64>,
    /// Use no classifier; only the visibility of the text decides.
    #[arg(long)]
    no_classifier: bool,
}

impl Manner {
    fn scrubber(&self) -> Result<Scrubber, Failure> {
        let standard = if self.no_classifier {
            Scrubber::default()
        } else {
            Scrubber::standard().map_err(|error| Failure::NotSetUp(error.to_string()))?
        };
        let mut settings = *standard.settings();
        settings.hidden = match self.hidden.as_str() {
            "drop" => HiddenText::Drop,
            "quote" => HiddenText::Quote,
            other => {
                return Err(Failure::Input(format!("--hidden takes `drop` or `quote`, not `{other}`")));
            }
        };
        if let Some(risk) = self.quarantine_from {
            settings.quarantine_from = classifier::Risk::new(risk)
                .map_err(|_| Failure::Input(format!("--quarantine-from takes 0 to 1, not {risk}")))?;
        }
        Ok(standard.with_settings(settings))
    }
}

#[derive(Args)]
pub struct Arguments {
    /// A page: an HTML file, or an address that begins with http:// or https://.
    page: String,
    #[command(flatten)]
    manner: Manner,
    /// Print one JSON object: text, withheld, ms.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let scrubber = arguments.manner.scrubber()?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::NotSetUp(error.to_string()))?;
    let read = runtime.block_on(read(&arguments.page, scrubber))?;
    if arguments.json {
        let all = serde_json::json!({ "text": read.rendered, "withheld": read.withheld(), "ms": read.ms });
        println!("{all}");
        return Ok(());
    }
    print!("{}", read.rendered);
    println!();
    for one in &read.withheld {
        println!("withheld ({}): {}", why(one.why), quoted(&one.words));
    }
    println!("{} withheld, read in {:.1} ms", crate::vault::count(read.withheld.len(), "piece"), read.ms);
    Ok(())
}

async fn read(page: &str, scrubber: Scrubber) -> Result<Read, Failure> {
    if page.starts_with("http://") || page.starts_with("https://") {
        let url =
            Url::parse(page).map_err(|error| Failure::Input(format!("{page} is no address: {error}")))?;
        let reader = Reader::start(scrubber, None).await?;
        let read = reader.read(&url).await;
        reader.stop().await;
        return read;
    }
    let html = crate::read_text(Path::new(page))?;
    let served = Served::start().await?;
    served.put("/page", html);
    let reader = Reader::start(scrubber, Some(&served)).await?;
    let read = reader.read(&served.url("/page")?).await;
    reader.stop().await;
    read.map(|mut read| {
        // The port is irrelevant, and differs each time.
        read.rendered = read.rendered.replace(&format!("{PAGE_HOST}:{}", served.port), PAGE_HOST);
        read
    })
}

/// The reason why text was withheld, as it is printed.
fn why(why: WithholdReason) -> &'static str {
    match why {
        WithholdReason::Hidden => "not seen by a person",
        WithholdReason::Attribute => "an attribute",
        WithholdReason::LongName => "too long for a name",
        WithholdReason::Suspicious => "looks like an attack",
    }
}
