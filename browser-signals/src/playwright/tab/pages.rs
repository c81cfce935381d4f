//! Further pages of a container: those that its pages open, and those that the guard opens.
//!
//! A page is in its container under the same judge as the first one, before it runs or sends anything. All pages of a container
//! can reach each other as the web platform lets them, so the caller closes the others before it releases a value, and allows no
//! further ones from then on.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::Tab;
use super::downloads::Downloads;
use super::state::{Held, Link, PausedBy, Session, TabState};
use crate::json::text;
use crate::playwright::cdp::session::lock;
use crate::playwright::error::BridgeError;
use crate::playwright::text::refs::RefNumbers;

/// The most pages of a container at one time.
const MOST_PAGES: usize = 8;
/// How long a page may take to open or to close.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a page that opened may take until it can be listed.
const OPENS: Duration = Duration::from_secs(3);
/// The longest title that is kept, in characters.
const LONGEST_TITLE: usize = 200;

/// What a page of a container shows, in the words of the browser and the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLabel {
    /// Its title.
    pub title: String,
    /// Its address.
    pub address: String,
}

/// The pages of a container. The container ends with it.
pub(crate) struct OpenPages {
    pub(crate) link: Arc<Link>,
    pub(crate) context: String,
    /// The last numbers of their elements' refs.
    pub(crate) ref_numbers: RefNumbers,
    /// Whether further pages may open.
    allowed: AtomicBool,
    /// How many pages the guard is opening.
    expected: AtomicUsize,
    /// Pages that opened and that no tab has taken.
    opened: Mutex<Vec<Arc<TabState>>>,
    changed: watch::Sender<u64>,
    pub(crate) downloads: Arc<Downloads>,
}

impl OpenPages {
    pub(crate) fn new(link: &Arc<Link>, context: &str, downloads: Downloads) -> OpenPages {
        OpenPages {
            link: Arc::clone(link),
            context: context.to_owned(),
            ref_numbers: RefNumbers::default(),
            allowed: AtomicBool::new(false),
            expected: AtomicUsize::new(0),
            opened: Mutex::default(),
            changed: watch::Sender::new(0),
            downloads: Arc::new(downloads),
        }
    }

    pub(crate) fn are_allowed(&self) -> bool {
        self.link.is_alone() && self.allowed.load(Ordering::Acquire)
    }

    /// Whether the guard is opening a page.
    pub(crate) fn is_expected(&self) -> bool {
        self.expected.load(Ordering::Acquire) > 0
    }

    /// Whether a further page may open now.
    pub(crate) fn may_open(&self) -> bool {
        self.are_allowed() && self.link.count_tabs(&self.context) < MOST_PAGES
    }

    /// Lets a page of the container begin, as the first one began; it was paused until now. Returns false where no further page may
    /// open any more.
    pub(crate) fn begin(&self, beside: &TabState, session: &str, target: &str) -> bool {
        // Whoever forbids further pages takes this lock, and finds each one that began before.
        let mut opened = lock(&self.opened);
        if !self.may_open() {
            return false;
        }
        let state = Arc::new(beside.of_further_page());
        self.link.add_tab(&self.context, &state);
        let page = Session::new(&self.link, None, &state, session, target, "page");
        state.update(|inner| inner.sessions.push(Arc::clone(&page)));
        state.begin_page(&page);
        let learning = Arc::clone(&state);
        tokio::spawn(async move { learning.learn_root().await });
        opened.push(state);
        self.note_change();
        true
    }

    /// Wakes whoever waits for a page that opens, or is refused.
    pub(crate) fn note_change(&self) {
        self.changed.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Takes the pages that opened, or the one of a target.
    fn take(&self, target: Option<&str>) -> Vec<Arc<TabState>> {
        let is_it = |state: &Arc<TabState>| {
            target.is_none_or(|target| state.page().is_ok_and(|page| page.target == target))
        };
        let mut opened = lock(&self.opened);
        let (taken, left) = std::mem::take(&mut *opened).into_iter().partition(is_it);
        *opened = left;
        taken
    }
}

impl Drop for OpenPages {
    fn drop(&mut self) {
        self.link.post("Target.disposeBrowserContext", json!({ "browserContextId": self.context }));
        self.link.remove_context(&self.context);
    }
}

impl Tab {
    /// Sets whether further pages may open in the container, eight in all. At first none may: a window that a page opens is
    /// closed before it loads anything. One without a link to its opener (`noopener`) always is: the bridge cannot prepare it
    /// before its first document, and the caller may open its address itself ([`Tab::take_refused_window`]). In a browser of
    /// [`Browser::launch`](crate::playwright::Browser::launch) none ever may, since Playwright's server lets a page run before
    /// the bridge can judge its requests.
    pub fn let_pages_open(&self, may: bool) {
        let _nothing_begins_meanwhile = lock(&self.pages.opened);
        self.pages.allowed.store(may, Ordering::Release);
    }

