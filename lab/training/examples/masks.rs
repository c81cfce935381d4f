//! Prints how well the detectors tell values from other text.
//!
//! `cargo run -p classifier-training --example masks` judges them on the vectors of secrets, by half of the sources.
//!
//! `cargo run -p classifier-training --example masks -- mistakes` also lists the mistakes on the half that is not held out.
//!
//! `cargo run -p classifier-training --example masks -- texts FILE...` lists every span that is masked in plain texts, with
//! its surroundings, and counts them by kind; mailboxes of offices are left out, as they are on pages. `pages FILE` does the same for the benign pages of a JSON list of
//! `{id, kind, html}`.
//!
//! `cargo run -p classifier-training --example masks -- labelled FILE` judges them on the sentences of presidio-research.

use std::collections::BTreeMap;

use classifier::{Detector, Detectors, SensitiveKind, is_role_address};
use classifier_training::personal_data;
use classifier_training::secret_vectors::{Vector, is_held_out, judge, service_vectors, vectors};

/// The vectors of each style.
const EACH: usize = 20;
/// The seed of the vectors.
const SEED: u64 = 7;
/// The bytes of text that are printed on each side of a span.
const AROUND: usize = 40;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let detectors = Detectors::standard()?;
    match words.as_slice() {
        [] => judged(&detectors, false),
        ["mistakes"] => judged(&detectors, true),
        ["texts", files @ ..] => {
            let mut count = Masked::default();
            for file in files {
                let text = String::from_utf8_lossy(&std::fs::read(file)?).into_owned();
                count.add(&detectors, file, &text);
            }
            count.print();
        }
        ["pages", file] => {
            let pages: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
            let mut count = Masked::default();
            for page in &pages {
                let field = |name: &str| page.get(name).and_then(serde_json::Value::as_str).unwrap_or("");
                if field("kind") == "benign" {
                    count.add(&detectors, field("id"), &without_tags(field("html")));
                }
            }
            count.print();
        }
        ["labelled", file] => {
            let sentences = personal_data::read(&std::fs::read_to_string(file)?)?;
            for kind in [
                SensitiveKind::CardNumber,
                SensitiveKind::Email,
                SensitiveKind::Phone,
                SensitiveKind::Iban,
                SensitiveKind::NationalId,
            ] {
                let outcome = personal_data::judge(&detectors, &sentences, kind);
                println!(
                    "{:<14} recall {:.3} of {}, precision {:.3} of {}",
                    kind.marker(),
                    outcome.recall(),
                    outcome.labelled,
                    outcome.precision(),
                    outcome.found
                );
            }
        }
        _ => return Err("give nothing, mistakes, texts or pages or labelled and files".into()),
    }
    Ok(())
}

fn judged(detectors: &Detectors, mistakes: bool) {
    let (held, seen): (Vec<Vector>, Vec<Vector>) =
        service_vectors(EACH, SEED).into_iter().partition(|vector| is_held_out(vector.style));
    let sets =
        [("styles of before", vectors(EACH, SEED)), ("services, seen", seen), ("services, held out", held)];
    for (name, set) in &sets {
        let verdict = judge(detectors, set);
        println!(
            "{name:<20} recall {:.3} ({} of {}), precision {:.3} ({} wrong of {} without a secret)",
            verdict.recall(),
            verdict.found,
            verdict.secrets,
            verdict.precision(),
            verdict.wrong,
            set.iter().filter(|vector| vector.secret.is_none()).count(),
        );
        if mistakes && !name.ends_with("held out") {
            for (vector, wrong) in &verdict.mistakes {
                let span = wrong.clone().and_then(|span| vector.text.get(span)).unwrap_or("");
                println!(
                    "  {} {} {:?} {span:?}",
                    if wrong.is_some() { "wrong " } else { "missed" },
                    vector.style,
                    vector.text
                );
            }
        }
    }
}

/// The spans masked in texts.
#[derive(Default)]
struct Masked {
    texts: usize,
    bytes: usize,
    with: usize,
    kinds: BTreeMap<SensitiveKind, usize>,
}

impl Masked {
    fn add(&mut self, detectors: &Detectors, name: &str, text: &str) {
        self.texts += 1;
        self.bytes += text.len();
        let mut found = detectors.detect(text);
        found.retain(|one| {
            one.kind != SensitiveKind::Email || !text.get(one.span.clone()).is_some_and(is_role_address)
        });
        self.with += usize::from(!found.is_empty());
        for one in found {
            *self.kinds.entry(one.kind).or_default() += 1;
            let before =
                text.get(text.floor_char_boundary(one.span.start.saturating_sub(AROUND))..one.span.start);
            let after =
                text.get(one.span.end..text.floor_char_boundary((one.span.end + AROUND).min(text.len())));
            let (before, after) = (before.unwrap_or(""), after.unwrap_or(""));
            let value = text.get(one.span.clone()).unwrap_or("");
            println!("{} {name}: {before:?} <{value}> {after:?}", one.kind.marker());
        }
    }

    fn print(&self) {
        println!(
            "{} texts, {} bytes, {} of them with a mask: {:?}",
            self.texts, self.bytes, self.with, self.kinds
        );
    }
}

/// The text of an HTML page, roughly: tags end words and blocks end lines, the common references are replaced.
fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let (tag, behind) = tag.split_once('>').unwrap_or((tag, ""));
        let name = tag
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '/')
            .next()
            .unwrap_or("")
            .to_ascii_lowercase();
        rest = behind;
        if matches!(name.as_str(), "script" | "style") {
            rest = rest.split_once(&format!("</{name}>")).map_or("", |(_, behind)| behind);
        }
        if !matches!(
            name.trim_start_matches('/'),
            "a" | "b" | "i" | "em" | "strong" | "code" | "span" | "wbr" | "sup" | "sub"
        ) {
            text.push('\n');
        }
    }
    text.push_str(rest);
    for (reference, character) in
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")]
    {
        text = text.replace(reference, character);
    }
    text
}
