//! A program, built for a release, with its manual pages, completions and bill of materials.

use super::release::Release;
use super::{copied, fresh, unusable, written};
use crate::process::{Failure, Place, install};
use discovery::answer;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The profile of Cargo's for releases.
pub const PROFILE: &str = "dist";

/// A built program, with all that a package holds in a folder.
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// The folder: the program in `bin/`, the rest in `share/`.
    pub folder: PathBuf,
}

/// The completions: the shell, and the file's name below `share/`.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/NAME"),
    ("zsh", "zsh/vendor-completions/_NAME"),
    ("fish", "fish/vendor_completions.d/NAME.fish"),
];

impl Program {
    /// Builds the program of a package of the workspace.
    pub fn build(
        place: &Place,
        release: &Release,
        name: &'static str,
        package: &str,
        sources: &str,
    ) -> Result<Program, Failure> {
        let mut build = place.cargo();
        build.args(["build", "--locked", "--profile", PROFILE, "--package", package]);
        install(build.envs(environment(place)))?;
        let built = place.target.join(PROFILE).join(name);
        let said = answer(&built, ["--version"]).unwrap_or_default();
        if said != format!("{name} {}", release.version) {
            return Err(Failure::finding(format!(
                "{name} says that it is `{said}`, and not {}",
                release.version
            )));
        }
        let folder = place.target.join("packages").join("parts").join(name);
        fresh(&folder)?;
        copied(&built, &folder.join("bin").join(name))?;
        let share = folder.join("share");
        install(Command::new(&built).arg("man").arg(share.join("man/man1")))?;
        for (shell, file) in COMPLETIONS {
            let script = Command::new(&built).args(["completions", shell]).output();
            let script = script.map_err(|error| unusable(&built, &error))?;
            written(&share.join(file.replace("NAME", name)), script.stdout)?;
        }
        let about = share.join("doc").join(name);
        for text in ["LICENSE-APACHE", "LICENSE-MIT"] {
            copied(&place.root.join(text), &about.join(text))?;
        }
        copied(&place.root.join(sources).join("README.md"), &about.join("README.md"))?;
        written(&about.join("sbom.cdx.json"), materials(place, release, name, package)?)?;
        Ok(Program { name, folder })
    }

    /// The program itself.
    pub fn file(&self) -> PathBuf {
        self.folder.join("bin").join(self.name)
    }

    /// The folder with its licences and its bill of materials.
    pub fn about(&self) -> PathBuf {
        self.folder.join("share/doc").join(self.name)
    }

    /// The newest version of the C library that it asks for.
    pub fn glibc(&self) -> Result<String, Failure> {
        let bytes = fs::read(self.file()).map_err(|error| unusable(&self.file(), &error))?;
        newest_glibc(&bytes)
            .ok_or_else(|| Failure::finding(format!("{} names no version of glibc", self.name)))
    }
}

/// The time that a library sees which puts one into the program: 1980, where the times of archives begin.
const EPOCH: &str = "315532800";

/// The environment of a build whose result has no path and no time of this machine in it.
pub fn environment(place: &Place) -> Vec<(&'static str, OsString)> {
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"));
    let mut flags = format!("--remap-path-prefix={}=/portcullis", place.root.display());
    if let Some(cargo) = cargo.or_else(home) {
        let _written = write!(flags, " --remap-path-prefix={}=/cargo", cargo.display());
    }
    let c = format!("-ffile-prefix-map={}=/portcullis", place.root.display());
    vec![
        ("RUSTFLAGS", flags.into()),
        ("CFLAGS", c.into()),
        // Cargo does not compile a library anew for another time, so it is the same for every release.
        ("SOURCE_DATE_EPOCH", EPOCH.into()),
        ("CARGO_INCREMENTAL", "0".into()),
        ("CARGO_TARGET_DIR", place.target.clone().into()),
    ]
}

/// The packages that a program is built from, in the form of CycloneDX 1.5.
fn materials(place: &Place, release: &Release, name: &str, package: &str) -> Result<String, Failure> {
    let mut tree = place.cargo();
    tree.args([
        "tree",
        "--locked",
        "--package",
        package,
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--no-dedupe",
    ]);
    let output = tree.args(["--format", "{p}\t{l}"]).output();
    let output =
        output.map_err(|error| Failure::not_set_up(format!("`cargo tree` does not start: {error}")))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mut parts: Vec<String> = said.lines().filter_map(component).collect();
    parts.sort();
    parts.dedup();
    if parts.is_empty() {
        return Err(Failure::finding("`cargo tree` names no package".to_owned()));
    }
    Ok(format!(
        "{{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.5\",\n  \"version\": 1,\n  \"metadata\": {{ \"component\": {{ \
         \"type\": \"application\", \"name\": \"{name}\", \"version\": \"{}\", \"description\": \"built from commit {}\" }} }},\n  \
         \"components\": [\n    {}\n  ]\n}}\n",
        release.version,
        release.commit,
        parts.join(",\n    ")
    ))
}

/// One component from a line such as `serde v1.0.1\tMIT OR Apache-2.0`.
fn component(line: &str) -> Option<String> {
    let (package, licence) = line.split_once('\t')?;
    let mut words = package.split(' ');
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    // `MIT/Apache-2.0` is an older way of writing it.
    let licence = licence.replace('/', " OR ").replace(['"', '\\'], "");
    Some(format!(
        "{{ \"type\": \"library\", \"name\": \"{name}\", \"version\": \"{version}\", \"purl\": \"pkg:cargo/{name}@{version}\", \
         \"licenses\": [{{ \"expression\": \"{licence}\" }}] }}"
    ))
}

/// The newest of the versions that a program's symbols name, such as `GLIBC_2.34`.
fn newest_glibc(program: &[u8]) -> Option<String> {
    const MARK: &[u8] = b"GLIBC_2.";
    let mut newest: Option<u32> = None;
    for (at, _) in program.windows(MARK.len()).enumerate().filter(|(_, window)| *window == MARK) {
        let digits: Vec<u8> =
            program.iter().skip(at + MARK.len()).copied().take_while(u8::is_ascii_digit).collect();
        newest = newest.max(String::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()));
    }
    newest.map(|minor| format!("2.{minor}"))
}

/// The size of a folder's files, in KiB.
pub fn kibibytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => kibibytes(&entry.path()),
        Ok(about) => about.len().div_ceil(1024),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::{component, newest_glibc};

    #[test]
    fn the_newest_version_of_the_library_counts_by_number() {
        assert_eq!(newest_glibc(b"..GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_2.x"), Some("2.34".to_owned()));
        assert_eq!(newest_glibc(b"GLIBC_PRIVATE"), None);
    }

    #[test]
    fn a_package_becomes_a_component_with_its_licence() {
        let read = component("sirl v0.1.0 (/a/b)\tMIT/Apache-2.0").unwrap_or_default();
        assert!(read.contains("pkg:cargo/sirl@0.1.0") && read.contains("\"MIT OR Apache-2.0\""), "{read}");
        assert_eq!(component("nothing"), None);
    }
}
