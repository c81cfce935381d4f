//! One order: from the shop's profile to the receipt.

use std::sync::Arc;
use std::time::Duration;

use browser_signals::{Destination, Origin};
use checkout_protocols::{
    AgreedOrder, AnswerFault, Bought, Buyer, Completing, Completion, Confirmed, Offered, OrderFault,
    PaymentToken, PostalAddress, Preparing, Profile, Receipt, Signer, Step, UnsignedOrder, Wanted, Wish,
};
use policy_dfa::Reason;
use sirl::{Items, Money};
use tokio::time::timeout;
use vault::{Entropy, SealedMandate};

use super::desk::{OrderDesk, random, seconds};
use super::seen::{seen, total};
use super::tokens::TokenOrder;
use super::transport::Transport;
use crate::checkout::{Intent, PurchaseId, Settlement};
use crate::consent::SeenOffer;
use crate::egress::proxy::EgressProxy;

/// The most calls of one step. A shop that leads on and on is left.
const MAX_CALLS: usize = 60;
/// How long a completion may take: the mandates' lifetime, and time to ask what became of the checkout.
const COMPLETE_WITHIN: Duration = Duration::from_secs(120);

/// An order that is being placed.
pub(crate) struct OpenOrder {
    desk: Arc<OrderDesk>,
    transport: Transport,
    shop: Profile,
    offered: Option<Offered>,
}

/// An order that the shop still offers as the user agreed to it.
enum Agreed {
    Signed(Box<AgreedOrder>),
    Unsigned(Box<UnsignedOrder>),
}

/// Why an order was not placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderFailure {
    /// The reason for the agent.
    pub reason: Reason,
    /// What went wrong, for the user alone.
    pub fault: Option<OrderFault>,
    /// Where a person goes on, on the shop's own origin.
    pub goes_on_at: Option<url::Url>,
}

impl From<OrderFault> for OrderFailure {
    fn from(fault: OrderFault) -> OrderFailure {
        let reason = match &fault {
            OrderFault::NotOffered => Reason::NoOrders,
            OrderFault::Items => Reason::MalformedRequest,
            OrderFault::Answer(AnswerFault::Lost | AnswerFault::Status(_)) => Reason::CheckoutUnanswered,
            OrderFault::Answer(AnswerFault::Refused(_))
            | OrderFault::Incomplete(_)
            | OrderFault::State
            | OrderFault::Elsewhere => Reason::CheckoutRefused,
            OrderFault::Answer(_) | OrderFault::Differs(_) | OrderFault::Json(_) => Reason::CheckoutDiffers,
        };
        OrderFailure { reason, fault: Some(fault), goes_on_at: None }
    }
}

impl From<Reason> for OrderFailure {
    fn from(reason: Reason) -> OrderFailure {
        OrderFailure { reason, fault: None, goes_on_at: None }
    }
}

impl OpenOrder {
    /// Reads the shop's profile. None where the shop takes no such orders.
    pub(crate) async fn at(desk: &Arc<OrderDesk>, proxy: &EgressProxy, origin: &Origin) -> Option<OpenOrder> {
        let transport = desk.transport(proxy);
        let shop = desk.discover(&transport, origin).await?;
        Some(OpenOrder { desk: Arc::clone(desk), transport, shop, offered: None })
    }

    /// Where the order goes.
    pub(crate) fn endpoint(&self, origin: &Origin) -> Destination {
        let path = self.shop.endpoint().path();
        Destination { origin: origin.clone(), path: path.into(), method: "POST".into() }
    }

    /// Tells the shop the items, the address and how the buyer is reached, and reads its offer. Some shops are told the currency of the
    /// user's budget too.
    pub(crate) async fn prepare(
        &mut self,
        items: &Items,
        address: PostalAddress,
        buyer: Option<Buyer>,
        currency: Option<sirl::Currency>,
        entropy: &mut (dyn Entropy + Send),
    ) -> Result<SeenOffer, OrderFailure> {
        self.offered = None;
        let items = items.iter().map(|(item, quantity)| Wanted { item: item.to_owned(), quantity }).collect();
        let currency = currency.and_then(|it| it.as_str().to_owned().try_into().ok());
        let wish = Wish { items, address: Some(address), buyer, means: self.desk.means().clone(), currency };
        let mut preparing = Preparing::begin(self.shop.clone(), wish, &mut || random(entropy))?;
        for _ in 0..MAX_CALLS {
            let reply = self.transport.send(preparing.call()).await;
            match preparing.answered(reply.as_reply(), &mut || random(entropy))? {
                Step::Call(next) => preparing = *next,
                Step::Offered(offered) => {
                    let offer = seen(&offered).ok_or(Reason::TooMuchToShow)?;
                    self.offered = Some(*offered);
                    return Ok(offer);
                }
                Step::Escalated(url) => {
                    let reason = Reason::CheckoutEscalated;
                    return Err(OrderFailure { reason, fault: None, goes_on_at: Some(url) });
                }
            }
        }
        Err(Reason::CheckoutUnanswered.into())
    }

