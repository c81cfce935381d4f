//! Checks of the page around a frame. That page can hide or cover the frame, and the frame's own document cannot see it.

use serde_json::{Value, json};

use crate::playwright::error::BridgeError;
use crate::playwright::tab::frames::{Frame, Frames};
use crate::playwright::tab::state::TabState;
use crate::{Control, Fact, NodeId};

/// Whether the element of a frame is drawn, and nothing lies over it, as the page around it reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cover {
    visible: Fact<bool>,
    hit: Fact<bool>,
}

impl Cover {
    /// That of a top document, which no page is around.
    pub(crate) const NONE: Cover = Cover { visible: Fact::Known(true), hit: Fact::Known(true) };

    /// Takes from a control's own facts what does not hold of its frame.
    pub(crate) fn lay_over(self, control: &mut Control) {
        control.visible = worse(control.visible, self.visible);
        control.hit = worse(control.hit, self.hit);
    }
}

/// The worse of two facts: no, then unknown, then yes.
fn worse(one: Fact<bool>, other: Fact<bool>) -> Fact<bool> {
    match (one, other) {
        (Fact::Known(false), _) | (_, Fact::Known(false)) => Fact::Known(false),
        (Fact::Known(true), Fact::Known(true)) => Fact::Known(true),
        _ => Fact::Unknown,
    }
}

impl TabState {
    /// The cover of a frame that is a child of the top document. Frames further down have their own facts alone.
    pub(crate) async fn cover(&self, frames: &Frames, frame: &Frame) -> Result<Cover, BridgeError> {
        let Some(parent) = &frame.parent else { return Ok(Cover::NONE) };
        let top = frames.top()?;
        if top.id != *parent {
            return Ok(Cover::NONE);
        }
        let owner = top.session.call("DOM.getFrameOwner", json!({ "frameId": frame.id.as_str() })).await;
        let owner = owner.map_err(|error| match error {
            // The frame just went away.
            BridgeError::Protocol(_) => BridgeError::Stale,
            error => error,
        })?;
        let node = owner.get("backendNodeId").and_then(Value::as_i64).ok_or(BridgeError::Stale)?;
        let world = self.world(top).await?;
        let element = self.object(top, &world, NodeId(node)).await?;
        let facts = self.ask(top, &world, "coverOf", vec![element]).await?;
        let flag = |name: &str| facts.get(name).and_then(Value::as_bool).into();
        Ok(Cover { visible: flag("visible"), hit: flag("hit") })
    }

    /// Whether a frame can be seen whole.
    pub(crate) async fn is_uncovered(&self, frames: &Frames, frame: &Frame) -> Result<bool, BridgeError> {
        Ok(self.cover(frames, frame).await? == Cover::NONE)
    }
}
