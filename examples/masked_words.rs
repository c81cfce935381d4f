//! Measures how many words of honest pages are masked by mistake: `cargo run --release --example masked_words --
//! FOLDER`.
//!
//! It reads every `.html` and `.txt` file of a folder as a page without values of the user, and masks it as a session
//! does after a release of name, street, e-mail address and phone, for people with many names, some of which are also
//! common words. It prints the share of words that are masked only because of the release. A share of more than 1 %
//! is too much.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "an example")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use classifier::Detectors;
use policy_dfa::{Policy, authority};
use portcullis::egress::{ReleasedValue, Releases};
use portcullis::guard::SystemEntropy;
use portcullis::guard::shared_vault::SharedVault;
use portcullis::page_text::{MASKED, PageTextGuard};
use portcullis::page_text::{Quarantine, Scrubber};
use portcullis::signals::{Destination, Origin};
use sirl::Field;
use vault::{Binding, Secret, Vault};

/// People with name, street and e-mail address.
const PEOPLE: [(&str, &str, &str); 20] = [
    ("Marguerite Vandersloot", "17 Quarry Road", "marguerite.v@mail.example"),
    ("James Smith", "350 5th Avenue", "james.smith@mail.example"),
    ("Mary Johnson", "9 High Street", "mary@mail.example"),
    ("Will Price", "4 Main Street", "will@mail.example"),
    ("Grace Young", "12B Church Road", "graceyoung@mail.example"),
    ("Mark Page", "1 Market Place", "mark.page@mail.example"),
    ("Rose Green", "22 Park Avenue", "info@mail.example"),
    ("April Summers", "3 Station Road", "support@mail.example"),
    ("Frank Baker", "5 Mill Lane", "frank@mail.example"),
    ("Anna Müller", "Hauptstraße 5", "anna.mueller@mail.example"),
    ("Peter Klein", "Bahnhofstr. 12", "klein@mail.example"),
    ("Sabine Neumann", "Lindenallee 3a", "s.neumann@mail.example"),
    ("Pierre Petit", "17, rue de Rivoli", "pierre.petit@mail.example"),
    ("Marie Dubois", "4 place de la Mairie", "marie@mail.example"),
    ("José García", "Calle Mayor, 5", "jose@mail.example"),
    ("Rosa Flores", "Avenida del Sol 8", "rosaflores@mail.example"),
    ("Marco Rossi", "Via Roma 10", "marco@mail.example"),
    ("Giulia Conti", "Corso Italia 7", "giulia.conti@mail.example"),
    ("João Silva", "Rua das Flores 77", "joao.silva@mail.example"),
    ("Daan de Jong", "Kerkstraat 1", "daan@mail.example"),
];

const PHONE: &str = "+1 628 555 0173";

/// Makes the text guard of a session, before or after a release.
fn guard(person: (&str, &str, &str), released: bool) -> PageTextGuard {
    let policy = Policy::parse(portcullis::DEFAULT_POLICY).unwrap().compile().unwrap().check().unwrap();
    let (_, verifier) = authority(policy, [7; 16]);
    let mut vault = Vault::ephemeral(&mut SystemEntropy, verifier);
    let releases = Releases::default();
    let values =
        [(Field::Name, person.0), (Field::Street, person.1), (Field::Email, person.2), (Field::Phone, PHONE)];
    for (field, value) in values {
        let handle = if field == Field::Street { "address:me" } else { "contact:me" };
        let secret = Secret::new(value.as_bytes());
        vault.insert(handle, field, secret, &Binding::Anywhere, &mut SystemEntropy).unwrap();
        if released {
            let origin = Origin::parse("https://shop.example").unwrap();
            let destination = Destination { origin, path: "/".into(), method: "POST".into() };
            releases.note(ReleasedValue::new(handle, field, destination));
        }
    }
    let detectors = Arc::new(Detectors::standard().unwrap());
    PageTextGuard::new(
        Scrubber::default(),
        Quarantine::default(),
        detectors,
        releases,
        SharedVault::new(vault),
    )
}

