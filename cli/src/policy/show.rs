//! `portcullis policy show`.

use portcullis::policy::Root;
use portcullis::policy::show::Format;
use serde_json::{Value, json};

use super::case::{event, occurring};
use super::{Input, load, print};
use crate::failure::Failure;

#[derive(clap::Args)]
pub struct Show {
    #[command(flatten)]
    input: Input,
    /// The event, such as `address`, `address:T1` or `open`. A table shows all of them if none is named.
    event: Option<String>,
    /// `text` and `markdown` are tables; `dot` and `mermaid` are pictures of one event.
    #[arg(long, default_value = "text", value_parser = format_named)]
    format: Format,
}

fn format_named(name: &str) -> Result<Format, String> {
    let names = Format::ALL.map(Format::as_str).join(", ");
    Format::from_name(name).ok_or_else(|| format!("write one of {names}"))
}

pub fn run(arguments: &Show) -> Result<(), Failure> {
    let loaded = load(&arguments.input.policy, arguments.input.json)?;
    let policy = &loaded.compiled;
    let roots: Vec<Root> = match &arguments.event {
        Some(name) => vec![occurring(policy, name)?],
        None => policy.events().collect(),
    };
    if arguments.input.json {
        let sheets = roots.iter().map(|root| {
            let sheet = policy.rule_table(*root);
            let rows = sheet.rows.iter().map(|row| {
                json!({
                    "signal": row.signal,
                    "passes": row.passes,
                    "else": row.otherwise,
                    "rule": row.rule,
                })
            });
            json!({ "event": event(*root), "rows": rows.collect::<Vec<Value>>(), "end": sheet.end })
        });
        print(&json!({ "policy": loaded.name, "events": sheets.collect::<Vec<Value>>() }));
        return Ok(());
    }
    if roots.len() > 1 && !matches!(arguments.format, Format::Text | Format::Markdown) {
        let known: Vec<String> = roots.into_iter().map(event).collect();
        return Err(Failure::Input(format!("a picture shows one event; name one of {}", known.join(", "))));
    }
    let shown: Vec<String> = roots.iter().map(|root| policy.show(*root, arguments.format)).collect();
    print!("{}", shown.join("\n"));
    Ok(())
}
