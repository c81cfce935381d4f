//! One container: a browser context of its own with one page.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::connection::Response;
use super::frames::World;
use super::handles::Handles;
use super::navigate::Acted;
use super::network::Held;
use super::session::{Link, Session, lock, text};
use super::wire::Wires;
use super::{BridgeError, BrowserSettings, ContainerProxy, PageEvent};
use crate::{Container, ContainerId, Destination, EgressGuard, FrameId, NodeId, Origin};

/// How many loaded documents are remembered.
const REMEMBERED: usize = 256;

/// How long a page that the user let go may take to be there.
const ARRIVES: Duration = Duration::from_secs(10);

/// How many refusals are kept until somebody drains them.
const EVENTS_KEPT: usize = 1000;

/// Permissions that no page gets. In a browser without a window prompts are refused anyway; this holds
/// with one too, and for the payment handler, which needs no prompt.
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

/// Where an element of the last read is.
#[derive(Debug, Clone)]
pub(super) struct Located {
    pub(super) frame: FrameId,
    pub(super) document: String,
    pub(super) node: NodeId,
}

/// A fill that happened: where its values may go.
#[derive(Debug, Clone)]
pub(super) struct Release {
    pub(super) destination: Destination,
    pub(super) page: Origin,
}

/// A request that waits until the user has seen what it may carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldRequest {
    /// Where it goes.
    pub to: Origin,
    /// The path there, as the page wrote it.
    pub path: String,
    /// Whether it navigates the top frame.
    pub main_navigation: bool,
}

/// What the events of a tab have told so far.
#[derive(Default)]
pub(super) struct Inner {
    /// The page's session and those of its out-of-process frames, in the order in which they attached.
    pub(super) sessions: Vec<Arc<Session>>,
    /// The document of each frame, by `Page.frameNavigated`.
    pub(super) documents: HashMap<FrameId, String>,
    /// Frames that were attached to the page.
    pub(super) attached: HashSet<FrameId>,
    /// Documents of any frame whose load event fired.
    pub(super) loaded: HashSet<String>,
    loaded_order: VecDeque<String>,
    /// Frames that are loading.
    pub(super) loading: HashSet<FrameId>,
    /// How many navigations of the top frame began.
    pub(super) navigations: u64,
    /// Whether the page asked the browser for a navigation of the top frame that has not begun.
    pub(super) requested: bool,
    /// The last action that may lead away from the page, until somebody looks.
    pub(super) acted: Option<Acted>,
    /// The response that each document came from.
    pub(super) responses: HashMap<String, Response>,
    responses_order: VecDeque<String>,
    /// The last visible security state of the page.
    pub(super) security: Option<Value>,
    pub(super) worlds: HashMap<FrameId, World>,
    pub(super) handles: Handles,
    /// The elements of the last read.
    pub(super) elements: HashMap<String, Located>,
    pub(super) releases: Vec<Release>,
    /// The frames, documents and origins that values were filled into.
    pub(super) filled: Vec<(FrameId, String, Origin)>,
    /// Requests that wait for the user.
    pub(super) held: Vec<Held>,
    pub(super) payment_origins: Vec<Origin>,
    pub(super) events: VecDeque<PageEvent>,
    /// Why the last navigation of the top frame was stopped by the bridge.
    pub(super) stopped: Option<crate::address::AddressRefused>,
    /// Whether the page is being led back: what was sent by a form once is not sent again.
    pub(super) goes_back: bool,
    pub(super) crashed: bool,
    /// The proxy that waits to be given its password, while the container is made.
    pub(super) introduction: Option<ContainerProxy>,
}

/// The shared state of a tab: written by the bridge's thread, read by the caller's.
pub(super) struct TabState {
    pub(super) link: Arc<Link>,
    pub(super) context: String,
    pub(super) container: Container,
    pub(super) task: Vec<Origin>,
    pub(super) private_hosts: Vec<String>,
    /// Whether the name of an element is never given to one of a later document.
    pub(super) handles_once: bool,
    pub(super) egress: Mutex<Option<Arc<dyn EgressGuard>>>,
    pub(super) wires: Mutex<Wires>,
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
}

impl TabState {
    pub(super) fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Changes the state and wakes whoever waits for it.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let result = change(&mut self.inner());
        self.changed.send_modify(|count| *count = count.wrapping_add(1));
        result
    }

    /// Waits until the state satisfies `condition`.
    pub(super) async fn wait_until(
        &self,
        patience: Duration,
        condition: impl Fn(&Inner) -> bool,
    ) -> Result<(), BridgeError> {
        let mut changes = self.changed.subscribe();
        let wait = async {
            loop {
                {
                    let inner = self.inner();
                    if condition(&inner) {
                        return Ok(());
                    }
                    if inner.crashed || !self.link.is_alive() {
                        return Err(BridgeError::Lost);
                    }
                }
                changes.changed().await.map_err(|_| BridgeError::Lost)?;
            }
        };
        tokio::time::timeout(patience, wait).await.map_err(|_| BridgeError::Timeout)?
    }

    pub(super) fn record(&self, event: PageEvent) {
        self.update(|inner| {
            if inner.events.len() < EVENTS_KEPT {
                inner.events.push_back(event);
            }
        });
    }

    /// The page's own session.
    pub(super) fn page(&self) -> Result<Arc<Session>, BridgeError> {
        let page = self.inner().sessions.iter().find(|session| session.kind == "page").cloned();
        let page = page.ok_or(BridgeError::Lost)?;
        if page.has_ended() { Err(BridgeError::Lost) } else { Ok(page) }
    }

    /// The top frame: its id is the page target's.
    pub(super) fn top_frame(&self) -> Result<FrameId, BridgeError> {
        Ok(FrameId::new(self.page()?.target.as_str()))
    }

    pub(super) fn lost(&self) {
        self.update(|inner| inner.crashed = true);
    }

    pub(super) fn has_released(&self) -> bool {
        !self.inner().releases.is_empty()
    }
}

