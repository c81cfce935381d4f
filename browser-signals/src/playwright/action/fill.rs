//! Sealed fills: values from the vault into the controls of one form, all of them or none.

use std::time::Duration;

use serde_json::{Value, json};

use super::{outcome, way_of};
use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;
use crate::playwright::tab::frames::{Frame, Frames};
use crate::playwright::tab::state::{Release, World};
use crate::{
    ContainerId, Destination, DocumentId, EmbeddedFill, FormId, FrameId, NodeId, Origin, SealedFill,
};

/// How long the list of a combobox may take to show the option that was filled in.
const OPTIONS_APPEAR: Duration = Duration::from_secs(2);
/// How often the list is looked at.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The report of a fill. It holds no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillReport {
    /// How many controls were filled.
    pub controls: usize,
    /// The document.
    pub document: DocumentId,
    /// The form.
    pub form: Option<FormId>,
    /// The destination to which requests of the container may carry the values from now on.
    pub destination: Destination,
}

/// One fill of one form, with values or with placeholders.
pub(crate) struct FillStep<'a> {
    pub container_id: &'a ContainerId,
    pub frame: &'a FrameId,
    pub document: &'a DocumentId,
    pub origin: &'a Origin,
    pub form: Option<FormId>,
    pub destination: &'a Destination,
    pub embedded: Option<&'a EmbeddedFill>,
    pub values: Vec<(NodeId, &'a str)>,
    /// For placeholders: the name that each control must have, under which its value may be sent.
    pub names: Option<Vec<&'a str>>,
    /// The controls that must accept their value by their own validation.
    pub made: &'a [NodeId],
    /// Whether the value that is sent in the end is ASCII, and so the same in every character set of a page.
    pub ascii: bool,
}

impl FillStep<'_> {
    /// The report of the step, once it is done.
    pub(crate) fn report(&self) -> FillReport {
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
    /// From then on egress of the container is restricted to the fill's destination, also where the fill failed half-way.
    ///
    /// # Errors
    /// [`BridgeError::Stale`] for another container, document or node, [`BridgeError::Diverted`] for another
    /// form, destination or value, [`BridgeError::Occluded`] for a control that is not visible,
    /// [`BridgeError::NotApplicable`] for one that cannot hold its value, [`BridgeError::RuledOut`] for a made password that the
    /// form's own rules refuse, [`BridgeError::Unconfirmed`] where the values
    /// were sent and the browser did not report the outcome.
    pub async fn fill(&self, fill: SealedFill) -> Result<FillReport, BridgeError> {
        let mut values = Vec::with_capacity(fill.values.len());
        for (node, value) in &fill.values {
            values
                .push((*node, std::str::from_utf8(value.expose()).map_err(|_| BridgeError::NotApplicable)?));
        }
        let step = FillStep {
            container_id: &fill.container_id,
            frame: &fill.frame,
            document: &fill.document,
            origin: &fill.origin,
            form: fill.form,
            destination: &fill.destination,
            embedded: fill.embedded.as_ref(),
            values,
            names: None,
            made: &fill.made,
            ascii: true,
        };
        self.place(step).await
    }

    /// The checked step, for values and for placeholders.
    pub(crate) async fn place(&self, step: FillStep<'_>) -> Result<FillReport, BridgeError> {
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
        if let Some(around) = step.embedded {
            is_still_embedded(&frames, frame, around)?;
            if !self.state.is_uncovered(&frames, frame).await? {
                return Err(BridgeError::Occluded);
            }
        }
        let world = self.state.world(frame).await?;
        let form = match step.form {
            None => json!({ "value": null }),
            Some(form) => self.state.object(frame, &world, form).await?,
        };
        let way = json!({ "value": way_of(step.destination) });
        let wire = json!({ "value": step.names.as_ref().map(|names| json!({ "names": names, "ascii": step.ascii })) });
        let made: Vec<bool> = step.values.iter().map(|(node, _)| step.made.contains(node)).collect();
        let mut arguments =
            vec![form, way, wire, json!({ "value": made }), json!({ "value": step.values.len() })];
        for (node, _) in &step.values {
            arguments.push(self.state.object(frame, &world, *node).await?);
        }
        for (_, value) in &step.values {
            arguments.push(json!({ "value": value }));
        }
        // Recorded before the values are sent, since a page may pass them on within the same step.
        let release = Release {
            destination: step.destination.clone(),
            page: step.origin.clone(),
            around: step.embedded.map(|around| around.top_origin.clone()),
        };
        self.state.update(|inner| {
            inner.releases.push(release);
            inner.filled.push((step.frame.clone(), frame.document.clone(), step.origin.clone()));
            for (node, _) in &step.values {
                inner.typed.seal(&frame.document, *node);
            }
        });
        let is_placeholders = step.names.is_some();
        let word = self.state.ask(frame, &world, "fill", arguments).await;
        let word: Value = word.map_err(|error| match error {
            // Only this error means that the step did not run; a session that has ended does not say so.
            BridgeError::Stale if !frame.session.has_ended() => BridgeError::Stale,
            error if is_placeholders => error,
            _ => BridgeError::Unconfirmed,
        })?;
        outcome(&word)?;
        self.choose_options(frame, &world).await;
        Ok(step.report())
    }

    /// Chooses the options of filled comboboxes as their lists appear. A list that does not appear, or has no such option, leaves the
    /// text as it was filled in: many comboboxes take any text, and what the page then asks for is read from the page.
    async fn choose_options(&self, frame: &Frame, world: &World) {
        let chosen = async {
            while let Ok(Value::Bool(false)) = self.state.ask(frame, world, "chooseOptions", Vec::new()).await
            {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        };
        let _left_as_it_is = tokio::time::timeout(OPTIONS_APPEAR, chosen).await;
    }

    /// By origin, the labels of the controls whose value changed since it was filled. The values stay in the isolated
    /// world, which compares them with those that it read back after the fill.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone. A document that is gone is left out.
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
            let labels = async {
                let world = self.state.world(frame).await?;
                self.state.ask(frame, &world, "changed", Vec::new()).await
            };
            match labels.await {
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

/// Checks that a frame is a child of the document that it was decided in, and that no sandbox holds it.
fn is_still_embedded(frames: &Frames, frame: &Frame, around: &EmbeddedFill) -> Result<(), BridgeError> {
    let top = frames.top()?;
    if top.document != around.top_document.as_str() || frame.parent.as_ref() != Some(&top.id) {
        return Err(BridgeError::Stale);
    }
    let is_same = top.origin.as_ref() == Some(&around.top_origin) && frame.sandboxed == Some(false);
    if is_same { Ok(()) } else { Err(BridgeError::Diverted) }
}
