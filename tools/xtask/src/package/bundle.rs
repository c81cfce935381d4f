//! The bundle that an MCP client opens, and the entry for the registry of MCP servers.

use super::program::Program;
use super::release::Release;
use super::{copied, copied_folder, fresh, template, unusable, written};
use crate::npm::Pinned;
use crate::process::{Failure, Place, install};
use crate::setup::Tools;
use std::path::Path;
use std::process::Command;

/// The packer, which also checks the manifest.
const PACKER: Pinned = Pinned {
    name: "@anthropic-ai/mcpb 2.1.2",
    folder: "mcpb",
    manifest: include_str!("../../npm/mcpb/package.json"),
    lock: include_str!("../../npm/mcpb/package-lock.json"),
};

/// Makes both.
pub fn make(
    place: &Place,
    release: &Release,
    program: &Program,
    tools: &Tools,
    out: &Path,
) -> Result<(), Failure> {
    let packer = PACKER.modules(place).join("@anthropic-ai/mcpb/dist/cli/cli.js");
    if !packer.is_file() {
        PACKER.install(place)?;
    }
    let stage = program.folder.with_file_name("mcpb");
    fresh(&stage)?;
    let manifest = stage.join("manifest.json");
    written(&manifest, template(place, release, "mcpb/manifest.json")?)?;
    copied(&program.file(), &stage.join("server").join(program.name))?;
    for text in ["LICENSE-APACHE", "LICENSE-MIT", "sbom.cdx.json"] {
        copied(&program.about().join(text), &stage.join(text))?;
    }
    copied_folder(&program.folder.join("share"), &stage.join("share"))?;
    // The packer notes the times of the files.
    let touched = format!("touch --date=@{} {{}} +", release.time);
    let touched: Vec<&str> = touched.split(' ').collect();
    install(Command::new("find").arg(&stage).arg("-exec").args(touched))?;
    let bundle = out.join(format!("portcullis-{}-linux-x64.mcpb", release.version));
    let mcpb = |arguments: &[&Path]| {
        let mut command = Command::new(&tools.node.path);
        // The packer writes local times.
        install(command.env("TZ", "UTC").arg(&packer).args(arguments))
    };
    mcpb(&[Path::new("validate"), &manifest])?;
    mcpb(&[Path::new("pack"), &stage, &bundle])?;
    let sum = Command::new("sha256sum").arg(&bundle).output().map_err(|error| unusable(&bundle, &error))?;
    let sum = String::from_utf8_lossy(&sum.stdout);
    let sum = sum.split(' ').next().unwrap_or_default();
    let entry = template(place, release, "mcp-registry/server.json")?.replace("@MCPB_SHA256@", sum);
    written(&out.join("server.json"), entry)
}
