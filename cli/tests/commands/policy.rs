//! `portcullis policy` as a person types it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.out, self.err))
    }
}

fn policy(arguments: &[&str]) -> Ran {
    let done = Command::new(env!("CARGO_BIN_EXE_portcullis")).arg("policy").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: done.status.code().unwrap(), out: text(done.stdout), err: text(done.stderr) }
}

const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../policies/default.policy");

/// A folder with a changed copy of the shipped policy.
fn changed(change: impl Fn(&str) -> String) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.policy");
    let shipped = fs::read_to_string(SHIPPED).unwrap();
    let text = change(&shipped);
    assert_ne!(text, shipped);
    fs::write(&path, text).unwrap();
    let name = path.to_str().unwrap().to_owned();
    (folder, name)
}

/// The policy of an author who wants the card to be filled into any page.
fn careless() -> (tempfile::TempDir, String) {
    changed(|text| {
        text.replace(
            "request payment {\n    consent every time\n    deliver nothing",
            "request payment {\n    container T0\n    origin is the task's\n    tls valid\n    frame top\n    \
             destination origin is the task's\n    destination https\n    visible\n    consent every time\n    \
             deliver fill",
        )
    })
}

#[test]
fn granting_payment_in_t0_is_shown_a_case_within_a_second() {
    let (folder, careless) = careless();
    let begun = std::time::Instant::now();
    policy(&["check", SHIPPED]);
    let checked = begun.elapsed();
    let begun = std::time::Instant::now();
    let ran = policy(&["prove", &careless, "--cases", folder.path().to_str().unwrap()]);
    let took = begun.elapsed();
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let expected = "FAILS  no field is released in a container below its tier: but `payment` with T1 fields is granted by \
                    fill where container is T0";
    assert!(ran.out.contains(expected), "{}", ran.out);
    assert!(ran.out.contains("FAILS  `never grant T2 where container is T0`: but `payment`"), "{}", ran.out);
    // A loaded machine starts programs slowly; the test only checks that there is no long wait.
    assert!(took.as_secs_f64() < 5.0 || took < 10 * checked, "{took:?}, and to check it {checked:?}");
    // The counterexample can be replayed.
    let case = folder.path().join("case-1.json");
    let why = policy(&["explain", &careless, "--case", case.to_str().unwrap()]);
    assert_eq!(why.code, 0, "{}", why.err);
    assert!(why.out.starts_with("`payment` with T1 fields is granted, by fill."), "{}", why.out);
    let before = policy(&["explain", SHIPPED, "--json", "--case", case.to_str().unwrap()]).json();
    assert_eq!(before["answer"]["refused"], "delivery_forbidden");
    let json = policy(&["prove", &careless, "--json"]).json();
    let failing: Vec<&Value> =
        json["statements"].as_array().unwrap().iter().filter(|one| one["holds"] == false).collect();
    assert!(failing.len() >= 3 && failing.iter().all(|one| one["case"]["signals"]["plan"] == "planned"));
}

