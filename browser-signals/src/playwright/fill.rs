//! Sealed fills: values from the vault into the controls of one form, all of them or none.

use serde_json::{Value, json};

use super::act::{outcome, way_of};
use super::tab::Release;
use super::{BridgeError, Tab};
use crate::{ContainerId, Destination, DocumentId, FormId, FrameId, NodeId, Origin, SealedFill};

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

/// One filling of one form, of values or of placeholders.
pub(super) struct Step<'a> {
    pub container_id: &'a ContainerId,
    pub frame: &'a FrameId,
    pub document: &'a DocumentId,
    pub origin: &'a Origin,
    pub form: Option<FormId>,
    pub destination: &'a Destination,
    pub values: Vec<(NodeId, &'a str)>,
    /// For placeholders: the name that each control must have, and may be sent under.
    pub names: Option<Vec<&'a str>>,
    /// Whether what is sent in the end is ASCII, and so the same in every character set of a page.
    pub ascii: bool,
}

impl Step<'_> {
    /// What it did, once it is done.
    pub(super) fn report(&self) -> FillReport {
        FillReport {
            controls: self.values.len(),
            document: self.document.clone(),
            form: self.form,
            destination: self.destination.clone(),
        }
    }
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
    /// [`BridgeError::NotApplicable`] for one that cannot hold its value, [`BridgeError::Unconfirmed`] where the values
    /// went and the browser did not say how that ended.
    pub async fn fill(&self, fill: SealedFill) -> Result<FillReport, BridgeError> {
        let mut values = Vec::with_capacity(fill.values.len());
        for (node, value) in &fill.values {
            values
                .push((*node, std::str::from_utf8(value.expose()).map_err(|_| BridgeError::NotApplicable)?));
        }
        let step = Step {
            container_id: &fill.container_id,
            frame: &fill.frame,
            document: &fill.document,
            origin: &fill.origin,
            form: fill.form,
            destination: &fill.destination,
            values,
            names: None,
            ascii: true,
        };
        self.place(step).await
    }

    /// The checked step, for values and for placeholders.
    pub(super) async fn place(&self, step: Step<'_>) -> Result<FillReport, BridgeError> {
        if step.container_id.as_str() != self.state.context || step.values.is_empty() {
            return Err(BridgeError::Stale);
        }
        let mut frames = self.state.frames().await?;
        self.state.identify(&mut frames, Some(step.frame)).await?;
        let frame = frames.get(step.frame)?;
        if frame.document != step.document.as_str() {
            return Err(BridgeError::Stale);
        }
        if frame.origin.as_ref() != Some(step.origin) {
            return Err(BridgeError::Diverted);
        }
        let world = self.state.world(frame).await?;
        let form = match step.form {
            None => json!({ "value": null }),
            Some(form) => self.state.object(frame, &world, form).await?,
        };
        let way = json!({ "value": way_of(step.destination) });
        let wire = json!({ "value": step.names.as_ref().map(|names| json!({ "names": names, "ascii": step.ascii })) });
        let mut arguments = vec![form, way, wire, json!({ "value": step.values.len() })];
        for (node, _) in &step.values {
            arguments.push(self.state.object(frame, &world, *node).await?);
        }
        for (_, value) in &step.values {
            arguments.push(json!({ "value": value }));
        }
        // Before the values go: a page may send them on within the same step.
        let release = Release { destination: step.destination.clone(), page: step.origin.clone() };
        self.state.update(|inner| {
            inner.releases.push(release);
            inner.filled.push((step.frame.clone(), frame.document.clone(), step.origin.clone()));
        });
        let is_placeholders = step.names.is_some();
        let word = self.state.ask(frame, &world, "fill", arguments).await;
        let word: Value = word.map_err(|error| match error {
            // The one answer that says that nothing was run; who is gone says nothing.
            BridgeError::Stale if !frame.session.has_ended() => BridgeError::Stale,
            error if is_placeholders => error,
            _ => BridgeError::Unconfirmed,
        })?;
        outcome(&word)?;
        Ok(step.report())
    }

    /// By origin, the labels of the controls that hold something else than what was filled into them. What they hold stays in the
    /// isolated world: it is compared there with what was read back after the fill.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone. A document that is gone holds nothing.
    pub async fn changed_since_filled(&self) -> Result<Vec<(Origin, Vec<String>)>, BridgeError> {
        let filled = self.state.inner().filled.clone();
        if filled.is_empty() {
            return Ok(Vec::new());
        }
        let frames = self.state.frames().await?;
        let mut changed = Vec::new();
        for (id, document, origin) in filled {
            let Ok(frame) = frames.get(&id) else { continue };
            if frame.document != document {
                continue;
            }
            let said = async {
                let world = self.state.world(frame).await?;
                self.state.ask(frame, &world, "changed", Vec::new()).await
            };
            match said.await {
                Ok(labels) => {
                    let labels = labels.as_array().into_iter().flatten().filter_map(Value::as_str);
                    let labels: Vec<String> = labels.map(str::to_owned).collect();
                    changed.extend((!labels.is_empty()).then_some((origin, labels)));
                }
                Err(BridgeError::Stale) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(changed)
    }
}
