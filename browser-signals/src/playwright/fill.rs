//! Sealed fills: values from the vault into the controls of one form, all of them or none.

use serde_json::{Value, json};

use super::act::{outcome, way_of};
use super::tab::Release;
use super::{BridgeError, Tab};
use crate::{Destination, DocumentId, FormId, SealedFill};

/// What a fill did. It names no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillReport {
    /// How many controls were filled.
    pub controls: usize,
    /// The document.
    pub document: DocumentId,
    /// The form.
    pub form: Option<FormId>,
    /// Where requests of the container may carry the values from now on.
    pub destination: Destination,
}

impl Tab {
    /// Carries out a sealed fill in one step of the isolated world: it checks the document, the controls, the
    /// form and its destination, sets the values by the native setters, and reads them back. Where anything
    /// differs, what was set is cleared.
    ///
    /// From then on the container is held to the fill's destination, also where the fill failed half-way.
    ///
    /// # Errors
    /// [`BridgeError::Stale`] for another container, document or node, [`BridgeError::Diverted`] for another
    /// form, destination or value, [`BridgeError::Occluded`] for a control that nobody could see,
    /// [`BridgeError::NotApplicable`] for one that cannot hold its value.
    pub async fn fill(&self, fill: SealedFill) -> Result<FillReport, BridgeError> {
        if fill.container_id.as_str() != self.state.context || fill.values.is_empty() {
            return Err(BridgeError::Stale);
        }
        let mut frames = self.state.frames().await?;
        self.state.identify(&mut frames, Some(&fill.frame)).await?;
        let frame = frames.get(&fill.frame)?;
        if frame.document != fill.document.as_str() {
            return Err(BridgeError::Stale);
        }
        if frame.origin.as_ref() != Some(&fill.origin) {
            return Err(BridgeError::Diverted);
        }
        let world = self.state.world(frame).await?;
        let form = match fill.form {
            None => json!({ "value": null }),
            Some(form) => self.state.object(frame, &world, form).await?,
        };
        let way = json!({ "value": way_of(&fill.destination) });
        let mut arguments = vec![form, way, json!({ "value": fill.values.len() })];
        for (node, _) in &fill.values {
            arguments.push(self.state.object(frame, &world, *node).await?);
        }
        for (_, value) in &fill.values {
            let value = std::str::from_utf8(value.expose()).map_err(|_| BridgeError::NotApplicable)?;
            arguments.push(json!({ "value": value }));
        }
        // Before the values go: a page may send them on within the same step.
        let release = Release { destination: fill.destination.clone(), page: fill.origin.clone() };
        self.state.update(|inner| inner.releases.push(release));
        let word: Value = self.state.ask(frame, &world, "fill", arguments).await?;
        outcome(&word)?;
        Ok(FillReport {
            controls: fill.values.len(),
            document: fill.document.clone(),
            form: fill.form,
            destination: fill.destination.clone(),
        })
    }
}
