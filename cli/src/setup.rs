//! `portcullis setup`: puts what `portcullis mcp` needs on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use discovery::playwright::VERSION;

use crate::failure::Failure;

#[derive(clap::Args)]
pub struct Arguments {
    /// Say what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

/// A way to a Chromium.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// Debian's own packages, as root.
    Packages,
    /// Playwright's build of Chromium, in the user's cache, by this npx.
    Playwright(PathBuf),
    /// None without the user.
    ByHand,
}

impl Way {
    /// The way on a machine: Debian's package where we may install one, else a download into the user's own cache.
    fn on(is_debian: bool, is_root: bool, npx: Option<PathBuf>) -> Way {
        match (is_debian && is_root, npx) {
            (true, _) => Way::Packages,
            (false, Some(npx)) => Way::Playwright(npx),
            (false, None) => Way::ByHand,
        }
    }

    /// The command, in words that a person can type.
    fn words(&self) -> String {
        match self {
            Way::Packages => "apt-get install --yes chromium".to_owned(),
            Way::Playwright(_) => format!("npx --yes playwright-core@{VERSION} install chromium"),
            Way::ByHand => "sudo apt-get install chromium".to_owned(),
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Ok(chromium) = discovery::chromium() {
        println!("Chromium {} is at {}: nothing is missing", chromium.version, chromium.path.display());
        return Ok(());
    }
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let is_debian = release.lines().any(|line| line == "ID=debian");
    let npx = discovery::on_path("node").filter(|node| discovery::node::accept(node).is_ok());
    let npx = npx.and_then(|_| discovery::on_path("npx"));
    let is_root = rustix::process::geteuid().is_root();
    let way = Way::on(is_debian, is_root, npx);
    println!("Chromium is missing; this installs it: {}", way.words());
    if arguments.dry_run {
        return Ok(());
    }
    match &way {
        Way::Packages => {
            call(Path::new("apt-get"), &["update", "--quiet"])?;
            call(
                Path::new("apt-get"),
                &["install", "--quiet", "--yes", "--no-install-recommends", "chromium"],
            )?;
        }
        Way::Playwright(npx) => {
            let package = format!("playwright-core@{VERSION}");
            call(npx, &["--yes", &package, "install", "chromium"])?;
        }
        Way::ByHand => return Err(Failure::NotSetUp("nothing was installed".to_owned())),
    }
    let chromium = discovery::chromium().map_err(Failure::NotSetUp)?;
    println!("Chromium {} is at {}; `portcullis doctor` tries it", chromium.version, chromium.path.display());
    Ok(())
}

/// Calls an installer in the root folder: npx would take a package of a project that lies around it.
fn call(program: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir("/").env("DEBIAN_FRONTEND", "noninteractive");
    let shown = program.display();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::NotSetUp(format!("{shown} failed ({status}); its message is above"))),
        Err(error) => Err(Failure::NotSetUp(format!("{shown} does not start: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::Way;

    #[test]
    fn root_on_debian_installs_a_package_and_others_download_where_they_can() {
        let npx = || Some("/usr/bin/npx".into());
        assert_eq!(Way::on(true, true, npx()), Way::Packages);
        assert_eq!(Way::on(true, false, npx()), Way::Playwright("/usr/bin/npx".into()));
        assert_eq!(Way::on(false, true, None), Way::ByHand);
        assert!(Way::ByHand.words().starts_with("sudo "));
    }
}
