//! Writing the tree's nodes as lines.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::{DEEPEST, Drawn, Manner, NamedBy, Node, Rendered, Tree};
use crate::NodeId;
use crate::outline::{Line, Part, Place, Purpose, Words, is_control, tidy};
use crate::playwright::handles::Naming;
use crate::playwright::sight::SeenText;

/// What stands for a name that repeats what somebody typed.
const TYPED: &str = "[typed]";

/// Writes the lines of one frame.
pub(super) struct Writer<'a, 'n> {
    pub(super) tree: &'a Tree,
    pub(super) manner: Manner<'a>,
    pub(super) left_out: HashMap<NodeId, Vec<&'a SeenText>>,
    pub(super) naming: &'a mut Naming<'n>,
    pub(super) out: Rendered,
}

impl<'a> Writer<'a, '_> {
    /// `holder` is the nearest element or text of the document that the node belongs to.
    fn node(&mut self, id: &str, holder: Option<NodeId>, depth: usize, nesting: usize) {
        let Some(node) = self.tree.nodes.get(id) else {
            return;
        };
        if nesting > DEEPEST {
            self.out.cut = true;
            return;
        }
        match node.role.as_str() {
            "StaticText" if !node.ignored => self.text(depth, node, holder),
            // Numbers are words; bullets are not.
            "ListMarker" if node.name.contains(char::is_alphanumeric) => self.text(depth, node, holder),
            "InlineTextBox" | "LineBreak" | "ListMarker" => {}
            _ => match node.shown_role().filter(|_| !node.ignored || node.editable) {
                Some(role) => self.element(node, role, depth, nesting),
                None => {
                    // A block of its own ends the run of text before it; a node left out by the browser
                    // does not, so a number split over several of them stays in one piece.
                    if !node.ignored {
                        self.end_run(depth);
                    }
                    self.children(node, holder, depth, nesting);
                    if !node.ignored {
                        self.end_run(depth);
                    }
                }
            },
        }
    }

    /// The children, and between them the words that the tree leaves out and a person sees.
    pub(super) fn children(&mut self, node: &Node, holder: Option<NodeId>, depth: usize, nesting: usize) {
        let holder = node.node.or(holder);
        let mut left_out =
            node.node.and_then(|id| self.left_out.remove(&id)).unwrap_or_default().into_iter().peekable();
        for child in &node.children {
            let at = self
                .tree
                .nodes
                .get(child)
                .and_then(|it| it.node)
                .and_then(|it| self.manner.sight.place_of(it));
            while let Some(text) = left_out.next_if(|text| at.is_some_and(|at| text.at < at)) {
                self.seen_text(depth, text);
            }
            self.node(child, holder, depth, nesting + 1);
        }
        for text in left_out {
            self.seen_text(depth, text);
        }
    }

    fn element(&mut self, node: &Node, role: &str, depth: usize, nesting: usize) {
        let handle = self.naming.name(node.node);
        if let Some(id) = node.node {
            self.out.elements.push((handle.clone(), id));
            if role == "iframe" {
                self.out.lines.push(Drawn::Frame { depth, handle, node: id });
                return;
            }
        }
        let name = self.name_of(node, role);
        let mut after = String::new();
        if let Some(level) = node.level {
            let _infallible = write!(after, " [level={level}]");
        }
        for state in node.states.iter().filter(|state| self.manner.with_choices || **state != "selected") {
            let _infallible = write!(after, " [{state}]");
        }
        let _infallible = write!(after, " [ref={handle}]");
        let entry = node.is_entry();
        if entry {
            after.push_str(if self.is_filled(node) { ": filled" } else { ": empty" });
        }
        let mut head = vec![Part::Own(format!("- {role}"))];
        head.extend(name.map(Part::Page));
        head.push(Part::Own(after));
        let at = self.out.lines.len();
        self.out.lines.push(Drawn::Line(Line { depth, head, ..Line::default() }));
        if entry {
            return;
        }
        self.children(node, None, depth + 1, nesting);
        self.flush(at + 1);
        self.fold(at);
    }

    /// A line whose text only repeats its name stands alone; one without a name takes a single text in.
    fn fold(&mut self, at: usize) {
        let below = self.out.lines.get(at + 1..).unwrap_or_default();
        let only_text = below.iter().all(|line| matches!(line, Drawn::Line(line) if line.bare));
        let single = below.len() == 1;
        let texts = below.iter().flat_map(|line| match line {
            Drawn::Line(line) => line.text.as_slice(),
            Drawn::Frame { .. } => &[],
        });
        let shown: String =
            texts.filter(|words| words.place != Place::Hidden).map(|it| it.text.as_str()).collect();
        let has_below = !below.is_empty();
        let Some(Drawn::Line(line)) = self.out.lines.get(at) else {
            return;
        };
        let name = line.head.iter().find_map(|part| match part {
            Part::Page(words) => Some(tidy(&words.text)),
            Part::Own(_) => None,
        });
        let repeats = single && name.as_ref().is_some_and(|name| *name == tidy(&shown));
        let takes = single && (name.is_none() || tidy(&shown).is_empty());
        let mut text = Vec::new();
        if only_text
            && (repeats || takes)
            && let Some(Drawn::Line(taken)) = self.out.lines.pop()
        {
            text = taken.text;
        }
        let Some(Drawn::Line(line)) = self.out.lines.get_mut(at) else {
            return;
        };
        if repeats && only_text {
            text.retain(|words| words.place == Place::Hidden);
            for part in &mut line.head {
                if let Part::Page(words) = part
                    && words.purpose == Purpose::Echo
                {
                    words.purpose = Purpose::Text;
                }
            }
        }
        line.opens = has_below && !(only_text && (repeats || takes));
        line.text = text;
    }

    fn end_run(&mut self, depth: usize) {
        self.out.lines.push(Drawn::Line(Line { depth, ..Line::default() }));
    }

    /// The words of a node of text: what the browser laid out of it, and whether it is seen.
    fn text(&mut self, depth: usize, node: &Node, holder: Option<NodeId>) {
        for words in self.words_of(node, holder) {
            self.run(depth, words);
        }
    }

    fn words_of(&self, node: &Node, holder: Option<NodeId>) -> Vec<Words> {
        let generated = node.node.is_none();
        let shown = if generated { Place::Generated } else { Place::Shown };
        let words = |text: &str, place| Words {
            text: text.to_owned(),
            place,
            purpose: Purpose::Text,
            frame: self.manner.frame,
        };
        if let Some(seen) = node.node.or(holder).and_then(|id| self.manner.sight.text(id)) {
            let place = |shows: bool| if shows { shown } else { Place::Hidden };
            return seen.stretches.iter().map(|it| words(&it.words, place(it.shown))).collect();
        }
        // What the browser draws within a control of its own has no layout to ask for: it is seen with the control.
        let shows = holder.and_then(|id| self.manner.sight.shows(id)) == Some(true);
        vec![words(&node.name, if shows { shown } else { Place::Hidden })]
    }

    pub(super) fn seen_text(&mut self, depth: usize, text: &SeenText) {
        if !text.follows {
            self.end_run(depth);
        }
        for stretch in &text.stretches {
            let place = if stretch.shown { Place::Shown } else { Place::Hidden };
            let words = Words {
                text: stretch.words.clone(),
                place,
                purpose: Purpose::Text,
                frame: self.manner.frame,
            };
            self.run(depth, words);
        }
    }

    fn run(&mut self, depth: usize, words: Words) {
        if let Some(Drawn::Line(line)) = self.out.lines.last_mut()
            && line.bare
            && line.depth == depth
        {
            line.text.push(words);
            return;
        }
        let head = vec![Part::Own("- text".to_owned())];
        self.out.lines.push(Drawn::Line(Line { depth, head, text: vec![words], bare: true, opens: false }));
    }

    /// Drops the marks between runs of text since `from`, and runs of white space.
    pub(super) fn flush(&mut self, from: usize) {
        let tail = self.out.lines.split_off(from.min(self.out.lines.len()));
        let is_blank = |line: &Line| {
            line.head.is_empty() || line.bare && line.text.iter().all(|words| tidy(&words.text).is_empty())
        };
        self.out.lines.extend(tail.into_iter().filter(|line| match line {
            Drawn::Line(line) => !is_blank(line),
            Drawn::Frame { .. } => true,
        }));
    }

    /// The name, unless it repeats what was typed into a control: a name may be taken from a control that it
    /// refers to.
    fn name_of(&self, node: &Node, role: &str) -> Option<Words> {
        let control = is_control(role);
        let purpose = if control { Purpose::Label } else { Purpose::Name };
        let words =
            |text: String, place, purpose| Some(Words { text, place, purpose, frame: self.manner.frame });
        let name = tidy(&node.name);
        if name.is_empty() {
            return None;
        }
        let typed = self.manner.typed;
        if typed.iter().any(|value| name.contains(value.as_str())) {
            let mut below = String::new();
            self.tree.text_below(node, 0, &mut below);
            let below = tidy(&below);
            let told = |value: &String| name.contains(value.as_str()) && !below.contains(value.as_str());
            if node.is_entry() || typed.iter().any(told) {
                return words(TYPED.to_owned(), Place::Shown, purpose);
            }
        }
        if node.named_by == NamedBy::Contents {
            let mut shown = String::new();
            self.shown_below(node, node.node, 0, &mut shown);
            let shown = tidy(&shown);
            if !shown.is_empty() {
                return words(shown, Place::Shown, Purpose::Echo);
            }
        }
        // A control draws its own value or its hint, where it has no label.
        let drawn = node.named_by == NamedBy::Drawn
            && node.node.and_then(|id| self.manner.sight.shows(id)) == Some(true);
        let place = if drawn || self.manner.sight.says(&name) { Place::Shown } else { Place::Attribute };
        words(name, place, purpose)
    }

    /// The words below a node that a person sees, without any control's value.
    fn shown_below(&self, node: &Node, holder: Option<NodeId>, depth: usize, into: &mut String) {
        if depth > DEEPEST || node.is_entry() {
            return;
        }
        if node.role == "StaticText" {
            let apart =
                node.node.or(holder).and_then(|id| self.manner.sight.text(id)).is_some_and(|it| !it.follows);
            if apart && !into.is_empty() {
                into.push(' ');
            }
            for words in self.words_of(node, holder).iter().filter(|it| it.place != Place::Hidden) {
                into.push_str(&words.text);
            }
            return;
        }
        for child in node.children.iter().filter_map(|id| self.tree.nodes.get(id)) {
            self.shown_below(child, child.node.or(holder), depth + 1, into);
        }
    }

    fn is_filled(&self, node: &Node) -> bool {
        if !node.value.is_empty() {
            return true;
        }
        let mut below = String::new();
        if node.editable && !matches!(node.role.as_str(), "textbox" | "searchbox" | "spinbutton" | "combobox")
        {
            for child in node.children.iter().filter_map(|id| self.tree.nodes.get(id)) {
                if child.role == "StaticText" {
                    below.push_str(&child.name);
                }
            }
        }
        !below.trim().is_empty()
    }
}
