//! Harmless texts: of shops and sites, of people, of manuals, and those that sound like commands.

use std::path::Path;

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::phrases;
use super::read::{CorpusError, comma_separated, elements, field, json, json_lines, text};
use crate::{CorpusPart, Document, Split};

/// Returns the harmless documents of every corpus. The words of each determine its part.
///
/// # Errors
/// When a corpus is missing from the folder.
pub fn benign(data: &Path, seed: u64) -> Result<Vec<Document>, CorpusError> {
    // Requests to an assistant are harmless from its user, and out of place in a page that an agent reads. The same
    // words are attacks of BIPIA, so these texts have a low weight, and are judged separately.
    let mut found = Found { split: Split::new(seed), documents: Vec::new() };
    for record in elements(&json(data, "benign-wildguard-piguard/wildguard.json")?) {
        found.add("requests/wildguard", field(record, "prompt"), 0.5);
    }
    for record in elements(&json(data, "benign-mind2web/processed.json")?) {
        found.add("mind2web/tasks", field(record, "confirmed_task"), 1.0);
        let steps =
            record.get("action_reprs").map_or(&[][..], elements).iter().filter_map(|step| step.as_str());
        found.add("mind2web/steps", &steps.collect::<Vec<_>>().join("\n"), 1.0);
    }
    for goal in elements(&json(data, "benign-webshop/human_goals.json")?).iter().step_by(6) {
        found.add("webshop", goal.as_str().unwrap_or_default(), 1.0);
    }
    records(data, &mut found)?;
    prose(data, &mut found)?;
    talk(data, &mut found)?;
    found.own(20, 1.0, seed);
    found.pages("own/code", phrases::CODE, 1_500, 2.0, seed);
    Ok(found.documents)
}

/// Returns our own harmless lines and pages, for models of other subjects: each line `times` times, and pages in
/// proportion.
pub fn own(times: usize, seed: u64) -> Vec<Document> {
    let mut found = Found { split: Split::new(seed), documents: Vec::new() };
    found.own(times, 0.2, seed);
    found.documents
}

struct Found {
    split: Split,
    documents: Vec<Document>,
}

impl Found {
    /// Adds our own harmless lines. They are fewer than the windows of the corpora, and closer to the border, so each
    /// counts several times `weight`.
    fn own(&mut self, times: usize, weight: f32, seed: u64) {
        self.phrases("own/harmless", phrases::HARMLESS, 2 * times, 3.0 * weight, seed);
        self.phrases("own/shop", phrases::SHOP, 2 * times, 10.0 * weight, seed);
        self.pages("own/pages", phrases::SHOP, 15 * times, 20.0 * weight, seed);
        outlines(30 * times, 16.0 * weight, seed, self);
    }

    fn add(&mut self, source: &str, words: &str, weight: f32) {
        self.named(source, &format!("{source}/{words}"), words, weight);
    }

    /// Adds a text whose part follows from a name.
    fn named(&mut self, source: &str, name: &str, words: &str, weight: f32) {
        if words.trim().len() > 2 {
            let part = self.split.part(name);
            self.documents.push(Document::harmless(source, part, words).weighing(weight));
        }
    }

    /// Adds paragraphs of `of` lines.
    fn blocks(&mut self, source: &str, lines: impl Iterator<Item = String>, of: usize) {
        let lines: Vec<String> = lines.collect();
        for block in lines.chunks(of) {
            self.add(source, &block.join("\n"), 1.0);
        }
    }

    /// Adds the lines of one file of phrases, by themselves and in pairs; all texts of a line are in one part.
    fn phrases(&mut self, source: &str, file: &'static str, times: usize, weight: f32, seed: u64) {
        let (split, mut random) = (self.split, ChaCha8Rng::seed_from_u64(seed));
        let pairs = format!("{source}, pairs");
        for part in [CorpusPart::Training, CorpusPart::Development, CorpusPart::Test] {
            let lines: Vec<&str> = phrases::lines(file).filter(|line| split.part(line) == part).collect();
            for time in 0..times {
                for line in &lines {
                    let words = phrases::expand(line, &mut random);
                    if time % 2 == 0 {
                        self.documents.push(Document::harmless(source, part, words).weighing(weight));
                    } else {
                        let other = phrases::expand(phrases::one(&lines, &mut random), &mut random);
                        let both = format!("{words}\n{other}");
                        self.documents.push(Document::harmless(&pairs, part, both).weighing(weight));
                    }
                }
            }
        }
        self.distinct(source);
    }

