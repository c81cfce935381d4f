//! One page of a container, which is a browser context of its own.
//!
//! | module | subject |
//! |---|---|
//! | `state` | the state of the tab, as the events of its sessions have reported it |
//! | `frames` | the tree of frames, and one isolated world for each document |
//! | `answers` | requests that an action began, whose answers are waited for |
//! | `choosers` | file choosers |
//! | `dialogs` | alert, confirm and prompt |
//! | `drags` | drags of the browser's own |
//! | `pages` | further pages of the container |
//! | `downloads` | downloads into a folder of the user's |
//! | `file_name` | the names of their files |
//! | `navigate` | open, back, wait |
//! | `typed` | what the agent typed |
//! | `events` | events for the audit log: refusals, and what happened to the tab |

pub(crate) mod answers;
pub mod choosers;
pub mod dialogs;
pub mod downloads;
pub(crate) mod drags;
pub mod events;
mod file_name;
pub(crate) mod frames;
mod navigate;
pub(crate) mod pages;
pub(crate) mod state;
mod typed;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use self::downloads::Downloads;
use self::events::PageEvent;
use self::pages::OpenPages;
use self::state::{HeldRequest, Leaving, Link, SignOnSites, TabState};
use super::browser::settings::BrowserSettings;
use super::cdp::session::lock;
use super::error::BridgeError;
use super::network::proxy::ContainerProxy;
use crate::json::text;
use crate::{Container, ContainerId, EgressGuard, Origin};

/// The longest time that the page may take to arrive after the user let its navigation go.
const ARRIVES: Duration = Duration::from_secs(10);

/// Permissions that no page gets. A headless browser refuses prompts anyway; this list also holds in a browser with a
/// window, and for the payment handler, which needs no prompt.
const DENIED: [&str; 21] = [
    "payment-handler",
    "geolocation",
    "notifications",
    "midi",
    "camera",
    "microphone",
    "background-sync",
    "background-fetch",
    "clipboard-read",
    "clipboard-write",
    "idle-detection",
    "local-fonts",
    "nfc",
    "periodic-background-sync",
    "storage-access",
    "top-level-storage-access",
    "window-management",
    "persistent-storage",
    "display-capture",
    "captured-surface-control",
    "speaker-selection",
];

/// One page of a container; at first the container has no other. All of its methods may be called from several tasks; steps that
/// act on the page are best taken one after the other. The container ends with its last tab.
pub struct Tab {
    pub(crate) state: Arc<TabState>,
    pub(crate) pages: Arc<OpenPages>,
}

impl Tab {
    pub(crate) async fn create(
        link: &Arc<Link>,
        container: Container,
        task: &[Origin],
        settings: &BrowserSettings,
        proxy: &ContainerProxy,
    ) -> Result<Tab, BridgeError> {
        let downloads = Downloads::new(settings.downloads.as_deref());
        let downloads = downloads.map_err(|error| BridgeError::Launch(error.to_string()))?;
        let made = link.call("Target.createBrowserContext", proxy.context()).await?;
        let context = text(&made, "browserContextId").ok_or(BridgeError::Lost)?.to_owned();
        let behavior = downloads.behavior(&context);
        let pages = Arc::new(OpenPages::new(link, &context, downloads));
        let state = Arc::new(TabState::new(&pages, container, task, settings, proxy.reached()));
        link.add_tab(&context, &state);
        if container != Container::T0 {
            link.call("Fetch.enable", Link::patterns(true)).await?;
        }
        let tab = Tab { state, pages };
        for name in DENIED {
            link.post(
                "Browser.setPermission",
                json!({ "permission": { "name": name }, "setting": "denied", "browserContextId": context }),
            );
        }
        link.call("Browser.setDownloadBehavior", behavior).await?;
        let page = json!({ "url": "about:blank", "browserContextId": context });
        link.call("Target.createTarget", page).await?;
        tab.state.wait_until(Duration::from_secs(10), |inner| !inner.sessions.is_empty()).await?;
        tab.state.prepare_page().await?;
        tab.state.authenticate_proxy(proxy).await?;
        Ok(tab)
    }

    /// The tier of the container.
    pub fn container(&self) -> Container {
        self.state.container
    }

