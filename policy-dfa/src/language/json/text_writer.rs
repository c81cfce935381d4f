//! A writer of policy text that maps each word to the part of the JSON that it comes from.

use std::ops::Range;

use super::node::{Entry, Node, Value, shortened};
use crate::language::error::Fault;
use crate::language::parse::lexer::MAX_TEXT;

/// The most problems that are reported.
const MAX_FAULTS: usize = 20;

/// Writes policy text, and collects the faults of the JSON.
#[derive(Default)]
pub(super) struct TextWriter {
    text: String,
    source_map: SourceMap,
    faults: Vec<Fault>,
}

/// The offset of each word of the text, with the part of the JSON that the word comes from, in the order of the
/// text.
#[derive(Debug, Default)]
pub(super) struct SourceMap(Vec<(usize, Range<usize>)>);

impl SourceMap {
    /// The part of the JSON that a part of the text comes from. A location after the last word is about the
    /// whole.
    pub(super) fn source_of(&self, span: &Range<usize>) -> Range<usize> {
        let before = |at: usize| self.0.partition_point(|(start, _)| *start <= at).checked_sub(1);
        let at = |index: Option<usize>| index.and_then(|index| self.0.get(index)).map(|(_, part)| part);
        let (first, last) = (at(before(span.start)), at(before(span.end.saturating_sub(1).max(span.start))));
        match (first, last) {
            (Some(first), Some(last)) if span.start < span.end => first.start..last.end.max(first.end),
            _ => 0..0,
        }
    }
}

/// The entries of an object, each key once.
pub(super) struct Fields<'n, 'a> {
    entries: Vec<&'n Entry<'a>>,
    /// Whether the object had no unknown and no repeated key.
    pub(super) well_formed: bool,
}

impl<'n, 'a> Fields<'n, 'a> {
    pub(super) fn get(&self, key: &str) -> Option<&'n Node<'a>> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &'n Entry<'a>> {
        self.entries.iter().copied()
    }
}

impl TextWriter {
    /// The text with its source map, or the faults.
    pub(super) fn finish(self, root: &Node<'_>) -> Result<(String, SourceMap), Vec<Fault>> {
        if !self.faults.is_empty() {
            return Err(self.faults);
        }
        if self.text.len() > MAX_TEXT {
            let message = format!("the policy is longer than {MAX_TEXT} bytes when it is written as text");
            return Err(vec![Fault::new(root.span.clone(), message)]);
        }
        Ok((self.text, self.source_map))
    }

