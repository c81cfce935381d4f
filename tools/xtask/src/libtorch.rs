//! libtorch for the CPU, which `lm-torch` links: the user's, or one put together from PyTorch's wheel.
//!
//! The wheel on PyPI is built for CUDA, and asks for 2 GB of NVIDIA's libraries; what runs on the CPU refers to a few
//! of their names, for profiling alone. We take the three libraries and the headers that are needed (480 MB), and put
//! stand-ins beside them whose functions answer that there is no device.

use crate::process::{Failure, Place, install, run};
use discovery::{answer, on_path, variable};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version that `tch` is made for.
pub const VERSION: &str = "2.13.0";

/// The wheel for Linux on x86-64 and Python 3.11; which Python it is for matters to a part that we do not take.
const REQUIREMENT: &str =
    "torch==2.13.0 --hash=sha256:60fcdcb2f3876e21146cb4524ef06397d727ca9ad5f020818547e25075fe3cb7\n";

/// Takes what is needed out of a wheel, into a folder of libtorch's own layout.
const EXTRACT: &str = "
import os, sys, zipfile
wheel, folder = sys.argv[1:]
libraries = {'torch/lib/' + name for name in ('libc10.so', 'libtorch_cpu.so', 'libgomp.so.1')}
with zipfile.ZipFile(wheel) as files:
    for name in files.namelist():
        if name in libraries or name.startswith('torch/include/'):
            to = name[len('torch/'):]
        elif '.dist-info/licenses/' in name or name.endswith('.dist-info/METADATA'):
            to = os.path.join('licences', name.split('.dist-info/')[1])
        else:
            continue
        if name.endswith('/'):
            continue
        path = os.path.join(folder, to)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with files.open(name) as source, open(path, 'wb') as sink:
            while block := source.read(1 << 22):
                sink.write(block)
";

/// The newest instructions that libtorch's oneDNN may use. Some virtual machines announce AMX, which comes after those
/// named here, and end a program that uses it with an illegal instruction.
const INSTRUCTIONS: &str = "ONEDNN_MAX_CPU_ISA";

/// What `lm-torch` is built with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Libtorch {
    /// The one in this folder.
    Folder(PathBuf),
    /// That of the Python on PATH, as `LIBTORCH_USE_PYTORCH` asks.
    Python,
}

impl Libtorch {
    /// The variables that Cargo and the build script of `torch-sys` read, and one for what is then run.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = Vec::new();
        if let Libtorch::Folder(folder) = self {
            variables.push(("LIBTORCH", folder.clone().into_os_string()));
        }
        if variable(INSTRUCTIONS).is_none() {
            variables.push((INSTRUCTIONS, OsString::from("AVX512_CORE_BF16")));
        }
        variables
    }

    /// One line: what, version, where.
    pub fn announce(&self) {
        match self {
            Libtorch::Folder(folder) => println!("libtorch {VERSION} {}", folder.display()),
            Libtorch::Python => println!("libtorch of Python's torch (LIBTORCH_USE_PYTORCH)"),
        }
    }
}

/// The user's, by `LIBTORCH_USE_PYTORCH` or `LIBTORCH`; else ours, if it is there.
pub fn find(place: &Place) -> Result<Option<Libtorch>, Failure> {
    if variable("LIBTORCH_USE_PYTORCH").is_some() {
        return Ok(Some(Libtorch::Python));
    }
    // Cargo's configuration names our folder where the user names none.
    let configured = place.root.join("target").join("libtorch");
    if let Some(named) = variable("LIBTORCH").map(PathBuf::from).filter(|named| *named != configured) {
        if named.join("lib").is_dir() && named.join("include").is_dir() {
            return Ok(Some(Libtorch::Folder(named)));
        }
        let shown = named.display();
        return Err(Failure::not_set_up(format!(
            "{shown} (LIBTORCH) has no `lib` and `include`: correct it, or run `unset LIBTORCH`"
        )));
    }
    let ours = ours(place);
    Ok(is_whole(&ours).then_some(Libtorch::Folder(ours)))
}

