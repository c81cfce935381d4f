//! JSON objects out of a byte stream. KeePassXC writes them without a separator, and its notices come at any time.

/// The longest object in bytes. KeePassXC's own limit for a message is 1 MiB before encryption.
pub(super) const LIMIT: usize = 1 << 20;

/// The deepest nesting. The protocol's objects have three levels at most.
const DEEPEST: u32 = 16;

/// The defect of a byte stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamFault {
    /// An object is longer than [`LIMIT`].
    TooLong,
    /// An object is nested deeper than the protocol needs.
    TooDeep,
    /// Something else than an object starts.
    NotAnObject,
}

/// Splits a stream into objects by brackets and strings alone. A parser then reads each object, so this one need
/// not notice every error.
#[derive(Default)]
pub(super) struct ObjectSplitter {
    object: Vec<u8>,
    depth: u32,
    in_string: bool,
    after_backslash: bool,
}

impl ObjectSplitter {
    /// Takes the next bytes of the stream and hands every completed object to `out`.
    ///
    /// # Errors
    /// A fault is final: the splitter is useless after it.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut impl Extend<Vec<u8>>) -> Result<(), StreamFault> {
        for &byte in bytes {
            if self.depth == 0 {
                match byte {
                    b'{' => {}
                    b' ' | b'\t' | b'\r' | b'\n' => continue,
                    _ => return Err(StreamFault::NotAnObject),
                }
            }
            if self.object.len() == LIMIT {
                return Err(StreamFault::TooLong);
            }
            self.object.push(byte);
            self.step(byte)?;
            if self.depth == 0 {
                out.extend([std::mem::take(&mut self.object)]);
            }
        }
        Ok(())
    }

    fn step(&mut self, byte: u8) -> Result<(), StreamFault> {
        if self.in_string {
            if self.after_backslash {
                self.after_backslash = false;
            } else if byte == b'\\' {
                self.after_backslash = true;
            } else if byte == b'"' {
                self.in_string = false;
            }
            return Ok(());
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' if self.depth == DEEPEST => return Err(StreamFault::TooDeep),
            b'{' | b'[' => self.depth += 1,
            // The depth is 1 at least inside an object.
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LIMIT, ObjectSplitter, StreamFault};

    fn split(chunks: &[&[u8]]) -> Result<Vec<Vec<u8>>, StreamFault> {
        let (mut splitter, mut out) = (ObjectSplitter::default(), Vec::new());
        for chunk in chunks {
            splitter.push(chunk, &mut out)?;
        }
        Ok(out)
    }

    #[test]
    fn glued_objects_are_split() {
        let stream = br#"{"action":"database-locked"}{"a":"}{\"\\"} {"b":[{},[]]}"#;
        let objects = split(&[stream]).unwrap();
        assert_eq!(
            objects,
            [&br#"{"action":"database-locked"}"#[..], br#"{"a":"}{\"\\"}"#, br#"{"b":[{},[]]}"#]
        );
    }

    #[test]
    fn faults_are_found_at_once() {
        assert_eq!(split(&[b"garbage"]), Err(StreamFault::NotAnObject));
        assert_eq!(split(&[b"{}]"]), Err(StreamFault::NotAnObject));
        assert_eq!(split(&[&b"{\"a\":".repeat(17)]), Err(StreamFault::TooDeep));
        let long = [br#"{"a":""#.to_vec(), vec![b'x'; LIMIT]].concat();
        assert_eq!(split(&[&long]), Err(StreamFault::TooLong));
    }

    #[test]
    fn an_object_of_just_the_limit_passes() {
        let long = [br#"{"a":""#.to_vec(), vec![b'x'; LIMIT - 8], b"\"}".to_vec()].concat();
        assert_eq!(split(&[&long]).unwrap(), [long]);
    }

    /// Objects with all that a splitter may trip over in strings and nesting.
    fn object() -> impl Strategy<Value = String> {
        let text = "[\\PC\"\\\\{}\\[\\]\n\u{0}]{0,12}";
        let leaf = prop_oneof![
            text.prop_map(serde_json::Value::from),
            any::<i32>().prop_map(serde_json::Value::from),
            Just(serde_json::Value::Null)
        ];
        let value = leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::btree_map(text, inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        });
        (prop::collection::btree_map(text, value, 0..4), any::<bool>()).prop_map(|(map, pretty)| {
            let value = serde_json::Value::Object(map.into_iter().collect());
            if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() }
        })
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_objects(
            objects in prop::collection::vec((object(), "[ \t\r\n]{0,2}"), 0..5),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let stream: String = objects.iter().map(|(object, gap)| format!("{object}{gap}")).collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &stream.as_bytes()[pair[0]..pair[1]]).collect();
            let expected: Vec<Vec<u8>> = objects.iter().map(|(object, _)| object.clone().into_bytes()).collect();
            prop_assert_eq!(split(&chunks).unwrap(), expected.clone());
            let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
            prop_assert_eq!(split(&bytes).unwrap(), expected);
        }

        #[test]
        fn any_bytes_are_taken_alike_in_any_chunking(
            stream in prop::collection::vec(prop::sample::select(&b"{}[]\"\\ a\n\xff"[..]), 0..64),
            cut in any::<prop::sample::Index>(),
        ) {
            let (left, right) = stream.split_at(cut.index(stream.len() + 1));
            prop_assert_eq!(split(&[left, right]), split(&[&stream]));
        }
    }
}
