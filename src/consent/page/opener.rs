//! Where the page is opened.

use std::future::Future;
use std::pin::Pin;

use browser_signals::playwright::{OwnBrowser, OwnWindow};

/// Why the page was not opened, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the consent page was not opened: {0}")]
pub struct OpenError(pub String);

/// A future of an open window.
pub type Opening<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Window>, OpenError>> + Send + 'a>>;

/// Opens the page's address in front of the user. Never in the agent's browser: whoever drives the browser
/// that shows the page can answer in the user's place.
pub trait Opener: Send {
    /// Opens the address. It holds the secrets of the page: it must not be shown, logged, or put on a command
    /// line.
    fn open<'a>(&'a mut self, address: &'a str) -> Opening<'a>;
}

/// An open window. Dropping it closes it.
pub trait Window: Send {
    /// Ends when the user has closed the window or the browser is gone.
    fn closed<'a>(&'a mut self) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

impl Opener for OwnBrowser {
    fn open<'a>(&'a mut self, address: &'a str) -> Opening<'a> {
        Box::pin(async move {
            let opened = OwnBrowser::open(self, address).await;
            opened
                .map(|window| Box::new(window) as Box<dyn Window>)
                .map_err(|error| OpenError(error.to_string()))
        })
    }
}

impl Window for OwnWindow {
    fn closed<'a>(&'a mut self) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(OwnWindow::closed(self))
    }
}
