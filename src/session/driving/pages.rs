//! Further pages of a container: those that the agent opens, and those that its pages open.
//!
//! All pages of a container are under one judge, and the agent acts on one of them at a time. A page can write into another one of
//! its site, so a request for values closes the others first, and none opens while the container may have private data.

use std::sync::Arc;

use browser_signals::Origin;
use browser_signals::outline::Purpose;
use browser_signals::playwright::developer_tools::Recording;
use browser_signals::playwright::{BridgeError, Tab};
use browser_signals::web_address::told_address;
use policy_dfa::Reason;
use url::Url;

use super::container::Session;
use super::container_actions::reason_of;
use crate::session::core::Action;

/// A page of a container, as the agent is told it. The parts from the page are in quotes, masked and scrubbed, and empty where it has
/// none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPage {
    /// Whether the agent acts on it.
    pub is_current: bool,
    /// Its title.
    pub title: String,
    /// Its origin and path, or the origin alone where the container may have private data.
    pub address: String,
}

/// Why a page was not opened, chosen or closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageRefused {
    /// The container has no page of this number.
    #[error("there is no page of this number: `list` gives the numbers")]
    NoSuchPage,
    /// The container may have private data.
    #[error("this container has values of the user's, and has one page from then on")]
    Private,
    /// The container has as many pages as it may have.
    #[error("a container has eight pages at most: close one first")]
    TooMany,
    /// The page that the agent acts on shows a dialog.
    #[error("the page shows a dialog: answer it first")]
    DialogOpen,
    /// The user took over.
    #[error("the page was handed over to the user: nothing more is done here")]
    TakenOver,
    /// It is the container's only page.
    #[error("this is the only page: end the container to close it")]
    OnlyPage,
    /// The browser did not do it.
    #[error("the browser did not do it, or not in time")]
    Browser,
}

impl From<BridgeError> for PageRefused {
    fn from(error: BridgeError) -> PageRefused {
        if error == BridgeError::NotApplicable { PageRefused::TooMany } else { PageRefused::Browser }
    }
}

impl Session {
    /// Lets the container have up to eight pages: those that its pages open, and those of [`Session::open_page`]. Without this
    /// call, and once the container may have private data, a window that a page opens is closed before it loads.
    pub fn let_pages_open(&mut self) {
        self.pages_open = true;
        self.allow_pages();
    }

    /// The pages of the container, in the order in which they opened.
    pub async fn pages(&mut self) -> Vec<ListedPage> {
        self.note_pages();
        let mut listed = Vec::new();
        for page in self.pages.clone() {
            // One that closes meanwhile is listed without words.
            let _gone = page.opens().await;
            let label = page.label().await.ok();
            let (title, address) = label.map(|label| (label.title, label.address)).unwrap_or_default();
            let address = match (address.as_str(), self.is_private()) {
                ("about:blank", _) => Some(address),
                (_, true) => Origin::parse(&address).ok().map(|origin| origin.to_string()),
                (_, false) => told_address(&address),
            };
            let title = self.tell_inline(&title, Purpose::Title);
            let address = address.map(|address| self.tell_inline(&address, Purpose::Text));
            let address = address.unwrap_or_default();
            listed.push(ListedPage { is_current: Arc::ptr_eq(&page, &self.tab), title, address });
        }
        listed
    }

    /// How many pages the container has.
    pub fn page_count(&self) -> usize {
        self.pages.len()
    }

    /// Opens an empty page, on which the agent acts from then on.
    ///
    /// # Errors
    /// [`PageRefused`].
    pub async fn open_page(&mut self) -> Result<(), PageRefused> {
        self.may_turn_away()?;
        if self.is_private() {
            return Err(PageRefused::Private);
        }
        let page = Arc::new(self.tab.another().await?);
        self.pages.push(Arc::clone(&page));
        self.turn_to(page).await;
        Ok(())
    }

    /// Chooses the page on which the agent acts, by its place in [`Session::pages`].
    ///
    /// # Errors
    /// [`PageRefused`].
    pub async fn select_page(&mut self, number: usize) -> Result<(), PageRefused> {
        self.may_turn_away()?;
        let page = self.pages.get(number).cloned().ok_or(PageRefused::NoSuchPage)?;
        self.turn_to(page).await;
        Ok(())
    }

