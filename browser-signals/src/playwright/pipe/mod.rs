//! Chromium that the bridge starts itself and talks to over a pipe.
//!
//! No port is open that another process of this machine could use, and no other program needs to be installed. No other client
//! of the browser exists either: a page that opens stays paused until the bridge lets it run. Playwright's server lets each one run
//! at once, so only a container of such a browser can have further pages ([`Tab::let_pages_open`](super::Tab::let_pages_open)).
//!
//! | module | subject |
//! |---|---|
//! | `process` | the process, its arguments and its pipe |
//! | `connection` | commands and messages over the pipe |
//! | `window` | the guard's own window |

mod connection;
mod process;
pub(crate) mod window;

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::browser::Browser;
use super::browser::settings::BrowserSettings;
use super::error::BridgeError;
use super::tab::state::Link;
use process::{NOTHING, Process};

impl Browser {
    /// Starts Chromium on a pipe of the bridge's own, without Playwright and Node.
    ///
    /// # Errors
    /// As for [`Browser::launch`].
    pub async fn launch_on_pipe(settings: BrowserSettings) -> Result<Browser, BridgeError> {
        let process = Process::start(&settings, &NOTHING)?;
        let (commands, inbox) = mpsc::unbounded_channel();
        let link = Link::alone(commands, settings.tap.clone());
        let (ready, started) = oneshot::channel();
        let owner = Arc::clone(&link);
        // A separate thread, as with Playwright, so that events are handled in their order.
        std::thread::Builder::new()
            .name("browser-pipe".to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = match runtime {
                    Ok(runtime) => runtime,
                    Err(error) => return drop(ready.send(Err(BridgeError::Launch(error.to_string())))),
                };
                runtime.block_on(async move {
                    match process.open() {
                        Ok(open) => {
                            let _nobody_waits = ready.send(Ok(()));
                            connection::run(&owner, open, inbox).await;
                        }
                        Err(error) => drop(ready.send(Err(error))),
                    }
                });
            })
            .map_err(|error| BridgeError::Launch(error.to_string()))?;
        started.await.map_err(|_| BridgeError::Lost)??;
        let browser = Browser::over(link, settings);
        browser.listen().await?;
        Ok(browser)
    }
}
