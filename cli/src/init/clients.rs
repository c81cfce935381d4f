//! The MCP clients of this machine, and their configurations.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// An MCP client whose configuration is a JSON file.
pub struct Client {
    /// Its name.
    pub name: &'static str,
    /// The configuration, below the home folder.
    file: &'static str,
    /// The member that holds the servers.
    pub servers: &'static str,
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
pub const ALL: [Client; 6] = [
    Client { name: "Claude Desktop", file: DESKTOP, servers: "mcpServers" },
    Client { name: "Claude Code", file: ".claude.json", servers: "mcpServers" },
    Client { name: "Cursor", file: ".cursor/mcp.json", servers: "mcpServers" },
    Client { name: "Windsurf", file: ".codeium/windsurf/mcp_config.json", servers: "mcpServers" },
    Client { name: "Gemini CLI", file: ".gemini/settings.json", servers: "mcpServers" },
    Client { name: "VS Code", file: CODE, servers: "servers" },
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

    /// The entry that starts the guard with these arguments.
    pub fn entry(&self, (command, arguments): &(String, Vec<String>)) -> Value {
        let mut entry = json!({ "command": command, "args": arguments });
        if self.servers == "servers"
            && let Some(entry) = entry.as_object_mut()
        {
            entry.insert("type".to_owned(), "stdio".into());
        }
        entry
    }
}

/// The command that starts this program again: its place on the path, `npx` where npm keeps it in a cache, else its own place. A place is
/// named whole, since a client that a desktop starts may have another path.
pub fn command(own: &Path, on_path: Option<&Path>) -> (String, Vec<String>) {
    let is_in_cache = own.components().any(|part| part.as_os_str() == "_npx");
    match on_path {
        None if is_in_cache => ("npx".to_owned(), ["-y", "portcullis-guard"].map(str::to_owned).into()),
        on_path => (on_path.unwrap_or(own).display().to_string(), Vec::new()),
    }
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
        assert_eq!(command(cache, Some(Path::new("/usr/bin/portcullis"))).0, "/usr/bin/portcullis");
        assert_eq!(command(Path::new("/opt/portcullis"), None).0, "/opt/portcullis");
    }
}
