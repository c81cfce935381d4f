//! The boxes of elements in the window.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;
use crate::playwright::tab::frames::{Frame, Frames};
use crate::{ElementRef, FrameId, NodeId};

/// The box of an element with its border, in CSS pixels from the upper left corner of the page's window. It may be outside of the
/// window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElementBox {
    /// The left side.
    pub x: f64,
    /// The upper side.
    pub y: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

impl ElementBox {
    /// The smallest upright box around a quadrilateral of `DOM.getBoxModel`, such as `border`.
    pub(super) fn around(model: &Value, quad: &str) -> Option<ElementBox> {
        let corners = model.get("model")?.get(quad)?.as_array()?;
        let corners: Vec<f64> =
            corners.iter().filter_map(Value::as_f64).filter(|it| it.is_finite()).collect();
        let along = |axis: usize| corners.iter().skip(axis).step_by(2).copied();
        let least = |axis| along(axis).fold(f64::INFINITY, f64::min);
        let most = |axis| along(axis).fold(f64::NEG_INFINITY, f64::max);
        let found =
            ElementBox { x: least(0), y: least(1), width: most(0) - least(0), height: most(1) - least(1) };
        (corners.len() == 8).then_some(found)
    }
}

impl Tab {
    /// The boxes of the elements that the last read gave a ref, in whatever frame they are. An element that is not drawn has none.
    ///
    /// The widths of words that are masked tell of their length: the caller decides whether that matters.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the page is gone.
    pub async fn boxes(&self) -> Result<HashMap<ElementRef, ElementBox>, BridgeError> {
        let frames = self.state.frames().await?;
        let elements = self.state.inner().elements.clone();
        let mut calls = tokio::task::JoinSet::new();
        for (name, located) in elements {
            let frame = frames.get(&located.frame).ok().filter(|frame| frame.document == located.document);
            let Some(session) = frame.map(|frame| Arc::clone(&frame.session)) else { continue };
            calls.spawn(async move {
                let asked = json!({ "backendNodeId": located.node.0 });
                let drawn = session.call("DOM.getBoxModel", asked).await.ok()?;
                Some((ElementRef(name), located.frame, ElementBox::around(&drawn, "border")?))
            });
        }
        let found = calls.join_all().await;
        let mut corners: HashMap<FrameId, Option<(f64, f64)>> = HashMap::new();
        let mut boxes = HashMap::new();
        for (element, frame, mut found) in found.into_iter().flatten() {
            let corner = match corners.get(&frame) {
                Some(corner) => *corner,
                None => {
                    let corner = self.corner_of(frames.get(&frame)?, &frames).await;
                    *corners.entry(frame).or_insert(corner)
                }
            };
            let Some((x, y)) = corner else { continue };
            (found.x, found.y) = (found.x + x, found.y + y);
            boxes.insert(element, found);
        }
        Ok(boxes)
    }

    /// The upper left corner, in the page's window, from which the browser counts in a frame: of the frame itself where it has a
    /// process of its own, or else of the nearest frame around it that has one.
    async fn corner_of(&self, frame: &Frame, frames: &Frames) -> Option<(f64, f64)> {
        let (mut inner, mut corner) = (frame, (0.0, 0.0));
        for outer in frames.ancestors(frame)? {
            if outer.session.id != inner.session.id {
                let NodeId(owner) = self.owner_of(inner, outer).await.ok()?;
                let drawn =
                    outer.session.call("DOM.getBoxModel", json!({ "backendNodeId": owner })).await.ok()?;
                let content = ElementBox::around(&drawn, "content")?;
                corner = (corner.0 + content.x, corner.1 + content.y);
            }
            inner = outer;
        }
        Some(corner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_around_all_corners() {
        let model = |corners: Value| json!({ "model": { "border": corners } });
        let turned = model(json!([10, 20, 60, 0, 110, 20, 60, 40]));
        let around = ElementBox { x: 10.0, y: 0.0, width: 100.0, height: 40.0 };
        assert_eq!(ElementBox::around(&turned, "border"), Some(around));
        for nothing in [model(json!([])), model(json!([0, 0, 9, 0])), json!({})] {
            assert_eq!(ElementBox::around(&nothing, "border"), None);
        }
    }
}
