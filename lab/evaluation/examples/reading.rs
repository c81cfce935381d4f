//! How much of real pages the agent reads: opens HTML files in Chromium, renders their text for the model, and compares it
//! with the browser's own `innerText`:
//! `eval "$(cargo xtask env)" && cargo run -p evaluation --example reading -- [--masks] [--classifier] [--most N] [--show] [--text] PATH...`.
//!
//! A path is a folder, whose HTML files are read with the pictures and style sheets beside them, or a JSON list of
//! records `{id, kind, html}`, of which the ones of kind `benign` are read. `--most` takes that many files of each folder,
//! evenly spread. Without further options the text is what the layout shows. `--masks` masks values by their form,
//! `--classifier` withholds what the shipped classifier finds; `--show` prints what is lost, `--text` the text for the model.

use std::error::Error;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use browser_signals::outline::Outline;
use browser_signals::playwright::{Browser, BrowserSettings};
use browser_signals::{Container, TextGuard, TextWithheld};
use classifier::Detectors;
use evaluation::reading::{Kept, Words};
use evaluation::stage::chromium;
use portcullis::egress::proxy::EgressProxy;
use portcullis::guard::SystemEntropy;
use portcullis::page_text::{Scrubber, mask_by_form};
use serde::Deserialize;

/// The host of the pages.
const HOST: &str = "page.test";

/// The longest page in bytes. A longer one is cut in the text for the model.
const LARGEST: usize = 1_000_000;

/// What is read.
enum Source {
    Folder(PathBuf),
    Pages(Vec<Page>),
}

#[derive(Deserialize)]
struct Page {
    id: String,
    kind: String,
    html: String,
}

#[derive(Default)]
struct Arguments {
    masks: bool,
    classifier: bool,
    show: bool,
    text: bool,
    most: usize,
    paths: Vec<PathBuf>,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut read = Arguments { most: usize::MAX, ..Arguments::default() };
    let mut words = std::env::args_os().skip(1);
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--masks") => read.masks = true,
            Some("--text") => read.text = true,
            Some("--classifier") => read.classifier = true,
            Some("--show") => read.show = true,
            Some("--most") => {
                let most = words.next().ok_or("--most takes a number")?;
                read.most = most.to_str().ok_or("--most takes a number")?.parse()?;
            }
            _ => read.paths.push(word.into()),
        }
    }
    if read.paths.is_empty() {
        Err("give a folder of HTML files, or a JSON list of pages".into())
    } else {
        Ok(read)
    }
}

/// Scrubs and masks as a session without releases does.
struct Guard {
    scrubber: Scrubber,
    detectors: Option<Detectors>,
}

