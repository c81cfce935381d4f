//! The tree of frames over all sessions of a tab, and one isolated world for each document.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::state::{Session, TabState, World};
use crate::json::text;
use crate::playwright::cdp::session::lock;
use crate::playwright::error::BridgeError;
use crate::{FrameId, NodeId, Origin};

/// The name of the bridge's worlds. A page cannot reach into them, even if it knows the name.
pub(crate) const WORLD: &str = "guard";

#[cfg(feature = "inspection")]
macro_rules! inspection {
    () => {
        include_str!("../scripts/inspection.js")
    };
}
#[cfg(not(feature = "inspection"))]
macro_rules! inspection {
    () => {
        ""
    };
}

/// The script of each isolated world: the functions that the bridge calls by name.
const SCRIPT: &str = concat!(
    "function () { 'use strict';\n",
    include_str!("../scripts/world.js"),
    include_str!("../scripts/describe.js"),
    include_str!("../scripts/observe.js"),
    include_str!("../scripts/act.js"),
    include_str!("../scripts/fill.js"),
    include_str!("../scripts/keys.js"),
    include_str!("../scripts/drag.js"),
    "globalThis.guard = { nodes, find, focused, pointed, pathsOf, observe, forms, aim, aimKey, aimWriting, aimSelecting, aimTyping, isAimed, keepsItsValue, focusOn, ward, grip, isDragging, takesDrop, unwatch, ended, outwards, typeInto, choose, check, submit, lacks, fill, chooseOptions, changed, coverOf };\n",
    inspection!(),
    "return [self.origin, isSandboxed()];\n}"
);

/// A frame, as the browser describes it.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) id: FrameId,
    pub(crate) parent: Option<FrameId>,
    pub(crate) document: String,
    pub(crate) url: String,
    /// None for opaque origins, and until the frame's document itself was asked.
    pub(crate) origin: Option<Origin>,
    pub(crate) secure_context: Option<bool>,
    /// None until the frame's document itself was asked.
    pub(crate) sandboxed: Option<bool>,
    pub(crate) session: Arc<Session>,
}

/// The frames of a page, parents before children; the top frame is first.
#[derive(Clone)]
pub(crate) struct Frames(pub(crate) Vec<Frame>);

impl Frames {
    pub(crate) fn get(&self, id: &FrameId) -> Result<&Frame, BridgeError> {
        self.0.iter().find(|frame| frame.id == *id).ok_or(BridgeError::Stale)
    }

    pub(crate) fn top(&self) -> Result<&Frame, BridgeError> {
        self.0.first().ok_or(BridgeError::Lost)
    }

    /// The ancestors of a frame, parent first. None where the chain has a gap.
    pub(crate) fn ancestors(&self, frame: &Frame) -> Option<Vec<&Frame>> {
        let mut chain = Vec::new();
        let mut parent = frame.parent.as_ref();
        while let Some(id) = parent {
            let above = self.0.iter().find(|frame| frame.id == *id)?;
            chain.push(above);
            if chain.len() > self.0.len() {
                return None;
            }
            parent = above.parent.as_ref();
        }
        (chain
            .last()
            .map_or(frame.id == self.0.first()?.id, |top| Some(&top.id) == self.0.first().map(|f| &f.id)))
        .then_some(chain)
    }
}

impl TabState {
    /// Asks every session for its frames, at the same time.
    pub(crate) async fn frames(&self) -> Result<Frames, BridgeError> {
        self.at_rest().await?;
        let sessions = self.inner().sessions.clone();
        let page = self.page()?;
        let mut calls = tokio::task::JoinSet::new();
        for (index, session) in sessions.into_iter().enumerate() {
            calls.spawn(async move {
                let tree = session.call("Page.getFrameTree", json!({})).await;
                (index, session, tree)
            });
        }
        let mut answers: Vec<_> = calls.join_all().await;
        answers.sort_by_key(|(index, ..)| *index);
        let mut frames: Vec<Frame> = Vec::new();
        for (_, session, tree) in answers {
            let is_page = Arc::ptr_eq(&session, &page);
            match tree {
                Ok(tree) => collect(tree.get("frameTree").unwrap_or(&Value::Null), &session, &mut frames),
                Err(error) if is_page => return Err(error),
                // A frame that just went away.
                Err(_) => {}
            }
        }
        Ok(Frames(in_tree_order(frames, &page.target)))
    }

