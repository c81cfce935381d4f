//! Orders by the shop's own protocol, through the container's proxy.

use browser_signals::{Destination, Origin};
use checkout_protocols::{Bought, Buyer, PostalAddress};
use policy_dfa::Reason;
use sirl::Items;
use vault::{ExposedOrderData, SealedMandate, SealedOrderData};

use super::container::Session;
use super::container_actions::release_within;
use crate::consent::SeenOffer;
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
            OrderCommand::Prepare { items, told } => {
                let offered = self.prepare_order(&items, told).await;
                if let Some(url) = offered.as_ref().err().and_then(|failure| failure.goes_on_at.clone()) {
                    // A person goes on in the shop's own page. If it does not open, the agent reads so.
                    let _not_opened = self.tab.open(&url).await;
                }
                Event::Offered(offered.map(Box::new))
            }
            OrderCommand::Complete(keys) => Event::Ordered(self.complete_order(keys).await),
        }
    }

    /// Reads the profile of a shop. An order of before whose end nobody knows comes first.
    async fn discover(&mut self, origin: Origin) -> Result<Option<Destination>, Reason> {
        self.order = None;
        let Some(desk) = self.driver.dependencies.orders.clone() else { return Ok(None) };
        if desk.has_open_orders().map_err(|_| Reason::AuditUnavailable)? {
            desk.recover(&self.proxy).await.map_err(|_| Reason::AuditUnavailable)?;
            if desk.has_open_orders().map_err(|_| Reason::AuditUnavailable)? {
                return Err(Reason::PaymentPending);
            }
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
    ) -> Result<SeenOffer, OrderFailure> {
        let SessionOrder { shop, order } = self.order.as_mut().ok_or(Reason::StaleDocument)?;
        if told.iter().any(|data| data.to().origin != *shop) {
            return Err(Reason::WrongDestination.into());
        }
        let (mut address, mut buyer) = (PostalAddress::default(), None);
        for data in told {
            data.open(|exposed| match exposed.street {
                "" => buyer = Some(buyer_of(&exposed)),
                _ => address = address_of(&exposed),
            });
        }

        let entropy = &mut self.driver.dependencies.entropy;
        let open = std::slice::from_ref(shop);
        release_within(&self.proxy, open, || order.prepare(items, address, buyer, entropy)).await?
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