    /// Adds pages of some lines of a file each.
    fn pages(&mut self, source: &str, file: &'static str, count: usize, weight: f32, seed: u64) {
        let (split, mut random) = (self.split, ChaCha8Rng::seed_from_u64(seed));
        for (part, count) in [
            (CorpusPart::Training, count),
            (CorpusPart::Development, count / 5),
            (CorpusPart::Test, count / 5),
        ] {
            let lines: Vec<&str> = phrases::lines(file).filter(|line| split.part(line) == part).collect();
            for at in 0..count {
                // Every other page is a list of few kinds of lines, like an index.
                let kinds = if at % 2 == 0 { lines.len() } else { 1 + at % 4 };
                let few: Vec<&str> = (0..kinds).map(|_| phrases::one(&lines, &mut random)).collect();
                let kinds = if at % 2 == 0 { &lines } else { &few };
                let page: Vec<String> =
                    (0..15).map(|_| phrases::expand(phrases::one(kinds, &mut random), &mut random)).collect();
                self.documents.push(Document::harmless(source, part, page.join("\n")).weighing(weight));
            }
        }
    }

    fn distinct(&mut self, source: &str) {
        let mut seen = std::collections::HashSet::new();
        self.documents.retain(|document| document.source != source || seen.insert(document.text.clone()));
    }
}

/// Adds pages as an agent reads them: short lines of buttons, fields, values, menus and prices, in one language, with
/// a sentence of a shop here and there; sometimes all in one line.
fn outlines(count: usize, weight: f32, seed: u64, found: &mut Found) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for (part, count) in
        [(CorpusPart::Training, count), (CorpusPart::Development, count / 5), (CorpusPart::Test, count / 5)]
    {
        let of_part = |lines: Vec<&'static str>| -> Vec<&'static str> {
            lines.into_iter().filter(|line| found.split.part(line) == part).collect()
        };
        let languages: Vec<Vec<&str>> = phrases::sections(phrases::LABELS)
            .into_iter()
            .map(of_part)
            .filter(|lines| !lines.is_empty())
            .collect();
        let shop = of_part(phrases::lines(phrases::SHOP).collect());
        let values: Vec<&str> = phrases::lines(phrases::VALUES).collect();
        let pages: Vec<String> =
            (0..count).map(|_| outline(&languages, &shop, &values, &mut random)).collect();
        let pages =
            pages.into_iter().map(|page| Document::harmless("own/outlines", part, page).weighing(weight));
        found.documents.extend(pages);
    }
}

fn outline(languages: &[Vec<&str>], shop: &[&str], values: &[&str], random: &mut ChaCha8Rng) -> String {
    let Some(labels) = languages.choose(random) else { return String::new() };
    let mut lines: Vec<String> = Vec::new();
    for _ in 0..random.random_range(4..16) {
        // A menu or a form has several labels of one kind, in any order.
        let line = phrases::one(labels, random).trim_matches(['[', ']']);
        let mut kinds: Vec<&str> = line.split('|').collect();
        kinds.shuffle(random);
        for kind in kinds.into_iter().take(random.random_range(1..6)) {
            let mut label = phrases::expand(kind, random);
            if random.random_bool(0.25) {
                let value = phrases::expand(phrases::one(values, random), random);
                label.push_str(phrases::one(&["\n", ": ", " ", "\t"], random));
                label.push_str(&value);
            }
            lines.push(label);
        }
        if random.random_bool(0.15) {
            lines.push(phrases::expand(phrases::one(shop, random), random));
        }
        if random.random_bool(0.1) {
            lines.push(String::new());
        }
    }
    let between =
        if random.random_bool(0.75) { "\n" } else { phrases::one(&[" ", " | ", " · ", "  "], random) };
    lines.join(between)
}

/// Records of shops and personas.
fn records(data: &Path, found: &mut Found) -> Result<(), CorpusError> {
    for comment in elements(&json(data, "benign-dummyjson/comments.json")?) {
        found.add("dummyjson/comments", field(comment, "body"), 1.0);
    }
    for recipe in elements(&json(data, "benign-dummyjson/recipes.json")?) {
        let lines = |name| {
            let lines = recipe.get(name).map_or(&[][..], elements).iter().filter_map(|line| line.as_str());
            lines.collect::<Vec<_>>().join("\n")
        };
        let text = format!("{}\n{}\n{}", field(recipe, "name"), lines("ingredients"), lines("instructions"));
        found.add("dummyjson/recipes", &text, 1.0);
    }
    let categories = json(data, "benign-bestbuy/categories.json")?;
    found.blocks(
        "bestbuy/categories",
        elements(&categories).iter().map(|record| field(record, "name").to_owned()),
        12,
    );
    for store in elements(&json(data, "benign-bestbuy/stores.json")?).iter().step_by(4) {
        let text = format!(
            "{}\n{}, {}\n{}",
            field(store, "name"),
            field(store, "address"),
            field(store, "city"),
            field(store, "hours")
        );
        found.add("bestbuy/stores", &text, 1.0);
    }
    for person in elements(&json(data, "pii-presidio/generated_large.json")?) {
        found.add("presidio", field(person, "full_text"), 1.0);
    }
    for suite in ["banking", "workspace"] {
        let record = json(data, &format!("injection-agentdojo/{suite}.json"))?;
        for tool in record.get("tools").map_or(&[][..], elements) {
            found.add("agentdojo/tools", &tool.to_string(), 1.0);
            found.add("agentdojo/tools", field(tool, "description"), 1.0);
        }
    }
    Ok(())
}

