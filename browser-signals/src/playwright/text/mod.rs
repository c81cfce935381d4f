//! The text for the model.
//!
//! | module | subject |
//! |---|---|
//! | `refs` | the refs of elements, which stay with them from read to read |
//! | `tree` | the accessibility tree of a frame |
//! | `lines` | the tree as lines |
//! | `names` | the names of elements, and the addresses of links |
//! | `fold` | the text of an element in the element's own line |
//! | `deferred` | the contents of elements that are laid out only near the window |

mod deferred;
mod fold;
mod lines;
mod names;
pub(crate) mod refs;
mod tree;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use self::lines::{FrameItem, FrameOutline, RenderOptions};
use self::refs::FrameRefs;
use self::tree::Tree;
use super::error::BridgeError;
use super::tab::Tab;
use super::tab::frames::{Frame, Frames};
use super::tab::state::Located;
use super::visibility::{self, VisibleText};
use crate::outline::{LinePart, Outline, OutlineLine, Purpose, TextPlace, Words, tidy};
use crate::web_address::told_path;
use crate::{FrameId, NodeId, Origin, TextGuard};

/// The largest outline of a page, in bytes, the bridge's own words included.
const LARGEST: usize = 1_000_000;

/// The text of a page, after the guard's filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageText {
    /// The text, one element a line, each frame headed by its origin.
    pub text: String,
    /// The agent's own texts that the lines of controls repeat in it.
    pub typed: Vec<String>,
    /// The top frame's origin; none for opaque ones.
    pub origin: Option<Origin>,
    /// Whether the page was longer than what is shown.
    pub cut: bool,
}

impl Tab {
    /// Reads the page as text: every frame, headed by the origin that the browser names, without the value of any
    /// control. Of a control that the agent typed into, its own text is told, and whether the page has changed it. The guard gets each stretch of words with its place, and decides how it is shown to the model.
    /// The refs in the text are valid until a navigation. An element keeps its ref for as long as each read finds it; an
    /// element that the last read did not find has none.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] where the filter fails: there is no text then, and there are no refs.
    pub async fn read(&self, guard: &dyn TextGuard) -> Result<PageText, BridgeError> {
        let before = self.state.inner().navigations;
        let with_paths = guard.tells_paths();
        let mut attempt = self.gather(with_paths).await;
        // A frame navigated while it was read, or the page has begun to navigate: the text is out of date.
        if self.state.leaves(before).await? || matches!(attempt, Err(BridgeError::Stale)) {
            attempt = self.gather(with_paths).await;
        }
        let (outline, elements, typed) = attempt?;
        let text = guard.guard(&outline).map_err(|_| BridgeError::TextWithheld)?;
        self.state.update(|inner| inner.elements = elements);
        Ok(PageText { text, typed, origin: outline.frames.first().cloned().flatten(), cut: outline.cut })
    }

    async fn gather(
        &self,
        with_paths: bool,
    ) -> Result<(Outline, HashMap<String, Located>, Vec<String>), BridgeError> {
        self.state.update(|inner| inner.elements.clear());
        let mut frames = self.state.frames().await?;
        let asked = Frames(frames.0.clone());
        let (identified, answers, visible) =
            tokio::join!(self.state.identify(&mut frames, None), trees_of(&asked), visible_texts(&asked));
        identified?;
        let mut visible = self.state.lay_out(&frames, visible?).await?;
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
        hide_inner(&frames, &owners, &mut visible);
        let nothing = VisibleText::default();
        let visible_in = |frame: &Frame| visible.get(&frame.id).unwrap_or(&nothing);
        let top = frames.top()?.document.clone();
        let mut refs = self.state.update(|inner| std::mem::take(&mut inner.refs));
        refs.begin(&top, self.state.unique_refs);
        let mut rendered: Vec<Option<FrameOutline>> = Vec::with_capacity(trees.len());
        let mut own_texts = Vec::new();
        for (index, (tree, frame)) in trees.iter().zip(&frames.0).enumerate() {
            let prefix = if index == 0 { String::new() } else { format!("f{index}") };
            let visible = visible_in(frame);
            let mut frame_refs = FrameRefs { refs: &mut refs, prefix: &prefix, document: &frame.document };
            let own = self.state.inner().typed.of(&frame.document);
            own_texts.extend(own.values().map(|text| tidy(text)));
            let options = RenderOptions {
                typed: &typed,
                own: &own,
                with_choices,
                visible,
                frame: index,
                url: &frame.url,
                origin: frame.origin.as_ref(),
                with_paths,
            };
            rendered.push(tree.as_ref().map(|tree| tree.render(options, &mut frame_refs)));
        }
        refs.end();
        self.state.update(|inner| inner.refs = refs);
        let elements = located(&frames, &rendered);
        let outline = Outline {
            frames: frames.0.iter().map(|frame| frame.origin.clone()).collect(),
            seen: frames.0.iter().map(|frame| visible_in(frame).shown()).collect::<Vec<_>>().join("\n"),
            ..Outline::default()
        };
        let mut page =
            PageBuilder { frames: &frames, rendered, owners: &owners, with_paths, size: 0, outline };
        page.document(0, 0);
        Ok((page.outline, elements, own_texts))
    }
}

/// The browser's answer for one frame: its tree, and the element that holds it.
type FrameAnswer = (usize, Result<Value, BridgeError>, Option<NodeId>);

