//! The names of elements, and the addresses of links.

use super::lines::{RenderOptions, Writer};
use super::tree::{DEEPEST, NamedBy, Node};
use crate::NodeId;
use crate::outline::{Purpose, TextPlace, Words, is_control, tidy};
use crate::playwright::visibility::SeenText;
use crate::web_address::told_link;

/// Replaces a name that repeats a typed value.
const TYPED: &str = "[typed]";

impl<'a> Writer<'a, '_> {
    /// The address that a link leads to, as it is told.
    pub(super) fn address_of(&self, node: &Node) -> Option<Words> {
        let RenderOptions { url, origin, with_paths, frame, .. } = self.options;
        let text = told_link(&node.address, url, origin, with_paths)?;
        Some(Words { text, place: TextPlace::Attribute, purpose: Purpose::Address, frame })
    }

    /// The name, unless it repeats a typed value: `aria-labelledby` can take a name from a control.
    pub(super) fn name_of(&self, node: &Node, role: &str) -> Option<Words> {
        let control = is_control(role);
        let purpose = if control { Purpose::Label } else { Purpose::Name };
        let words =
            |text: String, place, purpose| Some(Words { text, place, purpose, frame: self.options.frame });
        let name = tidy(&node.name);
        if name.is_empty() {
            return None;
        }
        let typed = self.options.typed;
        if typed.iter().any(|value| name.contains(value.as_str())) {
            let mut below = String::new();
            self.tree.text_below(node, 0, &mut below);
            let below = tidy(&below);
            let repeats = |value: &String| name.contains(value.as_str()) && !below.contains(value.as_str());
            if node.is_entry() || typed.iter().any(repeats) {
                return words(TYPED.to_owned(), TextPlace::Shown, purpose);
            }
        }
        if node.named_by == NamedBy::Contents {
            let mut shown = String::new();
            self.shown_below(node, node.node, 0, &mut None, &mut shown);
            let shown = tidy(&shown);
            if !shown.is_empty() {
                return words(shown, TextPlace::Shown, Purpose::Echo);
            }
        }
        if matches!(role, "image" | "img") && !self.options.visible.says(&name) {
            let is_seen = node.node.and_then(|id| self.options.visible.shows(id)) == Some(true);
            return words(
                name,
                if is_seen { TextPlace::Attribute } else { TextPlace::Hidden },
                Purpose::Picture,
            );
        }
        // A control without a label draws its value or its placeholder.
        let drawn = node.named_by == NamedBy::Drawn
            && node.node.and_then(|id| self.options.visible.shows(id)) == Some(true);
        let place =
            if drawn || self.options.visible.says(&name) { TextPlace::Shown } else { TextPlace::Attribute };
        words(name, place, purpose)
    }

    /// The visible words below a node, without any control's value.
    fn shown_below(
        &self,
        node: &Node,
        holder: Option<NodeId>,
        depth: usize,
        before: &mut Option<&'a SeenText>,
        into: &mut String,
    ) {
        if depth > DEEPEST || node.is_entry() {
            return;
        }
        if node.role == "StaticText" {
            let visible = self.options.visible;
            let seen = node.node.or(holder).and_then(|id| visible.text(id));
            if let (Some(before), Some(seen)) = (*before, seen) {
                into.push_str(before.separation(seen).white_space());
            }
            *before = seen;
            for words in self.words_of(node, holder).iter().filter(|it| it.place != TextPlace::Hidden) {
                into.push_str(&words.text);
            }
            return;
        }
        for child in node.children.iter().filter_map(|id| self.tree.nodes.get(id)) {
            self.shown_below(child, child.node.or(holder), depth + 1, before, into);
        }
    }
}