impl TextGuard for Guard {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        let text = self.scrubber.scrub(outline).text;
        Ok(self.detectors.as_ref().map_or_else(|| text.clone(), |detectors| mask_by_form(&text, detectors)))
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match measure().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("reading: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let (mut sources, mut pages) = (Vec::new(), Vec::new());
    for path in &arguments.paths {
        let number = sources.len();
        if path.is_dir() {
            let mut found = Vec::new();
            html_below(path, &mut found)?;
            found.sort();
            let step = (found.len().div_ceil(arguments.most)).max(1);
            for file in found.into_iter().step_by(step) {
                let name = file.strip_prefix(path)?.to_str().ok_or("a name that is not UTF-8")?.to_owned();
                pages.push((format!("/{number}/{name}"), file.display().to_string()));
            }
            sources.push(Source::Folder(path.clone()));
        } else {
            let mut all: Vec<Page> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
            all.retain(|page| page.kind == "benign");
            pages.extend(
                all.iter().enumerate().map(|(at, page)| (format!("/{number}/{at}"), page.id.clone())),
            );
            sources.push(Source::Pages(all));
        }
    }
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let port = listener.local_addr()?.port();
    let router = Router::new().fallback(answer).with_state(Arc::new(sources));
    tokio::spawn(async move { axum::serve(listener, router).await });

    let mut settings = BrowserSettings::new(chromium().ok_or("there is no Chromium")?);
    settings.sandbox = discovery::chromium_sandbox();
    settings.proxy_rules =
        Some(format!("MAP {HOST} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"));
    settings.private_hosts = vec![format!("{HOST}:{port}")];
    let proxy = EgressProxy::of(&settings, &[], &mut SystemEntropy).await?;
    let browser = Browser::launch(settings).await?;
    let tab = browser.container_through(proxy.for_container(), Container::T0, &[]).await?;
    let scrubber = if arguments.classifier { Scrubber::standard()? } else { Scrubber::default() };
    let detectors = if arguments.masks { Some(Detectors::standard()?) } else { None };
    let guard = Guard { scrubber, detectors };

    let (mut total, mut read, mut below, mut sizes) = (Kept::default(), 0, 0, (0, 0));
    for (path, name) in pages {
        let path = path.replace('%', "%25").replace('#', "%23").replace('?', "%3F");
        let url = url::Url::parse(&format!("http://{HOST}:{port}{path}"))?;
        if let Err(error) = tab.open(&url).await {
            println!("{name}: not opened: {error}");
            continue;
        }
        let told = match tab.read(&guard).await {
            Ok(told) => told,
            Err(error) => {
                println!("{name}: not read: {error}");
                continue;
            }
        };
        let inner = tab.value_of_script("document.body ? document.body.innerText : ''").await?;
        let inner = inner.as_str().unwrap_or_default();
        if told.cut || inner.len() > LARGEST {
            println!("{name}: longer than what the agent reads at once");
            continue;
        }
        let kept = Kept::of(&Words::of_inner_text(inner), &Words::of_outline(&told.text));
        let (words, ends) = kept.shares();
        if words < 0.99 || ends < 0.99 || arguments.show {
            below += usize::from(words < 0.99 || ends < 0.99);
            println!(
                "{name}: {}/{} words ({:.2} %), {}/{} line ends ({:.2} %)",
                kept.words_kept,
                kept.words,
                100.0 * words,
                kept.ends_kept,
                kept.ends,
                100.0 * ends
            );
        }
        if arguments.text {
            println!("{}", told.text);
        }
        if arguments.show {
            kept.lost.iter().for_each(|lost| println!("    {lost}"));
        }
        total.add(&kept);
        read += 1;
        sizes = (sizes.0 + inner.len(), sizes.1 + told.text.len());
    }
    let (words, ends) = total.shares();
    println!("{read} pages, {below} of them below 99 %");
    println!("words kept in order: {} of {} ({:.3} %)", total.words_kept, total.words, 100.0 * words);
    println!("line ends kept: {} of {} ({:.3} %)", total.ends_kept, total.ends, 100.0 * ends);
    println!("bytes for the model: {}, of innerText: {}", sizes.1, sizes.0);
    tab.close().await;
    browser.close().await;
    Ok(())
}

fn html_below(folder: &Path, into: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            html_below(&path, into)?;
        } else if entry.file_type()?.is_file()
            && matches!(path.extension().and_then(|it| it.to_str()), Some("html" | "htm" | "xhtml"))
        {
            into.push(path);
        }
    }
    Ok(())
}

async fn answer(State(sources): State<Arc<Vec<Source>>>, request: Request) -> Response {
    let path = percent_encoding::percent_decode_str(request.uri().path()).decode_utf8_lossy().into_owned();
    let found = path.trim_start_matches('/').split_once('/').and_then(|(number, rest)| {
        match sources.get(number.parse::<usize>().ok()?)? {
            Source::Pages(pages) => {
                let page = pages.get(rest.parse::<usize>().ok()?)?;
                Some(("text/html; charset=utf-8", page.html.clone().into_bytes()))
            }
            Source::Folder(folder) => {
                let rest = Path::new(rest);
                let within = rest.components().all(|part| matches!(part, Component::Normal(_)));
                let file = within.then(|| folder.join(rest))?;
                let bytes = std::fs::read(&file).ok()?;
                Some((kind(file.extension().and_then(|it| it.to_str())), bytes))
            }
        }
    });
    match found {
        Some((kind, bytes)) => ([(header::CONTENT_TYPE, kind)], bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The type of a file. The characters' encoding of a page is left to the page.
fn kind(extension: Option<&str>) -> &'static str {
    match extension {
        Some("html" | "htm") => "text/html",
        Some("xhtml") => "application/xhtml+xml",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("png") => "image/png",
        Some("gif") => "image/gif",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
