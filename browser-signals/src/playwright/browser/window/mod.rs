//! A browser of the guard's own, for pages that the agent must not reach.
//!
//! It shares nothing with the agent's browser: it has a process of its own, a temporary profile for one window, and
//! a pipe that no other program holds. The address goes through that pipe, since every user of the machine can read a
//! command line.

#[cfg(not(all(feature = "pipe", unix)))]
mod by_playwright;

use std::path::PathBuf;

#[cfg(not(all(feature = "pipe", unix)))]
use self::by_playwright::Shown;
use super::settings::BrowserSettings;
use crate::playwright::error::BridgeError;
#[cfg(all(feature = "pipe", unix))]
use crate::playwright::pipe::window::Shown;

/// A window without tabs or an address bar, and its size. Its page is replaced at once. Without the last argument the browser warns, in
/// a bar above the page, of the arguments by which it resolves no name.
pub(crate) const APP: [&str; 3] =
    ["--app=data:text/html,<title>Portcullis</title>", "--window-size=640,760", "--test-type"];

/// Opens windows in a browser of its own.
#[derive(Debug, Clone)]
pub struct OwnBrowser {
    executable: PathBuf,
    sandbox: bool,
    headless: bool,
}

impl OwnBrowser {
    /// Uses this Chromium.
    ///
    /// ```no_run
    /// use browser_signals::playwright::OwnBrowser;
    ///
    /// # async fn example(address: &str) -> Result<(), browser_signals::playwright::BridgeError> {
    /// let mut window = OwnBrowser::new("/usr/bin/chromium")?.open(address).await?;
    /// window.closed().await;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`BridgeError::NoDisplay`] where no window can be shown, [`BridgeError::NotInstalled`] where there is no
    /// such Chromium.
    pub fn new(executable: impl Into<PathBuf>) -> Result<OwnBrowser, BridgeError> {
        if !has_display() {
            return Err(BridgeError::NoDisplay);
        }
        OwnBrowser::installed(executable.into(), false)
    }

    /// Uses this Chromium without a window, for tests.
    ///
    /// # Errors
    /// [`BridgeError::NotInstalled`] where there is no such Chromium.
    #[cfg(feature = "inspection")]
    pub fn headless(executable: impl Into<PathBuf>) -> Result<OwnBrowser, BridgeError> {
        OwnBrowser::installed(executable.into(), true)
    }

    fn installed(executable: PathBuf, headless: bool) -> Result<OwnBrowser, BridgeError> {
        if !executable.exists() {
            return Err(BridgeError::NotInstalled(format!("no Chromium at {}", executable.display())));
        }
        Ok(OwnBrowser { executable, sandbox: true, headless })
    }

    /// Switches Chromium's own sandbox off. It cannot be on when running as root.
    #[must_use]
    pub fn without_sandbox(mut self) -> OwnBrowser {
        self.sandbox = false;
        self
    }

    /// Opens a window that shows this address.
    ///
    /// # Errors
    /// [`BridgeError::Launch`] where the browser does not start, [`BridgeError::Unreachable`] where it cannot load
    /// the address. No message holds the address.
    pub async fn open(&self, address: &str) -> Result<OwnWindow, BridgeError> {
        let mut settings = BrowserSettings::new(&self.executable);
        settings.sandbox = self.sandbox;
        settings.headless = self.headless;
        Shown::open(&settings, address).await.map(OwnWindow)
    }
}

/// A window in a browser of its own. Dropping it closes both.
pub struct OwnWindow(Shown);

impl OwnWindow {
    /// Waits until the user has closed the window, or the browser is gone.
    pub async fn closed(&mut self) {
        self.0.closed().await;
    }
}

/// Whether there is a screen to show a window on.
fn has_display() -> bool {
    cfg!(not(all(unix, not(target_os = "macos"))))
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|it| !it.is_empty()))
}
