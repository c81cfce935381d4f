//! What orders need: the guard's profile, means of payment, journal and trusted certificates.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use browser_signals::Origin;
use checkout_protocols::{
    Agent, Credential, Instrument, PROFILE_PATH, PaymentMeans, Profile, PublicKey, Recovering, Recovery,
    SigningKey,
};
use rustls::ClientConfig;
use url::Url;
use vault::Entropy;
use zeroize::Zeroizing;

use super::tokens::{TokenOrder, TokenSource};
use super::transport::Transport;
use crate::checkout::{Intent, Journal, JournalError, PurchaseId, Settlement};
use crate::egress::proxy::EgressProxy;
use crate::system::tls::{RootsError, trusting};
use crate::system::{SystemEntropy, unix_ms};

/// The payment handler of test money: a shop that has it takes no real payment. It is the only one that exists here, since a real one
/// belongs to a bank or a payment provider.
pub const TEST_MONEY: &str = "dev.portcullis.test_money";

/// What a guard needs to place orders by protocol.
pub struct OrderDesk {
    agent: Arc<Agent>,
    means: PaymentMeans,
    tokens: Option<Arc<dyn TokenSource>>,
    journal: Arc<dyn Journal>,
    tls: Arc<ClientConfig>,
    under_way: Arc<Mutex<Vec<PurchaseId>>>,
}

/// A purchase that is under way. Dropping it ends that.
pub(super) struct UnderWay {
    purchase: PurchaseId,
    all: Arc<Mutex<Vec<PurchaseId>>>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        lock(&self.all).retain(|purchase| *purchase != self.purchase);
    }
}

