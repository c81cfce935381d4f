//! The file format of a [`TopicModel`].
//!
//! All numbers little-endian. `PNGRAM`, version (2 bytes), vocabulary (4), end token (4; all ones for none), topics
//! (4). A topic: length of its name (4), the name in UTF-8, share (8, a float), order (4), then as many levels. A
//! level: nodes (4), continuations (4), keys (4 a node), children (4 a node and 4 more), first continuations (the
//! same), tokens (4 a continuation), counts (4 a continuation). Everything else follows from the counts.

use super::counts::{LONGEST, Level, START};
use super::error::BytesError;
use super::model::{NgramModel, check_vocabulary};
use super::topics::{MOST_TOPICS, Topic, TopicModel};
use hmm_control::{LanguageModel, Token};

const MAGIC: &[u8] = b"PNGRAM";
const VERSION: u16 = 1;

impl TopicModel {
    /// The model as bytes; the same model gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        let mut number = |number: u32| out.extend(number.to_le_bytes());
        number(self.vocabulary() as u32);
        number(self.end().unwrap_or(START));
        number(self.topics().len() as u32);
        for topic in self.topics() {
            out.extend((topic.name.len() as u32).to_le_bytes());
            out.extend(topic.name.as_bytes());
            out.extend(topic.share.to_le_bytes());
            out.extend((topic.model.order() as u32).to_le_bytes());
            for level in topic.model.levels() {
                out.extend((level.keys.len() as u32).to_le_bytes());
                out.extend((level.tokens.len() as u32).to_le_bytes());
                for part in [&level.keys, &level.children, &level.entries, &level.tokens, &level.counts] {
                    out.extend(part.iter().flat_map(|number| number.to_le_bytes()));
                }
            }
        }
        out
    }

    /// Reads a model. Any bytes are refused with a reason or give a model whose distributions sum to 1. Memory is
    /// bounded by a multiple of the bytes and, for each topic, of the vocabulary; both have a limit.
    ///
    /// # Errors
    /// When the bytes are not a model, have another version, are cut short, too long, or contradict themselves.
    pub fn from_bytes(bytes: &[u8]) -> Result<TopicModel, BytesError> {
        let mut reader = Reader { rest: bytes.strip_prefix(MAGIC).ok_or(BytesError::NotAModel)? };
        let version = reader.take("version").map(u16::from_le_bytes)?;
        if version != VERSION {
            return Err(BytesError::Version { found: version, known: VERSION });
        }
        let vocabulary = reader.number("vocabulary")? as usize;
        let end = Some(reader.number("end token")?).filter(|end| *end != START);
        check_vocabulary(vocabulary, end).map_err(|_| BytesError::Damaged { part: "vocabulary" })?;
        let count = reader.number("number of topics")?;
        if count as usize > MOST_TOPICS {
            return Err(BytesError::Damaged { part: "number of topics" });
        }
        let mut topics = Vec::new();
        for _ in 0..count {
            topics.push(reader.topic(vocabulary, end)?);
        }
        if !reader.rest.is_empty() {
            return Err(BytesError::TooLong { count: reader.rest.len() });
        }
        TopicModel::new(topics).map_err(|_| BytesError::Damaged { part: "list of topics" })
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self, part: &'static str) -> Result<[u8; N], BytesError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(BytesError::CutShort { part })?;
        self.rest = rest;
        Ok(*taken)
    }

    fn number(&mut self, part: &'static str) -> Result<u32, BytesError> {
        self.take(part).map(u32::from_le_bytes)
    }

    /// Takes bytes after checking that they are there, so that a size in the file allocates nothing by itself.
    fn bytes(&mut self, count: usize, part: &'static str) -> Result<&'a [u8], BytesError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(BytesError::CutShort { part })?;
        self.rest = rest;
        Ok(taken)
    }

    fn numbers(&mut self, count: usize, part: &'static str) -> Result<Vec<u32>, BytesError> {
        let length = count.checked_mul(4).ok_or(BytesError::CutShort { part })?;
        let (chunks, _) = self.bytes(length, part)?.as_chunks();
        Ok(chunks.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    fn topic(&mut self, vocabulary: usize, end: Option<Token>) -> Result<Topic, BytesError> {
        let length = self.number("name of a topic")? as usize;
        let name = self.bytes(length, "name of a topic")?.to_vec();
        let name = String::from_utf8(name).map_err(|_| BytesError::Damaged { part: "name of a topic" })?;
        let share = self.take("share of a topic").map(f64::from_le_bytes)?;
        let order = self.number("order")? as usize;
        if !(1..=LONGEST).contains(&order) {
            return Err(BytesError::Damaged { part: "order" });
        }
        let mut levels: Vec<Level> = Vec::new();
        for _ in 0..order {
            levels.push(self.level()?);
        }
        check(&levels, vocabulary)?;
        Ok(Topic { name, share, model: NgramModel::from_levels(vocabulary, end, levels) })
    }

    fn level(&mut self) -> Result<Level, BytesError> {
        let nodes = self.number("size of a level")? as usize;
        let continuations = self.number("size of a level")? as usize;
        Ok(Level {
            keys: self.numbers(nodes, "contexts")?,
            children: self.numbers(nodes.saturating_add(1), "tree of contexts")?,
            entries: self.numbers(nodes.saturating_add(1), "table of continuations")?,
            tokens: self.numbers(continuations, "continuations")?,
            counts: self.numbers(continuations, "counts")?,
        })
    }
}

/// Checks that the levels form a tree that counting could have made, and that every node has a continuation.
fn check(levels: &[Level], vocabulary: usize) -> Result<(), BytesError> {
    let require = |holds: bool, part| if holds { Ok(()) } else { Err(BytesError::Damaged { part }) };
    let known = |token: &Token| (*token as usize) < vocabulary;
    require(levels.first().is_some_and(|root| root.nodes() == 1), "first level")?;
    for (depth, level) in levels.iter().enumerate() {
        let next = levels.get(depth + 1).map_or(0, Level::nodes);
        require(covers(&level.children, next, false), "tree of contexts")?;
        require(covers(&level.entries, level.tokens.len(), true), "table of continuations")?;
        require(level.keys.iter().all(|key| *key == START || known(key)), "contexts")?;
        require(level.tokens.iter().all(known), "continuations")?;
        require(rising_within(&level.entries, &level.tokens), "continuations")?;
        require(level.counts.iter().all(|count| *count > 0), "counts")?;
        if let Some(next) = levels.get(depth + 1) {
            require(rising_within(&level.children, &next.keys), "contexts")?;
        }
    }
    Ok(())
}

/// True if the starts rise from 0 to `end`, strictly or not.
fn covers(starts: &[u32], end: usize, strictly: bool) -> bool {
    let rising = starts.is_sorted_by(|a, b| if strictly { a < b } else { a <= b });
    rising && starts.first() == Some(&0) && starts.last().is_some_and(|last| *last as usize == end)
}

/// True if the numbers rise strictly within each span.
fn rising_within(starts: &[u32], numbers: &[u32]) -> bool {
    starts.windows(2).all(|pair| {
        let [first, last] = pair else { return false };
        numbers.get(*first as usize..*last as usize).is_some_and(|span| span.is_sorted_by(|a, b| a < b))
    })
}