    /// The pages that opened in the container since the last call, except by [`Tab::another`].
    pub fn take_opened(&self) -> Vec<Tab> {
        let opened = self.pages.take(None).into_iter();
        opened.map(|state| Tab { state, pages: Arc::clone(&self.pages) }).collect()
    }

    /// Opens an empty page in the container.
    ///
    /// # Errors
    /// [`BridgeError::NotApplicable`] where no further page may open, [`BridgeError::Lost`] where the browser is gone.
    pub async fn another(&self) -> Result<Tab, BridgeError> {
        if !self.pages.are_allowed() {
            return Err(BridgeError::NotApplicable);
        }
        self.pages.expected.fetch_add(1, Ordering::AcqRel);
        let opened = self.open_another().await;
        self.pages.expected.fetch_sub(1, Ordering::AcqRel);
        opened
    }

    async fn open_another(&self) -> Result<Tab, BridgeError> {
        let mut changes = self.pages.changed.subscribe();
        let page = json!({ "url": "about:blank", "browserContextId": self.pages.context });
        let made = self.pages.link.call("Target.createTarget", page).await?;
        let target = text(&made, "targetId").ok_or(BridgeError::Lost)?;
        let opened = async {
            loop {
                if let Some(state) = self.pages.take(Some(target)).pop() {
                    return Ok(Tab { state, pages: Arc::clone(&self.pages) });
                }
                if self.pages.link.is_popup(target) {
                    // There were as many as there may be.
                    return Err(BridgeError::NotApplicable);
                }
                changes.changed().await.map_err(|_| BridgeError::Lost)?;
            }
        };
        let tab = tokio::time::timeout(PATIENCE, opened).await.map_err(|_| BridgeError::Timeout)??;
        tab.state.wait_until(PATIENCE, |inner| !inner.documents.is_empty()).await?;
        Ok(tab)
    }

    /// Closes this page alone, and waits until it is gone. Requests of its own that wait for the user are gone with it, and those of
    /// workers go to the container's next page.
    ///
    /// # Errors
    /// [`BridgeError::Timeout`] where the browser does not close it.
    pub async fn close_page(&self) -> Result<(), BridgeError> {
        if let Ok(page) = self.state.page() {
            self.pages.link.post("Target.closeTarget", json!({ "targetId": page.target }));
            match self.state.wait_until(PATIENCE, |inner| inner.crashed).await {
                Ok(()) | Err(BridgeError::Lost) => {}
                Err(error) => return Err(error),
            }
        }
        self.forget_page();
        Ok(())
    }

    /// Forgets this page, which is gone.
    pub fn forget_page(&self) {
        self.state.link.remove_tab(&self.state.context, &self.state);
        let held = self.state.update(|inner| std::mem::take(&mut inner.held));
        let is_of_worker = |held: &Held| matches!(held.paused_by, PausedBy::Browser(_));
        if let Some(next) = self.state.link.tab(&self.state.context) {
            next.update(|inner| inner.held.extend(held.into_iter().filter(is_of_worker)));
        }
    }

    /// Waits until the page is parsed, a few seconds at most.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the page is gone.
    pub async fn opens(&self) -> Result<(), BridgeError> {
        let top = self.state.top_frame()?;
        match self.state.wait_until(OPENS, |inner| inner.is_readable(&top)).await {
            Ok(()) | Err(BridgeError::Timeout) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Puts this page in front of the container's other pages in a window.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the page is gone.
    pub async fn bring_to_front(&self) -> Result<(), BridgeError> {
        let target = self.state.page()?.target.clone();
        self.state.link.call("Target.activateTarget", json!({ "targetId": target })).await?;
        Ok(())
    }

    /// The page's title and address. The page is not asked, so that one that hangs has them too. A page without a title, or with a
    /// dialog, has an empty one.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the page is gone.
    pub async fn label(&self) -> Result<PageLabel, BridgeError> {
        let page = self.state.page()?;
        let answer = self.state.link.call("Target.getTargetInfo", json!({ "targetId": page.target })).await?;
        let info = answer.get("targetInfo").ok_or(BridgeError::Lost)?;
        // The title there is the whole address where the page has none.
        let history = page.call("Page.getNavigationHistory", json!({})).await.unwrap_or_default();
        let at = history.get("currentIndex").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
        let entry = at.and_then(|at| history.get("entries")?.get(at));
        let title = entry.and_then(|entry| text(entry, "title")).unwrap_or_default();
        Ok(PageLabel {
            title: title.chars().take(LONGEST_TITLE).collect(),
            address: text(info, "url").unwrap_or_default().to_owned(),
        })
    }
}
