//! `portcullis-lab forms`: how often the guard takes a control of a labelled form for what it is.
//!
//! A folder of saved pages holds the labels in the attribute `data-manual-scoring`, as DuckDuckGo's test forms do. Only this command
//! reads them, after the page was matched.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use portcullis::signals::matching::Asked::{self, *};
use portcullis::signals::playwright::{BridgeError, Tab};
use portcullis_cli::forms::reading::Found;
use portcullis_cli::forms::{pages_in, read_file};
use portcullis_cli::pages::{OpenBrowser, Served};
use serde_json::json;

use crate::failure::Failure;
use crate::files::{read_text, write_whole};
use crate::progress::Progress;

/// The attribute that holds a label.
const LABEL: &str = "data-manual-scoring";

#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of labelled pages.
    folder: PathBuf,
    /// Print every control that was taken for something else.
    #[arg(long)]
    misses: bool,
    /// Write the numbers to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Right answers, wrong ones, and controls that were left out.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    right: u32,
    wrong: u32,
    left_out: u32,
}

impl Tally {
    fn note(&mut self, is_right: bool, found: Option<Asked>) {
        match (is_right, found) {
            (true, _) => self.right += 1,
            (false, Some(_)) => self.wrong += 1,
            (false, None) => self.left_out += 1,
        }
    }

    fn all(self) -> u32 {
        self.right + self.wrong + self.left_out
    }

    fn share(self) -> f64 {
        f64::from(self.right) * 100.0 / f64::from(self.all().max(1))
    }
}

#[derive(Default)]
struct Score {
    all: Tally,
    /// The sites that rules may be written on, and a third of the sites, chosen by their names, to judge the rules.
    written_on: Tally,
    held_out: Tally,
    by_label: BTreeMap<String, Tally>,
    /// Controls that would take a password, a card number, a code or a government id, and are labelled otherwise.
    secrets_misplaced: u32,
    secrets_placed: u32,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::NotSetUp(error.to_string()))?;
    let score = runtime.block_on(score(arguments))?;
    println!("{:28} {:>6} {:>6} {:>9}", "label", "right", "wrong", "left out");
    for (label, tally) in &score.by_label {
        println!("{label:28} {:6} {:6} {:9}", tally.right, tally.wrong, tally.left_out);
    }
    let lines = [("all sites", score.all), ("written on", score.written_on), ("held out", score.held_out)];
    for (name, tally) in lines {
        println!(
            "{name}: {:.1} % right of {} (wrong {}, left out {})",
            tally.share(),
            tally.all(),
            tally.wrong,
            tally.left_out
        );
    }
    println!("secrets: {} placed, {} of them misplaced", score.secrets_placed, score.secrets_misplaced);
    let Some(file) = &arguments.json else { return Ok(()) };
    let numbers =
        |tally: Tally| json!({ "right": tally.right, "wrong": tally.wrong, "left_out": tally.left_out });
    let by_label: BTreeMap<&String, serde_json::Value> =
        score.by_label.iter().map(|(label, tally)| (label, numbers(*tally))).collect();
    let all = json!({
        "all": numbers(score.all),
        "written_on": numbers(score.written_on),
        "held_out": numbers(score.held_out),
        "by_label": by_label,
        "secrets_placed": score.secrets_placed,
        "secrets_misplaced": score.secrets_misplaced,
    });
    write_whole(file, |out| writeln!(out, "{all}"))
}

async fn score(arguments: &Arguments) -> Result<Score, Failure> {
    let progress = Progress::new();
    let files = pages_in(&arguments.folder)?;
    let served = Served::start().await?;
    let browser = OpenBrowser::start(Some(&served), &[]).await?;
    let mut score = Score::default();
    for (at, (name, file)) in files.iter().enumerate() {
        progress.say(format!("{} of {}: {name}", at + 1, files.len()));
        let found = read_file(&browser, &served, file).await?;
        let labels = labels_in(&read_text(file)?);
        let held_out = is_held_out(name);
        for one in &found {
            let Some(label) = label_of(&browser.tab, &one.selector, &labels).await? else { continue };
            let is_right = is_right(label, one.asked);
            let tallies = if held_out { &mut score.held_out } else { &mut score.written_on };
            tallies.note(is_right, one.asked);
            score.all.note(is_right, one.asked);
            score.by_label.entry(label.clone()).or_default().note(is_right, one.asked);
            if one.asked.is_some_and(Asked::is_secret) {
                score.secrets_placed += 1;
                score.secrets_misplaced += u32::from(!is_right);
            }
            // What is shown of the third that is held out would be learned from.
            if arguments.misses && !is_right && !held_out {
                println!("{name}: {label} taken for {} by {} {}", asked_name(one), one.why(), one.selector);
            }
        }
    }
    browser.stop().await;
    Ok(score)
}

