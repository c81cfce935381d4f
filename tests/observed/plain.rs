//! Plain Chromium: no guard, no proxy, none of the guard's flags. What does not leave it says nothing about the guard.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use evaluation::tls::install_nss;
use observer::{Network, processes};

use crate::guarded::program;
use crate::site::Sites;

/// A Chromium that shows one page. It ends when dropped.
pub struct Plain {
    process: Option<Child>,
    _home: tempfile::TempDir,
}

impl Plain {
    /// Starts it, with the name server that the guarded browser has.
    pub fn open(network: &Network, sites: &Sites, address: &str) -> Plain {
        let home = tempfile::tempdir().unwrap();
        install_nss(home.path(), sites.authority.pem()).unwrap();
        let process = start(&program(network), home.path(), address);
        Plain { process: Some(process), _home: home }
    }
}

fn start(program: &Path, home: &Path, address: &str) -> Child {
    // Headless, as tests are; as root there is no sandbox; windows may open as they may behind Playwright; and reports
    // go at once, and not after a minute.
    let mut command = Command::new(program);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-popup-blocking",
    ]);
    command.arg("--short-reporting-delay");
    command.arg(format!("--user-data-dir={}", home.join("profile").display())).arg(address);
    command.env("HOME", home).env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

impl Drop for Plain {
    fn drop(&mut self) {
        // Its network process would go on announcing names.
        processes::end(self.process.take().unwrap()).unwrap();
    }
}
