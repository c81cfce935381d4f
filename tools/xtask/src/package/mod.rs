//! `cargo xtask package`: what people without Rust install, for the machine that it runs on.
//!
//! | module | subject |
//! |---|---|
//! | [`release`] | which commit and version the packages are of, and what is refused |
//! | [`program`] | the program, built for a release, with its manual pages, completions and bill of materials |
//! | [`archive`] | a tarball, and Debian's package |
//! | [`npm`] | the packages for npm |
//! | [`python`] | the wheel |
//! | [`bundle`] | the bundle for MCP clients, and the entry for their registry |
//! | [`crates`] | the crates, packed and tried from a registry in a folder |
//! | [`start`] | the time to the first answer, and the memory |
//! | [`trial`] | the packages tried in a root file system of their own |
//!
//! The texts of the packages are in `packaging/`.

mod archive;
mod bundle;
mod crates;
mod npm;
mod program;
mod python;
mod release;
mod start;
mod trial;

use crate::process::{Failure, Place, install};
use crate::setup;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::Program;
use release::Release;

/// The only platform whose packages are made and tried.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Makes the packages, or tries those that were made.
pub fn command(place: &Place, arguments: &[String]) -> Result<(), Failure> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        return Err(Failure::not_set_up(format!("packages are made on {PLATFORM} alone, so far")));
    }
    let release = Release::of(place)?;
    match arguments {
        [] => make(place, &release),
        [word] if word == "crates" => crates::of(place, &release, &setup::set_up(place)?),
        [word, ways @ ..] if word == "try" => trial::of(place, &release, ways),
        _ => Err(Failure::input(
            "`package` takes nothing, `crates`, or `try` and the names of ways to install".to_owned(),
        )),
    }
}

/// The folder of the packages of a release.
fn folder(place: &Place, release: &Release) -> PathBuf {
    place.target.join("packages").join(&release.version)
}

fn make(place: &Place, release: &Release) -> Result<(), Failure> {
    let tools = setup::set_up(place)?;
    let out = folder(place, release);
    fresh(&out)?;
    let guard = Program::build(place, release, "portcullis", "portcullis-cli", "cli")?;
    archive::tarball(release, &guard, &out)?;
    archive::debian(place, release, &guard, &out)?;
    npm::packages(place, release, &guard, &out)?;
    python::wheel(place, release, &guard, &out)?;
    bundle::make(place, release, &guard, &tools, &out)?;
    start::measure(&guard.file())?;
    // Last, since it takes as long as all before it.
    let lab = Program::build(place, release, "portcullis-lab", "portcullis-lab", "lab/cli")?;
    archive::tarball(release, &lab, &out)?;
    // A file that was changed meanwhile may be in the packages.
    if Release::of(place)?.commit != release.commit {
        return Err(Failure::finding(
            "another commit was checked out meanwhile: make the packages again".to_owned(),
        ));
    }
    sums(&out)?;
    println!("the packages are in {}", out.display());
    Ok(())
}

/// Writes the checksums of all packages, in the form that `sha256sum --check` reads.
fn sums(out: &Path) -> Result<(), Failure> {
    let mut names: Vec<_> =
        entries(out)?.iter().filter_map(|path| path.file_name().map(ToOwned::to_owned)).collect();
    names.sort();
    let output = Command::new("sha256sum").current_dir(out).args(&names).output();
    let output = output.map_err(|error| Failure::not_set_up(format!("sha256sum: {error}")))?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    written(&out.join("SHA256SUMS"), &output.stdout)
}

/// An empty folder in the place of whatever is there.
fn fresh(folder: &Path) -> Result<(), Failure> {
    let _was_not_there = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))
}

/// Writes a file, and the folder around it.
fn written(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    let around = path.parent().map_or(Ok(()), fs::create_dir_all);
    around.and_then(|()| fs::write(path, bytes)).map_err(|error| unusable(path, &error))
}

/// Copies a file with its rights, and makes the folder around it.
fn copied(from: &Path, to: &Path) -> Result<(), Failure> {
    let around = to.parent().map_or(Ok(()), fs::create_dir_all);
    around.and_then(|()| fs::copy(from, to).map(drop)).map_err(|error| unusable(to, &error))
}

/// Copies a folder with all that is in it.
fn copied_folder(from: &Path, to: &Path) -> Result<(), Failure> {
    if let Some(around) = to.parent() {
        fs::create_dir_all(around).map_err(|error| unusable(around, &error))?;
    }
    install(Command::new("cp").arg("-r").arg(from).arg(to))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let read = fs::read_dir(folder).map_err(|error| unusable(folder, &error))?;
    Ok(read.filter_map(|entry| Some(entry.ok()?.path())).collect())
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::not_set_up(format!("{}: {error}", path.display()))
}

/// A text of `packaging/`, with the version in it.
fn template(place: &Place, release: &Release, name: &str) -> Result<String, Failure> {
    let path = place.root.join("packaging").join(name);
    let text = fs::read_to_string(&path).map_err(|error| unusable(&path, &error))?;
    Ok(text.replace("@VERSION@", &release.version))
}