/// Renders a page roughly as the bridge does, with one quoted line for each run of text. Scripts and styles are left
/// out, and every tag except inline ones ends a line.
fn rendered(html: &str) -> String {
    const INLINE: [&str; 8] = ["a", "b", "i", "em", "strong", "span", "small", "u"];
    let (mut lines, mut line) = (Vec::new(), String::new());
    let mut rest = html;
    while let Some((text, behind)) = rest.split_once('<') {
        line.push_str(text);
        let (tag, after) = behind.split_once('>').unwrap_or((behind, ""));
        let name = tag.trim_start_matches('/').split([' ', '\n', '\t', '/']).next().unwrap_or("");
        let name = name.to_lowercase();
        if !INLINE.contains(&name.as_str()) {
            lines.push(std::mem::take(&mut line));
        }
        rest = match name.as_str() {
            "script" | "style" | "svg" if !tag.starts_with('/') => {
                let end = format!("</{name}");
                after.to_ascii_lowercase().find(&end).map_or("", |at| &after[at..])
            }
            "!--" => behind.split_once("-->").map_or("", |(_, after)| after),
            _ if name.starts_with("!--") => behind.split_once("-->").map_or("", |(_, after)| after),
            _ => after,
        };
    }
    line.push_str(rest);
    lines.push(line);
    let entities =
        [("&nbsp;", " "), ("&quot;", "'"), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    let tidy = |line: &String| {
        let plain = entities.iter().fold(line.clone(), |text, (entity, sign)| text.replace(entity, sign));
        plain.replace(['"', '\\'], "'").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let lines = lines.iter().map(tidy).filter(|line| !line.is_empty());
    lines.map(|line| format!("- text: \"{line}\"\n")).collect()
}

/// Counts the words of a rendered text, without masks.
fn words(text: &str) -> usize {
    let text = text.replace("- text: ", "").replace(MASKED, " ");
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

fn pages(folder: &Path) -> Vec<(String, String)> {
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
        let name = entry.file_name().to_string_lossy().into_owned();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("html") => pages.push((name, rendered(&text))),
            Some("txt") => {
                let lines =
                    text.lines().map(|line| format!("- text: \"{}\"\n", line.replace(['"', '\\'], "'")));
                pages.push((name, lines.collect()));
            }
            _ => {}
        }
    }
    pages
}

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let pages = pages(Path::new(&folder));
    println!("{} pages of {folder}", pages.len());
    let (mut of_all, mut masked_of_all) = (0, 0);
    let mut times = [Duration::ZERO; 2];
    for person in PEOPLE {
        let (before, after) = (guard(person, false), guard(person, true));
        let (mut all, mut masked, mut worst) = (0, 0, (0.0, ""));
        for (name, page) in &pages {
            let count = |guard: &PageTextGuard, time: &mut Duration| {
                let began = Instant::now();
                let text = guard.mask(page).unwrap();
                *time += began.elapsed();
                words(&text)
            };
            let shown = count(&before, &mut times[0]);
            let less = shown.saturating_sub(count(&after, &mut times[1]));
            (all, masked) = (all + shown, masked + less);
            let share = less as f64 / shown.max(1) as f64;
            if share > worst.0 && shown >= 50 {
                worst = (share, name);
            }
        }
        let share = 100.0 * masked as f64 / all.max(1) as f64;
        let (most, page) = (100.0 * worst.0, worst.1);
        println!("  {share:>6.3} % of {all} words; at most {most:>5.2} % of a page ({page}): {}", person.0);
        (of_all, masked_of_all) = (of_all + all, masked_of_all + masked);
    }
    println!("{:.3} % of {of_all} words in all", 100.0 * masked_of_all as f64 / of_all.max(1) as f64);
    let [before, after] = times.map(|time| time.as_secs_f64());
    println!("masking took {:.2} times as long after the releases as before", after / before.max(1e-9));
}
