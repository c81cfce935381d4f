//! A login that the user makes by hand, to save it for later tasks. No agent acts meanwhile, and no agent can begin one.

use browser_signals::login::LoginState;
use browser_signals::playwright::login::NotTaken;
use browser_signals::playwright::{BridgeError, Browser, Tab};
use browser_signals::{Container, Origin};
use url::Url;
use vault::Entropy;

use super::SessionError;
use crate::egress::proxy::EgressProxy;
use crate::system::SystemEntropy;

/// A container in which the user logs in to a site, with whatever second factor or passkey the site wants.
///
/// It is a fresh container of the browser, which should show its window. It reaches every public host, since a login may lead to an
/// identity provider; only what belongs to the site's own origin is taken in the end, and the container closes with it.
///
/// ```no_run
/// use portcullis::session::LoginByHand;
/// use portcullis::signals::{Origin, playwright::Browser};
///
/// # async fn example(browser: &Browser) -> Result<(), Box<dyn std::error::Error>> {
/// let login = LoginByHand::begin(browser, &Origin::parse("https://shop.example")?).await?;
/// // The user logs in, and says so.
/// let (state, not_taken) = login.take().await?;
/// println!("{} cookies of other sites stay behind", not_taken.other_cookies);
/// # drop(state);
/// # Ok(()) }
/// ```
pub struct LoginByHand {
    tab: Tab,
    origin: Origin,
    _proxy: EgressProxy,
}

impl LoginByHand {
    /// Opens the site's first page for the user.
    ///
    /// # Errors
    /// [`SessionError`]; [`BridgeError::Unreachable`] in it where the site cannot be reached.
    pub async fn begin(browser: &Browser, origin: &Origin) -> Result<LoginByHand, SessionError> {
        let mut entropy = SystemEntropy;
        let entropy: &mut (dyn Entropy + Send) = &mut entropy;
        let proxy = EgressProxy::of(browser.settings(), &[], entropy).await;
        let proxy = proxy.map_err(|error| SessionError::Proxy(error.to_string()))?;
        let tab = browser.container_through(proxy.for_container(), Container::T0, &[]).await?;
        // Some providers log in in a window of their own.
        tab.let_pages_open(true);
        let home = Url::parse(&format!("{origin}/")).map_err(|_| SessionError::NoOrigin)?;
        match tab.open(&home).await {
            Ok(()) => Ok(LoginByHand { tab, origin: origin.clone(), _proxy: proxy }),
            Err(error) => {
                tab.close().await;
                Err(error.into())
            }
        }
    }

    /// Whether the user closed the window.
    pub fn is_closed(&self) -> bool {
        self.tab.is_gone()
    }

    /// Takes the login and closes the container.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the user closed the window before.
    pub async fn take(self) -> Result<(LoginState, NotTaken), BridgeError> {
        let taken = self.tab.take_login(&self.origin).await;
        self.tab.close().await;
        taken
    }
}
