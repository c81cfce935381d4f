//! `portcullis forms`: what the guard takes each control of a page for, and why.

pub mod reading;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use url::Url;

use self::reading::{Found, read_forms};
use crate::failure::Failure;
use crate::files::read_text;
use crate::pages::{OpenBrowser, Served};

#[derive(Args)]
pub struct Arguments {
    /// A page: an address that begins with http:// or https://, an HTML file, or a folder of HTML files. The scripts of files do
    /// not run: a saved page is shown as it was saved.
    page: String,
    /// Write a JSON list of records `{page, selector, field, section, sink, evidence}` to this file. `selector` is a CSS path
    /// that is unique in the page; `field` is null where nothing would be placed.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Private hosts (`host` or `host:port`) that may be opened nevertheless.
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    private_hosts: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::NotSetUp(error.to_string()))?;
    let read = runtime.block_on(async {
        if arguments.page.starts_with("http://") || arguments.page.starts_with("https://") {
            read_address(arguments).await
        } else {
            read_files(Path::new(&arguments.page)).await
        }
    })?;
    let Some(file) = &arguments.json else {
        for (page, found) in &read {
            print_page(page, found);
        }
        return Ok(());
    };
    let records = read.iter().flat_map(|(page, found)| found.iter().map(|one| record(page, one)));
    let written = std::fs::write(file, Value::Array(records.collect()).to_string());
    written.map_err(|error| Failure::Input(format!("{} cannot be written: {error}", file.display())))
}

/// The controls of each page, by the page's name.
type Pages = Vec<(String, Vec<Found>)>;

async fn read_address(arguments: &Arguments) -> Result<Pages, Failure> {
    let address = &arguments.page;
    let url =
        Url::parse(address).map_err(|error| Failure::Input(format!("{address} is no address: {error}")))?;
    let browser = OpenBrowser::start(None, &arguments.private_hosts).await?;
    let read = async {
        browser.open(&url).await?;
        read_forms(&browser.tab).await
    };
    let read = read.await;
    browser.stop().await;
    Ok(vec![(address.clone(), read?)])
}

async fn read_files(path: &Path) -> Result<Pages, Failure> {
    let files = pages_in(path)?;
    let served = Served::start().await?;
    let browser = OpenBrowser::start(Some(&served), &[]).await?;
    let mut pages = Vec::with_capacity(files.len());
    let mut failure = None;
    for (name, file) in files {
        match read_file(&browser, &served, &file).await {
            Ok(found) => pages.push((name, found)),
            Err(failed) => {
                failure = Some(failed);
                break;
            }
        }
    }
    browser.stop().await;
    failure.map_or(Ok(pages), Err)
}

/// The controls of a saved page.
pub async fn read_file(browser: &OpenBrowser, served: &Served, file: &Path) -> Result<Vec<Found>, Failure> {
    const PATH: &str = "/page";
    served.put_still(PATH, read_text(file)?);
    browser.open(&served.url(PATH)?).await?;
    read_forms(&browser.tab).await
}

/// The HTML files that a path names, with their names within a folder, in the order of the names.
pub fn pages_in(path: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    if !path.is_dir() {
        return Ok(vec![(path.display().to_string(), path.to_owned())]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let unreadable = |error| Failure::Input(format!("{} cannot be read: {error}", folder.display()));
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let file = entry.map_err(unreadable)?.path();
            if file.is_dir() {
                folders.push(file);
            } else if file.extension().is_some_and(|ending| ending == "html" || ending == "htm") {
                let name = file.strip_prefix(path).unwrap_or(&file).display().to_string();
                found.push((name, file));
            }
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(Failure::Input(format!("{} holds no HTML file", path.display())));
    }
    Ok(found)
}

fn record(page: &str, found: &Found) -> Value {
    json!({
        "page": page,
        "selector": found.selector,
        "field": found.field(),
        "section": found.section,
        "sink": found.sink,
        "evidence": found.why(),
    })
}

fn print_page(page: &str, found: &[Found]) {
    println!("{page}");
    for one in found {
        let field = one.field().unwrap_or("-");
        let section = one.section.as_deref().map(|section| format!(" ({section})")).unwrap_or_default();
        println!("  {field}{section}  by {}  in {}  {}", one.why(), one.sink, one.selector);
    }
    if found.is_empty() {
        println!("  no control");
    }
}
