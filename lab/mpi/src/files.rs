//! Reading and writing whole files.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::failure::Failure;

pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::input(format!("{} cannot be read: {error}", path.display())))
}

/// Writes a file beside its place and moves it there, so that no reader sees a part of it, and a process that is killed leaves the file of
/// before.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let partial = path.with_file_name(name);
    let written = (|| {
        let mut file = File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    })();
    written.map_err(|error| Failure::not_set_up(format!("{} cannot be written: {error}", path.display())))
}
