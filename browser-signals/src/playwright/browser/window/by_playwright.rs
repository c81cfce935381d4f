//! The window by Playwright, where there is no pipe of the bridge's own.

use playwright_rs::api::IgnoreDefaultArgs;
use playwright_rs::protocol::{
    BrowserContext, BrowserContextOptions, CDPSession, GotoOptions, Page, Playwright, WaitUntil,
};
use serde_json::json;
use tokio::sync::{oneshot, watch};

use super::APP;
use crate::playwright::browser::START_WITHIN;
use crate::playwright::browser::settings::BrowserSettings;
use crate::playwright::error::{BridgeError, LoadFailure};

/// The window's thread. Dropping it closes the window.
pub(super) struct Shown {
    closed: watch::Receiver<()>,
    _close: oneshot::Sender<()>,
}

impl Shown {
    /// # Errors
    /// As for [`super::OwnBrowser::open`].
    pub(super) async fn open(settings: &BrowserSettings, address: &str) -> Result<Shown, BridgeError> {
        let mut arguments = settings.arguments()?;
        arguments.extend(APP.map(str::to_owned));
        let options = BrowserContextOptions::builder()
            .executable_path(settings.executable.display().to_string())
            .headless(settings.headless)
            .chromium_sandbox(settings.sandbox)
            .args(arguments)
            // It would show a bar about automated tests above the page.
            .ignore_default_args(IgnoreDefaultArgs::Array(vec!["--enable-automation".to_owned()]))
            .no_viewport(true)
            .timeout(START_WITHIN.as_millis() as f64)
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
        Ok(Shown { closed, _close: close })
    }

    pub(super) async fn closed(&mut self) {
        // Nothing is ever sent: the loop ends when the sender is dropped.
        while self.closed.changed().await.is_ok() {}
    }
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
