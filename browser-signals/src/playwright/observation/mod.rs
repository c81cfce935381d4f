//! Observations: what the browser says of a document, a form or an element.
//!
//! | module | subject |
//! |---|---|
//! | [`boxes`] | the boxes of elements in the window |
//! | `cover` | checks of the page around a frame, which can hide or cover it |
//! | `tls` | the TLS state of a document's connection |
//! | [`picture`] | pictures of the page |
//! | `query` | elements by selector, by the focus, and by a point of the window |

pub mod boxes;
pub(crate) mod cover;
#[cfg(feature = "inspection")]
mod inspection;
pub mod picture;
mod query;
pub(crate) mod tls;

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use self::cover::Cover;
use self::tls::{Response, tls};
use super::error::BridgeError;
use super::tab::Tab;
use super::tab::frames::{Frame, Frames};
use super::tab::state::{Located, TabState, World};
use crate::form::facts;
use crate::json::number;
use crate::{ContainerId, DocumentId, ElementRef, Fact, NodeId, Observed, Origin, Snapshot};

/// The longest time that the browser may take to report its visible security state.
const PATIENCE: Duration = Duration::from_secs(2);

/// The subject of a snapshot.
#[derive(Debug, Clone, Copy)]
pub enum ObservationTarget<'a> {
    /// The top document, with the controls that no form owns.
    Page,
    /// One element, and the form that owns it.
    Element(&'a ElementRef),
    /// The form that an element is or belongs to.
    Form(&'a ElementRef),
}

impl Tab {
    /// Observes a document, an element or a form.
    ///
    /// # Errors
    /// [`BridgeError::UnknownRef`] for a ref that the last read did not give, [`BridgeError::Stale`] where
    /// the document or element is gone, [`BridgeError::NotApplicable`] where no form owns the element.
    pub async fn observe(&self, about: ObservationTarget<'_>) -> Result<Observed<Snapshot>, BridgeError> {
        let target = match about {
            ObservationTarget::Page => None,
            ObservationTarget::Element(target) | ObservationTarget::Form(target) => {
                Some(self.state.located(target)?)
            }
        };
        let (mut frames, security) = tokio::try_join!(self.state.frames(), self.state.visible_security())?;
        let id = match &target {
            None => frames.top()?.id.clone(),
            Some(located) => located.frame.clone(),
        };
        self.state.identify(&mut frames, Some(&id)).await?;
        let frame = frames.get(&id)?;
        if target.as_ref().is_some_and(|located| located.document != frame.document) {
            return Err(BridgeError::Stale);
        }
        let world = self.state.world(frame).await?;
        let node = match &target {
            None => json!({ "value": null }),
            Some(located) => self.state.object(frame, &world, located.node).await?,
        };
        let kind = if matches!(about, ObservationTarget::Form(_)) { "form" } else { "element" };
        let facts = self.state.ask(frame, &world, "observe", vec![node, json!({ "value": kind })]).await?;
        if facts.is_null() {
            let form = matches!(about, ObservationTarget::Form(_));
            return Err(if form { BridgeError::NotApplicable } else { BridgeError::Stale });
        }
        let nodes = self.state.node_ids(frame, &world, &numbers(&facts)).await?;
        let cover = self.state.cover(&frames, frame).await?;
        self.state.check_unchanged(&frames)?;
        let seen = self.state.snapshot(&frames, frame, security.as_ref(), &facts, &nodes);
        Ok(self.state.under(cover, seen))
    }

    /// Observes every form of every frame, and the controls without a form of each document that has any.
    ///
    /// # Errors
    /// [`BridgeError::Stale`] where the page changed meanwhile.
    pub async fn forms(&self) -> Result<Vec<Observed<Snapshot>>, BridgeError> {
        let (mut frames, security) = tokio::try_join!(self.state.frames(), self.state.visible_security())?;
        self.state.identify(&mut frames, None).await?;
        let mut snapshots = Vec::new();
        for frame in &frames.0 {
            match self.forms_of(&frames, frame, security.as_ref()).await {
                Ok(found) => snapshots.extend(found),
                // An inner frame may have gone away; the top document must stay.
                Err(BridgeError::Stale) if frame.parent.is_some() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(snapshots)
    }

    async fn forms_of(
        &self,
        frames: &Frames,
        frame: &Frame,
        security: Option<&Value>,
    ) -> Result<Vec<Observed<Snapshot>>, BridgeError> {
        let world: World = self.state.world(frame).await?;
        let forms = self.state.ask(frame, &world, "forms", Vec::new()).await?;
        let forms = forms.as_array().cloned().unwrap_or_default();
        let wanted: Vec<u64> = forms.iter().flat_map(numbers).collect();
        let nodes = self.state.node_ids(frame, &world, &wanted).await?;
        let cover = if forms.is_empty() { Cover::NONE } else { self.state.cover(frames, frame).await? };
        self.state.check_unchanged(frames)?;
        let seen = forms.iter().map(|facts| {
            self.state.under(cover, self.state.snapshot(frames, frame, security, facts, &nodes))
        });
        Ok(seen.collect())
    }
}

impl TabState {
    /// The location of the element of a ref.
    pub(crate) fn located(&self, target: &ElementRef) -> Result<Located, BridgeError> {
        self.inner().elements.get(&target.0).cloned().ok_or(BridgeError::UnknownRef)
    }

    /// The present security state as the address bar shows it. Enabling the domain makes the browser report it again.
    async fn visible_security(&self) -> Result<Option<Value>, BridgeError> {
        let page = self.page()?;
        page.call("Security.disable", json!({})).await?;
        self.update(|inner| inner.security = None);
        page.call("Security.enable", json!({})).await?;
        match self.wait_until(PATIENCE, |inner| inner.security.is_some()).await {
            Ok(()) => Ok(self.inner().security.clone()),
            Err(BridgeError::Timeout) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Fails where a frame shows another document by now. Events come in order, so all earlier answers of the browser
    /// are about the documents in `frames`.
    pub(crate) fn check_unchanged(&self, frames: &Frames) -> Result<(), BridgeError> {
        let inner = self.inner();
        let changed =
            |frame: &Frame| inner.documents.get(&frame.id).is_some_and(|now| *now != frame.document);
        if frames.0.iter().any(changed) { Err(BridgeError::Stale) } else { Ok(()) }
    }

    /// The observation of a frame with what its page does to it: a control that the page hides or covers is hidden or covered.
    fn under(&self, cover: Cover, seen: Observed<Snapshot>) -> Observed<Snapshot> {
        if cover == Cover::NONE {
            return seen;
        }
        let mut snapshot = seen.value().clone();
        for control in snapshot.controls.iter_mut().chain(snapshot.target.as_mut()) {
            cover.lay_over(control);
        }
        Observed::new(snapshot, seen.number())
    }

    fn snapshot(
        &self,
        frames: &Frames,
        frame: &Frame,
        security: Option<&Value>,
        facts: &Value,
        nodes: &HashMap<u64, NodeId>,
    ) -> Observed<Snapshot> {
        let top = frames.0.first();
        let above = frames.ancestors(frame);
        let ancestors = above.as_ref().and_then(|above| {
            above.iter().map(|frame| frame.origin.clone()).collect::<Option<Vec<Origin>>>()
        });
        let inner = self.inner();
        let own = response_of(&inner.responses, frame, above.as_deref());
        let top_response = top.and_then(|top| inner.responses.get(&top.document));
        let node = |number: u64| nodes.get(&number).copied();
        let controls = facts::controls(facts, &node);
        let target = facts.get("target").and_then(|target| facts::control(target, &node));
        let form = number(facts, "form").and_then(node);
        let sink = facts::sink(target.as_ref(), form.is_some(), &controls);
        let snapshot = Snapshot {
            container: Fact::Known(self.container),
            container_id: ContainerId::new(self.context.as_str()),
            frame: frame.id.clone(),
            document: Fact::Known(DocumentId::new(frame.document.as_str())),
            top_document: top.map(|top| DocumentId::new(top.document.as_str())).into(),
            origin: frame.origin.clone().into(),
            path: facts::path_of(&frame.url).into(),
            top_origin: top.and_then(|top| top.origin.clone()).into(),
            ancestors: ancestors.into(),
            tls: tls(security, top_response, own, &self.reached),
            sandboxed: frame.sandboxed.into(),
            secure_context: frame.secure_context.into(),
            form,
            destination: facts::destination(facts.get("way").unwrap_or(&Value::Null)).into(),
            sink: Fact::Known(sink),
            target,
            controls,
            words: facts::form_words(facts),
        };
        Observed::new(snapshot, self.link.next_observation())
    }
}

/// The response that a document came from. A document without one (`about:blank`, `srcdoc`) was written by
/// its parent, so the parent's response counts.
fn response_of<'a>(
    responses: &'a HashMap<String, Response>,
    frame: &Frame,
    above: Option<&[&Frame]>,
) -> Option<&'a Response> {
    let chain = std::iter::once(frame).chain(above?.iter().copied());
    for frame in chain {
        if let Some(response) = responses.get(&frame.document) {
            return Some(response);
        }
        if !frame.url.starts_with("about:") {
            return None;
        }
    }
    None
}

/// The numbers of all elements in the facts.
fn numbers(facts: &Value) -> Vec<u64> {
    let controls = facts.get("controls").and_then(Value::as_array).into_iter().flatten();
    let of = |control: &Value| [number(control, "id"), number(control, "form")];
    let mut all: Vec<u64> = controls.chain(facts.get("target")).flat_map(of).flatten().collect();
    all.extend(number(facts, "form"));
    all.sort_unstable();
    all.dedup();
    all
}
