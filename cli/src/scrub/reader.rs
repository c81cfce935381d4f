//! A browser that opens pages and reads them as an agent would.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use classifier::Detectors;
use portcullis::page_text::{Scrubbed, Scrubber, Withheld};
use portcullis::page_text::{mask_by_form, mask_page};
use portcullis::signals::outline::tidy;
use portcullis::signals::{Outline, TextGuard, TextWithheld};
use portcullis_cli::pages::{OpenBrowser, Served};
use serde_json::{Value, json};
use url::Url;

use crate::failure::Failure;

/// A page as it was read.
pub struct Read {
    /// The text for the model.
    pub rendered: String,
    /// The page's text in it.
    pub words: String,
    /// The text that a person sees.
    pub seen: String,
    pub withheld: Vec<Withheld>,
    /// The duration of the reading, in milliseconds, after the page has loaded.
    pub ms: f64,
}

impl Read {
    pub fn withheld(&self) -> Vec<Value> {
        let one = |it: &Withheld| json!({ "why": super::why(it.why), "words": tidy(&it.words) });
        self.withheld.iter().map(one).collect()
    }
}

/// Scrubs and masks as a session without releases does, and stores the observed text.
struct Guard {
    scrubber: Scrubber,
    detectors: Detectors,
    last: Mutex<Option<(Scrubbed, String)>>,
}

impl TextGuard for Guard {
    fn guard(&self, outline: &Outline) -> Result<String, TextWithheld> {
        let mut rendered = self.scrubber.scrub(outline);
        rendered.text = mask_page(&rendered, &self.detectors);
        rendered.words = mask_by_form(&rendered.words, &self.detectors);
        let text = rendered.text.clone();
        *self.last.lock().map_err(|_| TextWithheld)? = Some((rendered, outline.seen.clone()));
        Ok(text)
    }
}

/// A browser that reads pages.
pub struct Reader {
    browser: OpenBrowser,
    guard: Guard,
}

impl Reader {
    /// Starts a browser. It reaches only the pages that `served` serves, or the whole web without it.
    pub async fn start(scrubber: Scrubber, served: Option<&Served>) -> Result<Reader, Failure> {
        let browser = OpenBrowser::start(served, &[]).await?;
        let detectors = Detectors::standard().map_err(|error| Failure::NotSetUp(error.to_string()))?;
        let guard = Guard { scrubber, detectors, last: Mutex::default() };
        Ok(Reader { browser, guard })
    }

    pub async fn read(&self, url: &Url) -> Result<Read, Failure> {
        let failed = |error| Failure::Input(format!("{url} cannot be read: {error}"));
        let tab = &self.browser.tab;
        tab.open(url).await.map_err(failed)?;
        let start = Instant::now();
        let page = tab.read(&self.guard).await.map_err(failed)?;
        let ms = start.elapsed().as_secs_f64() * 1000.0;
        let last = self.guard.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (rendered, seen) = last.unwrap_or_default();
        Ok(Read { rendered: page.text, words: rendered.words, seen, withheld: rendered.withheld, ms })
    }

    pub async fn stop(self) {
        self.browser.stop().await;
    }
}