/// The user's, or ours, put together if it is not there.
pub fn find_or_install(place: &Place) -> Result<Libtorch, Failure> {
    if let Some(found) = find(place)? {
        return Ok(found);
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(Failure::not_set_up(format!(
            "we put libtorch together on Linux on x86-64 alone: set LIBTORCH to the folder of libtorch {VERSION} \
             (https://pytorch.org/get-started/locally), or LIBTORCH_USE_PYTORCH=1 to use Python's torch {VERSION}"
        )));
    }
    let folder = ours(place);
    let part = folder.with_extension("part");
    let wheels = folder.with_extension("wheel");
    let clear = |folder: &Path| if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) };
    clear(&part).and_then(|()| clear(&folder)).map_err(|error| unusable(&folder, &error))?;
    let wheel = download(&wheels)?;
    eprintln!("taking libtorch out of {}", wheel.display());
    install(python()?.args(["-c", EXTRACT]).arg(&wheel).arg(&part))?;
    stand_ins(&part)?;
    fs::write(part.join("build-version"), VERSION).map_err(|error| unusable(&part, &error))?;
    fs::rename(&part, &folder).map_err(|error| unusable(&folder, &error))?;
    clear(&wheels).map_err(|error| unusable(&wheels, &error))?;
    Ok(Libtorch::Folder(folder))
}

fn ours(place: &Place) -> PathBuf {
    place.target.join("libtorch")
}

/// The version is written last.
fn is_whole(folder: &Path) -> bool {
    fs::read_to_string(folder.join("build-version")).is_ok_and(|version| version.trim() == VERSION)
}

fn python() -> Result<Command, Failure> {
    let python = on_path("python3").ok_or_else(|| {
        Failure::not_set_up("python3 is not found, whose pip fetches libtorch: install it".to_owned())
    })?;
    Ok(Command::new(python))
}

/// The wheel, from wherever the user's pip gets its packages; pip checks the sum.
fn download(folder: &Path) -> Result<PathBuf, Failure> {
    let requirement = folder.join("requirements.txt");
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&requirement, REQUIREMENT));
    written.map_err(|error| unusable(folder, &error))?;
    eprintln!("fetching PyTorch's wheel with pip (530 MB)");
    let mut pip = python()?;
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
    ]);
    pip.args(["--only-binary=:all:", "--python-version=3.11", "--implementation=cp"]);
    pip.args(["--platform=manylinux_2_28_x86_64", "--dest"])
        .arg(folder)
        .arg("--requirement")
        .arg(&requirement);
    install(&mut pip).map_err(|failure| {
        let seen = if failure.message.is_empty() { "pip failed" } else { &failure.message };
        Failure::not_set_up(format!(
            "{seen}: check the network and that python3 has pip, or set LIBTORCH to the folder of libtorch {VERSION}"
        ))
    })?;
    let mut files = fs::read_dir(folder).map_err(|error| unusable(folder, &error))?.filter_map(Result::ok);
    let wheel = files.find(|file| file.path().extension().is_some_and(|end| end == "whl"));
    let wheel = wheel.ok_or_else(|| Failure::not_set_up("pip fetched no wheel".to_owned()))?;
    Ok(wheel.path())
}

/// Compiles a library for each that is referred to and not there, and the empty one that `torch-sys` names.
fn stand_ins(folder: &Path) -> Result<(), Failure> {
    let library = folder.join("lib").join("libtorch_cpu.so");
    let nm =
        on_path("nm").ok_or_else(|| Failure::not_set_up("nm is not found: install binutils".to_owned()))?;
    let list = answer(&nm, [OsString::from("-D"), "--undefined-only".into(), library.into_os_string()]);
    let list = list.ok_or_else(|| Failure::not_set_up("nm does not read libtorch_cpu.so".to_owned()))?;
    for (library, names) in referred_to(&list) {
        let versions = format!("{library} {{ global: *; }};\n");
        compile(folder, &library, &source(&names), Some(&versions), &[])?;
    }
    let needed = ["-Wl,--no-as-needed", "-ltorch_cpu", "-lc10", "-Wl,-rpath,$ORIGIN"];
    compile(folder, "libtorch.so", "", None, &needed)
}

