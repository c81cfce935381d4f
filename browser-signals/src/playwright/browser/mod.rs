//! The browser process.
//!
//! | module | subject |
//! |---|---|
//! | [`settings`] | how to start a browser, and which arguments are accepted |
//! | `by_playwright` | a browser by Playwright's server, with the feature `playwright-server` |
//! | `environment` | the environment of the process: no program that opens addresses |
//! | `throwaway` | folders that are removed even if their owner was killed |
//! | [`window`] | a browser of the guard's own, for pages that the agent must not reach |

#[cfg(feature = "playwright-server")]
mod by_playwright;
pub(crate) mod environment;
pub mod settings;
#[cfg(unix)]
pub(crate) mod throwaway;
pub mod window;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::oneshot;

use self::settings::BrowserSettings;
use super::cdp::session::BrowserCommand;
use super::error::BridgeError;
use super::network::proxy::ContainerProxy;
use super::tab::Tab;
use super::tab::state::Link;
use crate::{Container, Origin};

/// How long the browser has to start: a first start from a slow disk, or beside much else, takes tens of seconds.
pub(crate) const START_WITHIN: Duration = Duration::from_secs(60);

/// A running Chromium. Dropping it closes the browser.
pub struct Browser {
    link: Arc<Link>,
    settings: BrowserSettings,
}

impl Browser {
    /// The browser at the other end of a link.
    pub(crate) fn over(link: Arc<Link>, settings: BrowserSettings) -> Browser {
        Browser { link, settings }
    }

    /// Starts Chromium as the `portcullis` command does: on a pipe of the bridge's own where the system has one, otherwise by
    /// Playwright's server.
    ///
    /// # Errors
    #[cfg_attr(all(feature = "pipe", unix), doc = "As for [`Browser::launch_on_pipe`].")]
    #[cfg_attr(not(all(feature = "pipe", unix)), doc = "As for [`Browser::launch`].")]
    #[cfg(any(all(feature = "pipe", unix), feature = "playwright-server"))]
    pub async fn start(settings: BrowserSettings) -> Result<Browser, BridgeError> {
        #[cfg(all(feature = "pipe", unix))]
        return Browser::launch_on_pipe(settings).await;
        #[cfg(not(all(feature = "pipe", unix)))]
        Browser::launch(settings).await
    }

    /// Pauses every target and every request of the browser until the bridge knows which tab they belong to.
    pub(crate) async fn listen(&self) -> Result<(), BridgeError> {
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        // The first commands wait until the browser has started.
        self.link.call_within("Target.setAutoAttach", attach, START_WITHIN).await?;
        self.link.call_within("Fetch.enable", Link::patterns(false), START_WITHIN).await?;
        Ok(())
    }

    /// Opens a fresh browser context with one page. All of its egress goes through `proxy`: there is no other path, since
    /// Chromium itself resolves no name. `task_origins` are the only origins that the page may show in a container above
    /// [`Container::T0`].
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone, [`BridgeError::Protocol`] where it does not take the
    /// proxy: nothing is opened without it.
    pub async fn container_through(
        &self,
        proxy: &ContainerProxy,
        tier: Container,
        task_origins: &[Origin],
    ) -> Result<Tab, BridgeError> {
        Tab::create(&self.link, tier, task_origins, &self.settings, proxy).await
    }

    #[cfg(feature = "inspection")]
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// The settings that the browser was started with.
    pub fn settings(&self) -> &BrowserSettings {
        &self.settings
    }

    /// Whether the browser is still connected.
    pub fn is_connected(&self) -> bool {
        self.link.is_alive()
    }

    /// Closes the browser and waits until it is gone.
    pub async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.link.send(BrowserCommand::Close { done }).is_ok() {
            let _already_gone = closed.await;
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let (done, _) = oneshot::channel();
        let _already_gone = self.link.send(BrowserCommand::Close { done });
    }
}
