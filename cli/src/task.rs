//! The user's task: from a file or a file descriptor, or from the command line, which every program on the machine can
//! read.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use classifier::Detectors;
use portcullis::intake;

use crate::failure::Failure;

/// The longest task, in bytes.
const LONGEST: u64 = 64 * 1024;
/// The first file descriptor that is used neither by the protocol nor by the log.
const FIRST_FREE: u32 = 3;

/// The source of the task. Without one, the agent proposes a task and the user is asked.
#[derive(clap::Args)]
#[group(id = "task_source", multiple = false)]
pub struct TaskArguments {
    /// The task in the user's own words, with its web addresses. Without a task the agent proposes one and the user is
    /// asked. Every program on this machine can read a command line, so put a task that may hold a value into a file.
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The task as the text of a file, which only you should be able to read.
    #[arg(long, value_name = "FILE")]
    task_file: Option<PathBuf>,
    /// The task as the text from this file descriptor, from 3 on, to its end: `--task-fd 3 3< FILE`. If the text is
    /// secret, use a pipe or a deleted file: the programs that the guard starts inherit the descriptor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(FIRST_FREE)..))]
    task_fd: Option<u32>,
}

impl TaskArguments {
    /// The task, if one was given. A warning on standard error reports a task that should not be on the command line.
    pub fn read(&self) -> Result<Option<String>, Failure> {
        if let Some(task) = &self.task {
            if let Some(warning) = warning(task)? {
                eprintln!("{warning}");
            }
            return Ok(Some(task.clone()));
        }
        if let Some(path) = &self.task_file {
            let file = File::open(path).map_err(|error| unread(&named(path), &error))?;
            if is_open_to_others(&file) {
                eprintln!("warning: {} can be read by others: `chmod 600` closes it", named(path));
            }
            return text(file, &named(path)).map(Some);
        }
        let Some(fd) = self.task_fd else { return Ok(None) };
        let what = format!("`--task-fd {fd}`");
        let file = File::open(format!("/dev/fd/{fd}")).map_err(|error| unread(&what, &error))?;
        text(file, &what).map(Some)
    }
}

fn named(path: &Path) -> String {
    format!("`--task-file {}`", path.display())
}

fn unread(what: &str, error: &std::io::Error) -> Failure {
    Failure::Input(format!("the task was not read from {what}: {error}"))
}

/// The contents of a file without its final line end.
fn text(file: File, what: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| unread(what, &error))?;
    if bytes.len() as u64 > LONGEST {
        return Err(Failure::Input(format!("the task from {what} is longer than {LONGEST} bytes")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Input(format!("the task from {what} is not UTF-8 text")))?;
    match text.trim_end() {
        "" => Err(Failure::Input(format!("the task from {what} is empty: write what is to be done there"))),
        text => Ok(text.to_owned()),
    }
}

fn is_open_to_others(file: &File) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o077 != 0)
}

/// The warning about a task on the command line that seems to hold values: their kinds, without the values.
fn warning(task: &str) -> Result<Option<String>, Failure> {
    let detectors = Detectors::standard().map_err(|error| Failure::NotSetUp(error.to_string()))?;
    let read = intake::read(task, &detectors);
    let labelled = read.found.iter().map(|found| found.field).chain(read.unsure.iter().map(|one| one.field));
    let mut kinds: Vec<String> = labelled.map(|field| field.as_str().replace('_', " ")).collect();
    let formed = detectors.detect_doubtful(task).into_iter().map(|found| found.kind.marker());
    kinds.extend(formed.map(|marker| marker.trim_matches(['[', ']']).to_owned()));
    kinds.sort();
    kinds.dedup();
    if kinds.is_empty() {
        return Ok(None);
    }
    Ok(Some(format!(
        "warning: `--task` seems to hold a value ({}), and every program on this machine can read the command line; \
         use `--task-file FILE` or `--task-fd N`",
        kinds.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_warning_names_the_kinds_and_no_value() {
        let said = |task: &str| warning(task).ok().flatten();
        assert_eq!(said("Buy a kettle at https://shop.example for at most 30 USD"), None);
        let text = said(
            "Buy a kettle at https://shop.example, mail ann.quill@mail.example, card 4111 1111 1111 1111",
        );
        let text = text.unwrap();
        assert!(text.contains("(card number, email)"), "{text}");
        assert!(!text.contains("quill") && !text.contains("4111"), "{text}");
    }
}