    /// Buys what the user agreed to, with the keys that the grant opened.
    pub(crate) async fn complete(
        &mut self,
        keys: SealedMandate,
        payee: &Origin,
        entropy: &mut (dyn Entropy + Send),
    ) -> Result<Bought, OrderFailure> {
        let offered = self.offered.take().ok_or(Reason::StaleDocument)?;
        let amount = total(&offered).ok_or(Reason::TooMuchToShow)?;
        if keys.payee() != payee || keys.amount() != amount {
            return Err(Reason::ClaimMismatch.into());
        }
        let checkout = offered.id().to_owned();
        let agreed = self.confirm(offered).await?;
        // Another task may have begun one since this shop's profile was read.
        if self.desk.has_open_order(payee).map_err(|_| Reason::AuditUnavailable)? {
            return Err(Reason::PaymentPending.into());
        }
        // What is written down comes before the signature.
        let purchase = PurchaseId(random(entropy));
        let _under_way = self.desk.begin(purchase);
        let by_token = matches!(agreed, Agreed::Unsigned(_));
        let intent =
            Intent::by_protocol(purchase, payee.clone(), amount, checkout.clone(), seconds(), by_token);
        self.write(move |journal| journal.intend(&intent)).await?;
        let ready = match agreed {
            Agreed::Signed(order) => keys.open(|surface, agent| {
                let key = |bytes| checkout_protocols::SigningKey::from_bytes(bytes);
                let (Ok(surface), Ok(agent)) = (key(surface), key(agent)) else {
                    return Err(OrderFault::State);
                };
                order.sign(&Signer { surface: &surface, agent: &agent }, &mut || random(entropy))
            }),
            Agreed::Unsigned(order) => match self.token(payee, &checkout, amount).await {
                Some(token) => order.pay(token, &mut || random(entropy)),
                None => Err(OrderFault::NotOffered),
            },
        };
        let is_token_out = by_token && ready.is_ok();
        let ended = match ready {
            Ok(completing) => {
                // A shop that does not end it in time leaves the end unknown, for the next recovery.
                timeout(COMPLETE_WITHIN, self.carry_out(completing)).await.unwrap_or(Completion::Unknown)
            }
            Err(fault) => Completion::NotBought(fault),
        };
        // The shop says that it did not sell, and may still have what pays.
        let ended = match ended {
            Completion::NotBought(_) if is_token_out && !self.revoke(payee, &checkout, amount).await => {
                Completion::Unknown
            }
            ended => ended,
        };
        let settlement = match &ended {
            Completion::Bought(_) => Some(Settlement::Paid),
            Completion::NotBought(_) => Some(Settlement::Voided),
            Completion::Unknown | Completion::Call(..) => None,
        };
        if let Some(settlement) = settlement {
            // Where this cannot be written, the next recovery asks the shop again.
            let _asked_again = self.write(move |journal| journal.settle(purchase, settlement)).await;
        }
        match ended {
            Completion::Bought(bought) => Ok(bought),
            Completion::NotBought(fault) => Err(fault.into()),
            Completion::Unknown | Completion::Call(..) => Err(Reason::Unconfirmed.into()),
        }
    }

    async fn token(&self, shop: &Origin, checkout: &str, total: Money) -> Option<PaymentToken> {
        self.desk.tokens()?.token(TokenOrder { shop, checkout, total }).await
    }

    async fn revoke(&self, shop: &Origin, checkout: &str, total: Money) -> bool {
        match self.desk.tokens() {
            Some(tokens) => tokens.revoke(TokenOrder { shop, checkout, total }).await,
            None => false,
        }
    }

    /// Cancels what the shop offered. Where the shop does not answer, its checkout expires by itself.
    pub(crate) async fn abandon(self, entropy: &mut (dyn Entropy + Send)) {
        let call = self.offered.and_then(|offered| offered.abandon(random(entropy)));
        if let Some(call) = call {
            let _unanswered = self.transport.send(&call).await;
        }
    }

    async fn confirm(&self, offered: Offered) -> Result<Agreed, OrderFailure> {
        let mut confirming = offered.confirm();
        loop {
            let reply = self.transport.send(confirming.call()).await;
            match confirming.answered(reply.as_reply(), seconds())? {
                Confirmed::Call(next) => confirming = *next,
                Confirmed::Agreed(order) => return Ok(Agreed::Signed(order)),
                Confirmed::AgreedUnsigned(order) => return Ok(Agreed::Unsigned(order)),
            }
        }
    }

    async fn carry_out(&self, mut completing: Completing) -> Completion {
        for _ in 0..MAX_CALLS {
            let reply = self.transport.send(completing.call()).await;
            match completing.answered(reply.as_reply(), seconds()) {
                Completion::Call(next, pause) => {
                    tokio::time::sleep(pause).await;
                    completing = *next;
                }
                ended => return ended,
            }
        }
        Completion::Unknown
    }

    async fn write(
        &self,
        write: impl FnOnce(&dyn crate::checkout::Journal) -> Result<(), crate::checkout::JournalError>
        + Send
        + 'static,
    ) -> Result<(), Reason> {
        let written = crate::checkout::journalled(self.desk.journal(), write).await;
        written.map_err(|_| Reason::AuditUnavailable)
    }
}

/// Whether the user is told that the shop's receipt is not as it should be.
pub(crate) fn is_doubtful(bought: &Bought) -> bool {
    bought.receipt == Receipt::Wrong || bought.differs.is_some()
}
