//! What the agent typed into the controls of a page, as the guard recorded it.

use std::collections::{HashMap, VecDeque};

use super::state::Located;
use crate::NodeId;

/// The most controls whose text is kept. The oldest is forgotten first.
const MOST: usize = 200;

/// The agent's own texts. None of them is read from a page, and none of them is for a control that a value of the user's went
/// into.
#[derive(Debug, Default)]
pub(crate) struct TypedTexts(VecDeque<(String, NodeId, String)>);

impl TypedTexts {
    /// Records the text of a control, in the place of an earlier one.
    pub(crate) fn keep(&mut self, control: &Located, text: &str) {
        self.forget(&control.document, control.node);
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((control.document.clone(), control.node, text.to_owned()));
    }

    /// Forgets the text of a control.
    pub(crate) fn forget(&mut self, document: &str, node: NodeId) {
        self.0.retain(|(of, control, _)| of != document || *control != node);
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The texts of the controls of a document.
    pub(crate) fn of(&self, document: &str) -> HashMap<NodeId, String> {
        let here = self.0.iter().filter(|(of, ..)| of == document);
        here.map(|(_, control, text)| (*control, text.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameId;

    fn control(document: &str, node: i64) -> Located {
        Located { frame: FrameId::new("f"), document: document.to_owned(), node: NodeId(node) }
    }

    #[test]
    fn the_last_text_of_each_control_is_kept_until_it_is_forgotten() {
        let mut typed = TypedTexts::default();
        for (document, node, text) in [("a", 1, "one"), ("a", 2, "two"), ("b", 1, "three"), ("a", 1, "four")]
        {
            typed.keep(&control(document, node), text);
        }
        let texts = [(NodeId(1), "four".to_owned()), (NodeId(2), "two".to_owned())];
        assert_eq!(typed.of("a"), HashMap::from(texts));
        typed.forget("a", NodeId(2));
        assert_eq!(typed.of("a").len(), 1);
        for node in 0..1_000 {
            typed.keep(&control("c", node), "more");
        }
        assert_eq!((typed.of("a").len(), typed.of("c").len()), (0, MOST));
        typed.clear();
        assert!(typed.of("c").is_empty());
    }
}
