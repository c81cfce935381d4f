//! The MCP clients of this machine, and their configurations.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::entry::{self, EntryError};
use super::table;

/// The command of a client's entry, and its arguments.
pub type Command = (String, Vec<String>);

/// An MCP client.
pub struct Client {
    /// Its name.
    pub name: &'static str,
    /// The configuration, below the home folder.
    file: &'static str,
    form: Form,
}

/// The form of a configuration.
enum Form {
    /// JSON, with the member that holds the servers.
    Json(&'static str),
    /// TOML.
    Toml,
}

const DESKTOP: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/Claude/claude_desktop_config.json"
} else {
    ".config/Claude/claude_desktop_config.json"
};

const CODE: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/Code/User/mcp.json"
} else {
    ".config/Code/User/mcp.json"
};

/// The known clients, with the places that their documents name.
pub const ALL: [Client; 7] = [
    Client { name: "Claude Desktop", file: DESKTOP, form: Form::Json("mcpServers") },
    Client { name: "Claude Code", file: ".claude.json", form: Form::Json("mcpServers") },
    Client { name: "Cursor", file: ".cursor/mcp.json", form: Form::Json("mcpServers") },
    Client { name: "Windsurf", file: ".codeium/windsurf/mcp_config.json", form: Form::Json("mcpServers") },
    Client { name: "Gemini CLI", file: ".gemini/settings.json", form: Form::Json("mcpServers") },
    Client { name: "VS Code", file: CODE, form: Form::Json("servers") },
    Client { name: "Codex", file: ".codex/config.toml", form: Form::Toml },
];

impl Client {
    /// Its configuration.
    pub fn file(&self, home: &Path) -> PathBuf {
        home.join(self.file)
    }

    /// Returns true if it is on this machine: its configuration or the folder of it is there.
    pub fn is_there(&self, home: &Path) -> bool {
        let file = self.file(home);
        let folder = file.parent().filter(|folder| *folder != home);
        file.is_file() || folder.is_some_and(Path::is_dir)
    }

    /// The configuration with the entry that starts the guard by this command. `None` means that it is there already.
    pub fn put(&self, text: &str, command: &Command) -> Result<Option<String>, EntryError> {
        let (program, arguments) = command;
        match self.form {
            Form::Json(servers) => {
                let mut ours = json!({ "command": program, "args": arguments });
                // VS Code's servers have a type.
                if let (Value::Object(ours), "servers") = (&mut ours, servers) {
                    ours.insert("type".to_owned(), "stdio".into());
                }
                entry::put(text, servers, &ours)
            }
            Form::Toml => table::put(text, program, arguments),
        }
    }

    /// The configuration without that entry. `None` means that it has none.
    pub fn taken_out(&self, text: &str) -> Result<Option<String>, EntryError> {
        match self.form {
            Form::Json(servers) => entry::taken_out(text, servers),
            Form::Toml => table::taken_out(text),
        }
    }

    /// Names the form that a configuration needs so that an entry can be put into it.
    pub fn wanted(&self) -> &'static str {
        match self.form {
            Form::Json(_) => "a plain JSON object",
            Form::Toml => "TOML with a table for each server",
        }
    }
}

/// The command that starts this program again: its place on the path, `npx` or `uvx` where it is in their cache, else its own place. A place
/// is named whole, since a client that a desktop starts may have another path.
pub fn command(own: &Path, on_path: Option<&Path>) -> Command {
    // `uvx` puts its cache on the path of what it starts.
    let lasting = on_path.filter(|place| of_cache(place).is_none());
    of_cache(own)
        .filter(|_| lasting.is_none())
        .unwrap_or_else(|| (lasting.unwrap_or(own).display().to_string(), Vec::new()))
}

/// The command that fills the cache in which a program is, if it is in one.
fn of_cache(program: &Path) -> Option<Command> {
    let parts: Vec<_> = program.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let is_in_uv =
        parts.windows(2).any(|two| matches!(two, ["uv", folder] if folder.starts_with("archive-v")));
    let (command, words) = match () {
        () if parts.contains(&"_npx") => ("npx", &["-y", "portcullis-guard"][..]),
        () if is_in_uv => ("uvx", &["--from", "portcullis-guard", "portcullis"][..]),
        () => return None,
    };
    Some((command.to_owned(), words.iter().map(|word| (*word).to_owned()).collect()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_client_is_known_by_its_folder_and_claude_code_by_its_file() {
        let home = tempfile::tempdir().unwrap();
        let there =
            || ALL.iter().filter(|one| one.is_there(home.path())).map(|one| one.name).collect::<Vec<_>>();
        assert!(there().is_empty());
        std::fs::create_dir_all(home.path().join(".cursor")).unwrap();
        std::fs::write(home.path().join(".claude.json"), "{}").unwrap();
        assert_eq!(there(), ["Claude Code", "Cursor"]);
    }

    #[test]
    fn the_program_is_started_again_as_it_was_installed() {
        let cache = Path::new("/home/ana/.npm/_npx/1/node_modules/portcullis-guard-linux-x64/bin/portcullis");
        assert_eq!(command(cache, None).0, "npx");
        let lasting = Path::new("/usr/bin/portcullis");
        assert_eq!(command(cache, Some(lasting)).0, "/usr/bin/portcullis");
        let cache = Path::new("/home/ana/.cache/uv/archive-v0/Q8CrK1djchPY3WLM/bin/portcullis");
        let uvx = ["--from", "portcullis-guard", "portcullis"].map(str::to_owned);
        for on_path in [None, Some(cache)] {
            assert_eq!(command(cache, on_path), ("uvx".to_owned(), uvx.to_vec()));
        }
        assert_eq!(command(cache, Some(lasting)).0, "/usr/bin/portcullis");
        // `uv tool install` keeps it.
        let tool = Path::new("/home/ana/.local/share/uv/tools/portcullis-guard/bin/portcullis");
        assert_eq!(command(tool, None).0, tool.display().to_string());
        assert_eq!(command(Path::new("/opt/portcullis"), None).0, "/opt/portcullis");
    }
}
