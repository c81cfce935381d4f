//! `portcullis-lab classify`, on collections made for the test.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn run(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_portcullis-lab"))
        .arg("classify")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A collection of messages: senders of a made-up prize, and people who make an appointment.
fn messages(folder: &Path) {
    let place = folder.join("scam-sms-spam");
    std::fs::create_dir_all(&place).unwrap();
    let mut file = std::fs::File::create(place.join("sms_dev.jsonl")).unwrap();
    let names = ["ann", "bob", "cleo", "dan", "eve", "fay", "gus", "hal", "ida", "joe"];
    for (number, name) in names.iter().cycle().take(200).enumerate() {
        let word = ["zebra", "lamp", "violin", "harbour", "pepper", "cloud", "anchor"][number % 7];
        let spam =
            format!("{word} {name} draw {number}: collect the golden teapot, ring 0900 {number} at once");
        let ham = format!("{word} with {name} tomorrow at {number}? I bring the bread and the map");
        for (label, text) in [("spam", spam), ("ham", ham)] {
            writeln!(file, "{}", json!({"label": label, "text": text})).unwrap();
        }
    }
}

#[test]
fn a_model_is_trained_judged_and_used() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    messages(&data);
    let path = |name: &str| -> PathBuf { place.path().join(name) };
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (data, model, again) = (text(&data), text(&path("a.model")), text(&path("b.model")));

    let trained = run(&["train", "scam", "--data", &data, "--out", &model], "");
    assert_eq!(code(&trained), 0, "{}", said(&trained));
    assert!(said(&trained).contains("without"), "the absent collections are named: {}", said(&trained));
    assert_eq!(code(&run(&["train", "scam", "--data", &data, "--out", &again], "")), 0);
    assert_eq!(
        std::fs::read(&model).unwrap(),
        std::fs::read(&again).unwrap(),
        "the same seed, the same file"
    );

    let (plots, numbers) = (text(&path("plots")), text(&path("numbers.json")));
    let judged =
        run(&["eval", "scam", "--data", &data, "--file", &model, "--plots", &plots, "--json", &numbers], "");
    assert_eq!(code(&judged), 0, "{}", said(&judged));
    let value: Value = serde_json::from_str(&std::fs::read_to_string(&numbers).unwrap()).unwrap();
    let sms = value["sources"].as_array().unwrap().iter().find(|row| row["name"] == "sms").unwrap();
    assert!(sms["auc"]["value"].as_f64().unwrap() > 0.99, "{sms}");
    let (low, high) = (sms["auc"]["low"].as_f64().unwrap(), sms["auc"]["high"].as_f64().unwrap());
    assert!(low <= high);
    assert_eq!(value["disguises"].as_array().unwrap().len(), 9);
    let table = String::from_utf8(judged.stdout).unwrap();
    assert!(table.contains("sms") && table.contains("base64") && table.contains("AUC"), "{table}");
    for kind in ["roc", "reliability", "risks"] {
        let svg = std::fs::read_to_string(path("plots").join(format!("scam-{kind}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    }

    let input = concat!(
        "{\"id\": 1, \"text\": \"Pepper draw 77: collect the golden teapot, ring 0900 55 at once\"}\n",
        "{\"id\": \"b\", \"text\": \"I bring the bread and the map\"}\n",
    );
    let scanned = run(&["scan", "--detector", "scam", "--file", &model, "--jsonl", "-"], input);
    assert_eq!(code(&scanned), 0, "{}", said(&scanned));
    let found = lines(&scanned);
    assert_eq!((&found[0]["id"], &found[1]["id"]), (&json!(1), &json!("b")));
    assert!(found[0]["risk"].as_f64().unwrap() > found[1]["risk"].as_f64().unwrap());
    assert_eq!(found[1]["spans"], json!([]));
    assert_eq!(found[0]["spans"][0]["kind"], "scam");
}

#[test]
fn spans_are_byte_ranges_of_the_text() {
    let text = "Größe: write to ann@example.org";
    let input = format!("{}\n", json!({"id": 7, "text": text}));
    let found = lines(&run(&["scan", "--detector", "pii", "--jsonl", "-"], &input));
    let span = &found[0]["spans"][0];
    let (start, end) = (span["start"].as_u64().unwrap() as usize, span["end"].as_u64().unwrap() as usize);
    assert_eq!(&text[start..end], "ann@example.org");
    assert_eq!(span["kind"], "email");
    assert!(found[0]["risk"].as_f64().unwrap() > 0.0);
    let secrets = lines(&run(&["scan", "--detector", "secrets", "--jsonl", "-"], &input));
    assert_eq!(secrets[0], json!({"id": 7, "risk": 0.0, "spans": []}));
}

#[test]
fn bad_lines_are_reported_by_number_and_affect_no_other() {
    let mut input =
        b"{\"id\": 1, \"text\": \"one\"}\nnot json\n{\"id\": 2}\n\n[1]\n{\"id\": 3, \"text\": 4}\n".to_vec();
    input.extend(b"\"\xFF\"\n{\"text\": \"no id\"}\n{\"id\": 4, \"text\": \"four\"}");
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("in.jsonl");
    std::fs::write(&file, input).unwrap();
    let output = run(&["scan", "--detector", "secrets", "--jsonl", file.to_str().unwrap()], "");
    assert_eq!(code(&output), 2);
    let ids: Vec<Value> = lines(&output).into_iter().map(|line| line["id"].clone()).collect();
    assert_eq!(ids, [json!(1), json!(4)]);
    for number in [2, 3, 5, 6, 7, 8] {
        assert!(said(&output).contains(&format!("line {number}: ")), "{}", said(&output));
    }
    assert!(said(&output).contains("6 lines were left out"), "{}", said(&output));
    assert!(!said(&output).contains("no id\""), "no text of a line is shown");
}

#[test]
fn what_is_absent_is_3_and_what_is_bad_is_2() {
    let place = tempfile::tempdir().unwrap();
    let empty = place.path().to_str().unwrap();
    for arguments in [
        ["eval", "scam", "--data", "/nowhere"],
        ["eval", "toxicity", "--data", empty],
        ["eval", "injection", "--data", empty],
    ] {
        let output = run(&arguments, "");
        assert_eq!(code(&output), 3, "{}", said(&output));
        assert!(said(&output).contains(arguments[3]), "{}", said(&output));
    }
    let out = place.path().join("x").to_str().unwrap().to_owned();
    assert_eq!(code(&run(&["fit-attribute", "scam", "--data", "/nowhere", "--out", &out], "")), 3);
    assert_eq!(code(&run(&["fit-attribute", "nothing", "--data", empty, "--out", &out], "")), 2);
    assert_eq!(code(&run(&["eval", "scam", "--data", empty, "--pairs"], "")), 2);
    assert_eq!(code(&run(&["scan", "--detector", "scam", "--jsonl", "/nowhere"], "")), 2);
    let model = place.path().join("bad.model");
    std::fs::write(&model, "no model").unwrap();
    let bad = run(&["scan", "--detector", "scam", "--file", model.to_str().unwrap(), "--jsonl", "-"], "");
    assert_eq!(code(&bad), 2);
    assert_eq!(code(&run(&["scan", "--detector", "pii", "--at-least", "1.5", "--jsonl", "-"], "")), 2);
    // A collection in a wrong format.
    let data = place.path().join("data");
    std::fs::create_dir_all(data.join("scam-sms-spam")).unwrap();
    std::fs::write(data.join("scam-sms-spam/sms_dev.jsonl"), "{").unwrap();
    let output = run(&["eval", "scam", "--data", data.to_str().unwrap()], "");
    assert_eq!(code(&output), 2, "{}", said(&output));
}
