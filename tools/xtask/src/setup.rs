//! Everything the programs need, found or installed, and the environment that names it.

use crate::debian::{System, install_packages};
use crate::process::{Failure, Place};
use crate::{node, playwright, playwright_mcp};
use discovery::{Program, certutil, chromium_from, on_path, variable};
use std::ffi::OsString;
use std::path::PathBuf;

/// What the browser bridge needs, found.
#[derive(Debug)]
pub struct Tools {
    /// Node.
    pub node: Program,
    playwright: PathBuf,
    playwright_mcp: PathBuf,
    driver: Option<PathBuf>,
    /// Chromium.
    pub chromium: Program,
    certutil: Program,
    root: bool,
}

impl Tools {
    /// One line for each: what, version, where.
    pub fn announce(&self) {
        println!("node {} {}", self.node.version, self.node.path.display());
        println!("playwright-core {} {}", playwright::VERSION, self.playwright.display());
        println!("@playwright/mcp {} {}", playwright_mcp::VERSION, self.playwright_mcp.display());
        println!("chromium {} {}", self.chromium.version, self.chromium.path.display());
        println!("certutil {}", self.certutil.path.display());
    }

    /// The variables that the bridge, the demo and the tests read.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            ("PLAYWRIGHT_NODE_EXE", self.node.path.clone().into_os_string()),
            ("PLAYWRIGHT_CLI_JS", self.playwright.clone().into_os_string()),
            ("PLAYWRIGHT_SKIP_DRIVER_DOWNLOAD", "1".into()),
            ("PORTCULLIS_PLAYWRIGHT_MCP", self.playwright_mcp.clone().into_os_string()),
            ("PORTCULLIS_CHROMIUM", self.chromium.path.clone().into_os_string()),
            ("PORTCULLIS_CERTUTIL", self.certutil.path.clone().into_os_string()),
        ];
        if let Some(driver) = &self.driver {
            variables.push(("PLAYWRIGHT_DRIVER_PATH", driver.clone().into_os_string()));
        }
        // Chromium's own sandbox refuses to start under root.
        if self.root {
            variables.push(("PORTCULLIS_NO_SANDBOX", "1".into()));
        }
        variables
    }
}

/// A program that was not found: why, the packages that bring it, and what else would.
#[derive(Debug)]
struct Missing {
    why: String,
    packages: &'static [&'static str],
    /// Whether a derived distribution's package of that name is the program too.
    derived: bool,
    otherwise: String,
}

impl Missing {
    fn installable(&self, system: System) -> bool {
        system.can_install() && (system.debian || self.derived)
    }

    /// One sentence, and the command that mends it.
    fn sentence(&self, system: System) -> String {
        if system.debian || (system.derived && self.derived) {
            let command = system.install_command(self.packages);
            return format!("{}: run `{command}`, or {}", self.why, self.otherwise);
        }
        format!("{}: {}", self.why, self.otherwise)
    }
}

/// Finds or installs everything. Says what is missing, and how to mend it, where it cannot.
pub fn set_up(place: &Place) -> Result<Tools, Failure> {
    if let Some(failure) = misnamed(place) {
        return Err(failure);
    }
    let system = System::here();
    let mut missing = missing_programs(place);
    let mut packages: Vec<&str> = Vec::new();
    for one in missing.iter().filter(|one| one.installable(system)) {
        packages.extend(one.packages);
    }
    if !packages.is_empty() {
        // A failure shows in what is still missing afterwards, with the command to run by hand.
        if let Err(failure) = install_packages(&packages) {
            eprintln!("apt-get failed. {}", failure.message);
        }
        missing = missing_programs(place);
    }
    if !missing.is_empty() {
        let sentences: Vec<String> = missing.iter().map(|one| one.sentence(system)).collect();
        return Err(Failure::not_set_up(sentences.join("\n")));
    }

    let (node, script) = (node::find_or_install(place)?, playwright::find_or_install(place)?);
    Ok(Tools {
        driver: playwright::driver(place, &node.path, &script),
        node,
        chromium: recent_chromium().map_err(Failure::not_set_up)?,
        certutil: certutil().map_err(Failure::not_set_up)?,
        playwright: script,
        playwright_mcp: playwright_mcp::find_or_install(place)?,
        root: system.root,
    })
}

