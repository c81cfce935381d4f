//! KeePassXC as a source of the vault.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;
use vault::sources::{
    Account, Fetched, FetchedCode, FetchedValues, Source, SourceError, SourceFuture, Wanted,
};

use super::client::{Client, Login, Logins};
use super::{Association, KeePassXcError, socket};

/// The time for unlocking, and the time for agreeing, in KeePassXC's window.
const CALL: Duration = Duration::from_secs(55);

/// KeePassXC, as a source. It is asked over a connection of its own each time, so that a restarted program is found again.
pub struct KeePassXc {
    runtime: PathBuf,
    association: Association,
}

impl KeePassXc {
    /// The KeePassXC whose socket is below the user's runtime folder (`XDG_RUNTIME_DIR`), and the association that it knows.
    pub const fn new(runtime: PathBuf, association: Association) -> KeePassXc {
        KeePassXc { runtime, association }
    }

    async fn connect(&self, deadline: Instant) -> Result<Client, KeePassXcError> {
        Client::connect(&socket::find(&self.runtime)?, deadline).await
    }

    /// The logins. A locked KeePassXC asks the user to unlock it; without an answer that is a question which timed out.
    async fn logins(&self, wanted: &Wanted) -> Result<Logins, KeePassXcError> {
        let deadline = Instant::now() + CALL;
        let mut client = self.connect(deadline).await?;
        let first = match client.logins(&self.association, wanted.origin(), deadline).await {
            Err(KeePassXcError::Locked) => {
                self.connect(deadline).await?.unlock(&self.association, deadline).await?;
                let deadline = Instant::now() + CALL;
                let mut client = self.connect(deadline).await?;
                client.logins(&self.association, wanted.origin(), deadline).await?
            }
            first => first?,
        };
        if !first.exact.is_empty() || first.unproven == 0 {
            return Ok(first);
        }
        // A machine under load may leave an entry unproven that is free to be given.
        self.connect(deadline).await?.logins(&self.association, wanted.origin(), deadline).await
    }
}

impl Source for KeePassXc {
    fn name(&self) -> &str {
        "KeePassXC"
    }

    fn check(&mut self) -> SourceFuture<'_, Result<(), SourceError>> {
        Box::pin(async move {
            let deadline = Instant::now() + Duration::from_secs(5);
            let mut client = self.connect(deadline).await.map_err(of)?;
            client.test_associate(&self.association, deadline).await.map_err(of)
        })
    }

    fn fetch<'a>(
        &'a mut self,
        wanted: &'a Wanted,
        account: Option<&'a Account>,
    ) -> SourceFuture<'a, Result<Fetched, SourceError>> {
        Box::pin(async move {
            let Logins { exact, unproven, .. } = match self.logins(wanted).await {
                Err(KeePassXcError::NoLogins | KeePassXcError::NotHttps) => return Ok(Fetched::Nothing),
                answer => answer.map_err(of)?,
            };
            if exact.is_empty() && unproven > 0 {
                return Err(SourceError::Unproven);
            }
            Ok(match account {
                Some(account) => {
                    exact.into_iter().find(|login| login.uuid == account.id).map_or(Fetched::Nothing, values)
                }
                None if exact.len() > 1 => Fetched::Several(exact.iter().map(named).collect()),
                None => exact.into_iter().next().map_or(Fetched::Nothing, values),
            })
        })
    }
}

fn named(login: &Login) -> Account {
    Account::named(&login.uuid, &login.user_name)
}

fn values(login: Login) -> Fetched {
    let account = named(&login);
    let Login { user_name, password, code, .. } = login;
    // An entry may have a user name or a password alone.
    let filled = |value: vault::Secret| (!value.is_empty()).then_some(value);
    Fetched::Values(FetchedValues {
        account,
        username: filled(user_name),
        password: filled(password),
        code: code.map(FetchedCode::Code),
    })
}

fn of(error: KeePassXcError) -> SourceError {
    match error {
        KeePassXcError::NoSocket | KeePassXcError::NotRunning | KeePassXcError::Closed => {
            SourceError::NotRunning
        }
        KeePassXcError::Locked => SourceError::Locked,
        KeePassXcError::NotAssociated | KeePassXcError::NotAnAssociation => SourceError::NotConnected,
        KeePassXcError::Denied => SourceError::Refused,
        KeePassXcError::TimedOut => SourceError::TimedOut,
        KeePassXcError::UnsafeSocket { .. } => SourceError::Unsafe,
        _ => SourceError::Answer,
    }
}
