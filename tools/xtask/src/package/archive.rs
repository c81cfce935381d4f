//! A tarball, and Debian's package.

use super::program::{Program, kibibytes};
use super::release::Release;
use super::{PLATFORM, copied, copied_folder, entries, fresh, template, written};
use crate::process::{Failure, Place, install};
use std::path::Path;
use std::process::Command;

/// The arguments by which two calls of `tar` write the same bytes.
fn same_bytes(release: &Release) -> Vec<String> {
    let time = format!("--mtime=@{}", release.time);
    ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", "--format=gnu", &time]
        .map(str::to_owned)
        .into()
}

/// A tarball with the program, its pages and completions, in one folder. `cargo binstall` finds the program in it.
pub fn tarball(release: &Release, program: &Program, out: &Path) -> Result<(), Failure> {
    let name = format!("{}-{}-{PLATFORM}", program.name, release.version);
    let stage = program.folder.with_file_name("tarball").join(&name);
    fresh(&stage)?;
    copied_folder(&program.folder.join("share"), &stage.join("share"))?;
    copied(&program.file(), &stage.join("bin").join(program.name))?;
    let mut tar = Command::new("tar");
    tar.args(same_bytes(release))
        .arg("-C")
        .arg(stage.with_file_name(""))
        .arg("--use-compress-program=gzip -n9");
    install(tar.arg("-cf").arg(out.join(format!("{name}.tar.gz"))).arg(&name))
}

/// Debian's package, made by `dpkg-deb`.
pub fn debian(place: &Place, release: &Release, program: &Program, out: &Path) -> Result<(), Failure> {
    let stage = program.folder.with_file_name("debian");
    fresh(&stage)?;
    let usr = stage.join("usr");
    copied_folder(&program.folder.join("share"), &usr.join("share"))?;
    copied(&program.file(), &usr.join("bin").join(program.name))?;
    // As Debian's policy has them.
    for page in entries(&usr.join("share/man/man1"))? {
        install(Command::new("gzip").arg("-n9").arg(page))?;
    }
    let about = usr.join("share/doc").join(program.name);
    written(&about.join("copyright"), template(place, release, "debian/copyright")?)?;
    copied(&place.root.join("CHANGELOG.md"), &about.join("changelog"))?;
    install(Command::new("gzip").arg("-n9").arg(about.join("changelog")))?;
    let control = template(place, release, "debian/control")?
        .replace("@GLIBC@", &program.glibc()?)
        .replace("@KIBIBYTES@", &kibibytes(&usr).to_string());
    written(&stage.join("DEBIAN/control"), control)?;
    let removed = stage.join("DEBIAN/postrm");
    copied(&place.root.join("packaging/debian/postrm"), &removed)?;
    install(Command::new("chmod").arg("-R").arg("u=rwX,go=rX").arg(&stage))?;
    install(Command::new("chmod").arg("0755").arg(&removed))?;
    let mut pack = Command::new("dpkg-deb");
    pack.args(["--root-owner-group", "-Zxz", "--build"]).arg(&stage);
    pack.arg(out.join(format!("portcullis_{}_amd64.deb", release.version)));
    install(pack.env("SOURCE_DATE_EPOCH", &release.time))
}
