//! One browser for the bridge and a second program, such as playwright-mcp.
//!
//! The bridge starts Chromium itself and talks to it over a pipe: no port is open that another process of this machine
//! could use. The second program gets a web socket of the guard's own ([`endpoint`]), under a path that nobody can guess,
//! and behind it [`relay`], which lets it see the page of one container and do there what looking takes ([`allowed`]).
//!
//! | module | subject |
//! |---|---|
//! | `process` | Chromium on a pipe |
//! | `hub` | messages of the bridge and of the second program over the one pipe |
//! | `relay` | what is said to the second program, and by it |
//! | `allowed` | the commands that it may give |
//! | `endpoint` | the web socket |

mod allowed;
mod endpoint;
mod hub;
mod process;
mod relay;

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use zeroize::Zeroizing;

use super::launch::Browser;
use super::session::Link;
use super::{BridgeError, BrowserSettings, Tab};
use hub::Hub;
use process::Process;
use relay::Relayed;

/// The way of a second program to the page of one container.
pub struct SecondProgram {
    orders: mpsc::UnboundedSender<Relayed>,
    address: Zeroizing<String>,
}

impl SecondProgram {
    /// The address of the web socket. Whoever has it sees the page, values and all: it goes to the second program in its
    /// environment, never on a command line, and is never logged.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// A text of the second program's without the address, whole or its secret part alone.
    pub fn without_address(&self, text: &str) -> String {
        let secret = self.address.rsplit('/').next().unwrap_or_default();
        text.replace(self.address.as_str(), "(the browser)").replace(secret, "(withheld)")
    }

    /// Shows the page of this container to the second program, and no other.
    pub fn follow(&self, tab: &Tab) {
        if let Ok(page) = tab.state.page() {
            let _gone = self.orders.send(Relayed::Follow { target: page.target.clone() });
        }
    }

    /// Shows no page any more.
    pub fn leave(&self) {
        let _gone = self.orders.send(Relayed::Leave);
    }
}

impl Browser {
    /// Starts Chromium on a pipe of the bridge's own, with a way for a second program. `secret` is 32 fresh random bytes:
    /// the path of the web socket is made from them.
    ///
    /// # Errors
    /// As for [`Browser::launch`].
    pub async fn launch_shared(
        settings: BrowserSettings,
        secret: &[u8; 32],
    ) -> Result<(Browser, SecondProgram), BridgeError> {
        let process = Process::start(&settings)?;
        let (orders, inbox) = mpsc::unbounded_channel();
        let (relayed, from_relay) = mpsc::unbounded_channel();
        let link = Link::new(orders, settings.tap.clone());
        let (ready, started) = oneshot::channel();
        let (owner, to_hub, path) = (Arc::clone(&link), relayed.clone(), endpoint::path(secret));
        // A thread of its own, for the same reason as with Playwright: events are taken in the order in which they came.
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
        Ok((browser, SecondProgram { orders: relayed, address }))
    }
}