    /// The isolated world of a frame's document, made where there is none yet.
    pub(crate) async fn world(&self, frame: &Frame) -> Result<World, BridgeError> {
        let known = self.inner().worlds.get(&frame.id).cloned();
        if let Some(world) = known
            && world.document == frame.document
            && world.session == frame.session.id
        {
            return Ok(world);
        }
        let params =
            json!({ "frameId": frame.id.as_str(), "worldName": WORLD, "grantUniveralAccess": false });
        let made = frame.session.call("Page.createIsolatedWorld", params).await?;
        let context = made.get("executionContextId").and_then(Value::as_i64).ok_or(BridgeError::Stale)?;
        let params =
            json!({ "functionDeclaration": SCRIPT, "executionContextId": context, "returnByValue": true });
        // The world is the document's that the frame shows now: asked after it was made, the browser names
        // that document or a later one, and then this world is dead.
        let (installed, tree) = tokio::try_join!(
            frame.session.call("Runtime.callFunctionOn", params),
            frame.session.call("Page.getFrameTree", json!({})),
        )?;
        let mut now = Vec::new();
        collect(tree.get("frameTree").unwrap_or(&Value::Null), &frame.session, &mut now);
        if !now.iter().any(|other| other.id == frame.id && other.document == frame.document) {
            return Err(BridgeError::Stale);
        }
        let world = World {
            document: frame.document.clone(),
            session: frame.session.id.clone(),
            context,
            origin: own_origin(installed.pointer("/result/value/0"), &frame.url),
            sandboxed: installed.pointer("/result/value/1").and_then(Value::as_bool),
            nodes: Arc::default(),
        };
        self.update(|inner| inner.worlds.insert(frame.id.clone(), world.clone()));
        Ok(world)
    }

    /// Asks the documents of a frame and of its ancestors, or of all frames, for their origins.
    pub(crate) async fn identify(
        self: &Arc<TabState>,
        frames: &mut Frames,
        only: Option<&FrameId>,
    ) -> Result<(), BridgeError> {
        let mut wanted: Vec<FrameId> = match only {
            None => frames.0.iter().map(|frame| frame.id.clone()).collect(),
            Some(id) => {
                let above = frames.ancestors(frames.get(id)?).unwrap_or_default();
                std::iter::once(id.clone()).chain(above.iter().map(|frame| frame.id.clone())).collect()
            }
        };
        wanted.extend(frames.0.first().map(|top| top.id.clone()));
        let mut calls = tokio::task::JoinSet::new();
        for (index, frame) in frames.0.iter().cloned().enumerate() {
            if wanted.contains(&frame.id) {
                let tab = Arc::clone(self);
                calls.spawn(async move { (index, tab.world(&frame).await) });
            }
        }
        for (index, world) in calls.join_all().await {
            match (world, frames.0.get_mut(index)) {
                (Ok(world), Some(frame)) => {
                    frame.origin = world.origin;
                    frame.sandboxed = world.sandboxed;
                }
                (Err(error), _) if index == 0 => return Err(error),
                // An inner frame that went away keeps an unknown origin.
                _ => {}
            }
        }
        Ok(())
    }

    /// The object of a node within a world.
    pub(crate) async fn object(
        &self,
        frame: &Frame,
        world: &World,
        node: NodeId,
    ) -> Result<Value, BridgeError> {
        let params = json!({ "backendNodeId": node.0, "executionContextId": world.context });
        let answer = frame.session.call("DOM.resolveNode", params).await?;
        let object = answer.pointer("/object/objectId").and_then(Value::as_str).ok_or(BridgeError::Stale)?;
        Ok(json!({ "objectId": object }))
    }

