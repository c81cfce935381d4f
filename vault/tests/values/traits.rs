//! Traits that secrets lack, also with every feature on: the compile-fail cases are compiled without features.

use std::fmt::{Debug, Display};

use browser_signals::{SealedWire, WireField};
use serde::Serialize;
use vault::{ExposedCard, SealedCard, Secret, UnlockKey, Vault};

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

lacks!(ExposedCard<'static>: Clone, Debug, Display, Serialize);
lacks!(SealedCard: Clone, Debug, Display, Serialize);
lacks!(SealedWire: Clone, Debug, Display, Serialize);
lacks!(WireField: Clone, Debug, Display, Serialize);
lacks!(Secret: Clone, Debug, Display, Serialize, PartialEq);
lacks!(UnlockKey: Clone, Debug, Display, Serialize);
lacks!(Vault: Clone, Debug, Display, Serialize);
