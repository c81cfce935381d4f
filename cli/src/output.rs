//! Writing to standard output, where the reader may have gone away: `portcullis policy diff a b | head`.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// Writes a text. A reader that closed its end has seen enough: the command ends, with nothing found wrong.
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