impl Inner {
    pub(super) fn note_loaded(&mut self, document: &str) {
        if self.loaded.insert(document.to_owned()) {
            self.loaded_order.push_back(document.to_owned());
        }
        if self.loaded_order.len() > REMEMBERED
            && let Some(oldest) = self.loaded_order.pop_front()
        {
            self.loaded.remove(&oldest);
        }
    }

    pub(super) fn note_response(&mut self, document: &str, response: Response) {
        if self.responses.insert(document.to_owned(), response).is_none() {
            self.responses_order.push_back(document.to_owned());
        }
        if self.responses_order.len() > REMEMBERED
            && let Some(oldest) = self.responses_order.pop_front()
        {
            self.responses.remove(&oldest);
        }
    }
}

/// One container with one page. All of its methods may be called from several tasks; steps that act on
/// the page are best taken one after the other.
pub struct Tab {
    pub(super) state: Arc<TabState>,
}

impl Tab {
    pub(super) async fn create(
        link: &Arc<Link>,
        container: Container,
        task: &[Origin],
        settings: &BrowserSettings,
        proxy: &ContainerProxy,
    ) -> Result<Tab, BridgeError> {
        let made = link.call("Target.createBrowserContext", proxy.context()).await?;
        let context = text(&made, "browserContextId").ok_or(BridgeError::Lost)?.to_owned();
        let state = Arc::new(TabState {
            link: Arc::clone(link),
            context: context.clone(),
            container,
            task: task.to_vec(),
            private_hosts: settings.private_hosts.clone(),
            handles_once: settings.handles_once,
            egress: Mutex::new(None),
            wires: Mutex::default(),
            inner: Mutex::default(),
            changed: watch::Sender::new(0),
        });
        link.add_tab(&context, &state);
        if container != Container::T0 {
            link.call("Fetch.enable", Link::patterns(true)).await?;
        }
        let tab = Tab { state };
        for name in DENIED {
            link.post(
                "Browser.setPermission",
                json!({ "permission": { "name": name }, "setting": "denied", "browserContextId": context }),
            );
        }
        let deny = json!({ "behavior": "deny", "browserContextId": context, "eventsEnabled": true });
        link.call("Browser.setDownloadBehavior", deny).await?;
        let page = json!({ "url": "about:blank", "browserContextId": context });
        link.call("Target.createTarget", page).await?;
        tab.state.wait_until(Duration::from_secs(10), |inner| !inner.sessions.is_empty()).await?;
        tab.prepare_page().await?;
        tab.introduce(proxy).await?;
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

    /// Sets the judge of outgoing requests. In a `T0` container only documents are judged.
    pub fn set_egress(&self, guard: Arc<dyn EgressGuard>) {
        *lock(&self.state.egress) = Some(guard);
    }

    /// Whether the page is gone for good: its process crashed or was killed, or the browser was.
    pub fn is_gone(&self) -> bool {
        self.state.inner().crashed || !self.state.link.is_alive()
    }

    /// The requests that wait for the user (see [`EgressGuard::holds`]).
    pub fn held(&self) -> Vec<HeldRequest> {
        self.state.inner().held.iter().map(|held| held.request.clone()).collect()
    }

    /// Waits until a request waits for the user.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone.
    pub async fn wait_for_held(&self) -> Result<(), BridgeError> {
        self.state.wait_until(Duration::MAX, |inner| !inner.held.is_empty()).await
    }

    /// Says what becomes of the requests that wait. Where the user agreed they are judged anew; otherwise they are stopped.
    /// A navigation of the page that was let go is waited for.
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
        if !(agreed && leaves) {
            return Ok(());
        }
        let arrived = self.state.wait_until(ARRIVES, |inner| {
            inner.documents.get(&top) != before.as_ref() && !inner.loading.contains(&top)
        });
        // An answer that is no page leaves the old one.
        arrived.await.or_else(|error| if error == BridgeError::Timeout { Ok(()) } else { Err(error) })
    }

    /// What was refused or happened since the last call, oldest first.
    pub fn events(&self) -> Vec<PageEvent> {
        self.state.sweep_wires(false);
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

    /// Closes the page and forgets the container with everything in it.
    pub async fn close(&self) {
        let context = json!({ "browserContextId": self.state.context });
        let _already_gone = self.state.link.call("Target.disposeBrowserContext", context).await;
        self.state.link.remove_tab(&self.state.context);
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.state
            .link
            .post("Target.disposeBrowserContext", json!({ "browserContextId": self.state.context }));
        self.state.link.remove_tab(&self.state.context);
    }
}
