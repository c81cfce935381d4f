//! The browser. A lost one is started again for the next task.

use portcullis::signals::playwright::{Browser, BrowserSettings};

use crate::settings::GatewayError;

/// The browser with its settings.
pub struct Engine {
    settings: BrowserSettings,
    browser: Browser,
}

impl Engine {
    /// Starts the browser.
    pub async fn start(settings: BrowserSettings) -> Result<Engine, GatewayError> {
        let browser = Browser::launch_on_pipe(settings.clone()).await?;
        Ok(Engine { settings, browser })
    }

    /// Returns true if the browser runs. The containers of a browser that was killed or crashed are lost.
    pub fn is_running(&self) -> bool {
        self.browser.is_connected()
    }

    /// The browser, which is started again if it is lost. No task may be open in that case.
    pub async fn browser(&mut self) -> Result<&Browser, GatewayError> {
        if !self.is_running() {
            self.browser = Browser::launch_on_pipe(self.settings.clone()).await?;
        }
        Ok(&self.browser)
    }

    /// Ends it.
    pub async fn stop(self) {
        self.browser.close().await;
    }
}