/// Prose, reviews and speeches.
fn prose(data: &Path, found: &mut Found) -> Result<(), CorpusError> {
    for name in [
        "Apex_AD2600_Progressive_scan_DVD player",
        "Canon_G3",
        "Creative_Labs_Nomad_Jukebox_Zen_Xtra_40GB",
        "Nikon_coolpix_4300",
    ] {
        let words = text(data, &format!("benign-product-reviews-1/{name}.txt"))?;
        let lines = words.lines().filter_map(|line| line.split_once("##")).map(|(_, line)| natural(line));
        found.blocks("product-reviews", lines, 8);
    }
    for name in ["IntegratedCons", "IntegratedPros"] {
        let words = text(data, &format!("benign-pros-cons/{name}.txt"))?;
        let lines = words.lines().map(|line| line.replace("<Cons>", "").replace("<Pros>", ""));
        let lines = lines.map(|line| line.replace("</Cons>", "").replace("</Pros>", "").trim().to_owned());
        found.blocks("pros-cons", lines.step_by(5), 8);
    }
    for (source, name, of) in [
        ("sherlock", "lm-sherlock/sherlock.txt", 40),
        ("shakespeare", "lm-tinyshakespeare/input.txt", 60),
        ("state-union", "lm-nltk-public-domain/state_union.txt", 30),
        ("inaugural", "lm-nltk-public-domain/inaugural.txt", 30),
        ("subjectivity", "lm-nltk-subjectivity/quote.tok.gt9.5000", 12),
        ("polarity", "lm-nltk-sentence-polarity/rt-polarity.neg", 12),
        ("polarity", "lm-nltk-sentence-polarity/rt-polarity.pos", 12),
    ] {
        let words = text(data, name)?;
        found.blocks(source, words.lines().map(natural), of);
    }
    for record in comma_separated(data, "policy-cellmate/final_dataset.csv")?.iter().skip(1) {
        found.add("cellmate", record.get(1).map_or("", String::as_str), 1.0);
    }
    for record in comma_separated(data, "policy-st-webagentbench/test.csv")?.iter().skip(1).step_by(3) {
        found.add("st-webagentbench", record.get(6).map_or("", String::as_str), 1.0);
    }
    Ok(())
}

/// Returns text that was cut into tokens as prose, as far as possible.
pub(super) fn natural(line: &str) -> String {
    let mut words = line.trim().to_owned();
    for (apart, together) in [
        (" ,", ","),
        (" .", "."),
        (" '", "'"),
        (" !", "!"),
        (" ?", "?"),
        (" n't", "n't"),
        ("( ", "("),
        (" )", ")"),
    ] {
        words = words.replace(apart, together);
    }
    words
}

/// Adds conversations between people and assistants.
fn talk(data: &Path, found: &mut Found) -> Result<(), CorpusError> {
    for file in 1..4 {
        for talk in elements(&json(data, &format!("lm-taskmaster4/data_0{file}.json"))?).iter().step_by(2) {
            let lines = talk.get("utterances").map_or(&[][..], elements).iter();
            let words = lines.clone().map(|line| format!("{}\n", field(line, "text")));
            found.add("taskmaster", &words.collect::<String>(), 1.0);
            let calls = lines.flat_map(|line| line.get("annotations").map_or(&[][..], elements));
            let calls =
                calls.take(12).map(|call| format!("{}: {}\n", field(call, "name"), field(call, "value")));
            found.add("taskmaster/calls", &calls.collect::<String>(), 1.0);
        }
    }
    let mut lines = Vec::new();
    let guidelines = json(data, "lm-abcd/guidelines.json")?;
    super::read::strings(&guidelines, 30, &mut lines);
    found.blocks("abcd", lines.iter().map(|line| (*line).to_owned()), 4);
    for pair in json_lines(data, "hhh-hh-rlhf/harmless_dev.jsonl")? {
        let talk = field(&pair, "chosen");
        let answers = talk.split("\n\nHuman:").filter_map(|turn| turn.split_once("\n\nAssistant:"));
        let answers: Vec<&str> = answers.map(|(_, answer)| answer.trim()).collect();
        found.named("hh-rlhf/answers", talk, &answers.join("\n"), 0.5);
        let whole = talk.replace("\n\nHuman:", "\n").replace("\n\nAssistant:", "\n");
        found.named("requests/hh-rlhf", talk, &whole, 0.1);
    }
    for message in json_lines(data, "scam-sms-spam/sms_dev.jsonl")? {
        if field(&message, "label") == "ham" {
            found.add("sms/ham", field(&message, "text"), 1.0);
        }
    }
    Ok(())
}
