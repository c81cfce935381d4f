//! The facade's types without serde, which no text becomes. The other crates' are in `tools/compile-fail`.

use portcullis::consent::{Answer, Answered, Ticket};
use portcullis::session::{ActionOutcome, ShownValues, UserTask};
use serde::Serialize;
use serde::de::DeserializeOwned;
use static_assertions::assert_not_impl_any;

assert_not_impl_any!(Answer: Serialize, DeserializeOwned);
assert_not_impl_any!(Answered: Serialize, DeserializeOwned);
assert_not_impl_any!(Ticket: Serialize, DeserializeOwned);
assert_not_impl_any!(UserTask: Serialize, DeserializeOwned);
// They are written, and only a session makes them.
assert_not_impl_any!(ActionOutcome: DeserializeOwned);
assert_not_impl_any!(ShownValues: DeserializeOwned);
