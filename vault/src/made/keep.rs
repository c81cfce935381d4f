//! The record of a made password. It is in the vault before the password leaves it.

use browser_signals::Origin;
use policy_dfa::{Grant, MayHoldT2, Reason};
use sirl::{Field, FieldSet};

use super::recipe::Recipe;
use super::rules::NewPasswordRules;
use crate::content::binding::Binding;
use crate::content::handle;
use crate::crypto::cipher::Entropy;
use crate::error::VaultError;
use crate::release::ReleaseError;
use crate::store::vault::Vault;

/// A password that was made in this task.
pub(crate) struct Made {
    pub(crate) handle: String,
    pub(crate) origin: Origin,
    pub(crate) rules: NewPasswordRules,
}

/// Why no password could be made and kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// No password meets the rules of the form, or the one that was made for it in this task is for other rules.
    #[error("the rules of the form leave no password that can be made")]
    Rules,
    /// The record could not be made.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The user name or e-mail address that goes with it could not be read.
    #[error(transparent)]
    Release(#[from] ReleaseError),
}

impl MakeError {
    /// The reason.
    pub fn reason(&self) -> Reason {
        match self {
            MakeError::Rules => Reason::PasswordRules,
            MakeError::Vault(VaultError::Locked) => Reason::VaultLocked,
            MakeError::Vault(_) => Reason::PasswordNotKept,
            MakeError::Release(error) => error.reason(),
        }
    }
}

impl Vault {
    /// The record of the password that was made for this origin in this task, with the rules that it was made by.
    pub fn made_for(&self, origin: &Origin) -> Option<(&str, &NewPasswordRules)> {
        let made = self.task.made.iter().find(|made| made.origin == *origin)?;
        Some((&made.handle, &made.rules))
    }

    /// The handle of the next new account at an origin: `login:` and the host, with a number if a record has that handle. None where
    /// all are taken.
    ///
    /// ```no_run
    /// # fn f(vault: &vault::Vault) -> Option<String> {
    /// let shop = browser_signals::Origin::parse("https://www.shop.example").ok()?;
    /// assert_eq!(vault.new_login(&shop)?, "login:www-shop-example");
    /// # None
    /// # }
    /// ```
    pub fn new_login(&self, origin: &Origin) -> Option<String> {
        let taken = |handle: &String| self.entries().any(|entry| entry.handle == *handle);
        let name = handle::name_of_host(origin.host());
        let numbered = (2..100).map(|number| format!("login:{name}-{number}"));
        std::iter::once(format!("login:{name}")).chain(numbered).find(|handle| !taken(handle))
    }

    /// Makes the password that a grant places, and keeps it as a record of its own, bound to the destination, together with the user
    /// name and the e-mail address that the same grant places. Returns whether the vault changed: the password that was made for
    /// the destination in this task is used again. The caller writes the vault's file before the grant is redeemed.
    ///
    /// # Errors
    /// [`MakeError`]; then nothing is kept.
    pub fn make_password<A: MayHoldT2>(
        &mut self,
        grant: &Grant<A>,
        rules: &NewPasswordRules,
        entropy: &mut dyn Entropy,
    ) -> Result<bool, MakeError> {
        let terms = grant.terms();
        let destination = terms.destination.clone().ok_or(ReleaseError::DestinationUnknown)?;
        if !terms.fields.contains(Field::NewPassword) {
            return Err(ReleaseError::NotGranted(Field::NewPassword).into());
        }
        if let Some((_, known)) = self.made_for(&destination.origin) {
            return if known == rules { Ok(false) } else { Err(MakeError::Rules) };
        }
        let recipe = Recipe::of(rules).ok_or(MakeError::Rules)?;
        let handle = self.new_login(&destination.origin).ok_or(VaultError::BadHandle)?;
        let binding = Binding::Origin(destination.origin.clone());
        let placed: FieldSet = terms.placements.iter().map(|placement| placement.field).collect();
        let supply = self.supply(terms.kind, placed, &[&terms.origin, &destination.origin]);
        let mut values = vec![(Field::Password, recipe.make(entropy))];
        for field in [Field::Username, Field::Email].into_iter().filter(|field| placed.contains(*field)) {
            let Some(record) = supply.record(field) else { continue };
            let plain = self.decrypt(record)?;
            values.push((record.field, plain.to_secret()));
        }
        for (field, value) in values {
            if let Err(error) = self.insert(&handle, field, value, &binding, entropy) {
                let _locked = self.remove(&handle);
                return Err(error.into());
            }
        }
        self.task.made.push(Made { handle, origin: destination.origin, rules: rules.clone() });
        Ok(true)
    }

    /// Removes the password that was made for this origin, where it could not be written and nobody was given it.
    pub fn forget_made(&mut self, origin: &Origin) {
        let Some(at) = self.task.made.iter().position(|made| made.origin == *origin) else { return };
        let made = self.task.made.remove(at);
        // A locked vault keeps the record. It is of no use, and harms nobody.
        let _locked = self.remove(&made.handle);
    }
}
