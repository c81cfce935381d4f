//! The payment handler: it starts the listener and arms purchases.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use browser_signals::Origin;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use vault::SealedCard;

use super::armed::Armed;
use super::authorise::{Endpoint, Shared};
use super::bank::Bank;
use super::journal::{Intent, Journal, Settlement};
use super::listener::answer;
use super::pending::{Pending, Purchase, Slot, Stage};
use super::purchase::{PurchaseId, hex};
use super::recovery::{RecoverError, recover};
use crate::system::own_ports::OwnPort;

/// Why a purchase was not armed. The card is wiped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArmError {
    /// Another purchase is pending.
    #[error("another purchase is under way; wait for it to end")]
    AlreadyPending,
    /// The payee or amount of the released card differs from that of the pending purchase.
    #[error("the card was not released for this payee and amount")]
    Mismatch,
    /// An earlier purchase is not closed.
    #[error("an earlier purchase is not settled with the bank; reconnect to the bank and start again")]
    Unsettled,
    /// The journal cannot be read.
    #[error("the payment journal cannot be read")]
    JournalUnavailable,
}

/// The guard's payment handler: a listener on the loopback address that answers only the browser's payment interface.
/// Dropping it closes the listener.
///
/// The browser reaches it as `http://127.0.0.1:PORT`: an address, not a name, so that neither a resolver nor a process
/// that listens on the other loopback address can impersonate it.
///
/// ```no_run
/// # async fn example(
/// #     bank: std::sync::Arc<dyn portcullis::checkout::Bank>,
/// #     card: portcullis::vault::SealedCard,
/// #     shop: portcullis::signals::Origin,
/// #     amount: portcullis::sirl::Money,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// use std::{sync::Arc, time::Duration};
/// use portcullis::checkout::{FileJournal, Outcome, PaymentHandler, Pending, PurchaseId, recover};
///
/// let journal: Arc<dyn portcullis::checkout::Journal> = Arc::new(FileJournal::open("payments.journal".as_ref())?);
/// recover(&journal, bank.as_ref()).await?;
/// # let (launch_secret, purchase) = ([7; 32], [8; 16]);
/// let handler = PaymentHandler::start(bank, journal, launch_secret).await?;
/// let armed = handler.arm(Pending::new(shop.clone(), shop, amount), card, PurchaseId(purchase))?;
/// // Open the browser's permission for handler.origin(), press the shop's button, then:
/// if let Outcome::Paid { amount, card } = armed.outcome(Duration::from_secs(30)).await {
///     println!("paid {amount} with {card}");
/// }
/// # Ok(()) }
/// ```
pub struct PaymentHandler {
    shared: Arc<Shared>,
    origin: Origin,
    _stop: oneshot::Sender<()>,
    _own_port: OwnPort,
}

impl PaymentHandler {
    /// Listens on a free port of the loopback address. `entropy` is 32 fresh random bytes for the unguessable path. It must
    /// be called inside a tokio runtime.
    ///
    /// # Errors
    /// Those of opening a port.
    pub async fn start(
        bank: Arc<dyn Bank>,
        journal: Arc<dyn Journal>,
        entropy: [u8; 32],
    ) -> io::Result<PaymentHandler> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let _own_port = OwnPort::register(listener.local_addr()?.port());
        let endpoint = Endpoint::new(listener.local_addr()?.port(), &hex(&entropy));
        let origin = Origin::parse(endpoint.origin()).map_err(io::Error::other)?;
        let shared = Arc::new(Shared { endpoint, slot: Slot::default(), bank, journal });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let (_stop, stopped) = oneshot::channel::<()>();
        let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
            let _ = stopped.await;
        });
        tokio::spawn(async move { serving.await });
        Ok(PaymentHandler { shared, origin, _stop, _own_port })
    }

    /// The handler's origin, for which the browser's `payment-handler` permission is opened.
    pub fn origin(&self) -> Origin {
        self.origin.clone()
    }

    /// The payment method identifier that a shop lists as `supportedMethods`.
    pub fn method_url(&self) -> String {
        format!("{}/pay", self.shared.endpoint.origin())
    }

    /// Arms one purchase, as long as `pending` lasts and the result is held.
    ///
    /// # Errors
    /// [`ArmError`]; nothing was armed or written then.
    pub fn arm(&self, pending: Pending, card: SealedCard, purchase: PurchaseId) -> Result<Armed, ArmError> {
        if card.payee() != pending.payee() || card.amount() != pending.amount() {
            return Err(ArmError::Mismatch);
        }
        if self.shared.slot.is_taken() {
            return Err(ArmError::AlreadyPending);
        }
        let open = self.shared.journal.open_intents().map_err(|_| ArmError::JournalUnavailable)?;
        // The end of an order at another shop is that shop's matter.
        let is_before = |intent: &Intent| {
            intent.purchase != purchase && (intent.checkout.is_none() || intent.payee == *pending.payee())
        };
        if open.iter().any(is_before) {
            return Err(ArmError::Unsettled);
        }
        let intent = Intent::new(purchase, pending.payee().clone(), pending.amount());
        let purchase = Arc::new(Purchase {
            intent,
            deadline: Instant::now() + pending.lifetime(),
            pending,
            card: card.handle().to_owned(),
            stage: watch::Sender::new(Stage::Waiting),
        });
        if !self.shared.slot.put(purchase.clone(), card) {
            return Err(ArmError::AlreadyPending);
        }
        Ok(Armed::new(self.shared.clone(), purchase))
    }

    /// Closes the purchases that are still unsettled; see [`recover`]. A purchase that is armed now is voided too, unless
    /// it was redeemed.
    ///
    /// # Errors
    /// [`RecoverError`] when the bank still does not answer.
    pub async fn recover(&self) -> Result<Vec<(Intent, Settlement)>, RecoverError> {
        recover(&self.shared.journal, self.shared.bank.as_ref()).await
    }
}
