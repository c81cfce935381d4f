//! Orders by the shop's own protocol, through the container's proxy.

use browser_signals::{Destination, Origin, Verb};
use checkout_protocols::{Bought, Buyer, PostalAddress};
use policy_dfa::{Consent, Granted, Reason, VerbKind, Verdict};
use sirl::{Currency, Items, Kind};
use url::Url;
use vault::{ExposedOrderData, SealedMandate, SealedOrderData};

use super::container::Session;
use super::container_actions::release_within;
use crate::audit::AuditEvent;
use crate::checkout::Settlement;
use crate::consent::{OrderProblem, SeenOffer, Warning, WarningCause};
use crate::orders::{OpenOrder, OrderFailure};
use crate::session::core::{Event, OrderCommand};

/// An order that the container's session is placing.
pub(super) struct SessionOrder {
    shop: Origin,
    order: OpenOrder,
}

impl Session {
    /// Carries a step of an order out.
    pub(super) async fn order(&mut self, command: OrderCommand) -> Event {
        match command {
            OrderCommand::Discover(origin) => Event::Discovered(self.discover(origin).await),
            OrderCommand::Prepare { items, told, currency } => {
                let offered = self.prepare_order(&items, told, currency).await;
                if let Some(url) = offered.as_ref().err().and_then(|failure| failure.goes_on_at.clone()) {
                    self.go_on_at(&url).await;
                }
                Event::Offered(offered.map(Box::new))
            }
            OrderCommand::Complete(keys) => Event::Ordered(self.complete_order(keys).await),
            OrderCommand::Abandon => {
                if let Some(SessionOrder { order, .. }) = self.order.take() {
                    order.abandon(&mut self.driver.dependencies.entropy).await;
                }
                Event::Abandoned
            }
        }
    }

    /// Reads the profile of a shop. An order of before whose end nobody knows comes first.
    async fn discover(&mut self, origin: Origin) -> Result<Option<Destination>, Reason> {
        self.order = None;
        let Some(desk) = self.driver.dependencies.orders.clone() else { return Ok(None) };
        // An order of before at this shop comes first.
        let ended = desk.recover_at(&self.proxy, &origin).await.map_err(|_| Reason::AuditUnavailable)?;
        let taken = ended.iter().filter(|(_, settlement)| *settlement == Settlement::Paid);
        let taken: Vec<Warning> = taken
            .map(|(intent, _)| {
                let cause = WarningCause::Order(OrderProblem::Taken(intent.amount.to_string()));
                Warning { kind: Kind::Purchase, origin: origin.clone(), cause }
            })
            .collect();
        let is_open = desk.has_open_order(&origin).map_err(|_| Reason::AuditUnavailable)?;
        if !taken.is_empty() || is_open {
            taken.into_iter().for_each(|warning| self.driver.core.warn(warning));
            return Err(Reason::PaymentPending);
        }
        let order = OpenOrder::at(&desk, &self.proxy, &origin).await;
        self.order = order.map(|order| SessionOrder { shop: origin, order });
        Ok(self.order.as_ref().map(|order| order.order.endpoint(&order.shop)))
    }

    /// Tells the shop the items, the address and how the buyer is reached, once the container's egress is restricted to the shop.
    async fn prepare_order(
        &mut self,
        items: &Items,
        told: Vec<SealedOrderData>,
        currency: Option<Currency>,
    ) -> Result<SeenOffer, OrderFailure> {
        let SessionOrder { shop, order } = self.order.as_mut().ok_or(Reason::StaleDocument)?;
        if told.iter().any(|data| data.to().origin != *shop) {
            return Err(Reason::WrongDestination.into());
        }
        let (mut address, mut buyer) = (PostalAddress::default(), None);
        for data in told {
            let kind = data.kind();
            data.open(|exposed| match kind {
                Kind::Contact => buyer = Some(buyer_of(&exposed)),
                _ => address = address_of(&exposed),
            });
        }

        let entropy = &mut self.driver.dependencies.entropy;
        let open = std::slice::from_ref(shop);
        release_within(&self.proxy, open, || order.prepare(items, address, buyer, currency, entropy)).await?
    }

    /// Opens the shop's own page in which the order goes on, as an address that the agent opens.
    async fn go_on_at(&mut self, url: &Url) {
        let verb = Verb::Open { url: url.to_string() };
        let now = self.driver.now();
        let verdict = self.driver.core.decide_verb(&verb, None, Consent::None, now);
        if !matches!(verdict, Verdict::Grant(Granted::Verb)) {
            return;
        }
        let origin = Origin::of(url).ok();
        self.driver.record(&[AuditEvent::Verb { verb: VerbKind::Open, origin, refused: None }], false);
        // If it does not open, the agent reads so.
        let _not_opened = self.tab.open(url).await;
    }

    async fn complete_order(&mut self, keys: SealedMandate) -> Result<Bought, OrderFailure> {
        let SessionOrder { shop, mut order } = self.order.take().ok_or(Reason::StaleDocument)?;
        order.complete(keys, &shop, &mut self.driver.dependencies.entropy).await
    }
}

/// Where the goods go, in the fields of the protocol.
fn address_of(exposed: &ExposedOrderData<'_>) -> PostalAddress {
    let mut address = PostalAddress::default();
    address.first_name = exposed.given_name.to_owned();
    address.last_name = exposed.family_name.to_owned();
    address.street_address = exposed.street.to_owned();
    address.extended_address = exposed.street_rest.to_owned();
    address.address_locality = exposed.city.to_owned();
    address.address_region = exposed.region.to_owned();
    address.postal_code = exposed.postal_code.to_owned();
    address.address_country = exposed.country.to_owned();
    address
}

/// How the buyer is reached, in the fields of the protocol.
fn buyer_of(exposed: &ExposedOrderData<'_>) -> Buyer {
    let mut buyer = Buyer::default();
    buyer.email = exposed.email.to_owned();
    buyer.phone_number = exposed.phone.to_owned();
    buyer
}
