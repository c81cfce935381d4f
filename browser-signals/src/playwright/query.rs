//! Elements by selector.

use serde_json::{Value, json};

use super::tab::Located;
use super::{BridgeError, Tab};
use crate::ElementRef;

impl Tab {
    /// The one element of the top document that a CSS selector fits, as a handle, which is valid until the next read or
    /// navigation.
    ///
    /// The browser's own engine reads the selector, in a world that the page does not reach. Whoever may ask can learn by
    /// it what a page holds that no reading tells: the caller decides whether that matters.
    ///
    /// # Errors
    /// [`BridgeError::Selector`] for what is no selector, [`BridgeError::NotOne`] where it fits none or several.
    pub async fn query(&self, selector: &str) -> Result<ElementRef, BridgeError> {
        let frames = self.state.frames().await?;
        let top = frames.top()?.clone();
        let world = self.state.world(&top).await?;
        let asked = vec![json!({ "value": selector })];
        let found = match self.state.ask(&top, &world, "find", asked).await {
            Err(BridgeError::Protocol(_)) => return Err(BridgeError::Selector),
            other => other?,
        };
        let number = |index: usize| found.get(index).and_then(Value::as_u64).unwrap_or_default();
        let (count, first) = (number(0), number(1));
        if count != 1 {
            return Err(BridgeError::NotOne(count));
        }
        let nodes = self.state.node_ids(&top, &world, &[first]).await?;
        let node = *nodes.get(&first).ok_or(BridgeError::Stale)?;
        let handle = format!("s{first}");
        let located = Located { frame: top.id, document: top.document, node };
        self.state.update(|inner| inner.elements.insert(handle.clone(), located));
        Ok(ElementRef(handle))
    }
}
