//! The tokens of a vocabulary in a tree by their bytes.

use super::Vocabulary;

/// One byte of one or more tokens. Nodes are in depth-first order.
#[derive(Debug)]
pub(super) struct TrieNode {
    pub(super) byte: u8,
    /// The number of bytes up to this one, itself included.
    pub(super) depth: usize,
    /// The index of the first node after this one that is not below it.
    pub(super) end: usize,
    /// The tokens that end here, as a range of [`Trie::ids`].
    pub(super) ids: (usize, usize),
}

/// The tree of all tokens that have bytes.
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
        // The nodes of the last token, by depth.
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

    /// Ends the nodes deeper than `depth`, below which no more nodes follow.
    fn close(&mut self, open: &mut Vec<usize>, depth: usize) {
        let end = self.nodes.len();
        for node in open.drain(depth.min(open.len())..) {
            if let Some(node) = self.nodes.get_mut(node) {
                node.end = end;
            }
        }
    }
}
