//! Values in the open, for a model.

use browser_signals::{Observed, Snapshot};
use policy_dfa::{Grant, Millis, Model};
use sirl::{Field, Tier};

use crate::Vault;
use crate::padded::Plain;
use crate::release::{ReleaseError, container_covers};

/// Values that a model is to be told. The vault's copy is wiped when this is dropped; what a model was told is not taken
/// back: it stands in its context, and wherever that is kept or sent.
pub struct HandedValues(Vec<(Field, Plain)>);

impl HandedValues {
    /// Gives each field with its value.
    pub fn expose_to_the_model(&self, mut tell: impl FnMut(Field, &str)) {
        for (field, plain) in &self.0 {
            tell(*field, std::str::from_utf8(plain.expose()).unwrap_or(""));
        }
    }
}

impl Vault {
    /// The door to the model: every field of the grant in the open. It is there so that approach A of the paper can be
    /// measured as it was meant, beside the one that fills. Under no policy does it give a field of T2.
    ///
    /// # Errors
    /// As for [`Vault::open_fill`]; [`ReleaseError::NotForModels`] for a field of T2.
    pub fn open_to_the_model(
        &self,
        grant: Grant<Model>,
        fresh: &Observed<Snapshot>,
        now: Millis,
    ) -> Result<HandedValues, ReleaseError> {
        if self.is_locked() {
            return Err(ReleaseError::Locked);
        }
        let redeemed = self.verifier.redeem(grant, fresh, now)?;
        let terms = redeemed.terms();
        // Typed, it goes where the form goes.
        let destination = fresh.destination.known().ok_or(ReleaseError::DestinationUnknown)?;
        let supply = self.supply(terms.kind, terms.fields, &[&terms.origin, &destination.origin]);
        let mut values = Vec::new();
        for field in terms.fields.iter() {
            if field.tier() == Tier::T2 {
                return Err(ReleaseError::NotForModels(field));
            }
            container_covers(&fresh.container, field)?;
            values.push((field, self.decrypt(supply.record(field).ok_or(ReleaseError::NoValue(field))?)?));
        }
        Ok(HandedValues(values))
    }
}
