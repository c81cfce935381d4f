//! An entry of ours in a client's configuration in JSON: put in without a change to any other byte, and taken out.
//!
//! A configuration is the user's: its order, its spaces and its other entries stay. So the text is not parsed and written anew; the place
//! is found in it, and the result is read with a parser before anybody writes it.

use std::ops::Range;

use serde_json::Value;

/// The name of the entry.
pub const NAME: &str = "portcullis";

/// Why a configuration is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryError {
    /// It is not what its parser reads, or the entry has no place in it. JSON with comments is no JSON.
    Unreadable,
    /// It has an entry of that name with another content.
    AlreadyThere,
}

/// A JSON object's member: its key, and where it stands from the key to the end of the value.
struct Member<'a> {
    key: &'a str,
    value: usize,
    span: Range<usize>,
}

/// The configuration with our entry below the member `servers`. `None` means that it is there already.
pub fn put(text: &str, servers: &str, entry: &Value) -> Result<Option<String>, EntryError> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let whole: Value = serde_json::from_str(text).map_err(|_| EntryError::Unreadable)?;
    let known = whole.as_object().ok_or(EntryError::Unreadable)?.get(servers);
    match known.and_then(|known| known.get(NAME)) {
        Some(there) if there == entry => return Ok(None),
        Some(_) => return Err(EntryError::AlreadyThere),
        None => {}
    }
    let root = text.find('{').ok_or(EntryError::Unreadable)?;
    let ours = format!("\"{NAME}\": {entry:#}");
    let changed =
        match members(text, root).ok_or(EntryError::Unreadable)?.iter().find(|one| one.key == servers) {
            Some(there) => put_first(text, there.value, &indented(&ours, 4), 2),
            None => {
                let member = format!("\"{servers}\": {{\n{}\n}}", indented(&ours, 2));
                put_first(text, root, &indented(&member, 2), 0)
            }
        };
    let mut expected = whole;
    let within = expected
        .as_object_mut()
        .map(|all| all.entry(servers).or_insert_with(|| Value::Object(Default::default())));
    let within = within.and_then(Value::as_object_mut).ok_or(EntryError::Unreadable)?;
    within.insert(NAME.to_owned(), entry.clone());
    read_as(changed, &expected).map(Some)
}

/// The changed text, if a parser reads it as this.
fn read_as(changed: Option<String>, expected: &Value) -> Result<String, EntryError> {
    let is_read = |text: &String| serde_json::from_str::<Value>(text).is_ok_and(|read| read == *expected);
    changed.filter(is_read).ok_or(EntryError::Unreadable)
}

/// The configuration without our entry. `None` means that it has none.
pub fn taken_out(text: &str, servers: &str) -> Result<Option<String>, EntryError> {
    let mut expected: Value = serde_json::from_str(text).map_err(|_| EntryError::Unreadable)?;
    let within = expected.get_mut(servers).and_then(Value::as_object_mut);
    if within.and_then(|within| within.remove(NAME)).is_none() {
        return Ok(None);
    }
    let without = || {
        let root = text.find('{')?;
        let outer = members(text, root)?;
        let servers = outer.iter().find(|one| one.key == servers)?;
        let inner = members(text, servers.value)?;
        let at = inner.iter().position(|one| one.key == NAME)?;
        let ours = &inner.get(at)?.span;
        // What [`put`] put in goes again: everything before the entry and the comma after it. An entry that the user moved goes with the
        // comma before it.
        let first = servers.value + 1;
        let cut = match at.checked_sub(1).and_then(|before| inner.get(before)) {
            Some(before) => before.span.end..ours.end,
            None if inner.len() > 1 => first..text.get(ours.end..)?.find(',')? + ours.end + 1,
            None => first..text.get(ours.end..)?.find('}')? + ours.end,
        };
        Some(format!("{}{}", text.get(..cut.start)?, text.get(cut.end..)?))
    };
    read_as(without(), &expected).map(Some)
}

/// Puts a member first into the object that begins at `object`, whose own lines are indented by `depth`.
fn put_first(text: &str, object: usize, member: &str, depth: usize) -> Option<String> {
    let (before, after) = text.split_at_checked(object + 1)?;
    let is_empty = after.trim_start().starts_with('}');
    let end = if is_empty { format!("\n{}", " ".repeat(depth)) } else { ",".to_owned() };
    Some(format!("{before}\n{member}{end}{after}"))
}

/// The lines of a text, each indented.
fn indented(text: &str, by: usize) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("{}{line}", " ".repeat(by))).collect();
    lines.join("\n")
}

/// The members of the object that begins at `object`, in a text that is JSON.
fn members(text: &str, object: usize) -> Option<Vec<Member<'_>>> {
    let bytes = text.as_bytes();
    let mut at = skipped(bytes, object + 1);
    let mut found = Vec::new();
    while *bytes.get(at)? != b'}' {
        let start = at;
        let end_of_key = end(bytes, at)?;
        let key = text.get(start + 1..end_of_key - 1)?;
        let colon = skipped(bytes, end_of_key);
        let value = skipped(bytes, colon + 1);
        let end_of_value = end(bytes, value)?;
        found.push(Member { key, value, span: start..end_of_value });
        at = skipped(bytes, end_of_value);
        if *bytes.get(at)? == b',' {
            at = skipped(bytes, at + 1);
        }
    }
    Some(found)
}

