//! A browser of the guard's own, for pages that the agent must not reach.
//!
//! It shares nothing with the agent's browser: it has a process of its own, a temporary profile for one window, and
//! a pipe that no other program holds. The address goes through that pipe, since every user of the machine can read a
//! command line.

use std::path::PathBuf;

use playwright_rs::api::IgnoreDefaultArgs;
use playwright_rs::protocol::{
    BrowserContext, BrowserContextOptions, CDPSession, GotoOptions, Page, Playwright, WaitUntil,
};
use serde_json::json;
use tokio::sync::{oneshot, watch};

use super::settings::BrowserSettings;
use crate::playwright::error::{BridgeError, LoadFailure};

/// How long the browser has to start, in milliseconds.
const START_WITHIN: f64 = 20_000.0;

/// Starts a window without tabs or an address bar. Its page is replaced at once.
const APP: &str = "--app=data:text/html,<title>Portcullis</title>";

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
        let mut arguments = BrowserSettings::new(&self.executable).arguments()?;
        arguments.extend([APP.to_owned(), "--window-size=640,760".to_owned()]);
        let options = BrowserContextOptions::builder()
            .executable_path(self.executable.display().to_string())
            .headless(self.headless)
            .chromium_sandbox(self.sandbox)
            .args(arguments)
            // It would show a bar about automated tests above the page.
            .ignore_default_args(IgnoreDefaultArgs::Array(vec!["--enable-automation".to_owned()]))
            .no_viewport(true)
            .timeout(START_WITHIN)
            .build();
        let (close, closing) = oneshot::channel();
        let (gone, closed) = watch::channel(());
        let (ready, started) = oneshot::channel();
        let address = address.to_owned();
        // A separate thread, so that the window also closes when it is dropped outside any runtime.
        std::thread::Builder::new()
            .name("own-window".to_owned())
            .spawn(move || match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(own(options, address, ready, closing, gone)),
                Err(error) => drop(ready.send(Err(BridgeError::Launch(error.to_string())))),
            })
            .map_err(|error| BridgeError::Launch(error.to_string()))?;
        started.await.map_err(|_| BridgeError::Lost)??;
        Ok(OwnWindow { closed, _close: close })
    }
}

/// A window in a browser of its own. Dropping it closes both.
pub struct OwnWindow {
    closed: watch::Receiver<()>,
    _close: oneshot::Sender<()>,
}

impl OwnWindow {
    /// Waits until the user has closed the window, or the browser is gone.
    pub async fn closed(&mut self) {
        // Nothing is ever sent: the loop ends when the sender is dropped.
        while self.closed.changed().await.is_ok() {}
    }
}

/// Whether there is a screen to show a window on.
fn has_display() -> bool {
    cfg!(not(all(unix, not(target_os = "macos"))))
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|it| !it.is_empty()))
}

/// Runs on the window's thread until the window is closed from either side.
async fn own(
    options: BrowserContextOptions,
    address: String,
    ready: oneshot::Sender<Result<(), BridgeError>>,
    mut closing: oneshot::Receiver<()>,
    gone: watch::Sender<()>,
) {
    use playwright_rs::Error;
    let playwright = match Playwright::launch().await {
        Ok(playwright) => playwright,
        Err(error) => {
            let error = match error {
                Error::ServerNotFound | Error::DriverMisconfigured(_) => {
                    BridgeError::NotInstalled(error.to_string())
                }
                other => BridgeError::Launch(other.to_string()),
            };
            let _nobody_waits = ready.send(Err(error));
            return;
        }
    };
    let shown = tokio::select! {
        shown = show(&playwright, options, &address) => shown,
        _ = &mut closing => Err(BridgeError::Lost),
    };
    match shown {
        Ok((context, mut closed)) => {
            let _nobody_waits = ready.send(Ok(()));
            tokio::select! {
                _ = closed.changed() => {}
                _ = &mut closing => {}
            }
            drop(gone);
            let _already_gone = context.close().await;
        }
        Err(error) => drop(ready.send(Err(error))),
    }
    let _already_gone = playwright.shutdown().await;
}

/// Starts the browser and opens the address in its window. The receiver changes when the window is closed.
async fn show(
    playwright: &Playwright,
    options: BrowserContextOptions,
    address: &str,
) -> Result<(BrowserContext, watch::Receiver<()>), BridgeError> {
    // With an empty name Playwright makes a temporary profile and removes it in the end.
    let context = playwright
        .chromium()
        .launch_persistent_context_with_options("", options)
        .await
        .map_err(|error| BridgeError::Launch(error.to_string()))?;
    let page = context.pages().into_iter().next().ok_or(BridgeError::Lost)?;
    let (sender, closed) = watch::channel(());
    let again = sender.clone();
    page.on_close(move || {
        let _nobody_waits = sender.send(());
        std::future::ready(Ok(()))
    })
    .await
    .map_err(|_| BridgeError::Lost)?;
    context
        .on_close(move || {
            let _nobody_waits = again.send(());
            std::future::ready(Ok(()))
        })
        .await
        .map_err(|_| BridgeError::Lost)?;
    let session = context.new_cdp_session(&page).await.map_err(|_| BridgeError::Lost)?;
    real_focus(&session).await?;
    navigate(&page, address).await?;
    // The new page may be in a new process, which starts with Playwright's setting.
    real_focus(&session).await?;
    Ok((context, closed))
}

async fn navigate(page: &Page, address: &str) -> Result<(), BridgeError> {
    let options = GotoOptions::new().wait_until(WaitUntil::Commit);
    page.goto(address, Some(options))
        .await
        .map(|_| ())
        .map_err(|_| BridgeError::Unreachable(LoadFailure::NoAnswer))
}

/// Switches off Playwright's emulation of the focus: the consent page needs to know whether it really has the focus.
async fn real_focus(session: &CDPSession) -> Result<(), BridgeError> {
    let method = "Emulation.setFocusEmulationEnabled";
    let sent = session.send(method, Some(json!({ "enabled": false }))).await;
    sent.map(|_| ()).map_err(|_| BridgeError::Protocol(method.to_owned()))
}
