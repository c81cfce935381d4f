//! Results of calls as values: JSON, the literals of Python in which many tool servers print, and lists of `name: value` lines.

use serde_json::{Map, Number, Value};

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 32;

/// A result as a value; a text where it is nothing else.
pub fn result(text: &str) -> Value {
    let trimmed = text.trim();
    nested(trimmed).or_else(|| lines(text)).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The value that a text is, if it is a list or a record.
pub(crate) fn nested(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return Some(value);
    }
    let mut literal = Literal { rest: text, depth: 0 };
    let value = literal.value()?;
    literal.space();
    literal.rest.is_empty().then_some(value)
}

/// A reader of Python's literals.
struct Literal<'t> {
    rest: &'t str,
    depth: usize,
}

impl Literal<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, start: &str) -> bool {
        self.space();
        let rest = self.rest.strip_prefix(start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Option<Value> {
        self.space();
        if self.depth > MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let value = match self.rest.chars().next()? {
            '{' => self.record(),
            '[' => self.list('[', "]"),
            '(' => self.list('(', ")"),
            '\'' | '"' => self.text().map(Value::String),
            _ => self.word(),
        };
        self.depth -= 1;
        value
    }

    fn record(&mut self) -> Option<Value> {
        self.takes("{");
        let mut fields = Map::new();
        loop {
            if self.takes("}") {
                return Some(Value::Object(fields));
            }
            let name = match self.value()? {
                Value::String(name) => name,
                other => other.to_string(),
            };
            if !self.takes(":") {
                return None;
            }
            fields.insert(name, self.value()?);
            if !self.takes(",") && !self.rest.trim_start().starts_with('}') {
                return None;
            }
        }
    }

    fn list(&mut self, open: char, close: &str) -> Option<Value> {
        self.rest = self.rest.strip_prefix(open)?;
        let mut items = Vec::new();
        loop {
            if self.takes(close) {
                return Some(Value::Array(items));
            }
            items.push(self.value()?);
            if !self.takes(",") && !self.rest.trim_start().starts_with(close) {
                return None;
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    escaped @ ('x' | 'u') => {
                        let digits = if escaped == 'x' { 2 } else { 4 };
                        let code: String = (0..digits).filter_map(|_| chars.next().map(|(_, c)| c)).collect();
                        text.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?).unwrap_or('\u{fffd}'));
                    }
                    other => text.push(other),
                },
                c if c == quote => {
                    self.rest = self.rest.get(at + c.len_utf8()..)?;
                    return Some(text);
                }
                c => text.push(c),
            }
        }
        None
    }

    fn word(&mut self) -> Option<Value> {
        let end = self
            .rest
            .find(|c: char| matches!(c, ',' | ':' | ']' | '}' | ')') || c.is_whitespace())
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(match word {
            "True" | "true" => Value::Bool(true),
            "False" | "false" => Value::Bool(false),
            "None" | "null" => Value::Null,
            "" => return None,
            number => match number.parse::<i64>() {
                Ok(whole) => Value::Number(whole.into()),
                Err(_) => Value::Number(Number::from_f64(number.parse().ok()?)?),
            },
        })
    }
}

/// A list of records in lines: `- name: value`, with lists and quoted or folded texts below a name.
fn lines(text: &str) -> Option<Value> {
    let mut all: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        all.push((line.len() - line.trim_start().len(), line.trim_start()));
    }
    let first = all.iter().find(|(_, line)| !line.is_empty())?;
    let is_list = first.1.strip_prefix("- ").is_some_and(|item| key_of(item).is_some());
    if !is_list && key_of(first.1).is_none() {
        return None;
    }
    let mut reader = Lines { lines: &all, at: 0, depth: 0 };
    let value = if is_list { reader.items(first.0) } else { reader.fields(first.0) };
    // A text that only begins like a record is a text.
    (reader.at >= all.len()).then_some(value)
}

/// The name and the value of a line such as `subject: Hello`.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    let is_name = !name.is_empty() && name.len() <= 40 && name.chars().all(plain);
    (is_name && (value.is_empty() || value.starts_with(' '))).then(|| (name, value.trim()))
}

struct Lines<'t> {
    lines: &'t [(usize, &'t str)],
    at: usize,
    depth: usize,
}

impl<'t> Lines<'t> {
    fn here(&self) -> Option<(usize, &'t str)> {
        self.lines.get(self.at).copied()
    }

    /// The items of a list at this indentation.
    fn items(&mut self, indent: usize) -> Value {
        let mut items = Vec::new();
        while let Some((depth, line)) = self.here() {
            let Some(rest) = line.strip_prefix("- ").filter(|_| depth == indent) else {
                if line.is_empty() {
                    self.at += 1;
                    continue;
                }
                break;
            };
            if key_of(rest).is_some() {
                items.push(self.fields_after(indent + 2, rest));
            } else {
                self.at += 1;
                items.push(scalar(rest));
            }
        }
        Value::Array(items)
    }

