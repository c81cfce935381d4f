//! Chromium and whether it starts, and the programs that only some commands use.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use discovery::Program;
use discovery::playwright::{VERSION, is_installed};
use playwright_rs::server::driver::get_driver_executable;
use portcullis::egress::proxy::EgressProxy;
use portcullis::guard::SystemEntropy;
use portcullis::signals::Container;
use portcullis::signals::playwright::{Browser, BrowserSettings};

use super::finding::Finding;

/// The time limit for the browser's start.
const START_WITHIN: Duration = Duration::from_secs(30);

const INSTALL_CHROMIUM: &str =
    "install it (`sudo apt-get install chromium` on Debian), or set PORTCULLIS_CHROMIUM to its path";

/// What needs Node and playwright-core.
const PLAYWRIGHT_IS_FOR: &str =
    if cfg!(unix) { "only `demo`, `evaluate` and `attack` use it" } else { "the browser is started with it" };

pub fn look(quick: bool) -> Vec<Finding> {
    let (of_driver, script) = driver().unzip();
    let mut found = vec![node(of_driver), playwright(script.as_deref())];
    if !cfg!(unix) {
        found = found.into_iter().map(Finding::needed).collect();
    }
    let chromium = discovery::chromium();
    found.push(browser(&chromium).needed());
    let parts = found.iter().all(Finding::lets_work);
    match chromium {
        Ok(chromium) if parts && !quick => found.push(start(&chromium.path).needed()),
        _ => {}
    }
    found.push(match discovery::certutil() {
        Ok(certutil) => Finding::ok("certutil", shown(&certutil)),
        Err(why) => Finding::missing(
            "certutil",
            format!("{why}; only `demo`, `evaluate` and `attack` use it"),
            "install NSS's tools (`sudo apt-get install libnss3-tools`), or set PORTCULLIS_CERTUTIL",
        ),
    });
    found.push(libtorch());
    found
}

/// The Node and the script of the driver. Where the guard does without it, only one that a variable names is looked at: else npm would be
/// asked for its folders, which leaves logs in the user's home.
fn driver() -> Option<(PathBuf, PathBuf)> {
    let is_named = ["PLAYWRIGHT_CLI_JS", "PLAYWRIGHT_DRIVER_PATH"]
        .iter()
        .any(|name| discovery::variable(name).is_some());
    if cfg!(unix) && !is_named { None } else { get_driver_executable().ok() }
}

/// The Node that Playwright starts: the driver's, or the one on PATH if there is no driver yet.
fn node(of_driver: Option<PathBuf>) -> Finding {
    const MEND: &str =
        "install Node 20 or newer (https://nodejs.org), or set PLAYWRIGHT_NODE_EXE to its path";
    let path = match of_driver {
        Some(path) if path.components().count() > 1 => Some(path),
        Some(bare) => discovery::on_path(&bare.to_string_lossy()),
        None => discovery::variable("PLAYWRIGHT_NODE_EXE")
            .map(PathBuf::from)
            .or_else(|| discovery::on_path("node")),
    };
    let Some(path) = path else {
        return Finding::missing("node", format!("not found on PATH; {PLAYWRIGHT_IS_FOR}"), MEND);
    };
    match discovery::node::accept(&path) {
        Ok(node) => Finding::ok("node", shown(&node)),
        // Where the guard does without it, an old one is no problem of the guard's.
        Err(why) if cfg!(unix) => Finding::missing("node", format!("{why}; {PLAYWRIGHT_IS_FOR}"), MEND),
        Err(why) => Finding::problem("node", why, MEND),
    }
}

fn playwright(script: Option<&Path>) -> Finding {
    // In npm's global folder playwright-rs looks for `playwright` alone, which brings playwright-core.
    let mend = format!(
        "in a clone of Portcullis run `eval \"$(cargo xtask env)\"`; else `npm install --global playwright@{VERSION}`"
    );
    match script {
        Some(script) if is_installed(script) => {
            Finding::ok("playwright-core", format!("{VERSION} {}", script.display()))
        }
        Some(script) => Finding::problem(
            "playwright-core",
            format!("{} is not version {VERSION}", script.display()),
            mend,
        ),
        None if cfg!(unix) => {
            let says = format!("PLAYWRIGHT_CLI_JS and PLAYWRIGHT_DRIVER_PATH name none; {PLAYWRIGHT_IS_FOR}");
            Finding::missing("playwright-core", says, mend)
        }
        None => Finding::missing("playwright-core", format!("not found; {PLAYWRIGHT_IS_FOR}"), mend),
    }
}

fn browser(chromium: &Result<Program, String>) -> Finding {
    match chromium {
        Ok(chromium) => Finding::ok("chromium", shown(chromium)),
        Err(why) => Finding::missing("chromium", why, INSTALL_CHROMIUM),
    }
}

/// Starts the browser as a session does, opens a container, and closes it.
fn start(chromium: &Path) -> Finding {
    const NAME: &str = "browser starts";
    let mend = "start it from a shell to see its error; as root, and where the kernel allows no user namespaces, set \
                PORTCULLIS_NO_SANDBOX=1";
    let Ok(runtime) = tokio::runtime::Runtime::new() else {
        return Finding::problem(NAME, "this system gives no threads", "end other programs");
    };
    let began = Instant::now();
    let mut settings = BrowserSettings::new(chromium);
    settings.sandbox = discovery::chromium_sandbox();
    let sandboxed = if settings.sandbox { "sandboxed" } else { "without Chromium's own sandbox" };
    let opened = async {
        let browser = Browser::start(settings).await.map_err(|error| error.to_string())?;
        let opened = container(&browser).await;
        browser.close().await;
        opened
    };
    let started = runtime.block_on(async { tokio::time::timeout(START_WITHIN, opened).await });
    match started {
        Ok(Ok(())) => Finding::ok(NAME, format!("in {:.1} s, {sandboxed}", began.elapsed().as_secs_f64())),
        Ok(Err(error)) => Finding::problem(NAME, error, mend),
        Err(_) => Finding::problem(NAME, format!("not within {} s", START_WITHIN.as_secs()), mend),
    }
}

/// Opens a container as a session does, and closes it.
async fn container(browser: &Browser) -> Result<(), String> {
    let proxy = EgressProxy::of(browser.settings(), &[], &mut SystemEntropy).await;
    let proxy = proxy.map_err(|error| error.to_string())?;
    let opened = browser.container_through(proxy.for_container(), Container::T0, &[]).await;
    opened.map_err(|error| error.to_string())?.close().await;
    Ok(())
}

/// Only `lm-torch` needs libtorch; no command of this program links it.
fn libtorch() -> Finding {
    const MEND: &str =
        "in a clone of Portcullis run `cargo xtask setup --torch`, or set LIBTORCH; only `lm-torch` needs it";
    let Some(folder) = discovery::variable("LIBTORCH").map(PathBuf::from) else {
        return Finding::missing("libtorch", "not named by LIBTORCH", MEND);
    };
    if folder.join("lib").is_dir() && folder.join("include").is_dir() {
        let version = std::fs::read_to_string(folder.join("build-version")).unwrap_or_default();
        return Finding::ok("libtorch", format!("{} {}", version.trim(), folder.display()));
    }
    Finding::missing("libtorch", format!("{} (LIBTORCH) has no `lib` and `include`", folder.display()), MEND)
}

fn shown(program: &Program) -> String {
    format!("{} {}", program.version, program.path.display()).trim_start().to_owned()
}
