//! The listener, and arming it.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use browser_signals::Origin;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use vault::SealedCard;

use super::authorise::Shared;
use super::listener::{Door, answer};
use super::pending::{Purchase, Slot, Stage};
use super::purchase::hex;
use super::recovery::recover;
use super::{Armed, Bank, Intent, Journal, Pending, PurchaseId, RecoverError, Settlement};

/// Why a purchase was not armed. The card is wiped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ArmError {
    /// Another purchase is pending.
    #[error("another purchase is under way; wait for it to end")]
    AlreadyPending,
    /// The card was released for another payee or amount than the pending purchase has.
    #[error("the card was not released for this payee and amount")]
    Mismatch,
    /// An earlier purchase is not closed.
    #[error("an earlier purchase is not settled with the bank; reconnect to the bank and start again")]
    Unsettled,
    /// The journal cannot be read.
    #[error("the payment journal cannot be read")]
    JournalUnavailable,
}

/// The guard's payment handler: a listener on the loopback address that answers the browser's payment
/// interface, and nobody else. Dropping it closes the listener.
///
/// The browser reaches it as `http://127.0.0.1:PORT`: an address, not a name, so that neither a resolver
/// nor a process that listens on the other loopback address can stand in for it.
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
}

impl PaymentHandler {
    /// Listens on a free port of the loopback address. `entropy` is 32 fresh random bytes, from which
    /// the launch's unguessable path is made. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(
        bank: Arc<dyn Bank>,
        journal: Arc<dyn Journal>,
        entropy: [u8; 32],
    ) -> io::Result<PaymentHandler> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let door = Door::new(listener.local_addr()?.port(), &hex(&entropy));
        let origin = Origin::parse(door.origin()).map_err(io::Error::other)?;
        let shared = Arc::new(Shared { door, slot: Slot::default(), bank, journal });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let (_stop, stopped) = oneshot::channel::<()>();
        let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
            let _ = stopped.await;
        });
        tokio::spawn(async move { serving.await });
        Ok(PaymentHandler { shared, origin, _stop })
    }

    /// The handler's origin: the one to open the browser's `payment-handler` permission for.
    pub fn origin(&self) -> Origin {
        self.origin.clone()
    }

    /// The payment method identifier that a shop lists as `supportedMethods`.
    pub fn method_url(&self) -> String {
        format!("{}/pay", self.shared.door.origin())
    }

    /// Lets this one purchase happen, for as long as `pending` lasts and the result is held.
    ///
    /// # Errors
    /// [`ArmError`]; in every case nothing was armed or written.
    pub fn arm(&self, pending: Pending, card: SealedCard, purchase: PurchaseId) -> Result<Armed, ArmError> {
        if card.payee() != pending.payee() || card.amount() != pending.amount() {
            return Err(ArmError::Mismatch);
        }
        if self.shared.slot.is_taken() {
            return Err(ArmError::AlreadyPending);
        }
        let open = self.shared.journal.open_intents().map_err(|_| ArmError::JournalUnavailable)?;
        if open.iter().any(|intent| intent.purchase != purchase) {
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

    /// Closes the purchases that earlier ones left unsettled; see [`recover`]. One that is armed now is
    /// voided too, unless it was redeemed.
    ///
    /// # Errors
    /// [`RecoverError`] when the bank still cannot be asked.
    pub async fn recover(&self) -> Result<Vec<(Intent, Settlement)>, RecoverError> {
        recover(&self.shared.journal, self.shared.bank.as_ref()).await
    }
}
