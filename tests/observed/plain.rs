//! Plain Chromium: no guard, no proxy, none of the guard's flags. An attack that fails in it says nothing about the guard.

#![allow(dead_code, reason = "no test program uses all of it")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use evaluation::stage::chromium;
use evaluation::tls::install_nss;
use observer::{Network, processes};
use tempfile::TempDir;

use crate::site::Sites;

/// The programs that open addresses which Chromium does not serve, such as `mailto:`.
const OPENERS: [&str; 3] = ["xdg-open", "xdg-email", "gio"];

/// Chromium, with a name server of its own.
pub fn program(network: &Network) -> PathBuf {
    network.browser(&chromium().expect("run `cargo xtask setup` first")).unwrap()
}

/// A Chromium that shows one page. It ends when dropped.
pub struct Plain {
    process: Option<Child>,
    _home: TempDir,
}

impl Plain {
    /// Starts it, with the name server of the guarded browser.
    pub fn open(network: &Network, sites: &Sites, address: &str) -> Plain {
        Plain::start(network, sites, address, None)
    }

    /// As [`Plain::open`], with these openers first in the `PATH`.
    pub fn open_beside(network: &Network, sites: &Sites, address: &str, openers: &Openers) -> Plain {
        Plain::start(network, sites, address, Some(openers.path()))
    }

    fn start(network: &Network, sites: &Sites, address: &str, path: Option<OsString>) -> Plain {
        let home = tempfile::tempdir().unwrap();
        install_nss(home.path(), sites.authority.pem()).unwrap();
        // Headless, as tests are; as root there is no sandbox; windows may open as they may behind Playwright; and
        // reports go at once, and not after a minute.
        let mut command = Command::new(program(network));
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-popup-blocking",
        ]);
        command.arg("--short-reporting-delay");
        command.arg(format!("--user-data-dir={}", home.path().join("profile").display())).arg(address);
        command.env("HOME", home.path()).env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
        command.envs(path.map(|path| ("PATH", path)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Plain { process: Some(command.spawn().unwrap()), _home: home }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        // Its network process would otherwise go on announcing names.
        processes::end(self.process.take().unwrap()).unwrap();
    }
}

/// Programs that replace a desktop's openers, and record their arguments.
pub struct Openers(TempDir);

impl Openers {
    pub fn new() -> Openers {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record");
        for name in OPENERS {
            let program = folder.path().join(name);
            fs::write(&program, format!("#!/bin/sh\necho \"{name} $*\" >> '{}'\n", record.display()))
                .unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Openers(folder)
    }

    /// A `PATH` that starts with them.
    pub fn path(&self) -> OsString {
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let all = [self.0.path().to_owned()].into_iter().chain(std::env::split_paths(&rest));
        std::env::join_paths(all).unwrap()
    }

    /// The recorded arguments.
    pub fn told(&self) -> String {
        fs::read_to_string(Path::join(self.0.path(), "record")).unwrap_or_default()
    }

    /// Clears the recorded arguments.
    pub fn forget(&self) {
        fs::write(self.0.path().join("record"), "").unwrap();
    }
}
