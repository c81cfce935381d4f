//! `portcullis install-host`: registers the native host with a browser, or removes it again.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use portcullis::service::protocol::{EXTENSION_ID, HOST_NAME};
use serde_json::json;

use crate::failure::Failure;
use crate::serve::Folder;

/// The browser to register with.
#[derive(Clone, Copy, ValueEnum)]
enum Browser {
    /// Chromium.
    Chromium,
    /// Google Chrome.
    Chrome,
}

#[derive(Args)]
pub struct Arguments {
    /// The browser.
    #[arg(long, value_enum)]
    browser: Browser,
    /// The browser's profile folder, if it is not the usual one.
    #[arg(long, value_name = "FOLDER")]
    user_data_dir: Option<PathBuf>,
    #[command(flatten)]
    folder: Folder,
    /// Also write the extension into this folder, to be loaded on chrome://extensions.
    #[arg(long, value_name = "FOLDER", conflicts_with = "remove")]
    extension: Option<PathBuf>,
    /// Remove the native host's files.
    #[arg(long)]
    remove: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let hosts = match &arguments.user_data_dir {
        Some(folder) => absolute(folder)?,
        None => usual(arguments.browser)?,
    };
    let hosts = hosts.join("NativeMessagingHosts");
    let manifest = hosts.join(format!("{HOST_NAME}.json"));
    let starter = hosts.join(HOST_NAME);
    if arguments.remove {
        remove(&manifest)?;
        remove(&starter)?;
        println!("removed from {}", hosts.display());
        return Ok(());
    }
    let own = std::env::current_exe().map_err(|error| Failure::NotSetUp(error.to_string()))?;
    let folder = absolute(&arguments.folder.path()?)?;
    fs::create_dir_all(&hosts).map_err(|error| unwritable(&hosts, &error))?;
    // A browser starts a host with arguments of its own alone, so a script adds the others.
    let script =
        format!("#!/bin/sh\nexec {} native-host --folder {} -- \"$@\"\n", quoted(&own)?, quoted(&folder)?);
    write(&starter, script.as_bytes(), 0o700)?;
    let contents = json!({
        "name": HOST_NAME,
        "description": "Portcullis",
        "path": starter,
        "type": "stdio",
        "allowed_origins": [format!("chrome-extension://{EXTENSION_ID}/")],
    });
    write(&manifest, format!("{contents:#}\n").as_bytes(), 0o600)?;
    println!("{} may start {}", EXTENSION_ID, starter.display());
    if let Some(folder) = &arguments.extension {
        let folder = absolute(folder)?;
        portcullis_extension::write_to(&folder).map_err(|error| unwritable(&folder, &error))?;
        println!("load {} on chrome://extensions", folder.display());
    }
    Ok(())
}

fn usual(browser: Browser) -> Result<PathBuf, Failure> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let home = home.ok_or_else(|| {
        Failure::NotSetUp("HOME is not set; name a folder with `--user-data-dir`".to_owned())
    })?;
    let folder = match (browser, cfg!(target_os = "macos")) {
        (Browser::Chromium, false) => ".config/chromium",
        (Browser::Chrome, false) => ".config/google-chrome",
        (Browser::Chromium, true) => "Library/Application Support/Chromium",
        (Browser::Chrome, true) => "Library/Application Support/Google/Chrome",
    };
    Ok(PathBuf::from(home).join(folder))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}

/// A path, quoted for a shell.
fn quoted(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control));
    let text =
        text.ok_or_else(|| Failure::Input(format!("{} cannot be written into a script", path.display())))?;
    Ok(format!("'{}'", text.replace('\'', "'\\''")))
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    remove(path)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    file.and_then(|mut file| file.write_all(bytes)).map_err(|error| unwritable(path, &error))
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unwritable(path, &error)),
        _ => Ok(()),
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Input(format!("{} cannot be written: {error}", path.display()))
}
