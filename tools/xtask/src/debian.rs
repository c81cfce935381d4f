//! Packages, where we may install them.

use crate::process::{Failure, install};
use discovery::{answer, on_path};
use std::path::Path;
use std::process::Command;

/// What the system says of itself, as far as installing packages goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct System {
    /// Debian itself.
    pub debian: bool,
    /// Debian or a system derived from it.
    pub derived: bool,
    /// This process runs as root.
    pub root: bool,
}

impl System {
    /// Reads `/etc/os-release` and asks `id`.
    pub fn here() -> System {
        let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        let (debian, derived) = family(&release);
        let root = cfg!(unix) && answer(Path::new("id"), ["-u"]).is_some_and(|uid| uid == "0");
        System { debian, derived: derived && on_path("apt-get").is_some(), root }
    }

    /// Whether we may install packages without asking.
    pub fn can_install(self) -> bool {
        self.root && self.derived
    }

    /// The command that a person types to install packages.
    pub fn install_command(self, packages: &[&str]) -> String {
        let packages = packages.join(" ");
        let sudo = if self.root { "" } else { "sudo " };
        format!("{sudo}apt-get install {packages}")
    }
}

/// Whether the text of `os-release` is Debian's, and whether it is Debian's or a descendant's.
fn family(release: &str) -> (bool, bool) {
    let value = |key: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
    };
    let debian = value("ID") == "debian";
    (debian, debian || value("ID_LIKE").split_whitespace().any(|name| name == "debian"))
}

/// Installs packages with `apt-get`.
pub fn install_packages(packages: &[&str]) -> Result<(), Failure> {
    eprintln!("installing {} with apt-get", packages.join(", "));
    let apt = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").arg("--quiet");
        command
    };
    install(apt().arg("update"))?;
    install(apt().args(["install", "--yes", "--no-install-recommends"]).args(packages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_is_read_from_os_release() {
        assert_eq!(family("NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n"), (true, true));
        assert_eq!(family("ID=ubuntu\nID_LIKE=debian\n"), (false, true));
        assert_eq!(family("ID=pop\nID_LIKE=\"ubuntu debian\"\n"), (false, true));
        assert_eq!(family("ID=fedora\n"), (false, false));
        assert_eq!(family(""), (false, false));
    }

    #[test]
    fn a_person_without_root_is_told_to_use_sudo() {
        let system = System { debian: true, derived: true, root: false };
        assert_eq!(system.install_command(&["chromium"]), "sudo apt-get install chromium");
        assert!(!system.can_install());
        assert!(System { root: true, ..system }.can_install());
    }
}