/// Asks for the trees of all frames at the same time.
async fn trees_of(frames: &Frames) -> Vec<FrameAnswer> {
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

/// Asks each session for the visible text of its documents, at the same time. The page's own session must answer.
async fn visible_texts(frames: &Frames) -> Result<HashMap<FrameId, VisibleText>, BridgeError> {
    let top = frames.top()?.clone();
    let mut asked = HashSet::new();
    let mut calls = tokio::task::JoinSet::new();
    for frame in &frames.0 {
        if asked.insert(frame.session.id.clone()) {
            let session = std::sync::Arc::clone(&frame.session);
            let is_page = session.id == top.session.id;
            calls.spawn(async move {
                (is_page, session.call("DOMSnapshot.captureSnapshot", visibility::question()).await)
            });
        }
    }
    let mut visible = HashMap::new();
    for (is_page, answer) in calls.join_all().await {
        match answer {
            Ok(answer) => visible.extend(visibility::read(&answer, &top.id)),
            Err(error) if is_page => return Err(error),
            // Without an answer no text of the session counts as visible.
            Err(_) => {}
        }
    }
    if visible.contains_key(&top.id) { Ok(visible) } else { Err(BridgeError::Stale) }
}

/// Hides the text of every frame whose element is not visible.
fn hide_inner(
    frames: &Frames,
    owners: &HashMap<FrameId, NodeId>,
    visible: &mut HashMap<FrameId, VisibleText>,
) {
    for frame in &frames.0 {
        let Some(outer) = &frame.parent else { continue };
        let shows = match (visible.get(outer), owners.get(&frame.id)) {
            (Some(text), Some(owner)) => text.shows(*owner) == Some(true),
            _ => false,
        };
        if !shows && let Some(text) = visible.get_mut(&frame.id) {
            text.hide();
        }
    }
}

fn located(frames: &Frames, rendered: &[Option<FrameOutline>]) -> HashMap<String, Located> {
    let mut elements = HashMap::new();
    for (frame, rendered) in frames.0.iter().zip(rendered) {
        for (name, node) in rendered.iter().flat_map(|rendered| &rendered.elements) {
            let located = Located { frame: frame.id.clone(), document: frame.document.clone(), node: *node };
            elements.insert(name.clone(), located);
        }
    }
    elements
}

fn origin_of(frame: &Frame) -> String {
    frame.origin.as_ref().map_or_else(|| "opaque".to_owned(), Origin::to_string)
}

/// Builds the outline of the page: the lines of each inner frame stand below its element.
struct PageBuilder<'a> {
    frames: &'a Frames,
    rendered: Vec<Option<FrameOutline>>,
    owners: &'a HashMap<FrameId, NodeId>,
    with_paths: bool,
    size: usize,
    outline: Outline,
}

impl PageBuilder<'_> {
    fn document(&mut self, index: usize, depth: usize) {
        let Some(frame) = self.frames.0.get(index) else { return };
        // Each frame occurs once, so its lines are moved out.
        let Some(rendered) = self.rendered.get_mut(index).and_then(Option::take) else { return };
        let title = Words {
            text: rendered.title,
            place: TextPlace::Attribute,
            purpose: Purpose::Title,
            frame: index,
        };
        let mut head = vec![LinePart::Own(format!("- document {}", origin_of(frame))), LinePart::Page(title)];
        if index == 0 && self.with_paths {
            let path = told_path(&frame.url, frame.origin.as_ref());
            head.extend(path.map(|text| {
                let (place, purpose) = (TextPlace::Attribute, Purpose::Address);
                LinePart::Page(Words { text, place, purpose, frame: index })
            }));
        }
        self.line(OutlineLine { depth, head, ..OutlineLine::default() });
        self.outline.cut |= rendered.cut;
        for item in rendered.lines {
            match item {
                FrameItem::Line(mut line) => {
                    line.depth += depth + 1;
                    self.line(line);
                }
                FrameItem::Frame { depth: inner, name, node } => {
                    self.frame(frame, depth + 1 + inner, &name, node);
                }
            }
            if self.size > LARGEST {
                break;
            }
        }
    }

    fn frame(&mut self, outer: &Frame, depth: usize, name: &str, node: NodeId) {
        let held = self.frames.0.iter().position(|inner| {
            inner.parent.as_ref() == Some(&outer.id) && self.owners.get(&inner.id) == Some(&node)
        });
        let held = held.and_then(|index| Some((index, self.frames.0.get(index)?)));
        let origin = held.map(|(_, frame)| format!(" origin={}", origin_of(frame))).unwrap_or_default();
        let head = vec![LinePart::Own(format!("- iframe [ref={name}]{origin}"))];
        self.line(OutlineLine { depth, head, opens: held.is_some(), ..OutlineLine::default() });
        if let Some((index, _)) = held {
            self.document(index, depth + 1);
        }
    }

    fn line(&mut self, line: OutlineLine) {
        let head = line.head.iter().map(|part| match part {
            LinePart::Own(own) => own.len(),
            LinePart::Page(words) => words.text.len(),
        });
        self.size += head.chain(line.text.iter().map(|words| words.text.len())).sum::<usize>();
        if self.size > LARGEST {
            self.outline.cut = true;
            return;
        }
        self.outline.lines.push(line);
    }
}
