//! One browser for the bridge and a second program, such as playwright-mcp.
//!
//! The bridge starts Chromium itself and talks to it over a pipe: no port is open that another process of this machine
//! could use. The second program gets a web socket of the guard's own ([`endpoint`]), under an unguessable path. Behind
//! it, [`relay`] lets it see the page of one container and give the commands that reading a page needs ([`allowed`]).
//!
//! | module | subject |
//! |---|---|
//! | `process` | Chromium on a pipe |
//! | `hub` | messages of the bridge and of the second program over the one pipe |
//! | `outbox` | the commands that were sent, and the recipients of their results |
//! | `relay` | the messages to and from the second program |
//! | `allowed` | the commands that it may give |
//! | `endpoint` | the web socket |

mod allowed;
mod endpoint;
mod hub;
mod outbox;
mod process;
mod relay;

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use zeroize::Zeroizing;

use super::browser::Browser;
use super::browser::settings::BrowserSettings;
use super::error::BridgeError;
use super::tab::Tab;
use super::tab::state::Link;
use hub::Hub;
use process::Process;
use relay::RelayEvent;

/// The access of a second program to the page of one container.
pub struct SecondProgram {
    events: mpsc::UnboundedSender<RelayEvent>,
    address: Zeroizing<String>,
}

impl SecondProgram {
    /// The address of the web socket. It gives access to the page with all values in it: it goes to the second program in
    /// its environment, never on a command line, and is never logged.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The port of the web socket on 127.0.0.1.
    pub fn port(&self) -> Option<u16> {
        let host = self.address.strip_prefix("ws://")?.split('/').next()?;
        host.rsplit(':').next()?.parse().ok()
    }

    /// A text of the second program's with the address, or its secret part alone, removed.
    pub fn without_address(&self, text: &str) -> String {
        let secret = self.address.rsplit('/').next().unwrap_or_default();
        text.replace(self.address.as_str(), "(the browser)").replace(secret, "(withheld)")
    }

    /// Shows the page of this container to the second program, and no other.
    pub fn follow(&self, tab: &Tab) {
        if let Ok(page) = tab.state.page() {
            let _gone = self.events.send(RelayEvent::Follow { target: page.target.clone() });
        }
    }

    /// Shows it no page any more.
    pub fn leave(&self) {
        let _gone = self.events.send(RelayEvent::Leave);
    }
}

impl Browser {
    /// Starts Chromium on a pipe of the bridge's own, with access for a second program. `secret` is 32 fresh random bytes:
    /// the path of the web socket is made from them.
    ///
    /// # Errors
    /// As for [`Browser::launch`].
    pub async fn launch_shared(
        settings: BrowserSettings,
        secret: &[u8; 32],
    ) -> Result<(Browser, SecondProgram), BridgeError> {
        let process = Process::start(&settings)?;
        let (commands, inbox) = mpsc::unbounded_channel();
        let (relayed, from_relay) = mpsc::unbounded_channel();
        let link = Link::new(commands, settings.tap.clone());
        let (ready, started) = oneshot::channel();
        let (owner, to_hub, path) = (Arc::clone(&link), relayed.clone(), endpoint::path(secret));
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
                    let bound = match endpoint::listen(path, to_hub).await {
                        Ok(bound) => bound,
                        Err(error) => return drop(ready.send(Err(BridgeError::Launch(error.to_string())))),
                    };
                    match process.open() {
                        Ok(open) => {
                            let _nobody_waits = ready.send(Ok(bound));
                            Hub::new(owner).run(open, inbox, from_relay).await;
                        }
                        Err(error) => drop(ready.send(Err(error))),
                    }
                });
            })
            .map_err(|error| BridgeError::Launch(error.to_string()))?;
        let address = started.await.map_err(|_| BridgeError::Lost)??;
        let browser = Browser::over(link, settings);
        browser.listen().await?;
        Ok((browser, SecondProgram { events: relayed, address }))
    }
}
