//! Text from bytes that come in any pieces.

/// Decodes UTF-8 piece by piece: the text is the same however the bytes were split, and the same as
/// [`String::from_utf8_lossy`] makes of them all. Holds at most three bytes of an unfinished character.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Decoder {
    unfinished: Vec<u8>,
}

impl Decoder {
    /// Appends to `text` what the bytes complete.
    pub(crate) fn push(&mut self, bytes: &[u8], text: &mut String) {
        self.unfinished.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.unfinished);
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let rest = chunk.invalid();
            if rest.is_empty() {
                continue;
            }
            let may_go_on = std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && may_go_on {
                self.unfinished = rest.to_vec();
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    /// The end of the bytes: a character that was cut off becomes a replacement character.
    pub(crate) fn finish(&mut self, text: &mut String) {
        if !self.unfinished.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            self.unfinished.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes that are mostly parts of characters, so that cuts and damage are common.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            any::<char>().prop_map(|c| c.to_string().into_bytes()),
            any::<char>().prop_map(|c| {
                let mut bytes = c.to_string().into_bytes();
                bytes.pop();
                bytes
            }),
            any::<u8>().prop_map(|byte| vec![byte]),
        ];
        prop::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn any_split_reads_as_the_whole(bytes in bytes(), cuts in prop::collection::vec(0usize..80, 0..12)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            cuts.push(bytes.len());
            let (mut decoder, mut text, mut from) = (Decoder::default(), String::new(), 0);
            for to in cuts {
                decoder.push(&bytes[from..to], &mut text);
                prop_assert!(decoder.unfinished.len() <= 3);
                from = to;
            }
            decoder.finish(&mut text);
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
