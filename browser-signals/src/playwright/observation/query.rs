//! Elements by selector, by the focus, and by a point of the window.

use serde_json::{Value, json};

use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;
use crate::playwright::tab::frames::{Frame, Frames};
use crate::playwright::tab::state::Located;
use crate::{ElementRef, NodeId, PlaceInElement, Snapshot};

/// The ref of the element with the focus. No ref of a page's text has this form.
const FOCUSED: &str = "focused";

/// The ref of the element at a point of the window. No ref of a page's text has this form.
const POINTED: &str = "pointed";

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
        Ok(self.keep(&format!("s{first}"), &top, node))
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
                return Ok(Some(self.keep(FOCUSED, frame, node)));
            }
            frame = self.held_by(node, frame, &frames).await?.ok_or(BridgeError::Stale)?;
        }
    }

    /// The ref of the innermost element at a point of the window, in whatever frame it is, and the point as seen from the upper left
    /// corner of its box. The ref is valid until the next call. In a closed shadow tree the element is the tree's host.
    ///
    /// # Errors
    /// [`BridgeError::NotOne`] where the point is outside of the window, [`BridgeError::Stale`] where the page changed meanwhile.
    pub async fn element_at(&self, x: f64, y: f64) -> Result<(ElementRef, PlaceInElement), BridgeError> {
        let frames = self.state.frames().await?;
        let mut frame = frames.top()?;
        let (mut x, mut y) = (x, y);
        loop {
            let world = self.state.world(frame).await?;
            let point = vec![json!({ "value": x }), json!({ "value": y })];
            let found = self.state.ask(frame, &world, "pointed", point).await?;
            let number = found.get(0).and_then(Value::as_u64).filter(|number| *number > 0);
            let number = number.ok_or(BridgeError::NotOne(0))?;
            let part = |index: usize| found.get(index).and_then(Value::as_f64).ok_or(BridgeError::Stale);
            (x, y) = (part(2)?, part(3)?);
            let nodes = self.state.node_ids(frame, &world, &[number]).await?;
            let node = *nodes.get(&number).ok_or(BridgeError::Stale)?;
            let held = match found.get(1) {
                Some(Value::Bool(true)) => self.held_by(node, frame, &frames).await?,
                _ => None,
            };
            match held {
                Some(held) => frame = held,
                None => {
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "a point of the window, or the nearest whole number"
                    )]
                    let place = PlaceInElement { x: x.round() as i32, y: y.round() as i32 };
                    return Ok((self.keep(POINTED, frame, node), place));
                }
            }
        }
    }

    /// Keeps an element under a ref.
    fn keep(&self, name: &str, frame: &Frame, node: NodeId) -> ElementRef {
        let located = Located { frame: frame.id.clone(), document: frame.document.clone(), node };
        self.state.update(|inner| inner.elements.insert(name.to_owned(), located));
        ElementRef(name.to_owned())
    }

    /// The frame that an element of `outer` holds.
    async fn held_by<'a>(
        &self,
        node: NodeId,
        outer: &Frame,
        frames: &'a Frames,
    ) -> Result<Option<&'a Frame>, BridgeError> {
        for child in frames.0.iter().filter(|child| child.parent.as_ref() == Some(&outer.id)) {
            if self.owner_of(child, outer).await? == node {
                return Ok(Some(child));
            }
        }
        Ok(None)
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
