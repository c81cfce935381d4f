//! The guard's answers to the model.

use crate::{FieldSet, Kind, Money};

/// The `status` of every purchase that is granted.
pub(crate) const STATUS: &str = "success";

/// One `GRANT.<kind>` or `DENY.<kind>` line. It holds handles and names, never a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The values were delivered as granted.
    Delivered {
        /// The kind that was granted.
        kind: Kind,
        /// The delivery: `filled`, `wired` or `unconfirmed`.
        delivered: Delivered,
        /// The fields delivered.
        fields: FieldSet,
    },
    /// A purchase was carried out.
    Purchased {
        /// The method: the browser's payment interface, or a protocol.
        method: PurchaseMethod,
        /// The handle of the card used, such as `card:personal`.
        card: String,
        /// The amount paid, from the guard's own record.
        amount: Money,
    },
    /// The request was refused.
    Denied {
        /// The kind that was refused.
        kind: Kind,
        /// A reason code of `spec/reasons.md`, such as `invalid_container`.
        reason: String,
    },
}

/// The delivery of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    /// The values are in form controls.
    Filled,
    /// The values replace placeholders in the request that the form sends.
    Wired,
    /// The values were sent to form controls, and it is not known if they arrived.
    Unconfirmed,
}

impl Delivered {
    /// Every delivery.
    pub const ALL: [Delivered; 3] = [Delivered::Filled, Delivered::Wired, Delivered::Unconfirmed];

    /// The word in the text form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Delivered::Filled => "filled",
            Delivered::Wired => "wired",
            Delivered::Unconfirmed => "unconfirmed",
        }
    }

    /// The delivery with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Delivered> {
        Delivered::ALL.into_iter().find(|delivered| delivered.as_str() == name)
    }
}

/// The method of a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchaseMethod {
    /// The shop's page asked for the payment, through the browser's payment interface.
    PaymentRequest,
    /// The guard ordered from the shop, by the Universal Commerce Protocol.
    Ucp,
}

impl PurchaseMethod {
    /// Every method.
    pub const ALL: [PurchaseMethod; 2] = [PurchaseMethod::PaymentRequest, PurchaseMethod::Ucp];

    /// The word in the text form.
    ///
    /// ```
    /// use sirl::PurchaseMethod;
    ///
    /// assert_eq!(PurchaseMethod::Ucp.as_str(), "UCP");
    /// assert_eq!(PurchaseMethod::from_name("UCP"), Some(PurchaseMethod::Ucp));
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            PurchaseMethod::PaymentRequest => "PaymentRequest",
            PurchaseMethod::Ucp => "UCP",
        }
    }

    /// The method with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<PurchaseMethod> {
        PurchaseMethod::ALL.into_iter().find(|method| method.as_str() == name)
    }
}

impl Reply {
    /// The kind that is answered.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Reply::Delivered { kind, .. } | Reply::Denied { kind, .. } => *kind,
            Reply::Purchased { .. } => Kind::Purchase,
        }
    }
}