    /// The browser's ids of numbered elements. Each element is asked for once in the life of its document.
    pub(crate) async fn node_ids(
        &self,
        frame: &Frame,
        world: &World,
        numbers: &[u64],
    ) -> Result<HashMap<u64, NodeId>, BridgeError> {
        let missing: Vec<u64> = {
            let known = lock(&world.nodes);
            numbers.iter().copied().filter(|number| *number != 0 && !known.contains_key(number)).collect()
        };
        if !missing.is_empty() {
            let list =
                self.call_world(frame, world, "nodes", vec![json!({ "value": missing })], false).await?;
            let list = list.pointer("/result/objectId").cloned().ok_or(BridgeError::Stale)?;
            let members = json!({ "objectId": list, "ownProperties": true });
            let members = frame.session.call("Runtime.getProperties", members).await?;
            let mut calls = tokio::task::JoinSet::new();
            for member in members.get("result").and_then(Value::as_array).into_iter().flatten() {
                let index = text(member, "name").and_then(|name| name.parse::<usize>().ok());
                let number = index.and_then(|index| missing.get(index).copied());
                let object = member.pointer("/value/objectId").cloned();
                if let (Some(number), Some(object)) = (number, object) {
                    let session = Arc::clone(&frame.session);
                    calls.spawn(async move {
                        let node = session.call("DOM.describeNode", json!({ "objectId": object })).await?;
                        let id = node.pointer("/node/backendNodeId").and_then(Value::as_i64);
                        Ok::<_, BridgeError>((number, NodeId(id.ok_or(BridgeError::Stale)?)))
                    });
                }
            }
            for described in calls.join_all().await {
                let (number, node) = described?;
                lock(&world.nodes).insert(number, node);
            }
        }
        Ok(lock(&world.nodes).clone())
    }

    /// Calls one of the world's functions and takes its result by value.
    pub(crate) async fn ask(
        &self,
        frame: &Frame,
        world: &World,
        function: &str,
        arguments: Vec<Value>,
    ) -> Result<Value, BridgeError> {
        let answer = self.call_world(frame, world, function, arguments, true).await?;
        Ok(answer.pointer("/result/value").cloned().unwrap_or(Value::Null))
    }

    /// Calls one of the world's functions.
    pub(crate) async fn call_world(
        &self,
        frame: &Frame,
        world: &World,
        function: &str,
        arguments: Vec<Value>,
        by_value: bool,
    ) -> Result<Value, BridgeError> {
        let declaration = format!("function (...given) {{ return guard.{function}(...given); }}");
        let params = json!({
            "functionDeclaration": declaration,
            "executionContextId": world.context,
            "arguments": arguments,
            "returnByValue": by_value,
        });
        let answer = frame.session.call("Runtime.callFunctionOn", params).await?;
        if answer.get("exceptionDetails").is_some() {
            return Err(BridgeError::Protocol(function.to_owned()));
        }
        Ok(answer)
    }
}

/// The origin that a document states, unless its address has another one.
fn own_origin(stated: Option<&Value>, url: &str) -> Option<Origin> {
    let own = Origin::parse(stated?.as_str()?).ok()?;
    if !url.starts_with("http") {
        return Some(own);
    }
    (Origin::parse(url).ok()? == own).then_some(own)
}

/// Flattens `Page.FrameTree`.
fn collect(tree: &Value, session: &Arc<Session>, into: &mut Vec<Frame>) {
    let frame = tree.get("frame").unwrap_or(&Value::Null);
    if let (Some(id), Some(document)) = (text(frame, "id"), text(frame, "loaderId")) {
        let id = FrameId::new(id);
        // An out-of-process frame is described best by its own session.
        into.retain(|other| other.id != id);
        let secure_context = match text(frame, "secureContextType") {
            Some("Secure" | "SecureLocalhost") => Some(true),
            Some("InsecureScheme" | "InsecureAncestor") => Some(false),
            _ => None,
        };
        into.push(Frame {
            id,
            parent: text(frame, "parentId").map(FrameId::new),
            document: document.to_owned(),
            url: text(frame, "url").unwrap_or_default().to_owned(),
            origin: None,
            secure_context,
            sandboxed: None,
            session: Arc::clone(session),
        });
    }
    for child in tree.get("childFrames").and_then(Value::as_array).into_iter().flatten() {
        collect(child, session, into);
    }
}

/// Parents before children, from the top frame down. Frames whose parent is missing are left out.
fn in_tree_order(frames: Vec<Frame>, top: &str) -> Vec<Frame> {
    let mut children: HashMap<Option<FrameId>, Vec<Frame>> = HashMap::new();
    let mut ordered = Vec::new();
    for frame in frames {
        if frame.id.as_str() == top {
            ordered.push(frame);
        } else {
            children.entry(frame.parent.clone()).or_default().push(frame);
        }
    }
    let mut at = 0;
    while let Some(id) = ordered.get(at).map(|frame| frame.id.clone()) {
        ordered.extend(children.remove(&Some(id)).unwrap_or_default());
        at += 1;
    }
    ordered
}
