//! Whole documents, for leak searches in tests.

use super::{BridgeError, Tab};

impl Tab {
    /// The markup of every frame with everything its controls hold. It is for tests that search for leaked
    /// values; a program must not show it to anybody.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the page is gone.
    pub async fn html_for_canary_search(&self) -> Result<String, BridgeError> {
        let frames = self.state.frames().await?;
        let mut all = String::new();
        for frame in &frames.0 {
            let world = match self.state.world(frame).await {
                Ok(world) => world,
                Err(BridgeError::Stale) => continue,
                Err(error) => return Err(error),
            };
            let html = self.state.ask(frame, &world, "html", Vec::new()).await?;
            all.push_str(html.as_str().unwrap_or_default());
            all.push('\n');
        }
        Ok(all)
    }
}
