//! Questions through the MCP client: it opens the consent page, if it can show addresses to its user; otherwise a window of the
//! guard does. A client that the user named may ask simple questions by its own form ([`form`]).

pub mod form;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use portcullis::consent::page::{OpenError, OpenFuture, Opener, Window};
use rmcp::model::{ElicitationAction, ProtocolVersion};
use rmcp::service::{ElicitationMode, Peer, RoleServer};
use tokio::sync::watch;

/// The client that may show an address or a form, once one has connected.
#[derive(Clone, Default)]
pub struct ClientSlot(Arc<Mutex<Option<Peer<RoleServer>>>>);

impl ClientSlot {
    pub(crate) fn put(&self, peer: Peer<RoleServer>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(peer);
    }

    /// The client, if it declares that it asks its user in this mode.
    fn that_asks(&self, mode: ElicitationMode) -> Option<Peer<RoleServer>> {
        let peer = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        // Later versions of the protocol have no requests from the server to the client.
        let asks = peer.peer_info().is_some_and(|info| info.protocol_version < ProtocolVersion::V_2026_07_28);
        (asks && peer.supported_elicitation_modes().contains(&mode)).then_some(peer)
    }
}

/// Opens the consent page through the MCP client, which shows the address to its user ("URL elicitation"). If it cannot, a
/// window of `otherwise` opens.
///
/// The client learns the page's address by this, and could answer in the user's place. It is trusted with that, as it is
/// with the user's prompts. The model is not, so the client must not show it the address. Users who do not trust their client
/// use the window alone.
pub struct ThroughClient {
    client: ClientSlot,
    otherwise: Option<Box<dyn Opener>>,
    asked: u64,
}

impl ThroughClient {
    /// An opener, and the slot into which [`crate::Gateway::serve`] puts the client.
    pub fn new(otherwise: Option<Box<dyn Opener>>) -> (ThroughClient, ClientSlot) {
        let client = ClientSlot::default();
        (ThroughClient { client: client.clone(), otherwise, asked: 0 }, client)
    }

    /// An opener that uses `window` alone, whatever the client can do.
    pub fn never(window: Option<Box<dyn Opener>>) -> (ThroughClient, ClientSlot) {
        let empty = ClientSlot::default();
        (ThroughClient { client: empty, otherwise: window, asked: 0 }, ClientSlot::default())
    }
}

impl Opener for ThroughClient {
    fn open<'a>(&'a mut self, address: &'a str) -> OpenFuture<'a> {
        Box::pin(async move {
            let Some(peer) = self.client.that_asks(ElicitationMode::Url) else {
                return match &mut self.otherwise {
                    Some(opener) => opener.open(address).await,
                    None => Err(OpenError(
                        "the client shows no addresses to its user, and there is no window".to_owned(),
                    )),
                };
            };
            let url = address
                .parse::<url::Url>()
                .map_err(|_| OpenError("its address cannot be parsed".to_owned()))?;
            self.asked += 1;
            let number = format!("portcullis-{}", self.asked);
            let (refused, closed) = watch::channel(());
            let shown = tokio::spawn(async move {
                let words = "Portcullis asks whether the agent may go on. Answer on its own page.";
                let answer = peer.elicit_url(words, url, number).await;
                // Accepting only opens the page; the answer is given there.
                if matches!(answer, Ok(ElicitationAction::Accept)) {
                    std::future::pending::<()>().await;
                }
                drop(refused);
            });
            Ok(Box::new(Shown { closed, task: shown }) as Box<dyn Window>)
        })
    }
}

/// A page that the client shows. The guard cannot close it.
struct Shown {
    closed: watch::Receiver<()>,
    task: tokio::task::JoinHandle<()>,
}

impl Window for Shown {
    fn closed<'a>(&'a mut self) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move { while self.closed.changed().await.is_ok() {} })
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.task.abort();
    }
}
