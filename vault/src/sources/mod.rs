//! Secrets that stay in the user's own password manager until a grant needs them.
//!
//! | module | subject |
//! |---|---|
//! | `error` | why a source gives nothing |
//! | `keep` | the fetched values: checked, sealed for one task, and bound to the origin of the grant |
//!
//! A [`Source`] is the vault's view of a password manager. It is asked with a [`Wanted`], which only a grant makes, so nothing is
//! fetched before the policy and the user agreed to a release. What it answers is checked here, whatever it is: the origin, the fields,
//! the characters. The source does the input and output; this crate has none.

mod error;
mod keep;

use std::future::Future;
use std::pin::Pin;

use browser_signals::Origin;
use policy_dfa::{Grant, MayHoldT2};
use sirl::{Field, FieldSet, Kind};

pub use error::{KeepError, SourceError};
pub(crate) use keep::Fetch;

use crate::content::record::Record;
use crate::crypto::secret::Secret;
use crate::store::vault::Vault;

/// The fields that a source can supply.
const SUPPLIED: [Field; 4] = [Field::Username, Field::Email, Field::Password, Field::OneTimeCode];

/// A future of a source.
pub type SourceFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A password manager of the user's. Its answers are untrusted: a source may match sites by rules of its own.
pub trait Source: Send {
    /// Its name in questions to the user, such as `KeePassXC`.
    fn name(&self) -> &str;

    /// Checks that it is there, unlocked, and answers this guard.
    fn check(&mut self) -> SourceFuture<'_, Result<(), SourceError>>;

    /// Lists the accounts for an origin, without their secrets. None where the source cannot list them without giving the secrets out;
    /// then it is asked once, by [`Source::fetch`].
    fn accounts<'a>(
        &'a mut self,
        _origin: &'a Origin,
    ) -> SourceFuture<'a, Result<Option<Vec<Account>>, SourceError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Fetches the wanted fields of one account; with `account`, of this one. A source that has several accounts and was told none
    /// answers with their names.
    fn fetch<'a>(
        &'a mut self,
        wanted: &'a Wanted,
        account: Option<&'a Account>,
    ) -> SourceFuture<'a, Result<Fetched, SourceError>>;
}

/// The fields that a grant needs from a source, and the origin that they go to. Only a grant makes one.
#[derive(Debug, PartialEq, Eq)]
pub struct Wanted {
    kind: Kind,
    origin: Origin,
    fields: FieldSet,
}

impl Wanted {
    /// The kind of request.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The exact origin that the values go to. A value that a source keeps for another one is not an answer.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The fields.
    pub const fn fields(&self) -> FieldSet {
        self.fields
    }
}

/// An account at a source. It has no `Debug`: the label is for the user alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    /// The source's own name for it, which nobody sees.
    pub id: String,
    /// The text by which the user recognises it, such as its user name.
    pub label: String,
}

impl Account {
    /// An account that the user recognises by its user name.
    pub fn named(id: &str, username: &Secret) -> Account {
        Account { id: id.to_owned(), label: String::from_utf8_lossy(username.expose()).into_owned() }
    }
}

/// The answer of a source.
pub enum Fetched {
    /// It has no account for this origin.
    Nothing,
    /// It has several, of which the user chooses one.
    Several(Vec<Account>),
    /// The fields of one account.
    Values(FetchedValues),
}

/// The fields of one account, as the source gave them.
pub struct FetchedValues {
    /// The account.
    pub account: Account,
    /// Its user name, which may be an e-mail address.
    pub username: Option<Secret>,
    /// Its password.
    pub password: Option<Secret>,
    /// Its one-time code.
    pub code: Option<FetchedCode>,
}

/// A one-time code of a source.
pub enum FetchedCode {
    /// The code of the present step.
    Code(Secret),
    /// The seed, from which the vault makes the code. It is wiped then.
    Seed(Secret),
}

impl Vault {
    /// The fields of a grant that a source has to supply: those of a login or a one-time code for which neither the vault nor an earlier
    /// fetch of this task has a value. None where it is nothing, or where the form sends its values to another origin than the
    /// page's.
    pub fn wanted<A: MayHoldT2>(&self, grant: &Grant<A>) -> Option<Wanted> {
        let terms = grant.terms();
        let origin = terms.destination.as_ref().map(|to| to.origin.clone())?;
        if !matches!(terms.kind, Kind::Login | Kind::Otp) || origin != terms.origin {
            return None;
        }
        let placed: FieldSet = terms.placements.iter().map(|placement| placement.field).collect();
        let fields = self.not_here(terms.kind, placed, &origin);
        (!fields.is_empty()).then_some(Wanted { kind: terms.kind, origin, fields })
    }

    /// The fields of a request of this kind that a source would have to supply for an origin.
    pub fn not_here(&self, kind: Kind, fields: FieldSet, origin: &Origin) -> FieldSet {
        if !matches!(kind, Kind::Login | Kind::Otp) || fields.contains(Field::NewPassword) {
            return FieldSet::EMPTY;
        }
        let stored = |field| self.records.iter().any(|it| it.field == field && it.admits(&[origin]));
        // A login in the user's own words for this task is the user's.
        let is_own = |it: &&Record| self.source_of(&it.handle).is_none() && it.admits(&[origin]);
        let has_login = stored(Field::Password)
            || self.task.records.iter().filter(is_own).any(|it| it.field == Field::Password);
        let is_here = |field: Field| match field {
            // A code is good for one release.
            Field::OneTimeCode => stored(Field::OneTimeCode),
            _ => has_login || self.has_fetched(field, origin),
        };
        SUPPLIED.into_iter().filter(|field| fields.contains(*field) && !is_here(*field)).collect()
    }
}
