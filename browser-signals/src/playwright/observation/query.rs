//! Elements by selector.

use serde_json::{Value, json};

use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;
use crate::playwright::tab::state::Located;
use crate::{ElementRef, Snapshot};

/// The ref of the element with the focus. No ref of a page's text has this form.
const FOCUSED: &str = "focused";

impl Tab {
    /// The ref of the one element of the top document that a CSS selector matches. It is valid until the next read or
    /// navigation.
    ///
    /// The browser's own engine reads the selector, in a world that the page cannot reach. Selectors can reveal more of a
    /// page than its text does: the caller decides whether that matters.
    ///
    /// # Errors
    /// [`BridgeError::Selector`] for an invalid selector, [`BridgeError::NotOne`] where it matches no element or several.
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
        let name = format!("s{first}");
        let located = Located { frame: top.id, document: top.document, node };
        self.state.update(|inner| inner.elements.insert(name.clone(), located));
        Ok(ElementRef(name))
    }

    /// The ref of the element with the focus, in whatever frame it is; `None` where no element has it. It is valid until the next
    /// call. In a closed shadow tree it is the tree's host.
    ///
    /// # Errors
    /// [`BridgeError::Stale`] where the page changed meanwhile.
    pub async fn focused(&self) -> Result<Option<ElementRef>, BridgeError> {
        let frames = self.state.frames().await?;
        let mut frame = frames.top()?;
        loop {
            let world = self.state.world(frame).await?;
            let found = self.state.ask(frame, &world, "focused", Vec::new()).await?;
            let number = found.get(0).and_then(Value::as_u64).unwrap_or_default();
            if number == 0 {
                return Ok(None);
            }
            let nodes = self.state.node_ids(frame, &world, &[number]).await?;
            let node = *nodes.get(&number).ok_or(BridgeError::Stale)?;
            if found.get(1) != Some(&Value::Bool(true)) {
                let located = Located { frame: frame.id.clone(), document: frame.document.clone(), node };
                self.state.update(|inner| inner.elements.insert(FOCUSED.to_owned(), located));
                return Ok(Some(ElementRef(FOCUSED.to_owned())));
            }
            let mut inner = None;
            for child in frames.0.iter().filter(|child| child.parent.as_ref() == Some(&frame.id)) {
                if self.owner_of(child, frame).await? == node {
                    inner = Some(child);
                }
            }
            frame = inner.ok_or(BridgeError::Stale)?;
        }
    }

    /// A CSS path for each control of an observed form, in their order. It names one element of its document; within a shadow
    /// tree it goes on after ` >> `. It is for people, and no way to address a control.
    ///
    /// # Errors
    /// [`BridgeError::Stale`] where the page changed after the observation.
    pub async fn paths(&self, page: &Snapshot) -> Result<Vec<String>, BridgeError> {
        let mut frames = self.state.frames().await?;
        self.state.identify(&mut frames, Some(&page.frame)).await?;
        let frame = frames.get(&page.frame)?;
        let world = self.state.world(frame).await?;
        let mut controls = Vec::with_capacity(page.controls.len());
        for control in &page.controls {
            controls.push(self.state.object(frame, &world, control.node).await?);
        }
        let paths = self.state.ask(frame, &world, "pathsOf", controls).await?;
        Ok(paths.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect())
    }
}
