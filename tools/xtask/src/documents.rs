//! Every path and link in the Markdown documents leads to something that is there.

use crate::process::{Failure, Place};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Paths of the repository in its documents: links, and quoted paths that begin with a folder at the top.
pub fn check(place: &Place) -> Result<(), Failure> {
    let tracked = tracked(place)?;
    let documents: Vec<&PathBuf> =
        tracked.files.iter().filter(|path| path.extension().is_some_and(|one| one == "md")).collect();
    let mut broken = Vec::new();
    let mut checked = 0;
    for document in &documents {
        let whole = place.root.join(document);
        let text = std::fs::read_to_string(&whole)
            .map_err(|error| Failure::not_set_up(format!("{} cannot be read: {error}", whole.display())))?;
        for (line, named) in named_in(&text) {
            let found = match &named {
                Named::Link(target) => tracked.has(&from(document, target)),
                Named::Quoted(path) => !tracked.is_ours(path) || tracked.has(Path::new(path)),
            };
            checked += 1;
            if !found {
                let (Named::Link(what) | Named::Quoted(what)) = named;
                broken.push(format!("{}:{line}: {what}", document.display()));
            }
        }
    }
    if !broken.is_empty() {
        return Err(Failure::finding(format!(
            "documents name what is not there:\n  {}",
            broken.join("\n  ")
        )));
    }
    println!("{checked} paths in {} documents, all of them there", documents.len());
    Ok(())
}

/// The files of the repository, and their folders.
struct Tracked {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

impl Tracked {
    fn has(&self, path: &Path) -> bool {
        self.files.contains(path) || self.folders.contains(path) || path.as_os_str().is_empty()
    }

    /// Whether a quoted path begins at a folder of ours, and is written out: no `*`, `{` or capital placeholder in it.
    fn is_ours(&self, path: &str) -> bool {
        let written_out = !path.contains(['*', '{', '<', '$', ' ', ':', '(', '|']);
        let first = path.split('/').next().unwrap_or_default();
        written_out
            && path.contains('/')
            && !first.is_empty()
            && self.folders.contains(Path::new(first))
            && first != "target"
    }
}

fn tracked(place: &Place) -> Result<Tracked, Failure> {
    let listed = Command::new("git")
        .arg("-C")
        .arg(&place.root)
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|error| Failure::not_set_up(format!("`git ls-files` does not start: {error}")))?;
    let files: BTreeSet<PathBuf> =
        String::from_utf8_lossy(&listed.stdout).lines().map(PathBuf::from).collect();
    if files.is_empty() {
        return Err(Failure::not_set_up("`git ls-files` names no file".to_owned()));
    }
    let folders = files.iter().flat_map(|file| file.ancestors().skip(1)).map(Path::to_path_buf).collect();
    Ok(Tracked { files, folders })
}

/// A path in a document.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    /// The target of a link, relative to the document.
    Link(String),
    /// A path between backquotes, from the root.
    Quoted(String),
}

/// The paths of a document, each with its line. Code blocks hold commands, and are passed over.
fn named_in(text: &str) -> Vec<(usize, Named)> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if in_code {
            continue;
        }
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            let path = target.split('#').next().unwrap_or_default();
            if !path.is_empty() && !path.contains("://") && !path.starts_with("mailto:") {
                found.push((at + 1, Named::Link(path.to_owned())));
            }
        }
        // Every second part is between backquotes.
        for quoted in line.split('`').skip(1).step_by(2) {
            found.push((at + 1, Named::Quoted(quoted.trim_end_matches('/').to_owned())));
        }
    }
    found
}

/// A link's target from the root, with its `..` carried out.
fn from(document: &Path, target: &str) -> PathBuf {
    let mut path = document.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_quoted_paths_are_found_outside_code() {
        let text = "See [the plan](../spec/DESIGN.md#house) and `src/lib.rs`.\n```sh\ncat `src/gone.rs`\n```\n[web](https://example.org/a)";
        let expected =
            [(1, Named::Link("../spec/DESIGN.md".to_owned())), (1, Named::Quoted("src/lib.rs".to_owned()))];
        assert_eq!(named_in(text), expected);
        assert_eq!(from(Path::new("spec/a.md"), "../src/lib.rs"), Path::new("src/lib.rs"));
    }

    #[test]
    fn only_written_out_paths_of_ours_are_looked_up() {
        let tracked = Tracked {
            files: [PathBuf::from("src/lib.rs")].into(),
            folders: [PathBuf::from("src"), PathBuf::new()].into(),
        };
        assert!(tracked.is_ours("src/gone.rs") && !tracked.has(Path::new("src/gone.rs")));
        assert!(tracked.has(Path::new("src/lib.rs")) && tracked.has(Path::new("src")));
        for path in ["/seller/7", "src/*.rs", "src/<name>.rs", "other/lib.rs", "lib.rs", "src/lib.rs --all"] {
            assert!(!tracked.is_ours(path), "{path}");
        }
    }
}
