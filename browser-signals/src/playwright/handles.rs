//! The names by which an agent is told of elements. An element keeps its name for as long as each read finds it.
//!
//! An agent may send several steps before it has the answer to the first. If the elements were counted anew by each
//! read, the second step could name another element than the one that was meant.

use std::collections::HashMap;

use crate::NodeId;

/// The names of a page's elements.
#[derive(Debug, Default)]
pub(super) struct Handles {
    /// The document in the top frame.
    top: String,
    /// The last number of each prefix.
    last: HashMap<String, u64>,
    /// By document and node: those of the last read.
    known: HashMap<(String, NodeId), String>,
    /// Those of the read that is going on.
    found: HashMap<(String, NodeId), String>,
}

impl Handles {
    /// Begins to name the elements of a page with this document in its top frame. Where it is another one than before its
    /// elements are counted from one again, unless names are given `once`.
    pub(super) fn begin(&mut self, top: &str, once: bool) {
        if self.top != top {
            self.top = top.to_owned();
            self.known.clear();
            if !once {
                self.last.clear();
            }
        }
        self.found.clear();
    }

    /// The elements that were not found again are forgotten.
    pub(super) fn end(&mut self) {
        self.known = std::mem::take(&mut self.found);
    }

    /// The name of an element of a document; of one that the browser does not tell apart a new one each time. Names of
    /// one prefix never fall together.
    fn name(&mut self, prefix: &str, document: &str, node: Option<NodeId>) -> String {
        let key = node.map(|node| (document.to_owned(), node));
        let kept = key.as_ref().and_then(|key| self.found.get(key).or_else(|| self.known.get(key))).cloned();
        let name = kept.unwrap_or_else(|| {
            let last = self.last.entry(prefix.to_owned()).or_default();
            *last += 1;
            format!("{prefix}e{last}")
        });
        if let Some(key) = key {
            self.found.insert(key, name.clone());
        }
        name
    }
}

/// Names the elements of one frame.
pub(super) struct Naming<'a> {
    pub(super) handles: &'a mut Handles,
    /// Begins each name.
    pub(super) prefix: &'a str,
    /// The frame's document.
    pub(super) document: &'a str,
}

impl Naming<'_> {
    pub(super) fn name(&mut self, node: Option<NodeId>) -> String {
        self.handles.name(self.prefix, self.document, node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(handles: &mut Handles, top: &str, once: bool, nodes: &[i64]) -> Vec<String> {
        handles.begin(top, once);
        let mut naming = Naming { handles, prefix: "", document: top };
        let names = nodes.iter().map(|node| naming.name(Some(NodeId(*node)))).collect();
        handles.end();
        names
    }

    #[test]
    fn an_element_keeps_its_name_and_a_new_one_gets_none_that_was_given() {
        let mut handles = Handles::default();
        assert_eq!(read(&mut handles, "a", false, &[7, 8, 9]), ["e1", "e2", "e3"]);
        // The first row was taken out and another one put in its place.
        assert_eq!(read(&mut handles, "a", false, &[10, 8, 9]), ["e4", "e2", "e3"]);
        assert_eq!(read(&mut handles, "a", false, &[7, 8]), ["e5", "e2"]);
    }

    #[test]
    fn another_document_is_counted_from_one_unless_names_are_given_once() {
        for (once, names) in [(false, ["e1", "e2"]), (true, ["e3", "e4"])] {
            let mut handles = Handles::default();
            read(&mut handles, "a", once, &[7, 8]);
            assert_eq!(read(&mut handles, "b", once, &[7, 8]), names);
        }
    }

    #[test]
    fn frames_and_elements_that_cannot_be_told_apart() {
        let mut handles = Handles::default();
        handles.begin("a", false);
        let mut top = Naming { handles: &mut handles, prefix: "", document: "a" };
        assert_eq!([top.name(None), top.name(None), top.name(Some(NodeId(1)))], ["e1", "e2", "e3"]);
        let mut inner = Naming { handles: &mut handles, prefix: "f1", document: "b" };
        assert_eq!(inner.name(Some(NodeId(1))), "f1e1");
        handles.end();
        // The frames stand in another order by now.
        handles.begin("a", false);
        let mut inner = Naming { handles: &mut handles, prefix: "f2", document: "b" };
        assert_eq!([inner.name(Some(NodeId(1))), inner.name(Some(NodeId(2)))], ["f1e1", "f2e1"]);
    }
}
