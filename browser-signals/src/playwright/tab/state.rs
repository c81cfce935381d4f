//! The state of one tab, as the events of its sessions have reported it.
//!
//! The bridge's thread writes it, the caller's tasks read it. The modules that act on a tab implement their part of
//! [`TabState`] themselves; this one depends on none of them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use url::Url;

use crate::address::AddressRefused;
use crate::playwright::browser::settings::BrowserSettings;
use crate::playwright::cdp::session::{self, lock};
use crate::playwright::developer_tools::Records;
use crate::playwright::error::BridgeError;
use crate::playwright::network::proxy::ContainerProxy;
use crate::playwright::network::wire::pending::Wires;
use crate::playwright::observation::tls::Response;
use crate::playwright::tab::answers::Answers;
use crate::playwright::tab::choosers::{FileChooser, FileChoosers};
use crate::playwright::tab::dialogs::PageDialog;
use crate::playwright::tab::drags::Drag;
use crate::playwright::tab::events::PageEvent;
use crate::playwright::tab::pages::OpenPages;
use crate::playwright::tab::typed::TypedTexts;
use crate::playwright::text::refs::Refs;
use crate::this_machine::ReachedSites;
use crate::{Container, Destination, EgressGuard, FrameId, NodeId, Origin};

/// The connection to the browser, whose events go to tabs.
pub(crate) type Link = session::Link<TabState>;

/// A session of a tab.
pub(crate) type Session = session::Session<TabState>;

/// How many loaded documents, parsed documents and responses are remembered.
const REMEMBERED: usize = 256;

/// How many events are stored until the caller drains them.
const MOST_EVENTS: usize = 1000;

/// The location of an element of the last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) frame: FrameId,
    pub(crate) document: String,
    pub(crate) node: NodeId,
}

/// A fill that happened: where its values may go.
#[derive(Debug, Clone)]
pub(crate) struct Release {
    pub(crate) destination: Destination,
    pub(crate) page: Origin,
    /// For the frame of a payment provider: the origin of the page around it, whose requests go on. What they carry is judged
    /// one by one.
    pub(crate) around: Option<Origin>,
}

/// An isolated world of one document. Calls into it fail once the document is gone.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) document: String,
    pub(crate) session: String,
    pub(crate) context: i64,
    /// The document's origin as the document has it, not as its address suggests: a sandboxed document has
    /// none, and `about:blank` has its parent's.
    pub(crate) origin: Option<Origin>,
    /// Whether a sandbox holds the document.
    pub(crate) sandboxed: Option<bool>,
    /// The browser's ids of the elements that the world has numbered.
    pub(crate) nodes: Arc<Mutex<HashMap<u64, NodeId>>>,
}

/// The last action that may lead away from the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastAction {
    /// How many navigations there were before it.
    pub(crate) navigations: u64,
    /// Until when a navigation or a request counts as its consequence.
    pub(crate) until: Instant,
    /// How often answers to its requests were waited for.
    pub(crate) rounds: u8,
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

/// A navigation of the top frame that the bridge stopped, since it leads away from the task's sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaving {
    /// The site that leads away: that of the page, or the last one of a redirect.
    pub from: Origin,
    /// The address.
    pub to: Url,
}

/// The provider of a sign-on, and the site of the task that it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignOnSites {
    pub(crate) provider: Origin,
    pub(crate) site: Origin,
}

/// A request that waits for the user, with what is needed to continue or stop it.
pub(crate) struct Held {
    pub(crate) request: HeldRequest,
    pub(crate) paused_by: PausedBy,
    pub(crate) params: Value,
}

/// The session of the browser that paused a request.
pub(crate) enum PausedBy {
    Page(Arc<Session>),
    /// The browser's own session, for a worker that has no page.
    Browser(Arc<Session>),
}

