//! Writing to standard output, whose reader may close it early: `portcullis policy diff a b | head`.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// Writes a text. If the reader has closed its end, the command ends with success.
pub fn write(text: Arguments<'_>) {
    let written = std::io::stdout().lock().write_fmt(text);
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            eprintln!("error: the output cannot be written: {error}");
            std::process::exit(3);
        }
    }
}
