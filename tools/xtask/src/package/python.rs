//! The wheel, made by maturin: the program, and no Python.

use super::program::{PROFILE, Program, environment};
use super::release::Release;
use super::{copied, copied_folder, fresh, template, written};
use crate::process::{Failure, Place, install};
use discovery::on_path;
use std::path::Path;
use std::process::Command;

/// The version of maturin, from PyPI.
const MATURIN: &str = "maturin==1.16.0";

/// Makes the wheel. The program in it is the one of the other packages, which Cargo does not build twice.
pub fn wheel(place: &Place, release: &Release, program: &Program, out: &Path) -> Result<(), Failure> {
    let environment_of_python = place.target.join("package-python");
    let maturin = environment_of_python.join("bin").join("maturin");
    if !maturin.is_file() {
        let python =
            on_path("python3").ok_or_else(|| Failure::not_set_up("python3 is not found".to_owned()))?;
        install(Command::new(python).args(["-m", "venv", "--clear"]).arg(&environment_of_python))?;
        let mut pip = Command::new(environment_of_python.join("bin").join("python"));
        install(pip.args(["-m", "pip", "install", "--quiet", MATURIN]))?;
    }
    let [wheels, stage] = ["wheel", "python"].map(|name| program.folder.with_file_name(name));
    fresh(&wheels)?;
    fresh(&stage)?;
    let manifest = place.root.join("cli/Cargo.toml").display().to_string();
    let project =
        template(place, release, "python/pyproject.toml")?.replace("../../cli/Cargo.toml", &manifest);
    written(&stage.join("pyproject.toml"), project)?;
    copied(&place.root.join("packaging/python/README.md"), &stage.join("README.md"))?;
    // pip installs the files of `data` below its prefix: manual pages, completions, licences, the bill of materials.
    copied_folder(&program.folder.join("share"), &stage.join("data/data/share"))?;
    let mut build = Command::new(maturin);
    build.args(["build", "--locked", "--profile", PROFILE, "--out"]).arg(&wheels);
    let environment =
        environment(place).into_iter().chain([("SOURCE_DATE_EPOCH", release.time.clone().into())]);
    install(build.current_dir(&stage).envs(environment))?;
    for wheel in super::entries(&wheels)? {
        let name = wheel.file_name().unwrap_or_default().to_owned();
        copied(&wheel, &out.join(name))?;
    }
    Ok(())
}
