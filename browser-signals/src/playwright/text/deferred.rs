//! The contents of elements that the browser lays out only near the window (`content-visibility: auto`).
//!
//! A person who scrolls sees them, and nothing tells whether they are hidden in another way before they are laid out. So
//! the bridge has them laid out, by the inline style of the element.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::visible_texts;
use crate::playwright::error::BridgeError;
use crate::playwright::tab::frames::{Frame, Frames};
use crate::playwright::tab::state::TabState;
use crate::playwright::visibility::VisibleText;
use crate::{FrameId, NodeId};

/// How often elements are laid out for one read: such an element can hold others.
const MOST_ROUNDS: usize = 3;
/// The most elements of a page in a round. Text in others counts as invisible.
const MOST_ELEMENTS: usize = 500;
/// The time for all of it. A page can make each change of a style slow.
const MOST_TIME: Duration = Duration::from_secs(10);

/// Lays out the contents of an element. The style is that of the prototype, which a page cannot change in this world.
const LAY_OUT: &str = "function () {
  const style = Object.getOwnPropertyDescriptor(HTMLElement.prototype, 'style').get.call(this);
  CSSStyleDeclaration.prototype.setProperty.call(style, 'content-visibility', 'visible', 'important');
}";

impl TabState {
    /// The visible text of all documents, once no element of them defers its layout.
    pub(super) async fn lay_out(
        &self,
        frames: &Frames,
        mut visible: HashMap<FrameId, VisibleText>,
    ) -> Result<HashMap<FrameId, VisibleText>, BridgeError> {
        let end = tokio::time::Instant::now() + MOST_TIME;
        for _ in 0..MOST_ROUNDS {
            let deferred = |frame: &&Frame| visible.get(&frame.id).is_some_and(|it| !it.deferred.is_empty());
            let waiting: Vec<&Frame> = frames.0.iter().filter(deferred).collect();
            if waiting.is_empty() {
                break;
            }
            let mut left = MOST_ELEMENTS;
            let round = async {
                for frame in waiting {
                    let nodes = visible.get(&frame.id).map_or(&[][..], |it| it.deferred.as_slice());
                    let nodes = nodes.get(..left).unwrap_or(nodes);
                    left -= nodes.len();
                    self.lay_out_in(frame, nodes).await;
                }
            };
            let is_late = tokio::time::timeout_at(end, round).await.is_err();
            visible = visible_texts(frames).await?;
            if is_late {
                break;
            }
        }
        Ok(visible)
    }

    /// A frame or an element that is gone has no text to lay out.
    async fn lay_out_in(&self, frame: &Frame, nodes: &[NodeId]) {
        let Ok(world) = self.world(frame).await else { return };
        for node in nodes {
            let params = json!({ "backendNodeId": node.0, "executionContextId": world.context });
            let Ok(resolved) = frame.session.call("DOM.resolveNode", params).await else { continue };
            let Some(object) = resolved.pointer("/object/objectId").and_then(Value::as_str) else { continue };
            let params = json!({ "objectId": object, "functionDeclaration": LAY_OUT });
            if let Err(BridgeError::Timeout) = frame.session.call("Runtime.callFunctionOn", params).await {
                return;
            }
            let params = json!({ "objectId": object });
            let _may_be_gone = frame.session.call("Runtime.releaseObject", params).await;
        }
    }
}
