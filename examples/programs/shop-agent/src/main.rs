//! One guarded session: a function plays the model, the terminal asks the user, a file keeps the record.

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;

use portcullis::audit::{AuditEvent, AuditLog, SessionId};
use portcullis::consent::TerminalAnswerer;
use portcullis::guard::SystemEntropy;
use portcullis::session::{ActionOutcome, ActionResult};
use portcullis::signals::Origin;
use portcullis::signals::playwright::{Browser, BrowserSettings};
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};
use serde_json::json;

/// A record of its own: a line of JSON for each event.
struct LineLog(File);

impl AuditLog for LineLog {
    fn append(&mut self, session: SessionId, event: &AuditEvent, unix_ms: u64, sync: bool) -> io::Result<()> {
        writeln!(self.0, "{unix_ms} {session} {}", event.to_json())?;
        if sync { self.0.sync_data() } else { Ok(()) }
    }
}

/// The model: from the text that it is given to a tool call, or none when it is done.
fn model(read: &str) -> Option<String> {
    let call = if read.starts_with("Order") {
        let url = read.split_whitespace().find(|word| word.starts_with("http"))?;
        json!({ "do": "open", "url": url })
    } else if read.starts_with("ok") {
        json!({ "do": "read" })
    } else if read.contains("address") && !read.contains("GRANT") && !read.contains("DENY") {
        json!({ "do": "request", "text": "REQ.address\nREQ.end" })
    } else {
        return None;
    };
    Some(call.to_string())
}

fn describe(outcome: &ActionOutcome) -> String {
    match &outcome.result {
        ActionResult::Page(text) => format!("a page of {} characters", text.chars().count()),
        ActionResult::Done => "done".to_owned(),
        ActionResult::Refused(reason) => format!("refused: {}", reason.explain()),
        ActionResult::Requests(results) => {
            let said = results.iter().map(|result| match result.reason() {
                Some(reason) => format!("{} was refused: {}", result.kind(), reason.explain()),
                None => format!("{} was granted", result.kind()),
            });
            said.collect::<Vec<_>>().join("; ")
        }
        other => format!("{other:?}"),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [chromium, url] = arguments.as_slice() else {
        return Err("usage: shop-agent CHROMIUM URL".into());
    };
    let mut settings = BrowserSettings::new(chromium);
    // Chromium's own sandbox cannot be on for root.
    settings.sandbox = std::fs::metadata("/proc/self")?.uid() != 0;
    let origin = Origin::parse(url)?;
    if origin.is_plain_loopback() {
        settings.private_hosts.push(format!("{}:{}", origin.host(), origin.port()));
    }
    let log = Box::new(LineLog(File::options().append(true).create(true).open("shop-agent.log")?));
    let guard =
        Guard::new(DEFAULT_POLICY, log, Box::new(TerminalAnswerer::default()), Box::new(SystemEntropy))?;
    let browser = Browser::launch_on_pipe(settings).await?;
    let prompt = format!("Order the kettle at {url} for my address: 17 Quarry Road, 90210 Springfield");
    let mut session = Session::begin(guard, &browser, &prompt).await?;
    println!("the model's prompt: {}", session.prompt());

    let mut read = session.prompt().to_owned();
    while let Some(call) = model(&read) {
        println!("> {call}");
        read = match serde_json::from_str::<Action>(&call) {
            Ok(action) => {
                let outcome = session.act(action).await;
                println!("  [{}]", describe(&outcome));
                session.with_next_steps(&outcome)
            }
            Err(error) => format!("no tool call: {error}"),
        };
        println!("{read}");
    }
    let (report, _guard) = session.finish().await;
    println!(
        "{} actions, {} questions, {} releases",
        report.counts.actions, report.counts.prompts, report.counts.releases
    );
    browser.close().await;
    Ok(())
}
