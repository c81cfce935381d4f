//! The texts that the agent typed into the controls of a page. The guard records them; none of them is read from a page.

use std::collections::{HashMap, HashSet, VecDeque};

use super::state::Located;
use crate::NodeId;

/// The most controls whose text is kept. The oldest is forgotten first.
const MOST: usize = 200;

/// The agent's own texts, by document and control.
#[derive(Debug, Default)]
pub(crate) struct TypedTexts {
    texts: VecDeque<(String, NodeId, String)>,
    /// The controls that took a value of the user's. Their text is not told, whoever writes it.
    sealed: HashSet<(String, NodeId)>,
    /// True from the moment at which a person may have typed too.
    has_ended: bool,
}

impl TypedTexts {
    /// Records the text of a control, in the place of an earlier one.
    pub(crate) fn keep(&mut self, control: &Located, text: &str) {
        let (document, node) = (&control.document, control.node);
        self.forget(document, node);
        if self.has_ended || self.sealed.contains(&(document.clone(), node)) {
            return;
        }
        if self.texts.len() >= MOST {
            self.texts.pop_front();
        }
        self.texts.push_back((document.clone(), node, text.to_owned()));
    }

    /// Forgets the text of a control into which another one went in part.
    pub(crate) fn lose(&mut self, control: &Located) {
        self.forget(&control.document, control.node);
    }

    /// Ends the record of a control that takes a value of the user's.
    pub(crate) fn seal(&mut self, document: &str, node: NodeId) {
        self.forget(document, node);
        self.sealed.insert((document.to_owned(), node));
    }

    /// Ends the record of every control.
    pub(crate) fn end(&mut self) {
        self.texts.clear();
        self.has_ended = true;
    }

    /// Whether a control took a value of the user's.
    pub(crate) fn is_sealed(&self, control: &Located) -> bool {
        self.sealed.contains(&(control.document.clone(), control.node))
    }

    /// The text of a control, with line ends as the browser has them.
    pub(crate) fn in_control(&self, control: &Located) -> Option<String> {
        let kept = self.texts.iter().find(|(of, node, _)| *of == control.document && *node == control.node);
        kept.map(|(.., text)| text.replace("\r\n", "\n"))
    }

    /// The texts of the controls of a document.
    pub(crate) fn of(&self, document: &str) -> HashMap<NodeId, String> {
        let here = self.texts.iter().filter(|(of, ..)| of == document);
        here.map(|(_, control, text)| (*control, text.clone())).collect()
    }

    fn forget(&mut self, document: &str, node: NodeId) {
        self.texts.retain(|(of, control, _)| of != document || *control != node);
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
    fn the_last_text_of_each_control_is_kept_until_its_record_ends() {
        let mut typed = TypedTexts::default();
        for (document, node, text) in [("a", 1, "one"), ("a", 2, "two"), ("b", 1, "three"), ("a", 1, "four")]
        {
            typed.keep(&control(document, node), text);
        }
        let texts = [(NodeId(1), "four".to_owned()), (NodeId(2), "two".to_owned())];
        assert_eq!(typed.of("a"), HashMap::from(texts));
        typed.seal("a", NodeId(2));
        typed.keep(&control("a", 2), "five");
        assert_eq!(typed.of("a").len(), 1);
        for node in 0..1_000 {
            typed.keep(&control("c", node), "more");
        }
        assert_eq!((typed.of("a").len(), typed.of("c").len()), (0, MOST));
        typed.end();
        typed.keep(&control("c", 1), "later");
        assert!(typed.of("c").is_empty());
    }
}