fn skipped(bytes: &[u8], from: usize) -> usize {
    let spaces = bytes.iter().skip(from).take_while(|byte| byte.is_ascii_whitespace()).count();
    from + spaces
}

/// The place behind the value that begins at `from`.
fn end(bytes: &[u8], from: usize) -> Option<usize> {
    let (mut depth, mut in_string, mut at) = (0_usize, false, from);
    loop {
        let byte = *bytes.get(at)?;
        match byte {
            b'\\' if in_string => at += 1,
            b'"' => {
                in_string = !in_string;
                if !in_string && depth == 0 {
                    return Some(at + 1);
                }
            }
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return Some(at),
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b',' if depth == 0 => return Some(at),
            byte if byte.is_ascii_whitespace() && depth == 0 => return Some(at),
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn ours() -> Value {
        json!({ "command": "portcullis", "args": ["mcp", "--vault", "/home/ana/a \"b\"/vault"] })
    }

    /// Returns true if nothing but one piece was put into a text.
    fn is_insertion(before: &str, after: &str) -> bool {
        let same = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other).count();
        (0..=same).any(|at| after.as_bytes().ends_with(&before.as_bytes()[at..]))
    }

    #[test]
    fn an_entry_goes_in_and_out_and_every_other_byte_stays() {
        for text in [
            "{}",
            "{\"mcpServers\": {}}",
            "{ \"a\" : [1, {\"b\": \"}\\\"{\"}] ,\n\t\"mcpServers\":{\"other\":{\"command\":\"x\"}}, \"z\":1e3}\n",
            "{\n  \"theme\": \"dark\"\n}\n",
            "{\"mcpServers\": {\"one\": {}, \"two\": null}}",
        ] {
            let put_in = put(text, "mcpServers", &ours()).unwrap().unwrap();
            assert!(is_insertion(text, &put_in), "{put_in}");
            assert_eq!(
                put(&put_in, "mcpServers", &ours()),
                Ok(None),
                "the second time nothing is to be done"
            );
            let out = taken_out(&put_in, "mcpServers").unwrap().unwrap();
            assert_eq!(taken_out(&out, "mcpServers"), Ok(None));
            let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            let mut expected = read(text);
            expected.as_object_mut().unwrap().entry("mcpServers").or_insert_with(|| json!({}));
            assert_eq!(read(&out), expected, "{put_in}");
            if text.contains("mcpServers") {
                assert_eq!(out, text, "{put_in}");
            }
        }
        // The order of the entry's own members is that of the parser's map.
        let whole = put("", "servers", &ours()).unwrap().unwrap();
        assert!(whole.starts_with("{\n  \"servers\": {\n    \"portcullis\": {\n      \""), "{whole}");
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for text in ["[]", "7", "{", "{\"a\": 1} // a comment", "{\"mcpServers\": []}", "{\"mcpServers\": 7}"]
        {
            assert_eq!(put(text, "mcpServers", &ours()), Err(EntryError::Unreadable), "{text}");
        }
        let other = "{\"mcpServers\": {\"portcullis\": {\"command\": \"another\"}}}";
        assert_eq!(put(other, "mcpServers", &ours()), Err(EntryError::AlreadyThere));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z\"\\\\{}\\[\\],: é]{0,8}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-z\"{}]{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_configuration_is_the_same_but_for_the_entry(
            rest in proptest::collection::btree_map("[a-z\"]{1,4}", any_json(), 0..4),
            others in proptest::collection::btree_map("[a-z\"]{1,4}", any_json(), 0..4),
            has_servers in any::<bool>(),
            is_pretty in any::<bool>(),
        ) {
            let mut whole = serde_json::Map::from_iter(rest);
            if has_servers {
                whole.insert("mcpServers".to_owned(), Value::Object(others.into_iter().collect()));
            }
            let whole = Value::Object(whole);
            let text = if is_pretty { format!("{whole:#}") } else { whole.to_string() };
            let put_in = put(&text, "mcpServers", &ours()).unwrap().unwrap();
            prop_assert!(is_insertion(&text, &put_in), "{}", put_in);
            let out = taken_out(&put_in, "mcpServers").unwrap().unwrap();
            let mut expected = whole;
            expected.as_object_mut().unwrap().entry("mcpServers").or_insert_with(|| json!({}));
            prop_assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), expected);
            if has_servers {
                prop_assert_eq!(out, text);
            }
        }

        #[test]
        fn no_text_makes_it_fail(text in "[a-z\"\\\\{}\\[\\],: \n]{0,40}") {
            let _ = put(&text, "mcpServers", &ours());
            let _ = taken_out(&text, "mcpServers");
        }
    }
}