    fn fields(&mut self, indent: usize) -> Value {
        let Some((_, line)) = self.here() else { return Value::Null };
        self.fields_after(indent, line)
    }

    /// The fields of a record whose first line is given without its dash; the next ones are at this indentation.
    fn fields_after(&mut self, indent: usize, first: &'t str) -> Value {
        let mut fields = Map::new();
        let mut line = first;
        while let Some((name, value)) = key_of(line) {
            self.at += 1;
            let value = self.value_of(value, indent);
            fields.insert(name.to_owned(), value);
            match self.here() {
                Some((depth, next)) if depth == indent && !next.starts_with("- ") => line = next,
                _ => break,
            }
        }
        Value::Object(fields)
    }

    /// The value after a name: on its line, or in the deeper lines below.
    fn value_of(&mut self, first: &str, indent: usize) -> Value {
        if first.is_empty() {
            if self.depth >= MAX_DEPTH {
                return Value::Null;
            }
            self.depth += 1;
            let value = match self.here() {
                Some((depth, line)) if depth >= indent && line.starts_with("- ") => self.items(depth),
                Some((depth, _)) if depth > indent => self.fields(depth),
                _ => Value::Null,
            };
            self.depth -= 1;
            return value;
        }
        let is_open = |text: &str| {
            let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
            quote.is_some_and(|quote| {
                text.len() < 2 || !text.ends_with(quote) || text.ends_with(&format!("\\{quote}"))
            })
        };
        let mut text = first.to_owned();
        // A text goes on in deeper lines; a quoted one may have empty lines in it.
        while let Some((depth, line)) = self.here() {
            let goes_on = depth > indent || line.is_empty() && is_open(&text);
            if !goes_on {
                break;
            }
            let joint = if text.ends_with('\\') {
                text.pop();
                ""
            } else if line.is_empty() {
                "\n"
            } else {
                " "
            };
            text.push_str(joint);
            text.push_str(line.strip_prefix('\\').unwrap_or(line));
            self.at += 1;
        }
        scalar(&text)
    }
}

fn scalar(text: &str) -> Value {
    let text = text.trim();
    if text.starts_with(['\'', '"']) {
        let mut literal = Literal { rest: text, depth: 0 };
        let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        return match inner {
            // Within single quotes two of them are one.
            Some(inner) => Value::String(inner.replace("''", "'")),
            None => literal.text().map_or_else(|| Value::String(text.to_owned()), Value::String),
        };
    }
    match text {
        "" | "null" | "~" | "None" => Value::Null,
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        _ => nested(text).unwrap_or_else(|| match text.parse::<i64>() {
            Ok(number) => Value::Number(number.into()),
            Err(_) => Value::String(text.to_owned()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_and_literals_are_read_alike() {
        let wanted = json!({"a": "it's", "b": [1, 2.5, null, true], "c": {}});
        assert_eq!(result(r#"{"a": "it's", "b": [1, 2.5, null, true], "c": {}}"#), wanted);
        assert_eq!(result(r#"{'a': "it's", 'b': [1, 2.5, None, True], 'c': {}}"#), wanted);
        assert_eq!(result("{'a': 'it\\'s', 'b': (1, 2.5, None, True), 'c': {}}"), wanted);
        assert_eq!(result("{'a': 1} and more"), json!("{'a': 1} and more"));
        assert_eq!(nested(&"[".repeat(10_000)), None);
    }

    #[test]
    fn deep_lines_are_a_text() {
        let deep: String = (0..500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        assert_eq!(result(&deep), json!(deep));
        assert_eq!(result("a:\n b:\n  c: 1"), json!({"a": {"b": {"c": 1}}}));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "[-a:'\"{}\\[\\](), \\\\\n0-9é]{0,80}") {
            let _value = result(&text);
        }
    }

    #[test]
    fn records_in_lines_are_read() {
        let text = "- attachments: []\n  body: 'Hi Emma,\n\n\n    see you,\n\n    Ann'\n  recipients:\n  - emma@a.example\n  sender: ann@b.example\n\
                    - body: one line\n  sender: bob@b.example\n";
        let Value::Array(letters) = result(text) else { panic!("no list") };
        assert_eq!(letters.len(), 2);
        assert_eq!(letters[0]["sender"], "ann@b.example");
        assert_eq!(letters[0]["recipients"], json!(["emma@a.example"]));
        assert!(letters[0]["body"].as_str().unwrap().starts_with("Hi Emma,"));
        assert_eq!(letters[1]["body"], "one line");
        assert_eq!(result("Cart cleared."), json!("Cart cleared."));
    }
}
