//! A file of options for `portcullis mcp --config`.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use clap::CommandFactory;

use super::finding::Finding;
use super::guarding;
use crate::failure::Failure;
use crate::options_file::check;

/// The permissions of a file's group and of others to write it.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Checks that the command takes the file's options, that the files are there which it names, and that its policy holds.
pub fn look(file: &Path) -> Vec<Finding> {
    let shown = file.display();
    let checked = match check(&crate::Arguments::command(), file) {
        Ok(checked) => checked,
        Err(failure) => {
            let mend = "`portcullis mcp --help` lists the options; a key is an option's name without `--`";
            return vec![Finding::problem("options", format!("{shown}: {}", in_words(failure)), mend)];
        }
    };
    let mut findings: Vec<Finding> = Vec::new();
    for missing in &checked.missing {
        let says = format!("{shown} names {}, which is not there", missing.display());
        findings.push(Finding::problem(
            "options",
            says,
            "correct the path; a relative one begins at the file's own folder",
        ));
    }
    if std::fs::metadata(file).is_ok_and(|found| found.mode() & WRITABLE_BY_OTHERS != 0) {
        let says = format!("others can change {shown}, and so name another policy or vault");
        findings.push(Finding::problem("options", says, format!("`chmod go-w {shown}`")));
    }
    findings.extend(guarding::named_policies(checked.policy.as_slice()));
    if checked.missing.is_empty() {
        findings.insert(0, Finding::ok("options", format!("{} in {shown}", checked.options)));
    }
    findings
}

/// A failure in one line, with the line in the file.
fn in_words(failure: Failure) -> String {
    match failure {
        Failure::Finding(message) | Failure::Input(message) | Failure::NotSetUp(message) => message,
        Failure::Source { text, errors, .. } => {
            let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            let each = errors.iter().map(|(span, message)| format!("line {}: {message}", line(span.start)));
            each.collect::<Vec<_>>().join("; ")
        }
    }
}
