//! The crates, as they would be published: packed, built from what is packed, and put into a registry in a folder, from which programs of
//! `examples/programs/` take them.

use super::release::Release;
use super::{fresh, written};
use crate::packages;
use crate::process::{Failure, Place, run, without_our_package};
use crate::programs;
use crate::setup::Tools;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that depends on the smallest crate alone.
const READER: &str = "request-reader";
/// A program that depends on the facade, and needs a browser.
const AGENT: &str = "shop-agent";
/// The name of the registry in the programs' manifests.
const REGISTRY: &str = "trial";

/// Packs all crates that are published and tries them.
pub fn of(place: &Place, release: &Release, tools: &Tools) -> Result<(), Failure> {
    let mut pack = place.cargo();
    pack.args(["package", "--locked"]);
    for name in packages::published(place)? {
        pack.args(["--package", &name]);
    }
    // It builds each crate from what is packed, with the others that are packed.
    run(&mut pack)?;
    // The address of a registry is new for each commit: Cargo keeps what it took from one.
    let folder = place.target.join("package-registry");
    fresh(&folder)?;
    let address = registry(place, &folder.join(&release.commit))?;
    let reader = build(place, release, &folder.join(READER), READER, &address)?;
    programs::attempt_alone(&reader, READER, &folder)?;
    let agent = build(place, release, &folder.join(AGENT), AGENT, &address)?;
    let mut at_a_shop = Command::new("python3");
    at_a_shop.arg(place.root.join("tools/xtask/src/package/shop_agent.py")).arg(agent);
    run(at_a_shop.arg(&tools.chromium.path))?;
    println!("the crates are in {}", place.target.join("package").display());
    Ok(())
}

/// Makes the registry, and returns its address.
fn registry(place: &Place, folder: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::not_set_up(format!("the registry cannot be made: {error}"));
    let mut metadata = place.cargo();
    metadata.args(["metadata", "--locked", "--no-deps", "--format-version", "1"]).stdout(Stdio::piped());
    let mut metadata = metadata.spawn().map_err(failed)?;
    let mut script = Command::new("python3");
    script.arg(place.root.join("tools/xtask/src/package/registry.py"));
    script.arg(place.target.join("package")).arg(folder);
    if let Some(said) = metadata.stdout.take() {
        script.stdin(said);
    }
    let output = script.stderr(Stdio::inherit()).output().map_err(failed)?;
    let is_read = metadata.wait().map_err(failed)?.success();
    if !is_read || !output.status.success() {
        return Err(Failure::finding("the registry cannot be made of the packed crates".to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Builds a program as a stranger has it, with crates of the registry.
fn build(
    place: &Place,
    release: &Release,
    folder: &Path,
    name: &str,
    address: &str,
) -> Result<PathBuf, Failure> {
    let from = place.root.join("examples/programs").join(name);
    let read = |path: &Path| {
        fs::read_to_string(path).map_err(|error| Failure::not_set_up(format!("{}: {error}", path.display())))
    };
    let manifest = of_registry(&read(&from.join("Cargo.toml"))?, &release.version);
    written(&folder.join("Cargo.toml"), manifest)?;
    super::copied_folder(&from.join("src"), &folder.join("src"))?;
    println!("== {name}, with crates of a registry");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(folder).env("CARGO_TARGET_DIR", &place.target);
    cargo.env(format!("CARGO_REGISTRIES_{}_INDEX", REGISTRY.to_uppercase()), address);
    without_our_package(&mut cargo);
    run(cargo.args(["build", "--quiet"]))?;
    Ok(place.target.join("debug").join(name))
}

/// The manifest with crates of the registry in the place of paths, and a workspace of its own.
fn of_registry(manifest: &str, version: &str) -> String {
    let ours = |line: &str| {
        let (before, rest) = line.split_once("path = \"")?;
        let after = rest.split_once('"')?.1;
        Some(format!("{before}version = \"={version}\", registry = \"{REGISTRY}\"{after}"))
    };
    let lines = manifest.lines().map(|line| match line {
        "version.workspace = true" => "version = \"0.1.0\"".to_owned(),
        "edition.workspace = true" => "edition = \"2024\"".to_owned(),
        line => ours(line).unwrap_or_else(|| line.to_owned()),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n\n[workspace]\n"
}

#[cfg(test)]
mod tests {
    use super::of_registry;

    #[test]
    fn a_path_becomes_a_version_in_the_registry() {
        let manifest = "[package]\nedition.workspace = true\n\n[dependencies]\nsirl = { path = \"../../../sirl\" }\nserde = \"1\"\n";
        let read = of_registry(manifest, "0.2.0");
        assert!(read.contains("sirl = { version = \"=0.2.0\", registry = \"trial\" }"), "{read}");
        assert!(read.contains("edition = \"2024\"") && read.contains("serde = \"1\"\n"), "{read}");
    }
}