fn asked_name(found: &Found) -> &'static str {
    found.asked.map_or("nothing", Asked::as_str)
}

/// The labels that a page uses, each once.
fn labels_in(html: &str) -> Vec<String> {
    let mut labels: Vec<String> = html
        .split(&format!("{LABEL}=\""))
        .skip(1)
        .filter_map(|rest| rest.split_once('"'))
        .map(|(label, _)| label.to_owned())
        .collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// The label of a control.
async fn label_of<'a>(
    tab: &Tab,
    selector: &str,
    labels: &'a [String],
) -> Result<Option<&'a String>, Failure> {
    for label in labels {
        match tab.query(&format!("{selector}[{LABEL}=\"{label}\"]")).await {
            Ok(_) => return Ok(Some(label)),
            // The paths of controls in shadow trees are no selectors.
            Err(BridgeError::NotOne(_) | BridgeError::Selector) => {}
            Err(error) => return Err(Failure::Input(format!("the labels cannot be read: {error}"))),
        }
    }
    Ok(None)
}

/// Whether a page is of the third of the sites that judges the rules.
fn is_held_out(name: &str) -> bool {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let site = file.split(['_', '.', '-']).next().unwrap_or(file);
    site.bytes()
        .fold(7_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)))
        .is_multiple_of(3)
}

/// Whether what was found is what the label says. Data that the labels have no word for is labelled unknown.
fn is_right(label: &str, found: Option<Asked>) -> bool {
    let expected: &[Asked] = match label {
        "password" | "password.new" | "password.current" => &[Password, NewPassword],
        "username" => &[Username],
        "emailAddress" => &[Email],
        "username OR emailAddress" => &[Username, Email, UsernameOrEmail],
        "lastName" => &[FamilyName],
        "firstName" => &[GivenName],
        "middleName" => &[AdditionalName],
        "fullName" => &[FullName],
        "phone" => &[Phone],
        "addressPostalCode" => &[PostalCode],
        "addressProvince" => &[Region],
        "addressCity" => &[City],
        "addressStreet" => &[Street],
        "addressStreet2" => &[StreetLine2],
        "addressCountryCode" => &[Country],
        "cardNumber" => &[CardNumber],
        "cardSecurityCode" => &[CardCode],
        "expiration" => &[CardExpiry],
        "expirationMonth" => &[CardExpiryMonth],
        "expirationYear" => &[CardExpiryYear],
        "cardName" => &[CardName],
        "birthday" => &[BirthDate],
        "birthdayDay" => &[BirthDay],
        "birthdayMonth" => &[BirthMonth],
        "birthdayYear" => &[BirthYear],
        "totp" => &[OneTimeCode],
        _ => {
            let unlabelled = [
                HonorificPrefix,
                CardType,
                PhoneCountryCode,
                GovernmentId,
                Company,
                StreetLine3,
                HouseNumber,
            ];
            return found.is_none_or(|found| unlabelled.contains(&found));
        }
    };
    found.is_some_and(|found| expected.contains(&found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_names_what_a_control_asks_for() {
        assert!(is_right("username OR emailAddress", Some(Email)));
        assert!(!is_right("emailAddress", Some(Username)));
        assert!(is_right("unknown", None) && is_right("unknown", Some(Company)));
        assert!(!is_right("unknown", Some(Password)) && !is_right("password", None));
    }

    #[test]
    fn every_page_of_a_site_is_on_one_side() {
        assert_eq!(is_held_out("pages/yelp_login.html"), is_held_out("yelp_signup.html"));
        assert_eq!(labels_in("<input data-manual-scoring=\"a\"><input data-manual-scoring=\"a\">"), ["a"]);
    }
}
