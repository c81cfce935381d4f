//! The environment of a guarded Chromium: no program that opens addresses.
//!
//! Chromium passes an address of a scheme that it does not serve, such as `mailto:`, to another program without asking
//! first. So a page could release a value in such an address as it loads. On Linux Chromium finds that program by its
//! name in `PATH`, or asks for it on the desktop's session bus. So it gets a `PATH` with only the programs that start
//! scripts of Chromium call, and no session bus. An input method or a screen reader that needs the bus does not work in
//! the guarded browser's window.

use std::collections::HashMap;

use super::settings::BrowserSettings;
#[cfg(all(unix, not(target_os = "macos")))]
use super::throwaway::ThrowawayFolder;
use crate::playwright::error::BridgeError;

/// The programs that the start scripts of Chromium call.
#[cfg(all(unix, not(target_os = "macos")))]
const PROGRAMS: [&str; 25] = [
    "basename", "bash", "cat", "cut", "dirname", "echo", "env", "expr", "find", "findmnt", "grep", "head",
    "id", "ls", "mkdir", "mktemp", "readlink", "realpath", "rm", "sed", "sh", "sort", "tr", "uname", "which",
];

/// The variables, and the folder that `PATH` names for as long as the browser runs.
pub(crate) struct Environment {
    pub(crate) variables: HashMap<String, String>,
    #[cfg(all(unix, not(target_os = "macos")))]
    _programs: ThrowawayFolder,
}

impl Environment {
    /// This process's environment with the browser's own home and without openers.
    #[cfg(all(unix, not(target_os = "macos")))]
    pub(crate) fn of(settings: &BrowserSettings) -> Result<Environment, BridgeError> {
        let failed = |error: std::io::Error| BridgeError::Launch(error.to_string());
        let programs = ThrowawayFolder::new().map_err(failed)?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        for name in PROGRAMS {
            let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|it| it.is_file());
            if let Some(found) = found {
                std::os::unix::fs::symlink(found, programs.path().join(name)).map_err(failed)?;
            }
        }
        let mut variables = variables(settings);
        variables.insert("PATH".to_owned(), programs.path().display().to_string());
        // Without the variable Chromium would look for the bus in its usual location, and start it.
        variables.insert("DBUS_SESSION_BUS_ADDRESS".to_owned(), "disabled:".to_owned());
        // Reports of crashes would be kept in the user's home.
        variables.insert("BREAKPAD_DUMP_LOCATION".to_owned(), programs.path().display().to_string());
        Ok(Environment { variables, _programs: programs })
    }

    /// This process's environment with the browser's own home. These systems find programs without `PATH`.
    #[cfg(not(all(unix, not(target_os = "macos"))))]
    pub(crate) fn of(settings: &BrowserSettings) -> Result<Environment, BridgeError> {
        Ok(Environment { variables: variables(settings) })
    }
}

fn variables(settings: &BrowserSettings) -> HashMap<String, String> {
    let own = std::env::vars_os();
    let mut variables: HashMap<String, String> =
        own.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect();
    if let Some(home) = &settings.home {
        variables.insert("HOME".to_owned(), home.display().to_string());
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            variables.remove(name);
        }
    }
    variables
}
