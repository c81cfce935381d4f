//! The browser, and playwright-mcp joined to it. A browser that is gone is started again for the next task.

use portcullis::guard::SystemEntropy;
use portcullis::signals::playwright::{Browser, BrowserSettings};
use portcullis::vault::Entropy;

use crate::gateway::GatewayError;
use crate::settings::UpstreamCommand;
use crate::upstream::Upstream;

/// How both are started, and both as they run.
pub struct Engine {
    settings: BrowserSettings,
    command: Option<UpstreamCommand>,
    browser: Browser,
    pub upstream: Option<Upstream>,
}

impl Engine {
    /// Starts the browser. playwright-mcp is started when it is needed first.
    pub async fn start(
        settings: BrowserSettings,
        command: Option<UpstreamCommand>,
    ) -> Result<Engine, GatewayError> {
        let (browser, upstream) = launch(&settings, command.as_ref()).await?;
        Ok(Engine { settings, command, browser, upstream })
    }

    /// Whether the browser is there. Where it was killed or crashed, so are its containers gone.
    pub fn is_there(&self) -> bool {
        self.browser.is_connected()
    }

    /// The browser, started again where it is gone. No task may be open then.
    pub async fn browser(&mut self) -> Result<&Browser, GatewayError> {
        if !self.is_there() {
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
    let (browser, way) = Browser::launch_shared(settings.clone(), &secret).await?;
    let upstream = Upstream::new(command.clone(), way);
    Ok((browser, Some(upstream.map_err(|error| GatewayError::Folder(error.to_string()))?)))
}