    /// Closes a page, by its place in [`Session::pages`], or the one that the agent acts on.
    ///
    /// # Errors
    /// [`PageRefused`].
    pub async fn close_page(&mut self, number: Option<usize>) -> Result<(), PageRefused> {
        self.may_turn_away()?;
        let page = match number {
            None => Arc::clone(&self.tab),
            Some(number) => self.pages.get(number).cloned().ok_or(PageRefused::NoSuchPage)?,
        };
        if self.pages.len() == 1 {
            return Err(PageRefused::OnlyPage);
        }
        page.close_page().await?;
        self.remove(&page);
        Ok(())
    }

    /// Whether pages opened or closed by themselves, or at a request, since the last call.
    pub fn take_pages_changed(&mut self) -> bool {
        std::mem::take(&mut self.pages_changed)
    }

    /// Whether the page that the agent acted on closed itself, and the container has others.
    pub(super) fn has_closed_itself(&self) -> bool {
        self.tab.is_gone() && !self.is_gone()
    }

    /// Takes the pages that opened, and forgets those that closed. Before a request for values all but the one that it is about are
    /// closed, and the records of that one are wiped. The error is the reason why the request is refused.
    pub(super) async fn prepare_pages(&mut self, action: &Action) -> Result<(), Reason> {
        self.note_pages();
        if !matches!(action, Action::Request(text) if self.driver.core.is_block(text)) {
            return Ok(());
        }
        self.prepare_release().await
    }

    /// Closes every page but the one that a release is about, and wipes the records of that one.
    pub(super) async fn prepare_release(&mut self) -> Result<(), Reason> {
        if self.ran_script {
            return Err(Reason::ScriptRan);
        }
        self.tab.record(Recording::default());
        self.tab.let_pages_open(false);
        // One that began before is known now, and no other can begin.
        self.note_pages();
        for page in self.pages.clone() {
            if Arc::ptr_eq(&page, &self.tab) {
                continue;
            }
            page.close_page().await.map_err(|error| reason_of(&error))?;
            self.remove(&page);
            self.pages_changed = true;
        }
        Ok(())
    }

    /// Opens the address of a window that the page opened without a link to itself, in a page of the guard's: to both sites it is as
    /// if the window had stayed. One that cannot be opened stays closed, and the agent is told.
    pub(super) async fn reopen_window(&mut self) {
        if !self.pages_open || self.is_private() || self.is_taken_over() {
            return;
        }
        let Some(address) = self.tab.take_refused_window() else { return };
        if let (Ok(url), Ok(page)) = (Url::parse(&address), self.tab.another().await) {
            if page.open(&url).await.is_ok() {
                self.pages.push(Arc::new(page));
                self.pages_changed = true;
                return;
            }
            let _gone = page.close_page().await;
        }
        self.tab.put_back_refused_window(address);
    }

    /// Takes the pages that opened, and forgets those that closed.
    pub(super) fn note_pages(&mut self) {
        let opened = self.tab.take_opened();
        self.pages_changed |= !opened.is_empty();
        self.pages.extend(opened.into_iter().map(Arc::new));
        if self.is_gone() {
            return;
        }
        for page in self.pages.clone().into_iter().filter(|page| page.is_gone()) {
            page.forget_page();
            self.remove(&page);
            self.pages_changed = true;
        }
    }

    /// Allows further pages, unless the container may have private data.
    pub(super) fn allow_pages(&self) {
        self.tab.let_pages_open(self.pages_open && !self.is_private());
    }

    fn may_turn_away(&mut self) -> Result<(), PageRefused> {
        self.note_pages();
        if self.is_taken_over() {
            return Err(PageRefused::TakenOver);
        }
        if self.tab.dialog().is_some() { Err(PageRefused::DialogOpen) } else { Ok(()) }
    }

    /// Removes a page that is gone. If the agent acted on it, it acts on the one that now has its place, or on the last.
    fn remove(&mut self, gone: &Arc<Tab>) {
        let place = self.pages.iter().position(|page| Arc::ptr_eq(page, gone)).unwrap_or_default();
        self.pages.retain(|page| !Arc::ptr_eq(page, gone));
        let next = self.pages.get(place).or(self.pages.last()).cloned();
        if Arc::ptr_eq(gone, &self.tab)
            && let Some(next) = next
        {
            self.act_on(next);
        }
    }

    async fn turn_to(&mut self, page: Arc<Tab>) {
        // Without a window there is no front.
        let _gone = page.bring_to_front().await;
        self.act_on(page);
    }

    /// Dialogs of the other pages are dismissed as they open.
    fn act_on(&mut self, page: Arc<Tab>) {
        self.tab.let_dialogs_wait(false);
        page.let_dialogs_wait(self.dialogs_wait);
        self.tab = page;
        self.driver.core.turn_to_another_page();
    }
}
