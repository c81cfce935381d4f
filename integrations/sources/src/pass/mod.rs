//! `pass`, the standard password manager of Unix: a folder of files, each encrypted by GnuPG.
//!
//! The names of its entries are in clear, and say by convention for which site an entry is; its content can say it in a line `url:`.
//! An entry counts for an origin if its content names exactly this origin, or if the user said so by a [rule](Pass::with_site). The user
//! unlocks the key in GnuPG's own window (pinentry), and GnuPG's agent may keep it unlocked: then it does not ask again for each entry.
//!
//! | module | subject |
//! |---|---|
//! | `store` | the names of the entries, and those that may be for a host |
//! | `entry` | the content of one entry |
//! | `gpg` | decrypting one file |

mod entry;
mod gpg;
mod store;

use std::path::PathBuf;
use std::time::Duration;

use browser_signals::Origin;
use sirl::Field;
use vault::sources::{
    Account, Fetched, FetchedCode, FetchedValues, Source, SourceError, SourceFuture, Wanted,
};

use entry::Entry;

/// The time for decrypting one entry. The user may have to unlock the key.
const CALL: Duration = Duration::from_secs(55);

/// A password store of the user's.
pub struct Pass {
    store: PathBuf,
    gpg: PathBuf,
    sites: Vec<(String, Origin)>,
}

impl Pass {
    /// The store in a folder (`PASSWORD_STORE_DIR`, or `.password-store` in the home folder), whose files `gpg` decrypts.
    pub const fn new(store: PathBuf, gpg: PathBuf) -> Pass {
        Pass { store, gpg, sites: Vec::new() }
    }

    /// Says that an entry is for this site, whatever its content says of it.
    #[must_use]
    pub fn with_site(mut self, entry: &str, site: Origin) -> Pass {
        self.sites.push((entry.to_owned(), site));
        self
    }

    /// Returns true if the store has an entry of this name.
    pub fn has(&self, entry: &str) -> bool {
        store::file_of(&self.store, entry).is_some()
    }

    fn is_ruled(&self, entry: &str, origin: &Origin) -> bool {
        self.sites.iter().any(|(name, site)| name == entry && site == origin)
    }

    async fn entry(&self, name: &str) -> Result<Entry, SourceError> {
        let file = store::file_of(&self.store, name).ok_or(SourceError::Answer)?;
        let plain = tokio::time::timeout(CALL, gpg::decrypted(&self.gpg, &file)).await;
        Entry::read(&plain.map_err(|_| SourceError::TimedOut)??).ok_or(SourceError::Answer)
    }
}

impl Source for Pass {
    fn name(&self) -> &str {
        "pass"
    }

    fn check(&mut self) -> SourceFuture<'_, Result<(), SourceError>> {
        let there = self.store.is_dir() && self.gpg.is_file();
        Box::pin(std::future::ready(if there { Ok(()) } else { Err(SourceError::Missing) }))
    }

    fn accounts<'a>(
        &'a mut self,
        origin: &'a Origin,
    ) -> SourceFuture<'a, Result<Option<Vec<Account>>, SourceError>> {
        Box::pin(async move {
            let store = self.store.clone();
            // The store may be in a network's folder, so the walk is no part of the runtime.
            let names = tokio::task::spawn_blocking(move || store::names(&store)).await;
            let names = names.map_err(|_| SourceError::Missing)?.map_err(|_| SourceError::Missing)?;
            let fits = |name: &String| store::may_be_for(name, origin) || self.is_ruled(name, origin);
            let accounts = names.into_iter().filter(fits);
            Ok(Some(accounts.map(|name| Account { id: name.clone(), label: name }).collect()))
        })
    }

    fn fetch<'a>(
        &'a mut self,
        wanted: &'a Wanted,
        account: Option<&'a Account>,
    ) -> SourceFuture<'a, Result<Fetched, SourceError>> {
        Box::pin(async move {
            let Some(account) = account else { return Ok(Fetched::Nothing) };
            let Entry { password, username, code, sites } = self.entry(&account.id).await?;
            let is_for_it = sites.contains(wanted.origin()) || self.is_ruled(&account.id, wanted.origin());
            if !is_for_it {
                // An entry of another site is none of this one; one that names no site may be meant for it.
                return if sites.is_empty() { Err(SourceError::WithoutSite) } else { Ok(Fetched::Nothing) };
            }
            let code = code.filter(|_| wanted.fields().contains(Field::OneTimeCode));
            Ok(Fetched::Values(FetchedValues {
                account: account.clone(),
                username,
                password,
                code: code.map(FetchedCode::Seed),
            }))
        })
    }
}