/// The names that `nm` lists with the library that they have to come from, by library: those of CUDA carry its name as
/// their version, and those of the system do not.
fn referred_to(list: &str) -> BTreeMap<String, Vec<String>> {
    let mut libraries: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in list.lines().filter_map(|line| line.split_whitespace().last()) {
        if let Some((name, library)) = name.split_once('@')
            && library.starts_with("lib")
            && library.contains(".so.")
        {
            libraries.entry(library.to_owned()).or_default().push(name.to_owned());
        }
    }
    libraries
}

/// 100 is `cudaErrorNoDevice`. One function gives a text.
fn source(names: &[String]) -> String {
    let function = |name: &String| match name.ends_with("GetErrorString") {
        true => format!("const char *{name}(void) {{ return \"no CUDA device\"; }}\n"),
        false => format!("int {name}(void) {{ return 100; }}\n"),
    };
    names.iter().map(function).collect()
}

fn compile(
    folder: &Path,
    library: &str,
    source: &str,
    versions: Option<&str>,
    more: &[&str],
) -> Result<(), Failure> {
    let compiler = on_path("cc").or_else(|| on_path("gcc"));
    let compiler =
        compiler.ok_or_else(|| Failure::not_set_up("no C compiler is found: install gcc".to_owned()))?;
    let (code, map) = (folder.join("stand-in.c"), folder.join("stand-in.map"));
    let libraries = folder.join("lib");
    fs::write(&code, source).map_err(|error| unusable(&code, &error))?;
    let mut command = Command::new(compiler);
    command.args(["-shared", "-fPIC", "-o"]).arg(libraries.join(library)).arg(&code);
    command
        .arg(format!("-Wl,-soname,{library}"))
        .arg("-Wl,--allow-shlib-undefined")
        .arg("-L")
        .arg(&libraries);
    if let Some(versions) = versions {
        fs::write(&map, versions).map_err(|error| unusable(&map, &error))?;
        command.arg(format!("-Wl,--version-script={}", map.display()));
    }
    run(command.args(more))?;
    for file in [&code, &map].into_iter().filter(|file| file.exists()) {
        fs::remove_file(file).map_err(|error| unusable(file, &error))?;
    }
    Ok(())
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::not_set_up(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_by_the_library_that_they_come_from() {
        let list = "                 U cuptiSubscribe@libcupti.so.13\n                 U memcpy@GLIBC_2.14\n\
                    \x20                w __gmon_start__\n                 U cudaGetErrorString@libcudart.so.13\n\
                    \x20                U cudaGetDeviceCount@libcudart.so.13\n";
        let found = referred_to(list);
        let libraries: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(libraries, ["libcudart.so.13", "libcupti.so.13"]);
        assert_eq!(
            source(&found["libcudart.so.13"]),
            "const char *cudaGetErrorString(void) { return \"no CUDA device\"; }\n\
             int cudaGetDeviceCount(void) { return 100; }\n"
        );
    }

    #[test]
    fn the_wheel_is_of_the_version_and_pinned_by_its_sum() {
        assert!(REQUIREMENT.starts_with(&format!("torch=={VERSION} --hash=sha256:")));
        let sum = REQUIREMENT.trim().rsplit(':').next().unwrap();
        assert!(sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }

    #[test]
    fn half_a_folder_is_not_taken_for_a_whole_one() {
        let folder = std::env::temp_dir().join(format!("xtask-libtorch-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let empty = is_whole(&folder);
        fs::write(folder.join("build-version"), "2.12.0").unwrap();
        let old = is_whole(&folder);
        fs::write(folder.join("build-version"), format!("{VERSION}\n")).unwrap();
        let right = is_whole(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!((empty, old, right), (false, false, true));
    }
}
