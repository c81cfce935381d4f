//! The browser extension for the user's own browser: its files, and the step that lays them out in a folder.
//!
//! A browser takes no file from outside of an extension's folder. The extension shares nine files with the guard: the
//! scripts of the isolated world, the consent page, and the walk through a compiled policy. Each of them exists once, in
//! the folder of its owner; a link in `shared/` leads to it, and [`write_to`] copies it next to the extension's own files. `cargo xtask extension`,
//! `portcullis install-host --extension FOLDER` and the tests all use this step.

use std::io::Write;
use std::path::Path;
use std::{fs, io};

/// One of the extension's own files.
macro_rules! own {
    ($path:literal) => {
        ($path, include_str!(concat!("../files/", $path)))
    };
}

/// A file that the extension shares with another folder of the repository.
macro_rules! shared {
    ($path:literal) => {
        ($path, followed(include_str!(concat!("../shared/", $path))))
    };
}

/// A file that a link in `shared/` leads to. A checkout without symbolic links has the link's text there.
const fn followed(text: &'static str) -> &'static str {
    let is_followed = !matches!(text.as_bytes(), [] | [b'.', ..]);
    assert!(is_followed, "this checkout has no symbolic links: set Git's core.symlinks");
    text
}

/// The files of the extension, by their paths in its folder.
pub const FILES: [(&str, &str); 27] = [
    own!("manifest.json"),
    own!("worker.js"),
    own!("document_rules.js"),
    own!("earlier_pages.js"),
    own!("egress.js"),
    own!("frames.js"),
    own!("pages.js"),
    own!("preview.js"),
    own!("questions.js"),
    shared!("walk.mjs"),
    own!("options.css"),
    own!("options.html"),
    own!("options.js"),
    shared!("consent/page.css"),
    shared!("consent/page.html"),
    shared!("consent/page.js"),
    own!("consent/post.js"),
    shared!("page/world.js"),
    shared!("page/describe.js"),
    shared!("page/observe.js"),
    shared!("page/act.js"),
    shared!("page/fill.js"),
    own!("page/content.js"),
    own!("page/cover.js"),
    own!("page/loaded.js"),
    own!("page/read.js"),
    own!("page/sending.js"),
];

/// The text of a file; none for a path that is not in the extension.
pub fn file(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
}

/// Writes the extension into a folder, which is made, closed to other users on Unix, if it does not exist. Files of another
/// version are replaced; a link in the place of a file is removed and not followed.
///
/// # Errors
/// An error of the file system.
pub fn write_to(folder: &Path) -> io::Result<()> {
    for (path, text) in FILES {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            make_folder(parent)?;
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::File::create_new(&path)?.write_all(text.as_bytes())?,
        }
    }
    Ok(())
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use std::collections::BTreeSet;

    use super::*;

    /// The paths of the files in a folder, relative to `root`.
    fn paths_in(root: &Path, folder: &Path, into: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                paths_in(root, &path, into);
            } else {
                into.insert(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }

    #[test]
    fn every_own_file_is_listed_and_no_shared_file_is_a_copy() {
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("files");
        let mut own = BTreeSet::new();
        paths_in(&files, &files, &mut own);
        let listed: BTreeSet<String> = FILES.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(listed.len(), FILES.len(), "a path is listed twice");
        let shared: Vec<&str> =
            FILES.iter().map(|(path, _)| *path).filter(|path| !own.contains(*path)).collect();
        assert!(own.is_subset(&listed), "{own:?}");
        assert_eq!(shared.len(), 9, "{shared:?}");
        // In a package they are files.
        let links = Path::new(env!("CARGO_MANIFEST_DIR")).join("shared");
        if links.join("../../../policy-dfa").is_dir() {
            assert!(shared.iter().all(|path| links.join(path).is_symlink()), "{shared:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_new_folder_is_closed_to_others_and_links_are_not_followed() {
        use std::os::unix::fs::{MetadataExt, symlink};
        let place = tempfile::tempdir().unwrap();
        let (folder, elsewhere) = (place.path().join("extension"), place.path().join("elsewhere"));
        write_to(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        fs::write(&elsewhere, "kept").unwrap();
        fs::remove_file(folder.join("worker.js")).unwrap();
        symlink(&elsewhere, folder.join("worker.js")).unwrap();
        write_to(&folder).unwrap();
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "kept");
        assert_eq!(fs::read_to_string(folder.join("worker.js")).unwrap(), file("worker.js").unwrap());
    }

    #[test]
    fn the_folder_holds_all_that_the_manifest_and_the_scripts_name() {
        let folder = tempfile::tempdir().unwrap();
        write_to(folder.path()).unwrap();
        write_to(folder.path()).unwrap();
        let mut written = BTreeSet::new();
        paths_in(folder.path(), folder.path(), &mut written);
        assert_eq!(written, FILES.iter().map(|(path, _)| (*path).to_owned()).collect());
        let manifest: serde_json::Value = serde_json::from_str(file("manifest.json").unwrap()).unwrap();
        let scripts = manifest["content_scripts"][0]["js"].as_array().unwrap();
        let named = scripts
            .iter()
            .chain([&manifest["background"]["service_worker"], &manifest["options_ui"]["page"]]);
        for path in named {
            assert!(file(path.as_str().unwrap()).is_some(), "{path}");
        }
        for (path, text) in FILES.iter().filter(|(path, _)| path.ends_with(".js")) {
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let name = line.split("'./").nth(1).and_then(|rest| rest.split('\'').next()).unwrap();
                assert!(file(name).is_some(), "{path}: {name}");
            }
        }
    }
}
