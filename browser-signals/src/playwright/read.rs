//! The text for the model.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::frames::{Frame, Frames};
use super::tab::Located;
use super::tree::{Line, Rendered, Tree, quoted};
use super::{BridgeError, Tab};
use crate::{FrameId, NodeId, Origin, TextGuard};

/// How much text a page gets.
const LARGEST: usize = 200_000;
/// The widest indentation, so that deep pages do not cost more spaces than words.
const WIDEST: usize = 40;

/// The text of a page, after the guard's filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageText {
    /// The text, one element a line, each frame headed by its origin.
    pub text: String,
    /// The top frame's origin; none for opaque ones.
    pub origin: Option<Origin>,
    /// Whether the page was longer than what is shown.
    pub cut: bool,
}

impl Tab {
    /// Reads the page as text: every frame, headed by the origin that the browser names, without the value
    /// of any control. The handles in it are valid until the next read or navigation.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] where the filter fails: there is no text then, and no handles.
    pub async fn read(&self, guard: &dyn TextGuard) -> Result<PageText, BridgeError> {
        let mut attempt = self.gather().await;
        if matches!(attempt, Err(BridgeError::Stale)) {
            // A frame navigated while it was read.
            attempt = self.gather().await;
        }
        let (page, elements) = attempt?;
        let text = guard.guard(&page.text).map_err(|_| BridgeError::TextWithheld)?;
        self.state.update(|inner| inner.elements = elements);
        Ok(PageText { text, ..page })
    }

    async fn gather(&self) -> Result<(PageText, HashMap<String, Located>), BridgeError> {
        self.state.update(|inner| inner.elements.clear());
        let mut frames = self.state.frames().await?;
        let asked = Frames(frames.0.clone());
        let (identified, answers) = tokio::join!(self.state.identify(&mut frames, None), ask(&asked));
        identified?;
        let mut trees: Vec<Option<Tree>> = frames.0.iter().map(|_| None).collect();
        let mut owners: HashMap<FrameId, NodeId> = HashMap::new();
        for (index, answer, owner) in answers {
            let Some(frame) = frames.0.get(index) else {
                continue;
            };
            match (answer, trees.get_mut(index)) {
                (Ok(answer), Some(slot)) => *slot = Some(Tree::read(&answer)),
                // The top frame must be read; an inner one may have gone away.
                (Err(error), _) if index == 0 => return Err(error),
                _ => {}
            }
            if let Some(owner) = owner {
                owners.insert(frame.id.clone(), owner);
            }
        }
        self.state.check_unchanged(&frames)?;
        let typed: HashSet<String> = trees.iter().flatten().flat_map(Tree::typed).collect();
        let with_choices = !self.state.has_released();
        let rendered: Vec<Option<Rendered>> = trees
            .iter()
            .enumerate()
            .map(|(index, tree)| {
                let prefix = if index == 0 { String::new() } else { format!("f{index}") };
                tree.as_ref().map(|tree| tree.render(&prefix, &typed, with_choices))
            })
            .collect();
        let mut page =
            Page { frames: &frames, rendered: &rendered, owners: &owners, text: String::new(), cut: false };
        page.document(0, 0);
        let Page { text, cut, .. } = page;
        let origin = frames.top()?.origin.clone();
        Ok((PageText { text, origin, cut }, located(&frames, &rendered)))
    }
}

/// What the browser answers for one frame: its tree, and the element that holds it.
type Answer = (usize, Result<Value, BridgeError>, Option<NodeId>);

/// Asks for the trees of all frames at the same time.
async fn ask(frames: &Frames) -> Vec<Answer> {
    let mut calls = tokio::task::JoinSet::new();
    for (index, frame) in frames.0.iter().cloned().enumerate() {
        let outer = frame.parent.as_ref().and_then(|id| frames.get(id).ok()).cloned();
        calls.spawn(async move {
            let params = json!({ "frameId": frame.id.as_str() });
            let tree = frame.session.call("Accessibility.getFullAXTree", params.clone());
            match outer {
                None => (index, tree.await, None),
                Some(outer) => {
                    let (tree, owner) = tokio::join!(tree, outer.session.call("DOM.getFrameOwner", params));
                    let owner = owner.ok().and_then(|it| it.get("backendNodeId").and_then(Value::as_i64));
                    (index, tree, owner.map(NodeId))
                }
            }
        });
    }
    calls.join_all().await
}

fn located(frames: &Frames, rendered: &[Option<Rendered>]) -> HashMap<String, Located> {
    let mut elements = HashMap::new();
    for (frame, rendered) in frames.0.iter().zip(rendered) {
        for (handle, node) in rendered.iter().flat_map(|rendered| &rendered.elements) {
            let place = Located { frame: frame.id.clone(), document: frame.document.clone(), node: *node };
            elements.insert(handle.clone(), place);
        }
    }
    elements
}

fn origin_of(frame: &Frame) -> String {
    frame.origin.as_ref().map_or_else(|| "opaque".to_owned(), Origin::to_string)
}

/// Puts the frames into one another.
struct Page<'a> {
    frames: &'a Frames,
    rendered: &'a [Option<Rendered>],
    owners: &'a HashMap<FrameId, NodeId>,
    text: String,
    cut: bool,
}

impl Page<'_> {
    fn document(&mut self, index: usize, depth: usize) {
        let (Some(frame), Some(Some(rendered))) = (self.frames.0.get(index), self.rendered.get(index)) else {
            return;
        };
        self.line(depth, &format!("- document {} {}", origin_of(frame), quoted(&rendered.title)));
        self.cut |= rendered.cut;
        for line in &rendered.lines {
            match line {
                Line::Text { depth: inner, line } => self.line(depth + 1 + inner, line),
                Line::Frame { depth: inner, handle, node } => {
                    self.frame(frame, depth + 1 + inner, handle, *node)
                }
            }
            if self.text.len() > LARGEST {
                break;
            }
        }
        if index == 0 && self.cut {
            self.text.push_str("- cut: the rest of the page is not shown\n");
        }
    }

    fn frame(&mut self, outer: &Frame, depth: usize, handle: &str, node: NodeId) {
        let held = self.frames.0.iter().position(|inner| {
            inner.parent.as_ref() == Some(&outer.id) && self.owners.get(&inner.id) == Some(&node)
        });
        let Some((index, frame)) = held.and_then(|index| Some((index, self.frames.0.get(index)?))) else {
            self.line(depth, &format!("- iframe [ref={handle}]"));
            return;
        };
        self.line(depth, &format!("- iframe [ref={handle}] origin={}:", origin_of(frame)));
        self.document(index, depth + 1);
    }

    fn line(&mut self, depth: usize, line: &str) {
        if self.text.len() + line.len() > LARGEST {
            self.cut = true;
            return;
        }
        self.text.extend(std::iter::repeat_n("  ", depth.min(WIDEST)));
        self.text.push_str(line);
        self.text.push('\n');
    }
}
