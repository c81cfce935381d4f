//! Reading what a command is given, and writing whole files.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::failure::Failure;

/// Reads a file, or standard input for `-`.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let read =
        if path.as_os_str() == "-" { io::read_to_string(io::stdin()) } else { std::fs::read_to_string(path) };
    read.map_err(|error| unreadable(path, &error))
}

/// Reads a file as bytes.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::Input(format!("{} cannot be read: {error}", path.display()))
}

/// Writes a file beside its place and moves it there, so that no reader sees a part of it.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let partial = path.with_file_name(name);
    let written = (|| {
        let mut file = BufWriter::new(File::create(&partial)?);
        write(&mut file)?;
        file.flush()?;
        file.get_ref().sync_all()?;
        std::fs::rename(&partial, path)
    })();
    written.map_err(|error| Failure::NotSetUp(format!("{} cannot be written: {error}", path.display())))
}
