//! `portcullis policy compile` and `portcullis policy convert`: a policy in its other forms.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use portcullis::policy::{Checked, Compiled, Policy, Unchecked};
use serde_json::json;

use crate::{failure::Failure, read_text};

#[derive(Args)]
pub struct Compile {
    /// The policy, as text or JSON; `-` for standard input.
    policy: PathBuf,
    /// The file for the compiled form.
    #[arg(long, short)]
    output: PathBuf,
    /// Print one JSON value instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct Convert {
    /// The policy, as text, JSON or compiled.
    policy: PathBuf,
    /// The form to print.
    #[arg(long, value_enum, default_value_t = Form::Json)]
    to: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// The JSON form.
    Json,
    /// The canonical text.
    Text,
}

/// Compiles a policy, proves it, and writes it. A policy that does not hold is not written.
pub fn compile(arguments: &Compile) -> Result<(), Failure> {
    let policy = read(&arguments.policy)?;
    let name = arguments.policy.display();
    let compiled = policy.compile().map_err(|error| Failure::Input(format!("{name}: {error}")))?;
    let checked = proved(compiled, &arguments.policy)?;
    let bytes = checked.to_bytes();
    let output = &arguments.output;
    std::fs::write(output, &bytes)
        .map_err(|error| Failure::Input(format!("{} cannot be written: {error}", output.display())))?;
    let hash: String = checked.policy_hash().iter().map(|byte| format!("{byte:02x}")).collect();
    if arguments.json {
        let output = output.display().to_string();
        println!("{:#}", json!({ "output": output, "bytes": bytes.len(), "policy_hash": hash }));
    } else {
        println!("{}: {} bytes, {} states, policy {hash}", output.display(), bytes.len(), checked.states());
    }
    Ok(())
}

/// Returns an error unless the file is a policy that a guard takes: its text form, which compiles and whose statements are all proved.
pub fn holds(path: &Path) -> Result<(), Failure> {
    let loaded = super::load(path, false)?;
    if loaded.text.trim_start().starts_with('{') {
        let name = path.display();
        return Err(Failure::Input(format!(
            "{name}: the guard reads a policy's text form; `portcullis policy convert {name} --to text` prints it"
        )));
    }
    proved(loaded.compiled, path).map(drop)
}

fn proved(compiled: Compiled<Unchecked>, path: &Path) -> Result<Compiled<Checked>, Failure> {
    compiled.check().map_err(|violations| {
        let all: Vec<String> = violations.iter().map(|violation| format!("  {violation}")).collect();
        Failure::Finding(format!(
            "{}: does not hold, nothing is written:\n{}",
            path.display(),
            all.join("\n")
        ))
    })
}

/// Prints a policy in another form.
pub fn convert(arguments: &Convert) -> Result<(), Failure> {
    let policy = read(&arguments.policy)?;
    match arguments.to {
        Form::Json => println!("{}", policy.to_json()),
        Form::Text => print!("{policy}"),
    }
    Ok(())
}

/// Reads a policy in any of its forms.
fn read(path: &Path) -> Result<Policy, Failure> {
    let name = path.display().to_string();
    if path.as_os_str() != "-" {
        let bytes =
            std::fs::read(path).map_err(|error| Failure::Input(format!("{name} cannot be read: {error}")))?;
        if bytes.starts_with(b"PCPOLICY") {
            let loaded = Compiled::from_bytes(&bytes);
            return loaded
                .map(|loaded| loaded.policy().clone())
                .map_err(|error| Failure::Input(format!("{name}: {error}")));
        }
    }
    let text = read_text(path)?;
    if text.trim_start().starts_with('{') {
        return Policy::from_json(&text).map_err(|error| Failure::Input(format!("{name}: {error}")));
    }
    Policy::parse(&text).map_err(|error| {
        let errors = error.problems().iter().map(|problem| (problem.span.clone(), problem.to_string()));
        Failure::Source { name: name.clone(), text: text.clone(), errors: errors.collect() }
    })
}
