//! Packages of npm in the target folder, pinned by checksum.

use crate::process::{Failure, Place, install};
use discovery::on_path;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What npm is to install, and where below the target folder. The lock file holds the checksum: npm
/// installs those bytes or nothing.
#[derive(Debug)]
pub struct Pinned {
    /// For messages: name and version.
    pub name: &'static str,
    /// The folder below the target folder.
    pub folder: &'static str,
    /// The text of `package.json`.
    pub manifest: &'static str,
    /// The text of `package-lock.json`.
    pub lock: &'static str,
}

impl Pinned {
    /// The folder into which npm installs.
    pub fn modules(&self, place: &Place) -> PathBuf {
        place.target.join(self.folder).join("node_modules")
    }

    /// Installs, in place of whatever is there.
    pub fn install(&self, place: &Place) -> Result<(), Failure> {
        let folder = place.target.join(self.folder);
        let Some(npm) = on_path("npm") else {
            return Err(Failure::not_set_up(format!("npm is not found, to install {}", self.name)));
        };
        eprintln!("installing {} with npm", self.name);
        let written = fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join("package.json"), self.manifest))
            .and_then(|()| fs::write(folder.join("package-lock.json"), self.lock));
        written.map_err(|error| {
            Failure::not_set_up(format!("{} cannot be written: {error}", folder.display()))
        })?;
        let mut command = Command::new(npm);
        // Scripts of the packages would fetch more, unpinned.
        command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        install(command.current_dir(&folder)).map_err(|failure| {
            let seen = if failure.message.is_empty() { "npm failed" } else { &failure.message };
            let by_hand = by_hand(&folder);
            Failure::not_set_up(format!("{seen}: check the network, then run `{by_hand}`"))
        })
    }

    /// The sentence for a package that npm installed without what we want of it.
    pub fn did_not_arrive(&self, place: &Place) -> Failure {
        let by_hand = by_hand(&place.target.join(self.folder));
        Failure::not_set_up(format!("{} did not arrive: run `{by_hand}`", self.name))
    }
}

fn by_hand(folder: &Path) -> String {
    format!("cd '{}' && npm ci --ignore-scripts", folder.display())
}