    pub(super) fn fault(&mut self, fault: Fault) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault);
        }
    }

    /// Adds a fault of an object, unless it follows from a fault of its keys.
    pub(super) fn fault_of(&mut self, fields: &Fields<'_, '_>, fault: Fault) {
        if fields.well_formed {
            self.fault(fault);
        }
    }

    /// Writes words of the language that come from `part` of the JSON.
    pub(super) fn write(&mut self, words: &str, part: &Range<usize>) {
        for word in words.split(' ') {
            if word != "," && !self.text.is_empty() {
                self.text.push(' ');
            }
            self.source_map.0.push((self.text.len(), part.clone()));
            self.text.push_str(word);
        }
    }

    /// Writes the closing brace of a section that comes from `part`.
    pub(super) fn close(&mut self, part: &Range<usize>) {
        self.write("}", &(part.end.saturating_sub(1)..part.end));
    }

    /// The entries of an object that has these keys only, each at most once.
    pub(super) fn fields<'n, 'a>(
        &mut self,
        node: &'n Node<'a>,
        what: &str,
        keys: &[&str],
    ) -> Option<Fields<'n, 'a>> {
        let Value::Map(entries) = &node.value else {
            self.unexpected(node, &format!("{what}, an object"));
            return None;
        };
        let mut fields: Vec<&Entry<'_>> = Vec::new();
        for entry in entries {
            let (key, span) = (shortened(&entry.key), entry.key_span.clone());
            if !keys.contains(&&*entry.key) {
                let fault = Fault::new(span, format!("unknown key `{key}`"));
                self.fault(fault.suggest(&key, keys.iter().copied()));
            } else if fields.iter().any(|known| known.key == entry.key) {
                self.fault(Fault::repeated(&key, span));
            } else {
                fields.push(entry);
            }
        }
        let well_formed = fields.len() == entries.len();
        Some(Fields { entries: fields, well_formed })
    }

    /// The value of a key that must be there.
    pub(super) fn needed<'n, 'a>(
        &mut self,
        (node, fields): (&Node<'a>, &Fields<'n, 'a>),
        key: &str,
        example: &str,
    ) -> Option<&'n Node<'a>> {
        let found = fields.get(key);
        if found.is_none() {
            let fault = Fault::new(node.span.start..node.span.start + 1, format!("`{key}` is missing"));
            self.fault(fault.help(format!("add a key such as: \"{key}\": {example}")));
        }
        found
    }

    pub(super) fn list<'n, 'a>(&mut self, node: &'n Node<'a>, what: &str) -> &'n [Node<'a>] {
        if let Value::List(items) = &node.value {
            return items;
        }
        self.unexpected(node, &format!("{what}, a list"));
        &[]
    }

    /// A list that is not empty.
    pub(super) fn some<'n, 'a>(&mut self, node: &'n Node<'a>, what: &str) -> &'n [Node<'a>] {
        let items = self.list(node, what);
        if items.is_empty() && matches!(node.value, Value::List(_)) {
            self.fault(Fault::new(node.span.clone(), "this list is empty").help(format!("name {what}")));
        }
        items
    }

    /// The one of `names` that a value is.
    pub(super) fn known<'k>(&mut self, node: &Node<'_>, what: &str, names: &[&'k str]) -> Option<&'k str> {
        let Value::Text(text) = &node.value else {
            self.unexpected(node, &format!("{what}, a text"));
            return None;
        };
        let found = names.iter().copied().find(|name| name == text);
        if found.is_none() {
            let text = shortened(text);
            let fault = Fault::new(node.span.clone(), format!("`{text}` is not {what}"));
            self.fault(fault.suggest(&text, names.iter().copied()));
        }
        found
    }

    /// Writes the names in a list, with a separator.
    pub(super) fn names(&mut self, node: &Node<'_>, what: &str, names: &[&str], separator: &str) {
        for (index, item) in self.some(node, what).iter().enumerate() {
            if index > 0 {
                self.write(separator, &item.span);
            }
            if let Some(name) = self.known(item, what, names) {
                self.write(name, &item.span);
            }
        }
    }

    /// Writes a text between quotes.
    pub(super) fn quoted(&mut self, node: &Node<'_>, what: &str) {
        let Value::Text(text) = &node.value else { return self.unexpected(node, &format!("{what}, a text")) };
        match text.chars().find(|c| *c == '"' || !(' '..='~').contains(c)) {
            Some(other) => {
                let other = shortened(&other.to_string());
                self.fault(Fault::new(node.span.clone(), format!("`{other}` is not allowed in {what}")));
            }
            None => {
                let text = format!("\"{text}\"");
                self.text.push(' ');
                self.source_map.0.push((self.text.len(), node.span.clone()));
                self.text.push_str(&text);
            }
        }
    }

    /// Writes a number as it is. A sign or an exponent is not part of the policy language.
    pub(super) fn number(&mut self, node: &Node<'_>, what: &str) {
        match &node.value {
            Value::Number(digits) if is_plain_number(digits) => self.write(digits, &node.span),
            _ => self.unexpected(node, what),
        }
    }

    pub(super) fn unexpected(&mut self, node: &Node<'_>, wanted: &str) {
        self.fault(Fault::new(node.span.clone(), format!("expected {wanted}, found {}", node.shown())));
    }
}

/// Whether a number has only digits and points.
pub(super) fn is_plain_number(digits: &str) -> bool {
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}
