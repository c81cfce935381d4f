//! An entry of ours in a client's configuration in TOML, put in at its end and taken out.
//!
//! As with JSON, the text is not written anew, so that comments and order stay, and the result is read with a parser before anybody writes
//! it.

use toml::{Table, Value};

use super::entry::{EntryError, NAME};

/// The table that holds the servers.
const SERVERS: &str = "mcp_servers";

/// The configuration with our entry in it. `None` means that it has the same entry already.
pub fn put(text: &str, command: &str, arguments: &[String]) -> Result<Option<String>, EntryError> {
    let mut expected: Table = text.parse().map_err(|_| EntryError::Unreadable)?;
    let mut entry = Table::new();
    entry.insert("command".to_owned(), command.into());
    entry.insert("args".to_owned(), arguments.to_vec().into());
    let servers = expected.entry(SERVERS).or_insert_with(|| Table::new().into());
    let servers = servers.as_table_mut().ok_or(EntryError::Unreadable)?;
    match servers.get(NAME) {
        Some(there) if *there == Value::Table(entry.clone()) => return Ok(None),
        Some(_) => return Err(EntryError::AlreadyThere),
        None => {}
    }
    let lines: String = entry.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    servers.insert(NAME.to_owned(), entry.into());
    let before = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    read_as(format!("{text}{before}\n[{SERVERS}.{NAME}]\n{lines}"), &expected).map(Some)
}

/// The configuration without our entry. `None` means that it has none.
pub fn taken_out(text: &str) -> Result<Option<String>, EntryError> {
    let mut expected: Table = text.parse().map_err(|_| EntryError::Unreadable)?;
    let servers = expected.get_mut(SERVERS).and_then(Value::as_table_mut);
    let Some(servers) = servers else { return Ok(None) };
    if servers.remove(NAME).is_none() {
        return Ok(None);
    }
    if servers.is_empty() {
        expected.remove(SERVERS);
    }
    let header = format!("[{SERVERS}.{NAME}]");
    // The entry ends at the next table. What `put` put in before it was an empty line.
    let mut kept: Vec<&str> = Vec::new();
    let mut is_ours = false;
    for line in text.split_inclusive('\n') {
        if line.trim() == header {
            is_ours = true;
            if kept.last().is_some_and(|line| line.trim().is_empty()) {
                kept.pop();
            }
        } else if line.trim_start().starts_with('[') {
            is_ours = false;
        }
        if !is_ours {
            kept.push(line);
        }
    }
    read_as(kept.concat(), &expected).map(Some)
}

/// The changed text, if a parser reads it as this.
fn read_as(changed: String, expected: &Table) -> Result<String, EntryError> {
    let is_read = changed.parse::<Table>().is_ok_and(|read| read == *expected);
    if is_read { Ok(changed) } else { Err(EntryError::Unreadable) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn put_ours(text: &str) -> Result<Option<String>, EntryError> {
        put(text, "/usr/bin/portcullis", &["mcp", "--vault", "/home/ana/a \"b\"/vault"].map(str::to_owned))
    }

    #[test]
    fn an_entry_goes_to_the_end_and_out_again() {
        for text in [
            "",
            "model = \"o3\"\n",
            "# mine\nmodel = \"o3\" # the best\n\n[mcp_servers.other]\ncommand = \"x\"\n",
            "[[hooks]]\na = 1\n\n[projects.\"/home/ana\"]\ntrust = \"trusted\"\n",
        ] {
            let put_in = put_ours(text).unwrap().unwrap();
            assert!(put_in.starts_with(text), "{put_in}");
            assert!(put_in.contains("\n[mcp_servers.portcullis]\n"), "{put_in}");
            assert_eq!(put_ours(&put_in), Ok(None));
            assert_eq!(taken_out(&put_in).unwrap().unwrap(), text);
            // A table that the user writes behind it stays.
            let more = format!("{put_in}\n[tui]\nnotifications = true\n");
            assert!(taken_out(&more).unwrap().unwrap().ends_with("[tui]\nnotifications = true\n"));
        }
        // A last line without an end gets one.
        let put_in = put_ours("model = \"o3\"").unwrap().unwrap();
        assert_eq!(taken_out(&put_in).unwrap().unwrap(), "model = \"o3\"\n");
    }

    #[test]
    fn what_would_change_anything_else_is_left_alone() {
        assert_eq!(put_ours("model = "), Err(EntryError::Unreadable));
        assert_eq!(put_ours("mcp_servers = 1"), Err(EntryError::Unreadable));
        assert_eq!(put_ours("mcp_servers = { a = { command = \"x\" } }"), Err(EntryError::Unreadable));
        assert_eq!(put_ours("[mcp_servers.portcullis]\ncommand = \"y\"\n"), Err(EntryError::AlreadyThere));
        assert_eq!(taken_out("[mcp_servers]\n"), Ok(None));
        assert_eq!(
            taken_out("mcp_servers = { portcullis = { command = \"x\" } }"),
            Err(EntryError::Unreadable)
        );
        let with_more =
            "[mcp_servers.portcullis]\ncommand = \"x\"\n[mcp_servers.portcullis.env]\nA = \"1\"\n";
        assert_eq!(taken_out(with_more), Err(EntryError::Unreadable));
    }
}
