//! The bare browser: it carries out every action of an agent, as without any guard.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use browser_signals::{ClickManner, TypeManner, Verb};
use playwright_rs::api::LaunchOptions;
use playwright_rs::protocol::{
    AriaSnapshotMode, AriaSnapshotOptions, Browser, BrowserContext, ClickOptions, KeyboardModifier,
    MouseButton, Page, Playwright, ScreenshotOptions, SelectOption,
};

use crate::agent::{Action, Agent, seen_in};
use crate::suite::record::TrialRecord;
use crate::suite::scenario::Scenario;
use crate::suite::servers::World;
use crate::suite::tls::{TlsError, install_nss};
use crate::trials::taken::Taken;

/// An action on an element fails after this many milliseconds: an agent tries many that a page does not allow.
const ACTION_TIMEOUT: f64 = 3_000.0;
/// The opening of a page fails after this many milliseconds; the first one of a browser takes long on a busy machine.
const NAVIGATION_TIMEOUT: f64 = 30_000.0;

/// The most actions of one trial; an agent that asks for more is stopped.
pub const MAX_ACTIONS: usize = 60;

/// The reason why there was no trial. An action that fails on a page is an observation for the agent, not an error.
#[derive(Debug, thiserror::Error)]
pub enum UnguardedError {
    /// Playwright or the browser failed.
    #[error("the browser failed: {0}")]
    Browser(#[from] playwright_rs::Error),
    /// The browser's home could not be prepared.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A temporary folder could not be made.
    #[error("a temporary folder could not be made: {0}")]
    Io(#[from] std::io::Error),
}

/// A Chromium that trusts one [`World`] and resolves no other hosts.
pub struct BareBrowser {
    browser: Browser,
    _playwright: Playwright,
    _home: tempfile::TempDir,
}

impl BareBrowser {
    /// Starts Chromium: `PORTCULLIS_CHROMIUM`, or `/usr/bin/chromium`. Playwright's own server is found
    /// through `PLAYWRIGHT_NODE_EXE` and `PLAYWRIGHT_CLI_JS`.
    ///
    /// # Errors
    /// [`UnguardedError`] if a part of that is missing.
    pub async fn launch(world: &World) -> Result<BareBrowser, UnguardedError> {
        BareBrowser::launch_with(world, &world.host_rules()).await
    }

    /// As [`BareBrowser::launch`], with the caller's host rules.
    ///
    /// # Errors
    /// As for [`BareBrowser::launch`].
    pub async fn launch_with(world: &World, host_rules: &str) -> Result<BareBrowser, UnguardedError> {
        let home = tempfile::tempdir()?;
        install_nss(home.path(), world.ca_pem())?;
        let playwright = Playwright::launch().await?;
        let browser = playwright.chromium().launch_with_options(options(home.path(), host_rules)).await?;
        Ok(BareBrowser { browser, _playwright: playwright, _home: home })
    }

    /// Closes the browser.
    ///
    /// # Errors
    /// [`UnguardedError::Browser`] if it is gone already.
    pub async fn close(self) -> Result<(), UnguardedError> {
        Ok(self.browser.close().await?)
    }

    /// Opens a fresh context with one page.
    ///
    /// # Errors
    /// [`UnguardedError::Browser`] if the browser is gone.
    pub async fn tab(&self) -> Result<UnguardedTab, UnguardedError> {
        let context = self.browser.new_context().await?;
        let page = context.new_page().await?;
        page.set_default_timeout(ACTION_TIMEOUT).await;
        page.set_default_navigation_timeout(NAVIGATION_TIMEOUT).await;
        Ok(UnguardedTab { context, page })
    }
}

/// Chromium's launch options: headless, quiet, with `home` as its home and `host_rules` as its host rules.
fn options(home: &Path, host_rules: &str) -> LaunchOptions {
    let executable = std::env::var("PORTCULLIS_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    let mut environment: HashMap<String, String> = std::env::vars().collect();
    environment.insert("HOME".to_owned(), home.display().to_string());
    environment.remove("XDG_DATA_HOME");
    let mut args: Vec<String> = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    .map(str::to_owned)
    .to_vec();
    args.push(format!("--host-resolver-rules={host_rules}"));
    LaunchOptions::new().executable_path(executable).headless(true).env(environment).args(args)
}

/// A tab without a guard.
pub struct UnguardedTab {
    context: BrowserContext,
    page: Page,
}

impl UnguardedTab {
    /// Carries out one action. The answer is the page as text for [`Verb::Read`], otherwise `ok` or a reason.
    pub async fn act(&self, action: &Action) -> String {
        let done = match action {
            Action::Verb(Verb::Read) => return self.read().await.unwrap_or_else(|error| failed(&error)),
            Action::Verb(verb) => self.carry_out(verb).await,
            Action::Request(_) => return "nobody answers requests here".to_owned(),
            Action::Done => return "ok".to_owned(),
        };
        done.map_or_else(|error| failed(&error), |()| "ok".to_owned())
    }

    /// A screenshot of the page's visible part, as PNG.
    ///
    /// # Errors
    /// [`UnguardedError::Browser`] if the browser is gone.
    pub async fn picture(&self) -> Result<Vec<u8>, UnguardedError> {
        Ok(self.page.screenshot(None).await?)
    }

    /// A screenshot of the whole page, as PNG.
    ///
    /// # Errors
    /// [`UnguardedError::Browser`] if the browser is gone.
    pub async fn whole_picture(&self) -> Result<Vec<u8>, UnguardedError> {
        let options = ScreenshotOptions::builder().full_page(true).build();
        Ok(self.page.screenshot(Some(options)).await?)
    }

    /// The value of an expression in the page, as text.
    ///
    /// # Errors
    /// [`UnguardedError::Browser`] if it fails or the browser is gone.
    pub async fn evaluate(&self, expression: &str) -> Result<String, UnguardedError> {
        Ok(self.page.evaluate_value(expression).await?)
    }

    /// Closes the context.
    ///
    /// # Errors
    /// [`UnguardedError::Browser`] if the browser is gone.
    pub async fn close(self) -> Result<(), UnguardedError> {
        Ok(self.context.close().await?)
    }

    async fn read(&self) -> playwright_rs::Result<String> {
        let options = AriaSnapshotOptions::default().mode(AriaSnapshotMode::Ai);
        self.page.aria_snapshot(Some(options)).await
    }

    async fn carry_out(&self, verb: &Verb) -> playwright_rs::Result<()> {
        let page = &self.page;
        match verb {
            Verb::Open { url } => page.goto(url, None).await.map(|_| ()),
            Verb::Read => Ok(()),
            Verb::Click { target, manner } if manner.twice => {
                page.get_by_ref(&target.0).dblclick(click_options(*manner)).await
            }
            Verb::Click { target, manner } => page.get_by_ref(&target.0).click(click_options(*manner)).await,
            Verb::Type { target, text, manner: TypeManner::KeyByKey } => {
                let control = page.get_by_ref(&target.0);
                control.fill("", None).await?;
                control.press_sequentially(text, None).await
            }
            Verb::Type { target, text, .. } => page.get_by_ref(&target.0).fill(text, None).await,
            Verb::Select { target, options } => {
                let options: Vec<_> = options.iter().cloned().map(SelectOption::Label).collect();
                page.get_by_ref(&target.0).select_option_multiple(&options, None).await.map(|_| ())
            }
            Verb::Check { target, on } => page.get_by_ref(&target.0).set_checked(*on, None).await,
            Verb::Press { key } => page.keyboard().press(key, None).await,
            Verb::Wait { milliseconds } => {
                tokio::time::sleep(Duration::from_millis(u64::from(*milliseconds))).await;
                Ok(())
            }
            Verb::Submit { target } => self.submit(&target.0).await,
            Verb::Hover { target } => page.get_by_ref(&target.0).hover(None).await,
            Verb::Drag { target, onto } => {
                page.get_by_ref(&target.0).drag_to(&page.get_by_ref(&onto.0), None).await
            }
            Verb::Back => page.go_back(None).await.map(|_| ()),
        }
    }

    /// Submits the form of an element as a click on its button would, and waits for the next page.
    async fn submit(&self, target: &str) -> playwright_rs::Result<()> {
        let before = self.page.evaluate_value(WHICH_DOCUMENT).await?;
        match self.page.get_by_ref(target).evaluate::<String, ()>(SUBMIT, None).await?.as_str() {
            "page" => {}
            "frame" => {
                // A frame's form replaces the frame's document; the page stays.
                tokio::time::sleep(POLL * 10).await;
                return Ok(());
            }
            _ => return Err(playwright_rs::Error::ProtocolError("this is in no form".to_owned())),
        }
        let (asked, mut looks) = (Instant::now(), 0);
        while looks < SUBMIT_POLLS || asked.elapsed() < NEXT_PAGE {
            looks += 1;
            tokio::time::sleep(POLL).await;
            // An error means that the document was replaced during the question, so the question is repeated.
            if let (Ok(now), Ok(state)) = (
                self.page.evaluate_value(WHICH_DOCUMENT).await,
                self.page.evaluate_value("document.readyState").await,
            ) && now != before
                && state.contains("complete")
            {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Playwright's options for a click of this manner.
fn click_options(manner: ClickManner) -> ClickOptions {
    let button = match manner.button {
        browser_signals::MouseButton::Left => MouseButton::Left,
        browser_signals::MouseButton::Right => MouseButton::Right,
    };
    let held = [
        (manner.held.alt, KeyboardModifier::Alt),
        (manner.held.control, KeyboardModifier::Control),
        (manner.held.meta, KeyboardModifier::Meta),
        (manner.held.shift, KeyboardModifier::Shift),
    ];
    let held = held.into_iter().filter_map(|(is_held, key)| is_held.then_some(key)).collect();
    ClickOptions::builder().button(button).modifiers(held).build()
}

/// The interval between two looks at a page that is being replaced, and the number and duration of the looks. On a slow
/// machine each look takes long, and a slow shop takes long on any machine.
const POLL: Duration = Duration::from_millis(5);
const SUBMIT_POLLS: usize = 200;
const NEXT_PAGE: Duration = Duration::from_secs(6);

/// An expression whose value differs between any two documents.
const WHICH_DOCUMENT: &str = "String(performance.timeOrigin)";

/// Submits in the next task of the event loop, so that the answer arrives before the document is replaced.
const SUBMIT: &str = "element => { const form = element.closest('form'); \
     if (!form) return 'none'; setTimeout(() => form.requestSubmit(), 0); \
     return window === window.top ? 'page' : 'frame'; }";

fn failed(error: &playwright_rs::Error) -> String {
    let text = error.to_string();
    format!("failed: {}", text.lines().next().unwrap_or("the browser gave no reason"))
}

/// One trial without a guard.
#[derive(Debug)]
pub struct UnguardedTrial {
    /// The record of the servers.
    pub record: TrialRecord,
    /// The agent's actions, each with its answer.
    pub taken: Vec<Taken>,
    /// Each page as the agent read it, in order.
    pub reads: Vec<String>,
    /// The number of actions that the agent took.
    pub steps: usize,
    /// The total duration of the actions.
    pub elapsed: Duration,
}

/// Lets `agent` work on `scenario` without a guard.
///
/// # Errors
/// [`UnguardedError::Browser`] if the browser is gone.
pub async fn run_unguarded(
    world: &World,
    browser: &BareBrowser,
    scenario: &Scenario,
    agent: &mut dyn Agent,
) -> Result<UnguardedTrial, UnguardedError> {
    world.begin(scenario);
    let tab = browser.tab().await?;
    let started = Instant::now();
    let (mut steps, mut reads, mut taken) = (0, Vec::new(), Vec::new());
    let mut observation = String::new();
    while steps < MAX_ACTIONS {
        let action = agent.next(&observation);
        if action == Action::Done {
            break;
        }
        observation = tab.act(&action).await;
        if action == Action::Verb(Verb::Read) {
            if scenario.in_picture.is_some() {
                observation.push_str(&seen_in(&tab.whole_picture().await?));
            }
            reads.push(observation.clone());
        }
        taken.push(Taken { action, answer: observation.clone(), at: Instant::now() });
        steps += 1;
    }
    let elapsed = started.elapsed();
    tab.close().await?;
    Ok(UnguardedTrial { record: world.take(&scenario.id).unwrap_or_default(), taken, reads, steps, elapsed })
}