    /// The browser's id of the container.
    pub fn container_id(&self) -> ContainerId {
        ContainerId::new(self.state.context.as_str())
    }

    /// Sets the judge of outgoing requests. In a `T0` container only requests for documents are judged.
    pub fn set_egress(&self, guard: Arc<dyn EgressGuard>) {
        *lock(&self.state.egress) = Some(guard);
    }

    /// The origins of payment providers. Their frames load and send requests after a release too; what a request carries is
    /// judged as everywhere. This opens none of them to the top document.
    pub fn set_providers(&self, origins: Vec<Origin>) {
        self.state.update(|inner| inner.providers = origins);
    }

    /// Returns true if the page is gone for good: it was closed, its process crashed or was killed, or the browser was.
    pub fn is_gone(&self) -> bool {
        let inner = self.state.inner();
        // A call that waits ends with the page's session, a moment before the tab hears of it.
        let has_ended = inner.sessions.iter().any(|session| session.kind == "page" && session.has_ended());
        has_ended || inner.crashed || !self.state.link.is_alive()
    }

    /// The requests that wait for the user's answer (see [`EgressGuard::holds`]).
    pub fn held(&self) -> Vec<HeldRequest> {
        self.state.inner().held.iter().map(|held| held.request.clone()).collect()
    }

    /// Waits until there is a request that waits for the user.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone.
    pub async fn wait_for_held(&self) -> Result<(), BridgeError> {
        self.state.wait_until(Duration::MAX, |inner| !inner.held.is_empty()).await
    }

    /// Continues or stops the requests that wait for the user. Where the user agreed they are judged anew. Waits for a
    /// navigation of the page that is continued.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone.
    pub async fn let_go(&self, agreed: bool) -> Result<(), BridgeError> {
        let top = self.state.top_frame()?;
        let (leaves, before) = {
            let inner = self.state.inner();
            (inner.held.iter().any(|held| held.request.main_navigation), inner.documents.get(&top).cloned())
        };
        self.state.let_go(agreed);
        self.state.inner().answers.begin_waiting();
        if !(agreed && leaves) {
            return Ok(());
        }
        let arrived = self.state.wait_until(ARRIVES, |inner| {
            inner.documents.get(&top) != before.as_ref() && !inner.loading.contains(&top)
        });
        // A response that is no page, such as a download, leaves the old page in place.
        arrived.await.or_else(|error| if error == BridgeError::Timeout { Ok(()) } else { Err(error) })
    }

    /// The events since the last call, oldest first: what was refused, and what happened to the tab.
    pub fn events(&self) -> Vec<PageEvent> {
        self.state.end_wires(false);
        self.state.inner().events.drain(..).collect()
    }

    /// Opens or closes this container to the payment handler of one origin. It is closed to all at first.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone.
    pub async fn payment_permission(&self, handler: &Origin, allowed: bool) -> Result<(), BridgeError> {
        let setting = if allowed { "granted" } else { "denied" };
        let params = json!({
            "permission": { "name": "payment-handler" },
            "setting": setting,
            "origin": handler.to_string(),
            "browserContextId": self.state.context,
        });
        self.state.link.call("Browser.setPermission", params).await?;
        self.state.update(|inner| {
            inner.payment_origins.retain(|origin| origin != handler);
            if allowed {
                inner.payment_origins.push(handler.clone());
            }
        });
        Ok(())
    }

    /// The navigation of the top frame that was stopped last, since it leads away from the task's sites. It is returned once, and
    /// only while the page that it began on is there.
    pub fn take_leaving(&self) -> Option<Leaving> {
        self.state.inner().left.take()
    }

    /// Opens the top frame to the provider of a sign-on, for the rest of the container's life. Provider and site may both be sent
    /// bodies from now on; what is in them is for the judge of outgoing requests.
    pub fn open_sign_on(&self, provider: &Origin, site: &Origin) {
        let (provider, site) = (provider.clone(), site.clone());
        self.state.update(|inner| inner.sign_on = Some(SignOnSites { provider, site }));
    }

    /// Closes all pages and forgets the container with everything in it.
    pub async fn close(&self) {
        let context = json!({ "browserContextId": self.state.context });
        let _already_gone = self.state.link.call("Target.disposeBrowserContext", context).await;
        self.state.link.remove_context(&self.state.context);
    }
}