/// The state that the events of a tab have reported.
#[derive(Default)]
pub(crate) struct Inner {
    /// The page's session and those of its out-of-process frames, in the order in which they attached.
    pub(crate) sessions: Vec<Arc<Session>>,
    /// Whether all that the bridge sets for a page took effect before its first document.
    pub(crate) prepared: bool,
    /// The document of each frame, by `Page.frameNavigated`.
    pub(crate) documents: HashMap<FrameId, String>,
    /// Frames that were attached to the page.
    pub(crate) attached: HashSet<FrameId>,
    /// Documents of any frame whose load event fired.
    pub(crate) loaded: RecentDocuments,
    /// Documents of any frame that were parsed.
    pub(crate) parsed: RecentDocuments,
    /// Frames that are loading.
    pub(crate) loading: HashSet<FrameId>,
    /// How many navigations of the top frame began.
    pub(crate) navigations: u64,
    /// How many of them had begun when the top frame got its document.
    pub(crate) arrived: u64,
    /// Whether the page asked the browser for a navigation of the top frame that has not begun.
    pub(crate) requested: bool,
    /// The last action that may lead away from the page, until the next observation.
    pub(crate) last_action: Option<LastAction>,
    /// The requests of the page that have no answer.
    pub(crate) answers: Answers,
    /// The response that each document came from.
    pub(crate) responses: HashMap<String, Response>,
    responses_order: VecDeque<String>,
    /// The last visible security state of the page.
    pub(crate) security: Option<Value>,
    pub(crate) worlds: HashMap<FrameId, World>,
    pub(crate) refs: Refs,
    /// The elements of the last read, by ref.
    pub(crate) elements: HashMap<String, Located>,
    /// The texts that the agent typed into controls.
    pub(crate) typed: TypedTexts,
    pub(crate) releases: Vec<Release>,
    /// The frames, documents and origins that values were filled into.
    pub(crate) filled: Vec<(FrameId, String, Origin)>,
    /// Requests that wait for the user.
    pub(crate) held: Vec<Held>,
    pub(crate) payment_origins: Vec<Origin>,
    /// The origins of payment providers whose frames may be filled.
    pub(crate) providers: Vec<Origin>,
    pub(crate) events: VecDeque<PageEvent>,
    /// Whether dialogs wait for an answer.
    pub(crate) dialogs_wait: bool,
    /// The dialog that waits.
    pub(crate) dialog: Option<PageDialog>,
    /// How many dialogs have opened.
    pub(crate) dialogs: u64,
    /// The dialogs that were answered and are not closed yet.
    pub(crate) answered_dialogs: VecDeque<u64>,
    /// The file chooser that waits.
    pub(crate) chooser: Option<FileChooser>,
    /// Whether a file chooser was cancelled.
    pub(crate) cancelled_chooser: bool,
    /// The drag of the browser's own.
    pub(crate) drag: Drag,
    /// The control for whose sake the browser did not send the last form.
    pub(crate) asked_for: Option<String>,
    /// What is recorded of the page.
    pub(crate) records: Records,
    /// The address of the window that the page is opening.
    pub(crate) opening_window: Option<String>,
    /// The address of the last window that the page opened and that was closed.
    pub(crate) refused_window: Option<String>,
    /// The last document whose HTTP status was told.
    pub(crate) told_status_of: Option<String>,
    /// The provider that the user agreed to.
    pub(crate) sign_on: Option<SignOnSites>,
    /// The address at which the bridge itself answers the top frame, with an empty document.
    pub(crate) empty_document: Option<Url>,
    /// The site that the top frame asked last for a document, of those that it may go to.
    pub(crate) last_top: Option<Origin>,
    /// The last navigation that led away from the task's sites, while the page that it began on is there.
    pub(crate) left: Option<Leaving>,
    /// Why the bridge stopped the last navigation of the top frame.
    pub(crate) stopped: Option<AddressRefused>,
    /// Whether the tab is going back in its history: a form that was sent once is not sent again then.
    pub(crate) goes_back: bool,
    pub(crate) crashed: bool,
    /// The proxy whose password the browser has yet to ask for, while the container is made.
    pub(crate) unauthenticated_proxy: Option<ContainerProxy>,
}

/// The shared state of a tab.
pub(crate) struct TabState {
    pub(crate) link: Arc<Link>,
    pub(crate) context: String,
    pub(crate) container: Container,
    pub(crate) task: Vec<Origin>,
    pub(crate) private_hosts: Vec<String>,
    /// The sites of this machine that the container's proxy reached on a loopback address.
    pub(crate) reached: ReachedSites,
    /// Whether the ref of an element is never given to one of a later document.
    pub(crate) unique_refs: bool,
    pub(crate) file_choosers: FileChoosers,
    /// The pages of the container.
    pub(crate) pages: Weak<OpenPages>,
    pub(crate) egress: Mutex<Option<Arc<dyn EgressGuard>>>,
    pub(crate) wires: Mutex<Wires>,
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
}

