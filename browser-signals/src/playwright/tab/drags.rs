//! Drags of the browser's own: a page begins one, and the browser leaves it to the guard to go on.

use serde_json::{Value, json};

use super::state::{Session, TabState};

/// A drag of the browser's own.
#[derive(Debug, Default)]
pub(crate) enum Drag {
    /// No action drags anything: a drag that begins is ended.
    #[default]
    Unwanted,
    /// An action lets the page begin one.
    Awaited,
    /// The page has begun it, with this data as the browser describes them.
    Begun(Value),
}

impl TabState {
    /// Takes the event of a drag that a page begins and the browser leaves to the guard.
    pub(crate) fn on_drag(&self, session: &Session, params: &Value) {
        let data = params.get("data").cloned().unwrap_or_default();
        let is_awaited = self.update(|inner| {
            let is_awaited = matches!(inner.drag, Drag::Awaited);
            if is_awaited {
                inner.drag = Drag::Begun(data.clone());
            }
            is_awaited
        });
        if !is_awaited {
            let nowhere = json!({ "type": "dragCancel", "x": 0, "y": 0, "data": data });
            session.post("Input.dispatchDragEvent", nowhere);
        }
    }
}
