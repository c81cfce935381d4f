//! Stop texts.

/// Searches for stop texts token by token, and holds back a possible beginning of one. A clone is a fork.
#[derive(Debug, Clone, Default)]
pub(crate) struct StopSearch {
    /// Bytes at the end that a stop text may begin with.
    held: Vec<u8>,
    /// How many bytes each of the last tokens has, as far as `held` reaches.
    lengths: Vec<usize>,
}

/// The result of a token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Bytes that are not part of a stop text.
    pub(crate) clear: Vec<u8>,
    /// The number of the complete stop text, and how many of the last tokens contain a part of it.
    pub(crate) stop: Option<(usize, usize)>,
}

impl StopSearch {
    /// Reads a token's bytes. Of several complete stop texts the one that begins first counts, and of those that begin
    /// together the first in the list; an empty one never matches.
    pub(crate) fn push(&mut self, stops: &[&str], token: &[u8]) -> Found {
        self.lengths.push(token.len());
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(token);
        let starts =
            stops.iter().enumerate().filter_map(|(number, stop)| Some((find(&bytes, stop)?, number)));
        if let Some((start, number)) = starts.min() {
            let tokens = self.reaching(bytes.len() - start);
            bytes.truncate(start);
            return Found { clear: bytes, stop: Some((number, tokens)) };
        }
        self.held = bytes.split_off(bytes.len() - possible_beginning(&bytes, stops));
        let tokens = self.reaching(self.held.len());
        self.lengths.drain(..self.lengths.len() - tokens);
        Found { clear: bytes, stop: None }
    }

    /// The bytes held back, when the text ends without a stop text.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        self.lengths.clear();
        std::mem::take(&mut self.held)
    }

    /// How many of the last tokens reach into the last `bytes` bytes.
    fn reaching(&self, bytes: usize) -> usize {
        let mut behind = 0;
        let one_of_them = |length: &&usize| {
            let reaches = behind < bytes;
            behind += **length;
            reaches
        };
        self.lengths.iter().rev().take_while(one_of_them).count()
    }
}

/// The first position of a stop text.
fn find(bytes: &[u8], stop: &str) -> Option<usize> {
    let stop = stop.as_bytes();
    if stop.is_empty() { None } else { bytes.windows(stop.len()).position(|window| window == stop) }
}

/// How many bytes at the end may begin a stop text.
fn possible_beginning(bytes: &[u8], stops: &[&str]) -> usize {
    let begins = |stop: &&str| {
        let longest = bytes.len().min(stop.len().saturating_sub(1));
        let mut lengths = (1..=longest).rev();
        lengths
            .find(|length| bytes.ends_with(stop.as_bytes().get(..*length).unwrap_or_default()))
            .unwrap_or(0)
    };
    stops.iter().map(begins).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_stop_text_matches_over_tokens_and_its_beginning_is_held_back() {
        let mut search = StopSearch::default();
        let stops = ["\nUser:", "END"];
        let clear = |text: &str| Found { clear: text.as_bytes().to_vec(), stop: None };
        assert_eq!(search.push(&stops, b"Hello\n"), clear("Hello"));
        assert_eq!(search.push(&stops, b"Us"), clear(""));
        assert_eq!(search.push(&stops, b"e it\nUs"), clear("\nUse it"));
        assert_eq!(search.push(&stops, b"er"), clear(""));
        let met = Found { clear: Vec::new(), stop: Some((0, 3)) };
        assert_eq!(search.push(&stops, b": more"), met);
    }

    #[test]
    fn the_stop_text_that_begins_first_counts() {
        let found = |stops: &[&str]| StopSearch::default().push(stops, b"abcd").stop;
        assert_eq!(found(&["cd", "bcd", "bc"]), Some((1, 1)));
        assert_eq!(found(&["bc", "bcd"]), Some((0, 1)));
        assert_eq!(found(&["", "x"]), None);
    }

    proptest! {
        /// For any tokenisation, the clear bytes are those before the first stop text.
        #[test]
        fn any_tokenisation_finds_the_same(
            tokens in prop::collection::vec("[ab]{0,4}", 0..12),
            stops in prop::collection::vec("[ab]{0,5}", 0..3),
        ) {
            let stops: Vec<&str> = stops.iter().map(String::as_str).collect();
            let all = tokens.concat();
            let mut search = StopSearch::default();
            let (mut clear, mut met, mut read) = (Vec::new(), None, 0);
            for token in &tokens {
                let found = search.push(&stops, token.as_bytes());
                clear.extend(found.clear);
                read += 1;
                if let Some(stop) = found.stop {
                    met = Some(stop);
                    break;
                }
            }
            let complete = tokens[..read].concat();
            let first = |text: &str| stops.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| text.find(stop)).min();
            match met {
                None => {
                    clear.extend(search.rest());
                    prop_assert_eq!(clear, all.as_bytes());
                    prop_assert_eq!(first(&all), None);
                }
                Some((number, dropped)) => {
                    let start = first(&complete).unwrap();
                    prop_assert_eq!(first(&tokens[..read - 1].concat()), None, "met as soon as it is there");
                    prop_assert_eq!(&clear, &complete.as_bytes()[..start]);
                    prop_assert!(complete[start..].starts_with(stops[number]));
                    let kept: usize = tokens[..read - dropped].iter().map(String::len).sum();
                    prop_assert!(kept <= start, "a token that is kept holds no part of it");
                    let next = tokens[read - dropped].len();
                    prop_assert!(kept + next > start || next == 0, "and no other is dropped");
                }
            }
        }
    }
}
