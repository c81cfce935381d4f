//! The tokens of a vocabulary by their bytes.

use super::Vocabulary;

/// One byte of one or more tokens, in the order of a walk that goes down first.
#[derive(Debug)]
pub(super) struct TrieNode {
    pub(super) byte: u8,
    /// From 1: how many bytes lead here, this one included.
    pub(super) depth: usize,
    /// The number of the first node that is not below this one.
    pub(super) end: usize,
    /// The tokens that end here, as a range of [`Trie::ids`].
    pub(super) ids: (usize, usize),
}

/// All tokens that have bytes.
#[derive(Debug, Default)]
pub(super) struct Trie {
    pub(super) nodes: Vec<TrieNode>,
    pub(super) ids: Vec<u32>,
}

impl Trie {
    pub(super) fn new(vocabulary: &Vocabulary) -> Trie {
        let mut sorted: Vec<(&[u8], u32)> =
            vocabulary.iter().filter(|(bytes, _)| !bytes.is_empty()).collect();
        sorted.sort_unstable();
        let mut trie = Trie::default();
        // The nodes of the token before, by depth.
        let mut open: Vec<usize> = Vec::new();
        let mut before: &[u8] = &[];
        for (bytes, id) in sorted {
            let shared = before.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            trie.close(&mut open, shared);
            for byte in bytes.iter().skip(shared) {
                open.push(trie.nodes.len());
                let ids = (trie.ids.len(), trie.ids.len());
                trie.nodes.push(TrieNode { byte: *byte, depth: open.len(), end: 0, ids });
            }
            trie.ids.push(id);
            if let Some(node) = open.last().and_then(|last| trie.nodes.get_mut(*last)) {
                node.ids.1 = trie.ids.len();
            }
            before = bytes;
        }
        trie.close(&mut open, 0);
        trie
    }

    /// Closes the nodes deeper than `depth`: all that is below them is there.
    fn close(&mut self, open: &mut Vec<usize>, depth: usize) {
        let end = self.nodes.len();
        for node in open.drain(depth.min(open.len())..) {
            if let Some(node) = self.nodes.get_mut(node) {
                node.end = end;
            }
        }
    }
}
