//! What `portcullis-mpi` is built and run with: an MPI library with its `mpicc` and `mpirun`, and libclang, which reads its headers.

use crate::debian::{System, install_packages};
use crate::process::Failure;
use discovery::{on_path, variable};
use std::fs;
use std::path::Path;

/// Something that is needed, and the package of Debian's that brings it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Needed {
    what: &'static str,
    package: &'static str,
}

const COMPILER: Needed = Needed { what: "mpicc", package: "libopenmpi-dev" };
const LAUNCHER: Needed = Needed { what: "mpirun", package: "openmpi-bin" };
const CLANG: Needed = Needed { what: "libclang", package: "libclang-dev" };

/// Finds everything, or installs what is missing where we may.
pub fn find_or_install() -> Result<(), Failure> {
    let system = System::here();
    let mut missing = missing();
    if !missing.is_empty() && system.can_install() {
        let packages: Vec<&str> = missing.iter().map(|needed| needed.package).collect();
        // A failure shows in what is still missing afterwards, with the command to run by hand.
        if let Err(failure) = install_packages(&packages) {
            eprintln!("apt-get failed. {}", failure.message);
        }
        missing = self::missing();
    }
    if missing.is_empty() { Ok(()) } else { Err(Failure::not_set_up(sentence(&missing, system))) }
}

fn missing() -> Vec<Needed> {
    let clang =
        variable("LIBCLANG_PATH").is_some() || !cfg!(target_os = "linux") || has_clang(Path::new("/usr/lib"));
    let found = [
        (COMPILER, variable("MPICC").is_some() || on_path("mpicc").is_some()),
        (LAUNCHER, on_path("mpirun").is_some()),
        (CLANG, clang),
    ];
    found.into_iter().filter(|(_, found)| !found).map(|(needed, _)| needed).collect()
}

/// Whether libclang lies in a folder of libraries, or in a `lib` of a folder of LLVM's in it, or in that of an architecture.
fn has_clang(libraries: &Path) -> bool {
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let is_clang = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // `libclang-cpp.so` has another interface, and a package of its own.
        let is_versioned = name.starts_with("libclang-") && !name.starts_with("libclang-cpp");
        name.starts_with("libclang.so") || (is_versioned && name.contains(".so"))
    };
    let has = |folder: &Path| names(folder).iter().any(|path| is_clang(path));
    let inner = names(libraries);
    has(libraries) || inner.iter().any(|folder| has(folder) || has(&folder.join("lib")))
}

fn sentence(missing: &[Needed], system: System) -> String {
    let what: Vec<&str> = missing.iter().map(|needed| needed.what).collect();
    let packages: Vec<&str> = missing.iter().map(|needed| needed.package).collect();
    let (what, be) = (what.join(" and "), if missing.len() == 1 { "is" } else { "are" });
    if system.derived {
        return format!("{what} {be} not found: run `{}`", system.install_command(&packages));
    }
    format!(
        "{what} {be} not found: install an MPI library with its headers, and libclang (LIBCLANG_PATH names its folder)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_the_command_that_brings_it() {
        let debian = System { debian: true, derived: true, root: false };
        assert_eq!(
            sentence(&[LAUNCHER], debian),
            "mpirun is not found: run `sudo apt-get install openmpi-bin`"
        );
        assert_eq!(
            sentence(&[COMPILER, CLANG], debian),
            "mpicc and libclang are not found: run `sudo apt-get install libopenmpi-dev libclang-dev`"
        );
        assert!(sentence(&[CLANG], System { derived: false, ..debian }).contains("LIBCLANG_PATH"));
    }

    #[test]
    fn libclang_is_found_where_distributions_put_it() {
        let root = std::env::temp_dir().join(format!("xtask-open-mpi-{}", std::process::id()));
        assert!(!has_clang(&root));
        for (number, place) in
            ["libclang.so.1", "llvm-14/lib/libclang-14.so", "x86_64-linux-gnu/libclang-14.so.13"]
                .iter()
                .enumerate()
        {
            let folder = root.join(number.to_string());
            let file = folder.join(place);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            for other in ["libclangAST.a", "libclang-cpp.so.14"] {
                fs::write(file.with_file_name(other), "").unwrap();
            }
            assert!(!has_clang(&folder), "{place}");
            fs::write(&file, "").unwrap();
            assert!(has_clang(&folder), "{place}");
        }
        fs::remove_dir_all(root).unwrap();
    }
}