#[test]
fn the_shipped_policy_holds_without_a_warning() {
    let ran = policy(&["check", SHIPPED, "--deny-warnings"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let json = policy(&["check", SHIPPED, "--json"]).json();
    assert_eq!((&json["holds"], json["warnings"].as_array().unwrap().len()), (&Value::Bool(true), 0));
    let proved = policy(&["prove", SHIPPED]);
    assert_eq!(proved.code, 0, "{}", proved.err);
    assert_eq!(
        proved.out.lines().filter(|line| line.starts_with("holds  ")).count() as u64,
        json["statements"]
    );
}

#[test]
fn a_rule_that_changes_nothing_is_shown_and_can_be_denied() {
    let (_folder, odd) =
        changed(|text| text.replacen("tls valid or loopback", "tls valid or loopback\n    container T0", 1));
    let ran = policy(&["check", &odd]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("`container T0` changes nothing for `address`"), "{}", ran.err);
    assert!(ran.err.contains("remove it") && ran.err.contains("my.policy:"), "{}", ran.err);
    assert!(ran.out.ends_with("states; 1 warning\n"), "{}", ran.out);
    assert_eq!(policy(&["check", &odd, "--deny-warnings"]).code, 1);
    let json = policy(&["check", &odd, "--json"]).json();
    let span = json["warnings"][0]["span"].as_array().unwrap();
    let text = fs::read_to_string(&odd).unwrap();
    let place = |at: usize| span[at].as_u64().unwrap() as usize;
    assert_eq!(&text[place(0)..place(1)], "container T0");
}

#[test]
fn a_mistake_is_bad_input_for_every_command() {
    let (_folder, slip) = changed(|text| text.replace("tls valid", "tls vald"));
    for arguments in [
        vec!["check", &slip],
        vec!["prove", &slip],
        vec!["explain", &slip, "address"],
        vec!["diff", SHIPPED, &slip],
        vec!["show", &slip],
    ] {
        let ran = policy(&arguments);
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert!(ran.err.contains("tls vald"), "{}", ran.err);
        let told = policy(&[arguments.as_slice(), &["--json"]].concat());
        assert_eq!((told.code, &told.json()["errors"][0]["line"]), (2, &Value::from(17)), "{arguments:?}");
    }
    for (arguments, expected) in [
        (vec!["explain", SHIPPED, "adress"], "no event is called `adress`"),
        (vec!["explain", SHIPPED, "otp:T1"], "no request is `otp:T1` under this policy"),
        (vec!["explain", SHIPPED, "address", "tls"], "`tls` is not a signal and its value"),
        (vec!["explain", SHIPPED, "address", "tls=bad"], "`tls` is never `bad`"),
        (vec!["explain", SHIPPED, "address", "colour=red"], "no signal is called `colour`"),
        (vec!["explain", SHIPPED, "--case", SHIPPED], "this is not a case"),
        (vec!["show", SHIPPED, "--format", "dot"], "a picture shows one event"),
    ] {
        let ran = policy(&arguments);
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
}

#[test]
fn an_answer_is_explained_with_the_lines_it_comes_from() {
    let ran = policy(&["explain", SHIPPED, "address", "container=T1", "tls=broken"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("`address` with T2 fields is refused: invalid_container."), "{}", ran.out);
    assert!(
        ran.out.contains("It would be granted if container were T2 and tls were valid or loopback\n"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("default.policy:17: tls valid or loopback"), "{}", ran.out);
    let fine = policy(&["explain", SHIPPED, "address:T1"]);
    assert!(fine.out.starts_with("`address` with T1 fields is granted, by fill."), "{}", fine.out);
}

#[test]
fn two_policies_are_compared() {
    let same = policy(&["diff", SHIPPED, SHIPPED]);
    assert_eq!((same.code, same.out.as_str()), (0, "no difference\n"));
    let (_folder, lax) = changed(|text| text.replacen("    tls valid or loopback\n", "", 1));
    let ran = policy(&["diff", SHIPPED, &lax]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("newly granted by fill: `address` with T2 fields"), "{}", ran.out);
    let json = policy(&["diff", SHIPPED, &lax, "--json"]).json();
    let first = &json["changes"][0];
    assert_eq!((first["old"].as_str(), first["new"].as_str()), (Some("refused"), Some("granted by fill")));
    let case = tempfile::NamedTempFile::new().unwrap();
    fs::write(case.path(), first["parts"][0]["case"].to_string()).unwrap();
    let path = case.path().to_str().unwrap();
    let answer = |name: &str| policy(&["explain", name, "--json", "--case", path]).json()["answer"].clone();
    assert_eq!(answer(&lax)["granted"], "fill");
    assert_eq!(answer(SHIPPED)["refused"], "tls_invalid");
}

#[test]
fn a_policy_is_shown_in_every_format() {
    let all = policy(&["show", SHIPPED]);
    assert_eq!(all.code, 0, "{}", all.err);
    assert!(
        all.out.contains("`purchase` with T2 fields") && all.out.contains("`submit`, default"),
        "{}",
        all.out
    );
    for (format, begins) in [
        ("markdown", "### \\`address\\` with T2 fields"),
        ("dot", "digraph \"`address`"),
        ("mermaid", "---\ntitle: "),
    ] {
        let ran = policy(&["show", SHIPPED, "address", "--format", format]);
        assert!(ran.code == 0 && ran.out.starts_with(begins), "{}{}", ran.out, ran.err);
    }
    let json = policy(&["show", SHIPPED, "purchase", "--json"]).json();
    let rows = json["events"][0]["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["else"] == "invalid_container; unknown: refused"), "{json}");
    assert!(Path::new(SHIPPED).exists());
}

#[test]
fn every_reason_is_explained_by_its_name() {
    for reason in portcullis::policy::Reason::ALL {
        let told = policy(&["explain", SHIPPED, "--json", &reason.name()]).json();
        assert_eq!(told["explanation"], reason.explain());
        assert_eq!(told["next"].as_str(), reason.next_step());
    }
    let told = policy(&["explain", SHIPPED, "outside_task"]);
    assert!(told.out.contains("The assistant is told: Stay on the sites of the task"), "{}", told.out);
}
