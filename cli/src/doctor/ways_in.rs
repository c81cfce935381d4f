//! The interface by which browsers reach the guard: native-messaging manifests.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::finding::Finding;

/// The folders in which browsers look for manifests of native hosts, below the home folder and in the system.
const OF_THE_USER: [&str; 3] = [
    ".config/chromium/NativeMessagingHosts",
    ".config/google-chrome/NativeMessagingHosts",
    ".mozilla/native-messaging-hosts",
];
const OF_THE_SYSTEM: [&str; 2] =
    ["/etc/chromium/native-messaging-hosts", "/etc/opt/chrome/native-messaging-hosts"];

pub fn look() -> Vec<Finding> {
    let mut found = Vec::new();
    let home = discovery::variable("HOME").map(PathBuf::from).unwrap_or_default();
    let folders =
        OF_THE_USER.iter().map(|folder| home.join(folder)).chain(OF_THE_SYSTEM.iter().map(PathBuf::from));
    let manifests: Vec<PathBuf> = folders.flat_map(|folder| ours_in(&folder)).collect();
    if manifests.is_empty() {
        found.push(Finding::missing(
            "native messaging",
            "no browser has a manifest of ours; only the extension needs it",
            "`portcullis install-host` writes one, if you use the extension",
        ));
    }
    found.extend(manifests.iter().map(|path| manifest(path)));
    found
}

fn ours_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let ours = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.contains("portcullis") && name.ends_with(".json")
    };
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(ours).collect()
}

/// A manifest must name an existing program, use standard input and output, and list its allowed callers.
fn manifest(path: &Path) -> Finding {
    const NAME: &str = "native messaging";
    let problem = |why: String| {
        Finding::problem(
            NAME,
            format!("{}: {why}", path.display()),
            "install the host again, or remove the file",
        )
    };
    let read = fs::read_to_string(path).map_err(|error| error.to_string());
    let parsed =
        read.and_then(|text| serde_json::from_str::<Value>(&text).map_err(|error| error.to_string()));
    let manifest = match parsed {
        Ok(manifest) => manifest,
        Err(why) => return problem(why),
    };
    let text = |key| manifest.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("type") != "stdio" {
        return problem("its `type` is not `stdio`".to_owned());
    }
    if !discovery::is_program(Path::new(text("path"))) {
        return problem(format!("`{}` is no program", text("path")));
    }
    let listed = |key| manifest.get(key).and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    if !listed("allowed_origins") && !listed("allowed_extensions") {
        return problem("it lets no extension in".to_owned());
    }
    Finding::ok(NAME, path.display().to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use super::super::finding::Status;
    use super::*;

    #[test]
    fn a_manifest_is_good_only_where_the_browser_would_start_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("org.portcullis.host.json");
        let program = std::env::current_exe().unwrap();
        let good = serde_json::json!({
            "name": "org.portcullis.host", "type": "stdio", "path": program,
            "allowed_origins": ["chrome-extension://abcdefghijklmnopabcdefghijklmnop/"],
        });
        let with = |key: &str, value: Value| {
            let mut other = good.clone();
            other.as_object_mut().unwrap().insert(key.to_owned(), value);
            other.to_string()
        };
        let judged = |text: String| {
            fs::write(&path, text).unwrap();
            assert_eq!(ours_in(folder.path()), std::slice::from_ref(&path));
            manifest(&path).status
        };
        assert_eq!(judged(good.to_string()), Status::Ok);
        assert_eq!(judged("{".to_owned()), Status::Problem);
        assert_eq!(judged(with("type", "tcp".into())), Status::Problem);
        assert_eq!(judged(with("path", "/nowhere/portcullis".into())), Status::Problem);
        assert_eq!(judged(with("allowed_origins", Value::Array(Vec::new()))), Status::Problem);
    }
}
