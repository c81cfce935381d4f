//! Placing the placeholders of a sealed wire.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::pending::PendingWire;
use crate::playwright::action::fill::{FillReport, FillStep};
use crate::playwright::cdp::session::lock;
use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;
use crate::playwright::tab::events::{PageEvent, WireEnd};
use crate::{NodeId, SealedWire};

impl Tab {
    /// Carries out a sealed wire: puts its placeholders into the form in the same checked step as
    /// [`Tab::fill`], and from then on waits for the one request that the values are for. The event
    /// [`PageEvent::WireEnded`] says how it ended.
    ///
    /// Egress of the container is restricted to the destination as after a fill. A newer wire for one of the controls
    /// replaces the older one.
    ///
    /// # Errors
    /// As for [`Tab::fill`]; and [`BridgeError::NotApplicable`] for a destination other than by `POST`, for a
    /// control that is no input of that name, for one whose own validation refuses the placeholder, and for a
    /// value that is not one line of text.
    pub async fn fill_wire(&self, wire: SealedWire) -> Result<FillReport, BridgeError> {
        let one_line =
            |value: &[u8]| std::str::from_utf8(value).is_ok_and(|v| !v.chars().any(char::is_control));
        if &*wire.destination.method != "POST" || !wire.fields.iter().all(|it| one_line(it.value.expose())) {
            return Err(BridgeError::NotApplicable);
        }
        let SealedWire {
            request,
            container_id,
            frame,
            document,
            origin,
            form,
            destination,
            fields,
            lifetime_ms,
        } = wire;
        let ascii = fields.iter().all(|field| field.value.expose().is_ascii());
        let shown: Vec<(NodeId, String, String)> =
            fields.iter().map(|field| (field.node, field.placeholder.clone(), field.name.clone())).collect();
        let values = shown.iter().map(|(node, placeholder, _)| (*node, placeholder.as_str())).collect();
        let names = shown.iter().map(|(_, _, name)| name.as_str()).collect();
        let step = FillStep {
            container_id: &container_id,
            frame: &frame,
            document: &document,
            origin: &origin,
            form,
            destination: &destination,
            embedded: None,
            values,
            names: Some(names),
            made: &[],
            ascii,
        };
        // Registered before the placeholders are set, since a page may send them within the same step.
        self.state.end_wires(false);
        let replaced = lock(&self.state.wires).replace(PendingWire {
            request,
            frame: frame.clone(),
            document: document.as_str().to_owned(),
            origin: origin.clone(),
            destination: destination.clone(),
            fields,
            until: Instant::now() + Duration::from_millis(lifetime_ms),
            cleared: VecDeque::new(),
        });
        for request in replaced {
            self.state.record(PageEvent::WireEnded { request, end: WireEnd::Replaced });
        }
        let report = step.report();
        let done = self.place(step).await;
        if done.is_err() && !lock(&self.state.wires).remove(request) {
            // The page sent it at once: the values were sent, even if the step then failed.
            return Ok(report);
        }
        if done.is_ok() {
            // The values are wiped when their time is up, even if nothing else happens in the tab.
            let tab = Arc::downgrade(&self.state);
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(lifetime_ms.saturating_add(1))).await;
                if let Some(tab) = tab.upgrade() {
                    tab.end_wires(false);
                }
            });
        }
        done
    }

    /// Ends every pending wire; each is reported in [`Tab::events`].
    pub fn withdraw_wires(&self) {
        self.state.end_wires(true);
    }
}