fn missing_programs(place: &Place) -> Vec<Missing> {
    let mut missing = Vec::new();
    let mut note = |found: Result<(), String>, packages, derived, otherwise: String| {
        if let Err(why) = found {
            missing.push(Missing { why, packages, derived, otherwise });
        }
    };
    if node::find(place).is_err() || playwright::find(place).is_none() {
        let npm = on_path("npm").map(drop).ok_or_else(|| "npm is not found".to_owned());
        let otherwise = "install Node 20 or newer with its npm (https://nodejs.org)";
        note(npm, &["npm"], true, otherwise.to_owned());
    }
    // A derived distribution's `chromium` may be a script that asks for another package manager.
    let fetch = format!("npx --yes playwright-core@{} install chromium", playwright::VERSION);
    let otherwise = format!("run `{fetch}` for Playwright's own, or set PORTCULLIS_CHROMIUM to its path");
    note(recent_chromium().map(drop), &["chromium"], false, otherwise);
    let otherwise = "set PORTCULLIS_CERTUTIL to the certutil of Mozilla's NSS tools";
    note(certutil().map(drop), &["libnss3-tools"], true, otherwise.to_owned());
    missing
}

/// A Chromium that takes the browser extension.
fn recent_chromium() -> Result<Program, String> {
    chromium_from(oldest_chromium().unwrap_or(0))
}

/// The oldest version that the extension's manifest names.
fn oldest_chromium() -> Option<u32> {
    let (_, manifest) = portcullis_extension::FILES.iter().find(|(path, _)| *path == "manifest.json")?;
    let (_, rest) = manifest.split_once("\"minimum_chrome_version\": \"")?;
    rest.split_once('"')?.0.parse().ok()
}

/// A variable of the user's that names no usable program: no package mends that.
fn misnamed(place: &Place) -> Option<Failure> {
    let named = [
        ("PLAYWRIGHT_NODE_EXE", node::find(place)),
        ("PORTCULLIS_CHROMIUM", recent_chromium()),
        ("PORTCULLIS_CERTUTIL", certutil()),
    ];
    named.into_iter().filter(|(name, _)| variable(name).is_some()).find_map(|(name, found)| {
        let why = found.err()?;
        Some(Failure::not_set_up(format!("{why}: correct it, or run `unset {name}`")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_chromium() -> Missing {
        Missing {
            why: "chromium is not found".to_owned(),
            packages: &["chromium"],
            derived: false,
            otherwise: "set PORTCULLIS_CHROMIUM".to_owned(),
        }
    }

    #[test]
    fn each_system_gets_a_command_that_works_there() {
        let debian = System { debian: true, derived: true, root: false };
        let ubuntu = System { debian: false, ..debian };
        let other = System { derived: false, ..ubuntu };
        let sentence = no_chromium().sentence(debian);
        assert_eq!(
            sentence,
            "chromium is not found: run `sudo apt-get install chromium`, or set PORTCULLIS_CHROMIUM"
        );
        assert_eq!(no_chromium().sentence(ubuntu), "chromium is not found: set PORTCULLIS_CHROMIUM");
        assert_eq!(no_chromium().sentence(other), "chromium is not found: set PORTCULLIS_CHROMIUM");
    }

    #[test]
    fn the_extension_names_the_oldest_chromium() {
        assert_eq!(oldest_chromium(), Some(152));
    }

    #[test]
    fn packages_are_installed_by_root_only_and_only_where_they_are_the_program() {
        let root = System { debian: true, derived: true, root: true };
        assert!(no_chromium().installable(root));
        assert!(!no_chromium().installable(System { root: false, ..root }));
        assert!(!no_chromium().installable(System { debian: false, ..root }));
        let tools = Missing { derived: true, ..no_chromium() };
        assert!(tools.installable(System { debian: false, ..root }));
        assert!(!tools.installable(System { debian: false, derived: false, ..root }));
    }

    #[test]
    fn the_sandbox_is_switched_off_for_root_alone() {
        let program = || Program { path: "/bin/x".into(), version: "1".to_owned() };
        let tools = |root| Tools {
            node: program(),
            playwright: "/x/cli.js".into(),
            playwright_mcp: "/x/cli.js".into(),
            chromium: program(),
            certutil: program(),
            driver: None,
            root,
        };
        let switched =
            |root| tools(root).environment().iter().any(|(name, _)| *name == "PORTCULLIS_NO_SANDBOX");
        assert!(switched(true));
        assert!(!switched(false));
    }
}
