//! A bare Chromium for the tests of the consent page: the user's, or one that an attacker controls.
#![allow(dead_code, reason = "no test uses all of it")]

use std::time::{Duration, Instant};

use playwright_rs::api::LaunchOptions;
use playwright_rs::protocol::{Browser, BrowserContextOptions, Page, Playwright, Viewport};
use serde_json::Value;

/// Chromium's executable.
pub fn executable() -> String {
    std::env::var("PORTCULLIS_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".into())
}

pub struct Chromium {
    pub browser: Browser,
    playwright: Playwright,
}

impl Chromium {
    /// `names` are host resolver rules.
    pub async fn launch(names: &str) -> Chromium {
        let playwright = Playwright::launch().await.expect("run `cargo xtask setup` first");
        let mut arguments: Vec<String> =
            ["--no-sandbox", "--disable-gpu", "--disable-background-networking"].map(str::to_owned).into();
        if !names.is_empty() {
            arguments.push(format!("--host-resolver-rules={names}"));
        }
        let options = LaunchOptions::new().executable_path(executable()).headless(true).args(arguments);
        let browser = playwright.chromium().launch_with_options(options).await.unwrap();
        Chromium { browser, playwright }
    }

    /// A blank page in a fresh context.
    pub async fn blank(&self) -> Page {
        let window = Viewport { width: 640, height: 760 };
        let options = BrowserContextOptions::builder().viewport(window).build();
        let page = self.browser.new_context_with_options(options).await.unwrap().new_page().await.unwrap();
        page.set_default_timeout(90_000.0).await;
        page
    }

    /// A page at this address.
    pub async fn open(&self, address: &str) -> Page {
        let page = self.blank().await;
        page.goto(address, None).await.unwrap();
        page
    }

    pub async fn close(self) {
        self.browser.close().await.unwrap();
        self.playwright.shutdown().await.unwrap();
    }
}

/// The value of an expression in a page.
pub async fn value(page: &Page, expression: &str) -> Value {
    page.evaluate(expression, None::<&()>).await.unwrap()
}

/// Waits until an expression is true.
pub async fn until(page: &Page, expression: &str) {
    let began = Instant::now();
    // While the page is loading, the expression may fail.
    while !matches!(page.evaluate(expression, None::<&()>).await, Ok(Value::Bool(true))) {
        if began.elapsed() > Duration::from_secs(90) {
            let state = "[document.hasFocus(), document.visibilityState, document.body?.innerText]";
            panic!("never: {expression}\n{}: {}", page.url(), value(page, state).await);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
