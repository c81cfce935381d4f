//! The text for the model.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::frames::{Frame, Frames};
use super::handles::Naming;
use super::sight::{self, Sight};
use super::tab::Located;
use super::tree::{Drawn, Manner, Rendered, Tree};
use super::{BridgeError, Tab};
use crate::outline::{Line, Outline, Part, Place, Purpose, Words};
use crate::{FrameId, NodeId, Origin, TextGuard};

/// How many bytes a page gets, of its own words and of the bridge's.
const LARGEST: usize = 1_000_000;

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
    /// of any control; each stretch of words with where it stood. What of it is told, and how, the guard says.
    /// The handles in it are valid until a navigation. An element keeps its own for as long as each read finds it; one that
    /// the last read did not find has none.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] where the filter fails: there is no text then, and no handles.
    pub async fn read(&self, guard: &dyn TextGuard) -> Result<PageText, BridgeError> {
        let before = self.state.inner().navigations;
        let mut attempt = self.gather().await;
        // A frame navigated while it was read, or the page has begun to leave: what was read is about to be replaced.
        if self.state.leaves(before).await? || matches!(attempt, Err(BridgeError::Stale)) {
            attempt = self.gather().await;
        }
        let (outline, elements) = attempt?;
        let text = guard.guard(&outline).map_err(|_| BridgeError::TextWithheld)?;
        self.state.update(|inner| inner.elements = elements);
        Ok(PageText { text, origin: outline.frames.first().cloned().flatten(), cut: outline.cut })
    }

    async fn gather(&self) -> Result<(Outline, HashMap<String, Located>), BridgeError> {
        self.state.update(|inner| inner.elements.clear());
        let mut frames = self.state.frames().await?;
        let asked = Frames(frames.0.clone());
        let (identified, answers, sights) =
            tokio::join!(self.state.identify(&mut frames, None), ask(&asked), look(&asked));
        identified?;
        let mut sights = sights?;
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
        conceal_inner(&frames, &owners, &mut sights);
        let nothing = Sight::default();
        let sight_of = |frame: &Frame| sights.get(&frame.id).unwrap_or(&nothing);
        let top = frames.top()?.document.clone();
        let mut handles = self.state.update(|inner| std::mem::take(&mut inner.handles));
        handles.begin(&top, self.state.handles_once);
        let mut rendered: Vec<Option<Rendered>> = Vec::with_capacity(trees.len());
        for (index, (tree, frame)) in trees.iter().zip(&frames.0).enumerate() {
            let prefix = if index == 0 { String::new() } else { format!("f{index}") };
            let sight = sight_of(frame);
            let mut naming = Naming { handles: &mut handles, prefix: &prefix, document: &frame.document };
            let manner = Manner { typed: &typed, with_choices, sight, frame: index };
            rendered.push(tree.as_ref().map(|tree| tree.render(manner, &mut naming)));
        }
        handles.end();
        self.state.update(|inner| inner.handles = handles);
        let elements = located(&frames, &rendered);
        let outline = Outline {
            frames: frames.0.iter().map(|frame| frame.origin.clone()).collect(),
            seen: frames.0.iter().map(|frame| sight_of(frame).told()).collect::<Vec<_>>().join("\n"),
            ..Outline::default()
        };
        let mut page = Page { frames: &frames, rendered, owners: &owners, size: 0, outline };
        page.document(0, 0);
        Ok((page.outline, elements))
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

/// Asks each session what a person sees of its documents, at the same time. The page's own must answer.
async fn look(frames: &Frames) -> Result<HashMap<FrameId, Sight>, BridgeError> {
    let top = frames.top()?.clone();
    let mut asked = HashSet::new();
    let mut calls = tokio::task::JoinSet::new();
    for frame in &frames.0 {
        if asked.insert(frame.session.id.clone()) {
            let session = std::sync::Arc::clone(&frame.session);
            let is_page = session.id == top.session.id;
            calls.spawn(async move {
                (is_page, session.call("DOMSnapshot.captureSnapshot", sight::question()).await)
            });
        }
    }
    let mut sights = HashMap::new();
    for (is_page, answer) in calls.join_all().await {
        match answer {
            Ok(answer) => sights.extend(sight::read(&answer, &top.id)),
            Err(error) if is_page => return Err(error),
            // Nothing is known of what is seen there, so nothing counts as seen.
            Err(_) => {}
        }
    }
    if sights.contains_key(&top.id) { Ok(sights) } else { Err(BridgeError::Stale) }
}

/// What stands in a frame that nobody sees is not seen.
fn conceal_inner(frames: &Frames, owners: &HashMap<FrameId, NodeId>, sights: &mut HashMap<FrameId, Sight>) {
    for frame in &frames.0 {
        let Some(outer) = &frame.parent else { continue };
        let shows = match (sights.get(outer), owners.get(&frame.id)) {
            (Some(sight), Some(owner)) => sight.shows(*owner) == Some(true),
            _ => false,
        };
        if !shows && let Some(sight) = sights.get_mut(&frame.id) {
            sight.conceal();
        }
    }
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
    rendered: Vec<Option<Rendered>>,
    owners: &'a HashMap<FrameId, NodeId>,
    size: usize,
    outline: Outline,
}

impl Page<'_> {
    fn document(&mut self, index: usize, depth: usize) {
        let Some(frame) = self.frames.0.get(index) else { return };
        // Each frame stands in one place, so its lines are taken.
        let Some(rendered) = self.rendered.get_mut(index).and_then(Option::take) else { return };
        let title =
            Words { text: rendered.title, place: Place::Attribute, purpose: Purpose::Title, frame: index };
        let head = vec![Part::Own(format!("- document {}", origin_of(frame))), Part::Page(title)];
        self.line(Line { depth, head, ..Line::default() });
        self.outline.cut |= rendered.cut;
        for drawn in rendered.lines {
            match drawn {
                Drawn::Line(mut line) => {
                    line.depth += depth + 1;
                    self.line(line);
                }
                Drawn::Frame { depth: inner, handle, node } => {
                    self.frame(frame, depth + 1 + inner, &handle, node);
                }
            }
            if self.size > LARGEST {
                break;
            }
        }
    }

    fn frame(&mut self, outer: &Frame, depth: usize, handle: &str, node: NodeId) {
        let held = self.frames.0.iter().position(|inner| {
            inner.parent.as_ref() == Some(&outer.id) && self.owners.get(&inner.id) == Some(&node)
        });
        let held = held.and_then(|index| Some((index, self.frames.0.get(index)?)));
        let origin = held.map(|(_, frame)| format!(" origin={}", origin_of(frame))).unwrap_or_default();
        let head = vec![Part::Own(format!("- iframe [ref={handle}]{origin}"))];
        self.line(Line { depth, head, opens: held.is_some(), ..Line::default() });
        if let Some((index, _)) = held {
            self.document(index, depth + 1);
        }
    }

    fn line(&mut self, line: Line) {
        let head = line.head.iter().map(|part| match part {
            Part::Own(own) => own.len(),
            Part::Page(words) => words.text.len(),
        });
        self.size += head.chain(line.text.iter().map(|words| words.text.len())).sum::<usize>();
        if self.size > LARGEST {
            self.outline.cut = true;
            return;
        }
        self.outline.lines.push(line);
    }
}
