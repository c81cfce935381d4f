//! `portcullis hmm`, from texts to an evaluated model.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }
}

/// A folder of two kinds of texts, in which the command runs.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| {
            let path = place.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let orders: Vec<String> = (0..60)
            .map(|number| {
                let drink = ["coffee", "tea", "water"][number % 3];
                format!("I would like {} cups of {drink}, please.", 1 + number % 7)
            })
            .collect();
        let talk: Vec<String> = (0..60)
            .map(|number| {
                let animal = ["fox", "dog", "owl", "hen"][number % 4];
                format!("The quick {animal} sees a lazy {animal}.\nIt runs {number} miles.")
            })
            .collect();
        write("orders/one.txt", &orders.join("\n"));
        write("orders/PROVENANCE.md", "no text to learn from");
        write("animals/talk.txt", &talk.join("\n\n"));
        write("banned.txt", "coffee\n\nlazy fox\n");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        use std::io::Write;
        let mut child = Command::new(env!("CARGO_BIN_EXE_portcullis-lab"))
            .arg("hmm")
            .args(arguments)
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that rejects its arguments reads no input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let done = child.wait_with_output().unwrap();
        Ran {
            code: done.status.code().unwrap(),
            out: String::from_utf8(done.stdout).unwrap(),
            err: String::from_utf8(done.stderr).unwrap(),
        }
    }

    fn distil(&self, out: &str, more: &[&str]) -> Ran {
        let mut arguments =
            vec!["distil", "--texts", "orders", "animals", "--states", "6", "--sequences", "200"];
        arguments.extend([
            "--length",
            "12",
            "--out",
            out,
            "--held-out",
            "0.1",
            "--pseudocount",
            "1e-6",
            "--json",
        ]);
        arguments.extend(more);
        let ran = self.run(&arguments);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran
    }

    /// The contents of a model, without its provenance.
    fn holds(&self, model: &str) -> Value {
        let ran = self.run(&["inspect", model, "--json", "--states", "6"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let mut value = ran.json();
        value["notes"] = Value::Null;
        value["model"] = Value::Null;
        value
    }
}

fn exists(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.len() > 0)
}

