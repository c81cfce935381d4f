//! The packages for npm: one that starts the program, and one for each platform, of which npm takes the right one.

use super::program::Program;
use super::release::Release;
use super::{copied, copied_folder, fresh, template, written};
use crate::process::{Failure, Place, install};
use discovery::on_path;
use std::path::Path;
use std::process::Command;

/// Makes both. Nothing runs when they are installed.
pub fn packages(place: &Place, release: &Release, program: &Program, out: &Path) -> Result<(), Failure> {
    let stage = program.folder.with_file_name("npm");
    fresh(&stage)?;
    let starter = stage.join("portcullis-guard");
    written(&starter.join("package.json"), template(place, release, "npm/package.json")?)?;
    for text in ["README.md", "portcullis.js"] {
        copied(&place.root.join("packaging/npm").join(text), &starter.join(text))?;
    }
    let platform = stage.join("portcullis-guard-linux-x64");
    written(&platform.join("package.json"), template(place, release, "npm/platform.json")?)?;
    copied(&program.file(), &platform.join("bin").join(program.name))?;
    copied_folder(&program.folder.join("share"), &platform.join("share"))?;
    let npm = on_path("npm").ok_or_else(|| Failure::not_set_up("npm is not found".to_owned()))?;
    for package in [starter, platform] {
        for text in ["LICENSE-APACHE", "LICENSE-MIT"] {
            copied(&program.about().join(text), &package.join(text))?;
        }
        let mut pack = Command::new(&npm);
        pack.args(["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination"]).arg(out);
        install(pack.current_dir(&package))?;
    }
    Ok(())
}
