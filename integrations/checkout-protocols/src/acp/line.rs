//! The lines of a session and the parts of its sums.
//!
//! An item's size, seller and disclosures become notes, which the question shows to the user.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::AcpFault;
use super::later::FORM;

/// A line. The members that begin with an underscore do not change what is bought.
#[derive(Deserialize)]
pub(super) struct AcpLine {
    pub(super) id: String,
    pub(super) item: AcpItem,
    quantity: NonZeroU32,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    unit_amount: Option<u64>,
    totals: Vec<AcpTotal>,
    #[serde(default)]
    disclosures: Vec<Value>,
    #[serde(default)]
    custom_attributes: Vec<Value>,
    #[serde(default)]
    variant_options: Vec<Value>,
    #[serde(default)]
    marketplace_seller_details: Option<Value>,
    #[serde(default)]
    availability_status: Option<String>,
    #[serde(default)]
    fulfillable_on: Option<String>,
    #[serde(default)]
    discount_details: Vec<Value>,
    #[serde(default, rename = "description")]
    _description: Option<String>,
    #[serde(default, rename = "images")]
    _images: Vec<String>,
    #[serde(default, rename = "product_id")]
    _product: Option<String>,
    #[serde(default, rename = "sku")]
    _sku: Option<String>,
    #[serde(default, rename = "variant_id")]
    _variant: Option<String>,
    #[serde(default, rename = "category")]
    _category: Option<String>,
    #[serde(default, rename = "tags")]
    _tags: Vec<String>,
    #[serde(default, rename = "weight")]
    _weight: Option<Value>,
    #[serde(default, rename = "dimensions")]
    _dimensions: Option<Value>,
    #[serde(default, rename = "available_quantity")]
    _available: Option<u64>,
    #[serde(default, rename = "max_quantity_per_order")]
    _most: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct AcpItem {
    pub(super) id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    unit_amount: Option<u64>,
}

impl AcpLine {
    /// The price of a piece. A shop that states none states the sum of the line, of which each piece is an equal part.
    fn price(&self) -> Result<u64, AcpFault> {
        match (self.unit_amount, self.item.unit_amount) {
            (Some(price), Some(other)) if price != other => Err(FORM),
            (Some(price), _) | (None, Some(price)) => Ok(price),
            (None, None) => {
                let sum = one(&self.totals, Part::Subtotal).and_then(|it| u64::try_from(it).ok());
                let sum = sum.ok_or(FORM)?;
                let pieces = u64::from(self.quantity.get());
                if sum.is_multiple_of(pieces) { Ok(sum / pieces) } else { Err(FORM) }
            }
        }
    }

    /// The notes that a user is shown beside the title.
    pub(super) fn notes(&self) -> Result<Vec<String>, AcpFault> {
        let text = |it: &Value, member: &str| it.get(member).and_then(Value::as_str).map(str::to_owned);
        let pair = |it: &Value, name| Some(format!("{}: {}", text(it, name)?, text(it, "value")?));
        let disclosures = self.disclosures.iter().map(|it| text(it, "content"));
        let attributes = self.custom_attributes.iter().map(|it| pair(it, "display_name"));
        let variants = self.variant_options.iter().map(|it| pair(it, "name"));
        let seller = self.marketplace_seller_details.iter();
        let seller = seller.map(|it| Some(format!("seller: {}", text(it, "name")?)));
        let is_there = |it: &&String| !["in_stock", "low_stock"].contains(&it.as_str());
        let stock =
            self.availability_status.iter().filter(is_there).map(|it| Some(format!("availability: {it}")));
        let from = self.fulfillable_on.iter().map(|it| Some(format!("not before {it}")));
        let notes = disclosures.chain(attributes).chain(variants).chain(seller).chain(stock).chain(from);
        notes.collect::<Option<Vec<_>>>().ok_or(FORM)
    }

    pub(super) fn later(&self) -> Result<Value, AcpFault> {
        if !self.discount_details.is_empty() {
            return Err(AcpFault::Discount);
        }
        let title = self.name.as_ref().or(self.item.name.as_ref()).unwrap_or(&self.item.id);
        Ok(json!({
            "id": self.id,
            "item": {"id": self.item.id, "title": title, "price": self.price()?},
            "quantity": self.quantity,
            "totals": parts(&self.totals)?,
        }))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Part {
    ItemsBaseAmount,
    ItemsDiscount,
    Subtotal,
    Discount,
    Fulfillment,
    Tax,
    Fee,
    GiftWrap,
    Tip,
    StoreCredit,
    Total,
    AmountRefunded,
}

/// A part of the sum. An amount in another currency beside it is not known here.
#[derive(Deserialize)]
pub(super) struct AcpTotal {
    #[serde(rename = "type")]
    kind: Part,
    amount: i64,
    display_text: String,
    #[serde(default, rename = "description")]
    _description: Option<String>,
    #[serde(default, rename = "breakdown")]
    _breakdown: Vec<Value>,
}

/// The one amount of a kind.
pub(super) fn one(totals: &[AcpTotal], kind: Part) -> Option<i64> {
    let mut found = totals.iter().filter(|it| it.kind == kind);
    match (found.next(), found.next()) {
        (Some(part), None) => Some(part.amount),
        _ => None,
    }
}

/// The parts of a sum, in UCP's names, without those that take nothing away. Whether they add up is compared later.
pub(super) fn parts(totals: &[AcpTotal]) -> Result<Vec<Value>, AcpFault> {
    let mut parts = Vec::new();
    for total in totals {
        match total.kind {
            Part::ItemsDiscount | Part::Discount | Part::StoreCredit | Part::AmountRefunded => {
                if total.amount != 0 {
                    return Err(AcpFault::Discount);
                }
            }
            // Without discounts it is the subtotal once more.
            Part::ItemsBaseAmount => {
                if one(totals, Part::Subtotal).is_some_and(|it| it != total.amount) {
                    return Err(FORM);
                }
            }
            kind => {
                parts.push(json!({"type": kind, "amount": total.amount, "display_text": total.display_text}));
            }
        }
    }
    Ok(parts)
}
