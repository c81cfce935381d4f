//! What no text becomes: the facade's types without serde. The other crates' are in `tools/compile-fail`.

use portcullis::consent::{Answer, Answered, Ticket};
use portcullis::session::{ActionOutcome, ShownValues, UserTask};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Does not compile if the type has the trait, because then there are two `AMBIGUOUS`.
macro_rules! lacks {
    ($type:ty: $($trait:path),+) => {
        $(const _: () = {
            trait Lacks<Marker> {
                const AMBIGUOUS: () = ();
            }
            impl<T: ?Sized> Lacks<()> for T {}
            struct Has;
            impl<T: ?Sized + $trait> Lacks<Has> for T {}
            <$type as Lacks<_>>::AMBIGUOUS
        };)+
    };
}

lacks!(Answer: Serialize, DeserializeOwned);
lacks!(Answered: Serialize, DeserializeOwned);
lacks!(Ticket: Serialize, DeserializeOwned);
lacks!(UserTask: Serialize, DeserializeOwned);
// They are written, and only a session makes them.
lacks!(ActionOutcome: DeserializeOwned);
lacks!(ShownValues: DeserializeOwned);
