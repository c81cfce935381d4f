//! The refs by which an agent names elements. An element keeps its ref for as long as each read finds it.
//!
//! An agent may send several steps before it has the answer to the first. If each read numbered the elements anew, the
//! ref in the second step could be that of another element by then.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::NodeId;
use crate::playwright::cdp::session::lock;

/// The last number of each prefix. Where refs are unique, the pages of a container share it.
pub(crate) type RefNumbers = Arc<Mutex<HashMap<String, u64>>>;

/// The refs of a page's elements.
#[derive(Debug, Default)]
pub(crate) struct Refs {
    /// The document in the top frame.
    top: String,
    last: RefNumbers,
    /// The refs of the last read, by document and node.
    known: HashMap<(String, NodeId), String>,
    /// The refs of the read that is in progress.
    found: HashMap<(String, NodeId), String>,
}

impl Refs {
    /// The refs of a page that shares its numbers with others.
    pub(crate) fn numbered_by(numbers: &RefNumbers) -> Refs {
        Refs { last: Arc::clone(numbers), ..Refs::default() }
    }

    /// Begins a read of a page with this document in its top frame. For another document than before the numbers start at
    /// one again, unless refs are `unique`.
    pub(crate) fn begin(&mut self, top: &str, unique: bool) {
        if self.top != top {
            self.top = top.to_owned();
            self.known.clear();
            if !unique {
                lock(&self.last).clear();
            }
        }
        self.found.clear();
    }

    /// Ends the read: elements that it did not find lose their refs.
    pub(crate) fn end(&mut self) {
        self.known = std::mem::take(&mut self.found);
    }

    /// The ref of an element of a document. An element without a node id gets a new one each time. No two elements with
    /// the same prefix share a ref.
    fn name(&mut self, prefix: &str, document: &str, node: Option<NodeId>) -> String {
        let key = node.map(|node| (document.to_owned(), node));
        let kept = key.as_ref().and_then(|key| self.found.get(key).or_else(|| self.known.get(key))).cloned();
        let name = kept.unwrap_or_else(|| {
            let mut numbers = lock(&self.last);
            let last = numbers.entry(prefix.to_owned()).or_default();
            *last += 1;
            format!("{prefix}e{last}")
        });
        if let Some(key) = key {
            self.found.insert(key, name.clone());
        }
        name
    }
}

/// Gives refs to the elements of one frame.
pub(crate) struct FrameRefs<'a> {
    pub(crate) refs: &'a mut Refs,
    /// The beginning of each ref.
    pub(crate) prefix: &'a str,
    /// The frame's document.
    pub(crate) document: &'a str,
}

impl FrameRefs<'_> {
    pub(crate) fn name(&mut self, node: Option<NodeId>) -> String {
        self.refs.name(self.prefix, self.document, node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(refs: &mut Refs, top: &str, unique: bool, nodes: &[i64]) -> Vec<String> {
        refs.begin(top, unique);
        let mut frame_refs = FrameRefs { refs, prefix: "", document: top };
        let names = nodes.iter().map(|node| frame_refs.name(Some(NodeId(*node)))).collect();
        refs.end();
        names
    }

    #[test]
    fn an_element_keeps_its_ref_and_a_new_one_gets_a_new_one() {
        let mut refs = Refs::default();
        assert_eq!(read(&mut refs, "a", false, &[7, 8, 9]), ["e1", "e2", "e3"]);
        // The first row was taken out and another one put in its place.
        assert_eq!(read(&mut refs, "a", false, &[10, 8, 9]), ["e4", "e2", "e3"]);
        assert_eq!(read(&mut refs, "a", false, &[7, 8]), ["e5", "e2"]);
    }

    #[test]
    fn the_numbers_start_again_with_another_document_unless_refs_are_unique() {
        for (unique, expected) in [(false, ["e1", "e2"]), (true, ["e3", "e4"])] {
            let mut refs = Refs::default();
            read(&mut refs, "a", unique, &[7, 8]);
            assert_eq!(read(&mut refs, "b", unique, &[7, 8]), expected);
        }
    }

    #[test]
    fn pages_of_a_container_share_no_ref() {
        let numbers = RefNumbers::default();
        let (mut first, mut second) = (Refs::numbered_by(&numbers), Refs::numbered_by(&numbers));
        assert_eq!(read(&mut first, "a", true, &[7, 8]), ["e1", "e2"]);
        assert_eq!(read(&mut second, "b", true, &[7, 8]), ["e3", "e4"]);
        assert_eq!(read(&mut first, "a", true, &[7, 8, 9]), ["e1", "e2", "e5"]);
    }

    #[test]
    fn inner_frames_and_elements_without_a_node_id() {
        let mut refs = Refs::default();
        refs.begin("a", false);
        let mut top = FrameRefs { refs: &mut refs, prefix: "", document: "a" };
        assert_eq!([top.name(None), top.name(None), top.name(Some(NodeId(1)))], ["e1", "e2", "e3"]);
        let mut inner = FrameRefs { refs: &mut refs, prefix: "f1", document: "b" };
        assert_eq!(inner.name(Some(NodeId(1))), "f1e1");
        refs.end();
        // The order of the frames has changed.
        refs.begin("a", false);
        let mut inner = FrameRefs { refs: &mut refs, prefix: "f2", document: "b" };
        assert_eq!([inner.name(Some(NodeId(1))), inner.name(Some(NodeId(2)))], ["f1e1", "f2e1"]);
    }
}