impl TabState {
    pub(crate) fn new(
        pages: &Arc<OpenPages>,
        container: Container,
        task: &[Origin],
        settings: &BrowserSettings,
        reached: &ReachedSites,
    ) -> TabState {
        TabState {
            link: Arc::clone(&pages.link),
            context: pages.context.clone(),
            container,
            task: task.to_vec(),
            private_hosts: settings.private_hosts.clone(),
            reached: reached.clone(),
            unique_refs: settings.unique_refs,
            file_choosers: settings.file_choosers,
            pages: Arc::downgrade(pages),
            egress: Mutex::new(None),
            wires: Mutex::default(),
            inner: Mutex::new(Inner { refs: refs(Some(pages), settings.unique_refs), ..Inner::default() }),
            changed: watch::Sender::new(0),
        }
    }

    /// The state of a further page in the same container, under the same judge.
    pub(crate) fn of_further_page(&self) -> TabState {
        let egress = lock(&self.egress).clone();
        let refs = refs(self.pages.upgrade().as_deref(), self.unique_refs);
        let inner = self.inner();
        let (providers, sign_on) = (inner.providers.clone(), inner.sign_on.clone());
        let records = Records { recording: inner.records.recording, ..Records::default() };
        TabState {
            link: Arc::clone(&self.link),
            context: self.context.clone(),
            container: self.container,
            task: self.task.clone(),
            private_hosts: self.private_hosts.clone(),
            reached: self.reached.clone(),
            unique_refs: self.unique_refs,
            file_choosers: self.file_choosers,
            pages: Weak::clone(&self.pages),
            egress: Mutex::new(egress),
            wires: Mutex::default(),
            inner: Mutex::new(Inner { refs, providers, sign_on, records, ..Inner::default() }),
            changed: watch::Sender::new(0),
        }
    }

    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Changes the state and wakes every task that waits for a change.
    pub(crate) fn update<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let result = change(&mut self.inner());
        self.changed.send_modify(|count| *count = count.wrapping_add(1));
        result
    }

    /// Waits until the state satisfies `condition`.
    pub(crate) async fn wait_until(
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

    pub(crate) fn record(&self, event: PageEvent) {
        self.update(|inner| {
            if inner.events.len() < MOST_EVENTS {
                inner.events.push_back(event);
            }
        });
    }

    /// The page's own session.
    pub(crate) fn page(&self) -> Result<Arc<Session>, BridgeError> {
        let page = self.inner().sessions.iter().find(|session| session.kind == "page").cloned();
        let page = page.ok_or(BridgeError::Lost)?;
        if page.has_ended() { Err(BridgeError::Lost) } else { Ok(page) }
    }

    /// The top frame: its id is the page target's.
    pub(crate) fn top_frame(&self) -> Result<FrameId, BridgeError> {
        Ok(FrameId::new(self.page()?.target.as_str()))
    }

    /// Notes that the page is gone for good.
    pub(crate) fn lost(&self) {
        self.update(|inner| inner.crashed = true);
    }

    pub(crate) fn has_released(&self) -> bool {
        !self.inner().releases.is_empty()
    }

    pub(crate) fn has_page(&self) -> bool {
        self.inner().sessions.iter().any(|session| session.kind == "page")
    }

    pub(crate) fn knows_frame(&self, frame: &FrameId) -> bool {
        let inner = self.inner();
        inner.documents.contains_key(frame)
            || inner.attached.contains(frame)
            || inner.sessions.iter().any(|session| session.target == frame.as_str())
    }
}

/// The refs of a page: those of a container's pages are unique together.
fn refs(pages: Option<&OpenPages>, unique: bool) -> Refs {
    pages.filter(|_| unique).map_or_else(Refs::default, |pages| Refs::numbered_by(&pages.ref_numbers))
}

/// The last documents of which the browser reported the same event.
#[derive(Debug, Default)]
pub(crate) struct RecentDocuments {
    documents: HashSet<String>,
    order: VecDeque<String>,
}

impl RecentDocuments {
    pub(crate) fn contains(&self, document: &str) -> bool {
        self.documents.contains(document)
    }

    pub(crate) fn add(&mut self, document: &str) {
        if self.documents.insert(document.to_owned()) {
            self.order.push_back(document.to_owned());
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.documents.remove(&oldest);
        }
    }
}

impl Inner {
    /// Returns true if the top frame has the document of its last navigation, and the browser has parsed it.
    pub(crate) fn is_readable(&self, top: &FrameId) -> bool {
        let document = self.documents.get(top);
        self.arrived == self.navigations && document.is_some_and(|document| self.parsed.contains(document))
    }

    pub(crate) fn add_response(&mut self, document: &str, response: Response) {
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
