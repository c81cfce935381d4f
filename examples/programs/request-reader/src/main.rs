//! Reads a model's answer on standard input and prints each request in it, or the error with its line.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use sirl::{ClaimKey, Event, FieldSet, Request, Scanner, Schema};

fn main() -> io::Result<ExitCode> {
    let mut scanner = Scanner::new(Schema::default());
    let (mut stdin, mut piece) = (io::stdin().lock(), [0; 4096]);
    let mut events = Vec::new();
    loop {
        match stdin.read(&mut piece)? {
            0 => break,
            n => scanner.push(&piece[..n], |event| events.push(event)),
        }
    }
    events.extend(scanner.finish());

    let mut out = io::stdout().lock();
    let mut code = ExitCode::SUCCESS;
    for event in &events {
        match event {
            Event::Block { block, .. } => {
                for request in &block.requests {
                    print(&mut out, request)?;
                }
            }
            Event::Plan { plan, .. } => writeln!(out, "plan: {plan}")?,
            Event::Malformed { error, .. } => {
                code = ExitCode::FAILURE;
                writeln!(out, "error in line {}: {}", error.line(), error.kind)?;
            }
        }
    }
    if events.is_empty() {
        writeln!(out, "no request")?;
    }
    Ok(code)
}

fn print(out: &mut impl Write, request: &Request) -> io::Result<()> {
    writeln!(out, "request: {} ({})", request.kind, request.effective_fields().tier())?;
    writeln!(out, "  fields: {}", names(request.effective_fields()))?;
    for (field, control) in request.at.iter() {
        writeln!(out, "  at: {field} -> {control}")?;
    }
    for key in ClaimKey::ALL {
        if let Some(text) = request.claim.text(key) {
            writeln!(out, "  claims {}: {text}", key.as_str())?;
        }
    }
    Ok(())
}

fn names(fields: FieldSet) -> String {
    fields.iter().map(|field| field.as_str()).collect::<Vec<_>>().join(", ")
}
