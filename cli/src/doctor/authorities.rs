//! The certificate authorities that the user added for Chromium, such as one for sites of this machine.
//!
//! On Linux Chromium reads them from an NSS database in the home folder, and the guarded browser has the user's home.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::finding::Finding;

const NAME: &str = "own authorities";

/// The most names that the report lists.
const MAX_NAMES: usize = 4;

/// Reports the authorities of the database that the guarded browser uses.
pub fn look() -> Finding {
    let home = discovery::variable("HOME").map(PathBuf::from).unwrap_or_default();
    let data = discovery::variable("XDG_DATA_HOME").map(PathBuf::from);
    let folder = database(&home, data.as_deref());
    if !folder.join("cert9.db").is_file() {
        return none(&folder, true);
    }
    let Ok(certutil) = discovery::certutil() else {
        let says = format!("{} is there, and without certutil nobody can list it", folder.display());
        return Finding::missing(NAME, says, "install NSS's tools (`sudo apt-get install libnss3-tools`)");
    };
    let listed = Command::new(&certutil.path).args(["-L", "-d", &sql(&folder)]).output();
    match listed {
        Ok(listed) if listed.status.success() => {
            match trusted(&String::from_utf8_lossy(&listed.stdout)).as_slice() {
                [] => none(&folder, false),
                names => {
                    let shown: Vec<&str> = names.iter().take(MAX_NAMES).map(String::as_str).collect();
                    let more = if names.len() > MAX_NAMES { ", ..." } else { "" };
                    let says = "the guarded browser trusts those that you added";
                    Finding::ok(NAME, format!("{says}: {}{more} ({})", shown.join(", "), folder.display()))
                }
            }
        }
        _ => Finding::problem(
            NAME,
            format!("{} cannot be read", folder.display()),
            format!("`certutil -L -d {}` shows the error", sql(&folder)),
        ),
    }
}

/// The folder of the database. Chromium takes the older place if it exists.
fn database(home: &Path, data: Option<&Path>) -> PathBuf {
    let older = home.join(".pki/nssdb");
    if older.is_dir() {
        return older;
    }
    data.map_or_else(|| home.join(".local/share"), Path::to_path_buf).join("pki/nssdb")
}

fn sql(folder: &Path) -> String {
    format!("sql:{}", folder.display())
}

fn none(folder: &Path, make: bool) -> Finding {
    let shown = folder.display();
    let make = if make {
        format!("`mkdir -p {shown} && certutil -N --empty-password -d {}` and then ", sql(folder))
    } else {
        String::new()
    };
    Finding::missing(
        NAME,
        format!("none in {shown}; only sites with a certificate of your own authority need one"),
        format!("{make}`certutil -A -d {} -t C,, -n NAME -i AUTHORITY.pem` adds one", sql(folder)),
    )
}

/// The names of the authorities that are trusted for web servers, in the output of `certutil -L`.
fn trusted(listed: &str) -> Vec<String> {
    let authority = |line: &str| {
        let (name, flags) = line.trim_end().rsplit_once(char::is_whitespace)?;
        let mut parts = flags.split(',');
        let web = parts.next().filter(|_| parts.count() == 2)?;
        web.contains(['C', 'T']).then(|| name.trim().to_owned())
    };
    listed.lines().filter_map(authority).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]
    use super::*;

    #[test]
    fn only_authorities_for_web_servers_count() {
        let listed = "\nCertificate Nickname                        Trust Attributes\n\
                      \x20                                           SSL,S/MIME,JAR/XPI\n\n\
                      my local CA                                 C,,  \nmail only   ,C,\na server    P,,\nnone ,,\n";
        assert_eq!(trusted(listed), ["my local CA"]);
    }

    #[test]
    fn the_older_folder_comes_first_where_it_exists() {
        let home = tempfile::tempdir().unwrap();
        let (older, newer) = (home.path().join(".pki/nssdb"), home.path().join(".local/share/pki/nssdb"));
        assert_eq!(database(home.path(), None), newer);
        assert_eq!(database(home.path(), Some(Path::new("/data"))), Path::new("/data/pki/nssdb"));
        std::fs::create_dir_all(&newer).unwrap();
        std::fs::create_dir_all(&older).unwrap();
        assert_eq!(database(home.path(), Some(Path::new("/data"))), older);
    }
}
