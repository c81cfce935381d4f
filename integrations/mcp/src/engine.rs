//! The browser, and the playwright-mcp that shares it. A lost browser is started again for the next task.

use portcullis::guard::SystemEntropy;
use portcullis::signals::playwright::{Browser, BrowserSettings};
use portcullis::vault::Entropy;

use crate::settings::{GatewayError, UpstreamCommand};
use crate::upstream::Upstream;

/// The browser and playwright-mcp with their settings.
pub struct Engine {
    settings: BrowserSettings,
    command: Option<UpstreamCommand>,
    browser: Browser,
    pub upstream: Option<Upstream>,
}

impl Engine {
    /// Starts the browser. playwright-mcp starts at its first call.
    pub async fn start(
        settings: BrowserSettings,
        command: Option<UpstreamCommand>,
    ) -> Result<Engine, GatewayError> {
        let (browser, upstream) = launch(&settings, command.as_ref()).await?;
        Ok(Engine { settings, command, browser, upstream })
    }

    /// Returns true if the browser runs. The containers of a browser that was killed or crashed are lost.
    pub fn is_running(&self) -> bool {
        self.browser.is_connected()
    }

    /// The browser, which is started again if it is lost. No task may be open in that case.
    pub async fn browser(&mut self) -> Result<&Browser, GatewayError> {
        if !self.is_running() {
            if let Some(old) = self.upstream.take() {
                old.stop().await;
            }
            (self.browser, self.upstream) = launch(&self.settings, self.command.as_ref()).await?;
        }
        Ok(&self.browser)
    }

    /// Ends both.
    pub async fn stop(self) {
        if let Some(upstream) = self.upstream {
            upstream.stop().await;
        }
        self.browser.close().await;
    }
}

async fn launch(
    settings: &BrowserSettings,
    command: Option<&UpstreamCommand>,
) -> Result<(Browser, Option<Upstream>), GatewayError> {
    let Some(command) = command else { return Ok((Browser::launch(settings.clone()).await?, None)) };
    let mut secret = [0; 32];
    SystemEntropy.fill(&mut secret);
    let (browser, relay) = Browser::launch_shared(settings.clone(), &secret).await?;
    let upstream = Upstream::new(command.clone(), relay);
    Ok((browser, Some(upstream.map_err(|error| GatewayError::Folder(error.to_string()))?)))
}
