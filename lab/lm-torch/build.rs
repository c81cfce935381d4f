//! Tells tests, examples and programs of this package where libtorch lies, so that they find it when they start.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DEP_TCH_LIBTORCH_LIB");
    // From the build script of `torch-sys`, whichever way it found the library.
    if let Ok(folder) = std::env::var("DEP_TCH_LIBTORCH_LIB") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
        // For packages that depend on this one: `DEP_LM_TORCH_LIBTORCH_LIB`.
        println!("cargo:libtorch_lib={folder}");
    }
    // A program that is installed beside the library.
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/../lib");
}
