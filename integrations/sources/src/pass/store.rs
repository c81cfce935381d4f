//! The names of the entries in a store.

use std::io;
use std::path::{Path, PathBuf};

use browser_signals::Origin;

/// The most entries that are looked at.
const MAX_ENTRIES: usize = 20_000;
/// The most folders in each other.
const MAX_DEPTH: usize = 16;

/// The names of all entries: their paths below the store, without `.gpg`, in the order of the alphabet. Links are not followed.
pub(super) fn names(store: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    below(store, "", 0, &mut names)?;
    names.sort();
    Ok(names)
}

fn below(folder: &Path, path: &str, depth: usize, names: &mut Vec<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let file_name = entry.file_name();
        // A name that is no text is none that a person wrote.
        let Some(name) = file_name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < MAX_DEPTH {
            // A folder that cannot be read hides its own entries alone.
            let _unreadable = below(&entry.path(), &format!("{path}{name}/"), depth + 1, names);
        } else if kind.is_file()
            && let Some(name) = name.strip_suffix(".gpg")
            && names.len() < MAX_ENTRIES
        {
            names.push(format!("{path}{name}"));
        }
    }
    Ok(())
}

/// Returns true if a part of the name is the origin's host, with its port or without: `web/shop.example`, `shop.example/ana`,
/// `shop.example:8443`. It only finds entries to look at: their content says for which site they are.
pub(super) fn may_be_for(name: &str, origin: &Origin) -> bool {
    let host = origin.host();
    let with_port = format!("{host}:{}", origin.port());
    name.split('/').any(|part| part.eq_ignore_ascii_case(host) || part.eq_ignore_ascii_case(&with_port))
}

/// The file of an entry, if it is a plain file of the store.
pub(super) fn file_of(store: &Path, name: &str) -> Option<PathBuf> {
    let is_plain = name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
    let file = store.join(format!("{name}.gpg"));
    let is_file = std::fs::symlink_metadata(&file).is_ok_and(|found| found.is_file());
    (is_plain && is_file).then_some(file)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn store(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, b"").unwrap();
        }
        folder
    }

    #[test]
    fn entries_are_named_by_their_paths() {
        let folder = store(&["web/shop.example.gpg", "bank.gpg", ".git/x.gpg", ".gpg-id", "notes.txt"]);
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.gpg")).unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("etc")).unwrap();
        assert_eq!(names(folder.path()).unwrap(), ["bank", "web/shop.example"]);
        assert!(file_of(folder.path(), "bank").is_some());
        for name in ["link", "../bank", "web/../bank", "", "/bank", ".git/x", "none"] {
            assert!(file_of(folder.path(), name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_part_of_the_name_is_the_host_as_a_whole() {
        let shop = Origin::parse("https://shop.example").unwrap();
        let other = Origin::parse("https://shop.example:8443").unwrap();
        for name in ["shop.example", "web/Shop.Example", "shop.example/ana", "a/shop.example/b"] {
            assert!(may_be_for(name, &shop) && may_be_for(name, &other), "{name}");
        }
        assert!(may_be_for("web/shop.example:8443", &other) && !may_be_for("web/shop.example:8443", &shop));
        for name in ["www.shop.example", "shop.example.evil.test", "notshop.example", "shop", ""] {
            assert!(!may_be_for(name, &shop), "{name}");
        }
    }
}
