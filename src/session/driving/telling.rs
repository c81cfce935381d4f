//! What the agent is told of a page in a container apart from its text: pictures, words among the guard's own, addresses of windows.

use std::collections::HashMap;

use browser_signals::outline::Purpose;
use browser_signals::playwright::{BridgeError, ElementBox, Picture, PictureSettings};
use browser_signals::web_address::told_address;
use browser_signals::{ElementRef, Origin, PlaceInElement};

use super::container::Session;
use crate::page_text::PictureJudge;

impl Session {
    /// The ref of the one element that a CSS selector matches.
    ///
    /// # Errors
    /// [`BridgeError::Selector`] and [`BridgeError::NotOne`]; [`BridgeError::TextWithheld`] once the container may have
    /// private data, because selectors that match or not would reveal it letter by letter.
    pub async fn query(&self, selector: &str) -> Result<ElementRef, BridgeError> {
        if self.is_private() {
            return Err(BridgeError::TextWithheld);
        }
        self.tab.query(selector).await
    }

    /// The innermost element at a point of the window, in CSS pixels, and the point as seen from the upper left corner of its box. A
    /// model that sees pictures points like that.
    ///
    /// # Errors
    /// As for [`Session::query`].
    pub async fn element_at(&self, x: f64, y: f64) -> Result<(ElementRef, PlaceInElement), BridgeError> {
        if self.is_private() {
            return Err(BridgeError::TextWithheld);
        }
        self.tab.element_at(x, y).await
    }

    /// The boxes of the elements with a ref, in CSS pixels of the window.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] once the container may have private data: the width of a masked value tells of its length.
    pub async fn boxes(&self) -> Result<HashMap<ElementRef, ElementBox>, BridgeError> {
        if self.is_private() {
            return Err(BridgeError::TextWithheld);
        }
        self.tab.boxes().await
    }

    /// A screenshot of the page or of one element, for a multimodal model. Nothing in it is masked or withheld, so the page's
    /// whole text counts as told.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] once the container may have private data, which a screenshot would show; otherwise as
    /// [`Tab::picture`](browser_signals::playwright::Tab::picture).
    pub async fn picture(
        &mut self,
        of: Option<&ElementRef>,
        settings: PictureSettings,
    ) -> Result<Picture, BridgeError> {
        if self.is_private() {
            return Err(BridgeError::TextWithheld);
        }
        if self.driver.core.asks_for_safety() {
            let page = self.tab.read(&PictureJudge(&self.driver.text)).await?;
            self.driver.core.note_told(page.origin.as_ref(), self.driver.text.take_safety());
        }
        match of {
            None => self.tab.picture(settings).await,
            Some(element) => self.tab.picture_of(element, settings).await,
        }
    }

    /// Renders for the model a text that comes from the page in another way than by reading it, such as console output or
    /// a tool's result. The text is untrusted, as all text of a page.
    ///
    /// # Errors
    /// [`BridgeError::TextWithheld`] where the vault is locked.
    pub fn tell(&mut self, text: &str) -> Result<String, BridgeError> {
        let rendered = self.driver.text.render(text).map_err(|_| BridgeError::TextWithheld)?;
        Ok(self.note_rendered(rendered))
    }

    /// As [`Session::tell`], for words of a page that stand among words of the guard: one line, in quotes or withheld. It is empty
    /// where nothing can be told.
    pub(super) fn tell_inline(&mut self, words: &str, purpose: Purpose) -> String {
        let rendered = self.driver.text.render_inline(words, purpose).unwrap_or_default();
        self.note_rendered(rendered)
    }

    fn note_rendered(&mut self, rendered: String) -> String {
        self.driver.core.note_unattributed(&rendered);
        self.driver.core.note_told(None, self.driver.text.take_safety());
        rendered
    }

    /// The address of the window that the page opened in the last action, as the agent is told it; the window was closed before
    /// it loaded. It is returned once. With values of the user's in the container only the origin is told, since a page could
    /// write them into a path.
    pub fn take_refused_window(&mut self) -> Option<String> {
        let address = self.tab.take_refused_window()?;
        let told = match self.is_private() {
            true => Origin::parse(&address).ok()?.to_string(),
            false => told_address(&address)?,
        };
        // A page can write a value into the name of a host too.
        self.tell(&told).ok().filter(|rendered| !rendered.is_empty())
    }

    /// The status of the HTTP response that the page came from. It is returned once for each document.
    pub fn take_http_status(&mut self) -> Option<u16> {
        self.tab.take_http_status()
    }

    /// The control for whose sake the browser did not send a form. Its name is text of the page.
    pub(super) fn words_of_the_form(&mut self) -> Option<String> {
        let label = self.tab.take_asked_for()?;
        self.tell(&label).ok().filter(|words| !words.is_empty())
    }
}
