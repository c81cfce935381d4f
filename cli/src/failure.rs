//! Failures of commands and their exit codes.

use std::ops::Range;
use std::process::ExitCode;

use miette::{GraphicalReportHandler, LabeledSpan, MietteDiagnostic, NamedSource, Report};

/// The reason why a command did not simply succeed.
pub enum Failure {
    /// The command did its work and found a problem: exit code 1.
    Finding(String),
    /// The input is bad: exit code 2.
    Input(String),
    /// The input is bad at a position: exit code 2.
    Source {
        /// The file's name.
        name: String,
        /// Its text.
        text: String,
        /// The problem and its position.
        errors: Vec<(Range<usize>, String)>,
    },
    /// A program or file is missing: exit code 3.
    NotSetUp(String),
}

impl Failure {
    /// Prints the problem and returns the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::Finding(message) => {
                eprintln!("{message}");
                ExitCode::from(1)
            }
            Failure::Input(message) => {
                eprintln!("error: {message}");
                ExitCode::from(2)
            }
            Failure::Source { name, text, errors } => {
                for (span, message) in errors {
                    let label = LabeledSpan::new(
                        None,
                        span.start,
                        span.len().max(1).min(text.len() - span.start.min(text.len())),
                    );
                    let diagnostic = MietteDiagnostic::new(message).with_label(label);
                    let report =
                        Report::new(diagnostic).with_source_code(NamedSource::new(&name, text.clone()));
                    let mut out = String::new();
                    match GraphicalReportHandler::new().render_report(&mut out, report.as_ref()) {
                        Ok(()) => eprintln!("{out}"),
                        Err(_) => eprintln!("error in {name} at byte {}: {report}", span.start),
                    }
                }
                ExitCode::from(2)
            }
            Failure::NotSetUp(message) => {
                eprintln!("{message}");
                ExitCode::from(3)
            }
        }
    }
}
