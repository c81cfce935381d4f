//! `portcullis setup`: puts what `portcullis mcp` needs on this machine.

use std::fs;
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
    /// Playwright's build of Chromium, in the user's cache, by npx.
    Playwright,
    /// None without the user.
    ByHand,
}

impl Way {
    /// The way on a machine: Debian's package where we may install one, else a download into the user's own cache.
    fn on(is_debian: bool, is_root: bool, has_npx: bool) -> Way {
        match (is_debian && is_root, has_npx) {
            (true, _) => Way::Packages,
            (false, true) => Way::Playwright,
            (false, false) => Way::ByHand,
        }
    }

    /// The calls by which it is done, which a person can type too.
    fn calls(&self) -> Vec<Vec<String>> {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect();
        match self {
            Way::Packages => vec![
                words("apt-get update --quiet"),
                words("apt-get install --quiet --yes --no-install-recommends chromium"),
            ],
            Way::Playwright => vec![words(&format!("npx --yes playwright-core@{VERSION} install chromium"))],
            Way::ByHand => vec![words("sudo apt-get install chromium")],
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
    let node = discovery::on_path("node").filter(|node| discovery::node::accept(node).is_ok());
    let has_npx = node.is_some() && discovery::on_path("npx").is_some();
    let is_root = rustix::process::geteuid().is_root();
    let way = Way::on(is_debian, is_root, has_npx);
    let calls = way.calls();
    let typed: Vec<String> = calls.iter().map(|words| words.join(" ")).collect();
    println!("Chromium is missing; this installs it: {}", typed.join(" && "));
    if arguments.dry_run {
        return Ok(());
    }
    if way == Way::ByHand {
        return Err(Failure::NotSetUp("nothing was installed".to_owned()));
    }
    calls.iter().try_for_each(|words| call(words))?;
    let chromium = discovery::chromium().map_err(Failure::NotSetUp)?;
    println!("Chromium {} is at {}; `portcullis doctor` tries it", chromium.version, chromium.path.display());
    Ok(())
}

/// Calls an installer in the root folder, with the programs of no project on its path: npx would take a package that lies around it, and
/// npm puts a project's programs first.
fn call(words: &[String]) -> Result<(), Failure> {
    let Some((name, arguments)) = words.split_first() else { return Ok(()) };
    let missing = || Failure::NotSetUp(format!("the program `{name}` is not on the path"));
    let mut command = Command::new(discovery::on_path(name).ok_or_else(missing)?);
    command.args(arguments).current_dir("/").env("DEBIAN_FRONTEND", "noninteractive");
    command.env("PATH", discovery::own_path());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::NotSetUp(format!("{name} failed ({status}); its message is above"))),
        Err(error) => Err(Failure::NotSetUp(format!("{name} does not start: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::Way;

    #[test]
    fn root_on_debian_installs_a_package_and_others_download_where_they_can() {
        assert_eq!(Way::on(true, true, true), Way::Packages);
        assert_eq!(Way::on(true, false, true), Way::Playwright);
        assert_eq!(Way::on(false, true, false), Way::ByHand);
    }
}