/// Takes a lock even if it is poisoned: every change under it is a single step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OrderDesk {
    /// A desk that pays with this means. `agent` is the address of the guard's [profile](OrderDesk::profile). The journal is that of the [payment handler](crate::checkout::PaymentHandler),
    /// where there is one, so that neither pays a shop while the end of the other's purchase there is unknown. `pem` holds certificates that are trusted besides Mozilla's, and may be empty.
    ///
    /// # Errors
    /// [`RootsError`].
    pub fn new(
        agent: Url,
        means: PaymentMeans,
        journal: Arc<dyn Journal>,
        pem: &[u8],
    ) -> Result<OrderDesk, RootsError> {
        let (under_way, tls) = (Arc::default(), trusting(pem, &[b"http/1.1"])?);
        let agent = Arc::new(Agent::new(agent, call_key()));
        Ok(OrderDesk { agent, means, tokens: None, journal, under_way, tls })
    }

    /// A desk that orders at shops which sign nothing, and pays each order with a token of its own. The user is asked about each, since no
    /// signature proves what the shop offered.
    #[must_use]
    pub fn with_tokens(mut self, tokens: Arc<dyn TokenSource>) -> OrderDesk {
        self.means.credential = Credential::Token;
        self.tokens = Some(tokens);
        self
    }

    /// The guard's profile, as JSON. It is to be served at the address that the desk was made with, from where shops fetch it: a [`ProfileServer`](super::ProfileServer) does so
    /// for shops on this machine. `surface` is
    /// the key of the guard's mandates ([`Vault::mandate_key`](vault::Vault::mandate_key)). The other key in it signs the desk's calls. It is
    /// a new one for each desk, so a shop that remembers the profile has to fetch it again for a key that it does not know.
    pub fn profile(&self, surface: &PublicKey) -> serde_json::Value {
        checkout_protocols::agent_profile(surface, &self.agent, &self.means)
    }

    /// What pays at shops which sign nothing.
    pub(super) fn tokens(&self) -> Option<&Arc<dyn TokenSource>> {
        self.tokens.as_ref()
    }

    /// The means of test money, under this name of the user's account.
    pub fn test_money(account: &str) -> PaymentMeans {
        let instrument = Instrument {
            id: account.to_owned(),
            kind: "test_money".to_owned(),
            description: Some("test money".to_owned()),
        };
        PaymentMeans { handler: TEST_MONEY.to_owned(), instrument, credential: Credential::Mandate }
    }

    /// The account that pays, as the agent reads it.
    pub(crate) fn account(&self) -> String {
        format!("wallet:{}", self.means.instrument.id)
    }

    /// What pays.
    pub fn means(&self) -> &PaymentMeans {
        &self.means
    }

    /// Where intents and ends are written.
    pub(super) fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// The way of calls through a container's proxy.
    pub(super) fn transport(&self, proxy: &EgressProxy) -> Transport {
        Transport::new(proxy.for_container(), Arc::clone(&self.tls), Arc::clone(&self.agent))
    }

    /// Reads the profile of a shop from its own origin. None where there is none that orders can use; why is the shop's matter, and
    /// other ways to pay are left.
    pub(super) async fn discover(&self, transport: &Transport, origin: &Origin) -> Option<Profile> {
        let reply = transport.read(origin, PROFILE_PATH).await;
        let url = Url::parse(&origin.to_string()).ok()?;
        let profile = Profile::read(reply.body_of(200)?, &url).ok()?;
        profile.takes(&self.means)?;
        Some(profile)
    }

    /// Whether the end of an order at this shop is not known, or one is under way there.
    pub(crate) fn has_open_order(&self, shop: &Origin) -> Result<bool, JournalError> {
        let is_here = |intent: &Intent| intent.checkout.is_some() && intent.payee == *shop;
        Ok(self.journal.open_intents()?.iter().any(is_here))
    }

    /// Notes that a purchase is under way in this program, as long as the result lives. [`OrderDesk::recover`] leaves it alone.
    pub(super) fn begin(&self, purchase: PurchaseId) -> UnderWay {
        lock(&self.under_way).push(purchase);
        UnderWay { purchase, all: Arc::clone(&self.under_way) }
    }

    /// Finds out what became of the orders that a crash or a silent shop left open, and returns the end of each. An order whose end the
    /// shop does not say stays open, and so does one that is under way.
    ///
    /// # Errors
    /// [`JournalError`] where the journal cannot be read or written.
    pub async fn recover(&self, proxy: &EgressProxy) -> Result<Vec<(Intent, Settlement)>, JournalError> {
        self.recover_among(proxy, |_| true).await
    }

    /// As [`OrderDesk::recover`], for the orders at one shop.
    pub(crate) async fn recover_at(
        &self,
        proxy: &EgressProxy,
        shop: &Origin,
    ) -> Result<Vec<(Intent, Settlement)>, JournalError> {
        self.recover_among(proxy, |intent| intent.payee == *shop).await
    }

    async fn recover_among(
        &self,
        proxy: &EgressProxy,
        is_meant: impl Fn(&Intent) -> bool,
    ) -> Result<Vec<(Intent, Settlement)>, JournalError> {
        let transport = self.transport(proxy);
        let mut ended = Vec::new();
        for intent in self.journal.open_intents()?.into_iter().filter(is_meant) {
            if lock(&self.under_way).contains(&intent.purchase) {
                continue;
            }
            let Some(settlement) = self.end_of(&transport, &intent).await else { continue };
            self.journal.settle(intent.purchase, settlement)?;
            ended.push((intent, settlement));
        }
        Ok(ended)
    }

    async fn is_taken_back(&self, intent: &Intent, checkout: &str) -> bool {
        let order = TokenOrder { shop: &intent.payee, checkout, total: intent.amount };
        match &self.tokens {
            Some(tokens) => tokens.revoke(order).await,
            None => false,
        }
    }

    async fn end_of(&self, transport: &Transport, intent: &Intent) -> Option<Settlement> {
        let checkout = intent.checkout.as_ref()?;
        let shop = self.discover(transport, &intent.payee).await?;
        let written_at = Some(checkout.written_at).filter(|_| !checkout.by_token);
        let mut recovering =
            Recovering::begin(shop, &checkout.id, written_at, &mut || random(&mut SystemEntropy))?;
        loop {
            let reply = transport.send(recovering.call()).await;
            match recovering.answered(reply.as_reply(), seconds()) {
                Recovery::Call(next) => recovering = *next,
                Recovery::Bought(_) => return Some(Settlement::Paid),
                // As long as its token may pay, an order that the shop did not take stays open.
                Recovery::NotBought
                    if checkout.by_token && !self.is_taken_back(intent, &checkout.id).await =>
                {
                    return None;
                }
                Recovery::NotBought => return Some(Settlement::Voided),
                Recovery::Unknown => return None,
            }
        }
    }
}

/// A new key for the calls of a desk.
fn call_key() -> SigningKey {
    loop {
        let mut secret = Zeroizing::new([0; 32]);
        SystemEntropy.fill(&mut *secret);
        // Fewer than one number in four billion is no key.
        if let Ok(key) = SigningKey::from_bytes(&secret) {
            return key;
        }
    }
}

/// Sixteen random bytes.
pub(super) fn random(entropy: &mut dyn Entropy) -> [u8; 16] {
    let mut bytes = [0; 16];
    entropy.fill(&mut bytes);
    bytes
}

/// The present time, in seconds since 1970.
pub(super) fn seconds() -> u64 {
    unix_ms() / 1000
}
