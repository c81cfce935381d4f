//! Dragging an element onto another one.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Aimed, call_each, hit_point};
use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;
use crate::playwright::tab::drags::Drag;
use crate::{ElementRef, Observed, Snapshot};

/// How long the browser may take to say what a page has begun to drag.
const PATIENCE: Duration = Duration::from_secs(10);

/// The steps in which the mouse moves. Pages begin a drag after some pixels, and look for its place at each step.
const STEPS: u8 = 6;

impl Tab {
    /// Drags an element onto another one of the same document, with the browser's own mouse events: centre to centre. Where the
    /// page has the browser drag, as for a link or an element that is `draggable`, it gets the browser's events of a drag, with
    /// the data that it put in itself, and the drop where it takes one. No click follows, no dragged address is opened, and nothing
    /// is dragged from or into a control that takes text.
    ///
    /// # Errors
    /// As for [`Tab::click`]; [`BridgeError::NotApplicable`] where the elements are of two documents, or one takes text.
    pub async fn drag(
        &self,
        target: &ElementRef,
        onto: &ElementRef,
        decided: &Observed<Snapshot>,
    ) -> Result<(), BridgeError> {
        let place = self.state.located(onto)?;
        let aimed = self.aim(target, decided).await?;
        if (&place.frame, &place.document) != (&aimed.located.frame, &aimed.located.document) {
            return Err(BridgeError::NotApplicable);
        }
        let others = self.others(&aimed).await?;
        let (node, place) = tokio::try_join!(
            self.state.object(&aimed.frame, &aimed.world, aimed.located.node),
            self.state.object(&aimed.frame, &aimed.world, place.node),
        )?;
        let navigations = self.begin();
        let at = self.state.ask(&aimed.frame, &aimed.world, "grip", vec![node, place]).await?;
        let dragged = async {
            let (from, to) = self.ends_of(&aimed, &at).await?;
            call_each(&others, &self.state, "ward").await?;
            self.move_between(&aimed, from, to).await
        };
        // The listeners are removed also after an error: the next click may be the user's.
        let dragged: Result<(), BridgeError> = dragged.await;
        let ended = self.state.ask(&aimed.frame, &aimed.world, "ended", Vec::new()).await.unwrap_or_default();
        let elsewhere = call_each(&others, &self.state, "unwatch").await;
        dragged?;
        self.settle(navigations).await?;
        self.check_arrival()?;
        if ended.get("strayed") == Some(&Value::Bool(true)) || elsewhere != Ok(false) {
            return Err(BridgeError::Occluded);
        }
        Ok(())
    }

    /// The two points in the page's viewport. A frame that cannot show both at once shows neither.
    async fn ends_of(&self, aimed: &Aimed, at: &Value) -> Result<((f64, f64), (f64, f64)), BridgeError> {
        if at.get("gone").is_some() {
            return Err(BridgeError::Stale);
        }
        if at.get("unfit").is_some() {
            return Err(BridgeError::NotApplicable);
        }
        let point = |name: &str| hit_point(at.get(name).unwrap_or(&Value::Null));
        let (from, to) = (point("from")?, point("to")?);
        self.outwards(aimed, from).await?;
        let end = self.outwards(aimed, to).await?;
        let start = self.outwards(aimed, from).await?;
        if self.outwards(aimed, to).await? != end {
            return Err(BridgeError::Occluded);
        }
        Ok((start, end))
    }

    /// Presses at one point and lets go at the other.
    async fn move_between(&self, aimed: &Aimed, from: (f64, f64), to: (f64, f64)) -> Result<(), BridgeError> {
        let page = self.state.page()?;
        let mouse = |kind: &str, (x, y): (f64, f64), buttons: u8| {
            let button = if kind == "mouseMoved" && buttons == 0 { "none" } else { "left" };
            let count = u8::from(kind != "mouseMoved");
            let event = json!({
                "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": count,
            });
            page.call("Input.dispatchMouseEvent", event)
        };
        self.state.inner().drag = Drag::Awaited;
        page.call("Input.setInterceptDrags", json!({ "enabled": true })).await?;
        let moved = async {
            mouse("mouseMoved", from, 0).await?;
            mouse("mousePressed", from, 1).await?;
            for step in 1..=STEPS {
                let part = f64::from(step) / f64::from(STEPS);
                let at = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
                mouse("mouseMoved", at, 1).await?;
                if let Some(data) = self.taken_by_the_browser(aimed).await? {
                    return self.drop_at(aimed, to, data).await;
                }
            }
            mouse("mouseReleased", to, 0).await?;
            Ok(())
        };
        let moved: Result<(), BridgeError> = moved.await;
        if moved.is_err() {
            let _the_button_goes_up_anyway = mouse("mouseReleased", from, 0).await;
        }
        self.state.inner().drag = Drag::Unwanted;
        // A dialog in the page's handler may let the drag begin only after this. It must not be the next action that drops it.
        if moved.is_ok() {
            page.post("Input.setInterceptDrags", json!({ "enabled": false }));
        }
        moved
    }

    /// The thing that the browser drags itself, once the page has let it begin.
    async fn taken_by_the_browser(&self, aimed: &Aimed) -> Result<Option<Value>, BridgeError> {
        let begun = self.state.ask(&aimed.frame, &aimed.world, "isDragging", Vec::new()).await?;
        if begun != Value::Bool(true) {
            return Ok(None);
        }
        self.state.wait_until(PATIENCE, |inner| matches!(inner.drag, Drag::Begun(_))).await?;
        Ok(match std::mem::take(&mut self.state.inner().drag) {
            Drag::Begun(data) => Some(data),
            Drag::Unwanted | Drag::Awaited => None,
        })
    }

    /// Moves the thing that the browser drags to a point. It is dropped there if the page takes it, as from a person; what the
    /// browser itself would do with it was not decided.
    async fn drop_at(&self, aimed: &Aimed, (x, y): (f64, f64), data: Value) -> Result<(), BridgeError> {
        let page = self.state.page()?;
        let drag = |kind: &str| {
            page.call("Input.dispatchDragEvent", json!({ "type": kind, "x": x, "y": y, "data": data }))
        };
        drag("dragEnter").await?;
        let mut is_taken = Value::Null;
        // A page may show its place for the drop only after the first event.
        for _ in 0..2 {
            drag("dragOver").await?;
            is_taken = self.state.ask(&aimed.frame, &aimed.world, "takesDrop", Vec::new()).await?;
        }
        drag(if is_taken == Value::Bool(true) { "drop" } else { "dragCancel" }).await?;
        Ok(())
    }
}
