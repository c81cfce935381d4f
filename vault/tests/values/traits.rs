//! Traits that secrets lack, also with every feature on: the compile-fail cases are compiled without features.

use std::fmt::{Debug, Display};

use browser_signals::login::{LoginState, PresentCookies};
use browser_signals::{SealedWire, WireField};
use serde::Serialize;
use static_assertions::assert_not_impl_any;
use vault::{
    ExposedCard, ExposedOrderData, SealedCard, SealedMandate, SealedOrderData, Secret, UnlockKey, Vault,
};

assert_not_impl_any!(ExposedCard<'static>: Clone, Debug, Display, Serialize);
assert_not_impl_any!(SealedCard: Clone, Debug, Display, Serialize);
assert_not_impl_any!(ExposedOrderData<'static>: Clone, Debug, Display, Serialize);
assert_not_impl_any!(SealedOrderData: Clone, Debug, Display, Serialize);
assert_not_impl_any!(SealedMandate: Clone, Debug, Display, Serialize);
assert_not_impl_any!(SealedWire: Clone, Debug, Display, Serialize);
assert_not_impl_any!(WireField: Clone, Debug, Display, Serialize);
assert_not_impl_any!(LoginState: Clone, Debug, Display, Serialize, PartialEq);
assert_not_impl_any!(PresentCookies: Clone, Debug, Display, Serialize, PartialEq);
assert_not_impl_any!(Secret: Clone, Debug, Display, Serialize, PartialEq);
assert_not_impl_any!(UnlockKey: Clone, Debug, Display, Serialize);
assert_not_impl_any!(Vault: Clone, Debug, Display, Serialize);
