//! A browser by Playwright's server, and the thread that owns the connection to it.

use std::sync::Arc;

use playwright_rs::api::LaunchOptions;
use playwright_rs::protocol::{Browser as Process, CDPSession, Playwright};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::Browser;
use super::environment::Environment;
use super::settings::BrowserSettings;
use crate::playwright::cdp::session::BrowserCommand;
use crate::playwright::error::BridgeError;
use crate::playwright::tab::state::Link;

/// The events of the browser's own session that the bridge subscribes to.
const ROOT_EVENTS: [&str; 6] = [
    "Fetch.requestPaused",
    "Target.receivedMessageFromTarget",
    "Target.attachedToTarget",
    "Target.detachedFromTarget",
    "Browser.downloadWillBegin",
    "Browser.downloadProgress",
];

impl Browser {
    /// Starts Playwright's server and Chromium.
    ///
    /// ```no_run
    /// use browser_signals::playwright::{Browser, BrowserSettings, ContainerProxy};
    /// use browser_signals::Container;
    ///
    /// # async fn example(proxy: &ContainerProxy) -> Result<(), browser_signals::playwright::BridgeError> {
    /// let browser = Browser::launch(BrowserSettings::new("/usr/bin/chromium")).await?;
    /// let tab = browser.container_through(proxy, Container::T0, &[]).await?;
    /// tab.open(&"https://shop.example/".parse().expect("an address")).await?;
    /// tab.close().await;
    /// browser.close().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`BridgeError::NotInstalled`] where a part is missing, [`BridgeError::Argument`] for an argument that
    /// weakens the browser, [`BridgeError::Launch`] where it does not start.
    pub async fn launch(settings: BrowserSettings) -> Result<Browser, BridgeError> {
        let arguments = settings.arguments()?;
        if !settings.executable.exists() {
            return Err(BridgeError::NotInstalled(format!(
                "no Chromium at {}",
                settings.executable.display()
            )));
        }
        let environment = Environment::of(&settings)?;
        let options = launch_options(&settings, arguments, &environment);
        let (commands, inbox) = mpsc::unbounded_channel();
        let link = Link::beside_playwright(commands, settings.tap.clone());
        let (ready, started) = oneshot::channel();
        let owner = Arc::clone(&link);
        // Playwright spawns a task for each event. On a runtime of one thread they start in the order of the
        // events; on the caller's runtime they could overtake each other.
        std::thread::Builder::new()
            .name("browser-bridge".to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                match runtime {
                    Ok(runtime) => runtime.block_on(own(options, owner, inbox, ready)),
                    Err(error) => drop(ready.send(Err(BridgeError::Launch(error.to_string())))),
                }
                drop(environment);
            })
            .map_err(|error| BridgeError::Launch(error.to_string()))?;
        started.await.map_err(|_| BridgeError::Lost)??;
        let browser = Browser::over(link, settings);
        browser.listen().await?;
        Ok(browser)
    }
}

fn launch_options(
    settings: &BrowserSettings,
    arguments: Vec<String>,
    environment: &Environment,
) -> LaunchOptions {
    LaunchOptions::new()
        .executable_path(settings.executable.display().to_string())
        .headless(settings.headless)
        .chromium_sandbox(settings.sandbox)
        .args(arguments)
        .env(environment.variables.clone())
        .handle_sigint(false)
}

/// Runs on the bridge's thread until the browser is closed or lost.
async fn own(
    options: LaunchOptions,
    link: Arc<Link>,
    mut inbox: mpsc::UnboundedReceiver<BrowserCommand>,
    ready: oneshot::Sender<Result<(), BridgeError>>,
) {
    let (playwright, process, session) = match start(options, &link).await {
        Ok(parts) => parts,
        Err(error) => {
            link.lost();
            let _nobody_waits = ready.send(Err(error));
            return;
        }
    };
    let _nobody_waits = ready.send(Ok(()));
    let mut closed = None;
    while let Some(command) = inbox.recv().await {
        match command {
            BrowserCommand::Send { method, params, reply } => {
                if !process.is_connected() {
                    break;
                }
                let session = session.clone();
                tokio::spawn(async move {
                    let answer = send(&session, &method, params).await;
                    if let Some(reply) = reply {
                        let _nobody_waits = reply.send(answer);
                    }
                });
            }
            BrowserCommand::Close { done } => {
                closed = Some(done);
                break;
            }
        }
    }
    link.lost();
    let _already_gone = process.close().await;
    let _already_gone = playwright.shutdown().await;
    if let Some(done) = closed {
        let _nobody_waits = done.send(());
    }
}

async fn start(
    options: LaunchOptions,
    link: &Arc<Link>,
) -> Result<(Playwright, Process, CDPSession), BridgeError> {
    use playwright_rs::Error;
    let playwright = Playwright::launch().await.map_err(|error| match error {
        Error::ServerNotFound | Error::DriverMisconfigured(_) => BridgeError::NotInstalled(error.to_string()),
        other => BridgeError::Launch(other.to_string()),
    })?;
    let failed = |error: Error| BridgeError::Launch(error.to_string());
    let process = playwright.chromium().launch_with_options(options).await.map_err(failed)?;
    let session = process.new_browser_cdp_session().await.map_err(failed)?;
    for event in ROOT_EVENTS {
        let link = Arc::clone(link);
        session.on(event, move |params: Value| {
            link.on_root_event(event, &params);
            std::future::ready(Ok(()))
        });
    }
    let lost = Arc::clone(link);
    process
        .on_disconnected(move || {
            lost.lost();
            std::future::ready(Ok(()))
        })
        .await
        .map_err(failed)?;
    let lost = Arc::clone(link);
    session.on_close(move || {
        lost.lost();
        std::future::ready(Ok(()))
    });
    Ok((playwright, process, session))
}

async fn send(session: &CDPSession, method: &str, params: Value) -> Result<Value, BridgeError> {
    match session.send(method, Some(params)).await {
        // Playwright wraps the result once.
        Ok(Value::Object(mut answer)) => Ok(answer.remove("result").unwrap_or(Value::Object(answer))),
        Ok(other) => Ok(other),
        Err(_) => Err(BridgeError::Protocol(method.to_owned())),
    }
}