#[test]
fn a_model_is_distilled_inspected_and_measured() {
    let place = Place::new();
    let more =
        ["--steps", "4", "--plot", "plot.svg", "--save-lm", "lm.ngram", "--save-rollouts", "drawn.seq"];
    let report = place.distil("m.safetensors", &more).json();
    let steps = report["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4);
    // With so few texts only the training likelihood is certain to rise.
    assert!(steps[3]["train"].as_f64() > steps[0]["train"].as_f64(), "{report}");
    assert!(std::fs::read_to_string(place.path("plot.svg")).unwrap().starts_with("<svg"));

    let held = place.holds("m.safetensors");
    assert_eq!((held["states"].as_u64(), held["vocabulary"].as_u64()), (Some(6), Some(50_257)));
    assert_eq!((&held["tokenizer"], &held["end_state"]["state"]), (&Value::from("gpt2"), &Value::from(5)));
    assert_eq!(held["emission"]["storage"], "f16");
    let text = place.run(&["inspect", "m.safetensors"]);
    assert!(text.out.contains("\" lazy\"") || text.out.contains("\" cups\""), "{}", text.out);

    let eval =
        ["eval", "m.safetensors", "--lm", "lm.ngram", "--prefixes", "10", "--sequences", "20", "--json"];
    let measured = place.run(&[&eval[..], &["--continuations", "20", "--unlike", "animals"]].concat());
    assert_eq!(measured.code, 0, "{}", measured.err);
    let measured = measured.json();
    let nats = &measured["nats_per_token"]["drawn"];
    assert!(nats["hmm"].as_f64() > nats["language_model"].as_f64(), "{measured}");
    assert_eq!(measured["places"], 10);
    assert!(measured["at_places"]["divergence"]["mean"].as_f64().unwrap() > 0.0);
    assert!(measured["infinite_divergences"].as_u64().unwrap() < 10);
    assert_eq!(measured["reliability"].as_array().unwrap().len(), 5);

    // Texts alone: the likelihood under the model itself.
    let alone = place.run(&["eval", "m.safetensors", "--rollouts", "drawn.seq", "--json"]).json();
    assert!(alone["nats_per_token"]["drawn"]["hmm"].as_f64().unwrap() > 0.0);
    assert!(alone["nats_per_token"]["drawn"]["language_model"].is_null());
    // Learning from them equals learning from the texts.
    let again =
        ["distil", "--rollouts", "drawn.seq", "--states", "6", "--steps", "4", "--out", "n.safetensors"];
    let ran = place.run(&[&again[..], &["--held-out", "0.1", "--pseudocount", "1e-6"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(place.holds("n.safetensors"), held);
}

/// A folder in Hugging Face's form writes the texts; with its texts in a file it gives the vocabulary alone.
#[test]
fn a_model_is_distilled_from_a_folder() {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../language-models/tests/fixtures/llama");
    let common = ["distil", "--model", folder, "--states", "5", "--steps", "3"];
    let drawn =
        ["--sequences", "40", "--length", "9", "--save-rollouts", "drawn.seq", "--out", "m.safetensors"];
    let ran = place.run(&[&common[..], &drawn].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("drawing texts, 40 of 40: "), "{}", ran.err);
    let held = place.holds("m.safetensors");
    assert_eq!((held["vocabulary"].as_u64(), held["end_token"].as_u64()), (Some(61), Some(2)));
    assert!(held["tokenizer"].is_null());
    let ran = place.run(&[&common[..], &["--rollouts", "drawn.seq", "--out", "n.safetensors"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(place.holds("n.safetensors"), held);

    let missing = place.run(&["distil", "--model", "nowhere", "--states", "5", "--out", "o.safetensors"]);
    assert_eq!(missing.code, 2, "{}", missing.err);
    assert!(missing.err.contains("nowhere"), "{}", missing.err);
}

#[test]
fn an_interrupted_training_resumes_to_the_same_model() {
    let place = Place::new();
    place.distil("whole.safetensors", &["--steps", "3", "--threads", "1"]);
    let kept = ["--steps", "3", "--threads", "2", "--checkpoint", "kept"];
    let none = place.distil("parts.safetensors", &[&kept[..], &["--minutes", "0"]].concat()).json();
    assert_eq!(none["steps"], serde_json::json!([]));
    assert!(exists(&place.path("kept")));
    assert_ne!(place.holds("parts.safetensors"), place.holds("whole.safetensors"));
    place.distil("parts.safetensors", &[&kept[..], &["--resume"]].concat());
    assert_eq!(place.holds("parts.safetensors"), place.holds("whole.safetensors"));
}

/// Three steps, each counted by three processes and completed by a fourth, end in the model of one process.
#[test]
fn shards_of_several_processes_give_the_model_of_one() {
    let place = Place::new();
    let ran = |arguments: &[&str]| {
        let ran = place.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
        ran.out
    };
    let draw = ["--steps", "3", "--save-rollouts", "drawn.seq"];
    place.distil("whole.safetensors", &draw);
    let training =
        ["distil", "--rollouts", "drawn.seq", "--states", "6", "--steps", "3", "--held-out", "0.1"];
    let training = [&training[..], &["--pseudocount", "1e-6", "--checkpoint", "kept"]].concat();
    ran(&[&training[..], &["--out", "parts.safetensors", "--minutes", "0"]].concat());
    let texts = ["--rollouts", "drawn.seq", "--held-out", "0.1", "--checkpoint", "kept"];
    for step in 1..=3 {
        for shard in ["1/3", "2/3", "3/3"] {
            let out = format!("counts-{}", &shard[..1]);
            ran(&[&["count", "--shard", shard, "--out", &out][..], &texts].concat());
        }
        let half = ran(&["merge", "counts-3", "counts-1", "--out", "half"]);
        assert!(half.contains("2 of 3 shards"), "{half}");
        let early = place.run(&[&["apply", "half"][..], &texts].concat());
        assert_eq!(early.code, 2);
        assert!(early.err.contains("shard 2 of 3 is missing"), "{}", early.err);
        ran(&["merge", "counts-2", "half", "--out", "all"]);
        let twice = place.run(&["merge", "all", "counts-1", "--out", "twice"]);
        assert!(twice.err.contains("counts-1: shard 1 is there already"), "{}", twice.err);
        let applied = ran(&[&["apply", "all"][..], &texts].concat());
        assert!(applied.starts_with(&format!("step {step} of 3")), "{applied}");
        // The counts are of the step before, and the next one does not take them.
        let late = place.run(&[&["apply", "all"][..], &texts].concat());
        assert!(late.err.contains("of another step"), "{}", late.err);
    }
    ran(&[&training[..], &["--out", "parts.safetensors", "--resume"]].concat());
    assert_eq!(place.holds("parts.safetensors"), place.holds("whole.safetensors"));
}

#[test]
fn a_text_is_scored_token_by_token() {
    let place = Place::new();
    place.distil("m.safetensors", &["--steps", "2"]);
    let score = |text: &str, more: &[&str]| {
        let arguments =
            [&["score", "m.safetensors", "--banned", "banned.txt", "--horizon", "4"][..], more].concat();
        place.run_with(&arguments, text)
    };
    let good = score("I would like tea", &["--json"]).json();
    let last = good["tokens"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((last["text"].as_str(), last["log_weight"].as_f64()), (Some(" tea"), Some(0.0)));
    assert!(
        last["log_expected"].as_f64().unwrap() <= 0.0 && good["lowest_rate"].as_f64().unwrap() > 0.5,
        "{good}"
    );
    let bad = score("a lazy fox", &["--json"]).json();
    assert_eq!(bad["tokens"].as_array().unwrap().last().unwrap()["log_expected"], "-inf");
    assert_eq!(bad["lowest_rate"], 0.0);
    assert_eq!(score("I would like tea", &["--at-least", "0.5"]).code, 0);
    let found = score("hot coffee", &["--at-least", "0.5"]);
    assert_eq!(found.code, 1);
    assert!(
        found.err.contains("below 0.5") && found.out.contains("\" coffee\""),
        "{} {}",
        found.out,
        found.err
    );

    std::fs::write(place.path("weights.txt"), "# tea\n8887 -1.5\n").unwrap();
    let weighed = ["score", "m.safetensors", "--weights", "weights.txt", "--json"];
    let weighed = place.run_with(&weighed, "I would like tea").json();
    assert_eq!(weighed["tokens"][3]["token"], 8887, "{weighed}");
    assert_eq!(weighed["tokens"][3]["log_weight"], -1.5);
}

#[test]
fn what_is_wrong_is_named() {
    let place = Place::new();
    place.distil("m.safetensors", &["--steps", "1", "--save-lm", "lm.ngram"]);
    let refused = |arguments: &[&str], expected: &str| {
        let ran = place.run_with(arguments, "some text");
        assert_eq!(ran.code, 2, "{arguments:?}: {} {}", ran.out, ran.err);
        // The message may be broken into lines.
        let words: Vec<&str> = ran.err.split_whitespace().filter(|word| *word != "│").collect();
        assert!(words.join(" ").contains(expected), "{arguments:?}: {}", ran.err);
    };
    refused(&["inspect", "none.safetensors"], "none.safetensors");
    refused(&["inspect", "banned.txt"], "banned.txt");
    refused(&["eval", "m.safetensors"], "name texts (--texts)");
    refused(&["eval", "m.safetensors", "--lm", "banned.txt"], "this is no n-gram model");
    refused(
        &["eval", "m.safetensors", "--lm", "lm.ngram", "--tokenizer", "o200k"],
        "name another --tokenizer",
    );
    refused(&["eval", "m.safetensors", "--lm", "lm.ngram", "--unlike", "cats"], "there are orders, animals");
    refused(&["score", "m.safetensors"], "--weights or --banned");
    std::fs::write(place.path("weights.txt"), "17 -1\n18 0.5\n").unwrap();
    refused(&["score", "m.safetensors", "--weights", "weights.txt"], "`0.5` is no log weight");
    std::fs::write(place.path("lines.jsonl"), "[1, 2]\n[3, -4]\n").unwrap();
    let distil = ["distil", "--states", "4", "--out", "n.safetensors"];
    refused(&[&distil[..], &["--rollouts", "lines.jsonl"]].concat(), "a line is a list of token numbers");
    refused(&[&distil[..], &["--texts", "orders", "--held-out", "1"]].concat(), "--held-out is 1");
    refused(&distil, "name texts (--texts)");
    assert!(!exists(&place.path("n.safetensors")));
    let unwritable =
        ["distil", "--texts", "orders", "--states", "3", "--steps", "1", "--out", "no/where.safetensors"];
    assert_eq!(place.run(&unwritable).code, 3);
}
