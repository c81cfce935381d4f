//! A device that speaks Agent Access, as a source of the vault.

use std::time::Duration;

use vault::sources::{Account, Fetched, Source, SourceError, SourceFuture, Wanted};

use super::answer::login;
use super::{AgentAccessError, Connection};

/// The time for the user to agree on the device.
const CALL: Duration = Duration::from_secs(55);

/// The time for the relay to answer.
const REACH: Duration = Duration::from_secs(10);

/// A device of the user's that speaks Agent Access, as a source. The relay is connected anew for each request.
pub struct AgentAccess {
    connection: Connection,
}

impl AgentAccess {
    /// The device of this connection.
    pub const fn new(connection: Connection) -> AgentAccess {
        AgentAccess { connection }
    }
}

impl Source for AgentAccess {
    fn name(&self) -> &str {
        "Agent Access"
    }

    /// Checks that the relay is there. The protocol has nothing but requests, so it does not tell whether the device listens.
    fn check(&mut self) -> SourceFuture<'_, Result<(), SourceError>> {
        Box::pin(async {
            let reached = tokio::time::timeout(REACH, self.connection.reach()).await;
            reached.map_err(|_| SourceError::TimedOut)?.map_err(of)
        })
    }

    fn fetch<'a>(
        &'a mut self,
        wanted: &'a Wanted,
        account: Option<&'a Account>,
    ) -> SourceFuture<'a, Result<Fetched, SourceError>> {
        Box::pin(async move {
            let asked = self.connection.ask(wanted.origin().host());
            let plain =
                tokio::time::timeout(CALL, asked).await.map_err(|_| SourceError::TimedOut)?.map_err(of)?;
            let fetched = login(&plain, wanted.origin())?;
            match (&fetched, account) {
                (Fetched::Values(values), Some(account)) if values.account.id != account.id => {
                    Ok(Fetched::Nothing)
                }
                _ => Ok(fetched),
            }
        })
    }
}

fn of(error: AgentAccessError) -> SourceError {
    match error {
        AgentAccessError::BadRelay | AgentAccessError::Unreachable => SourceError::NotRunning,
        AgentAccessError::TimedOut => SourceError::TimedOut,
        AgentAccessError::NotConnected | AgentAccessError::NotAConnection | AgentAccessError::BadToken => {
            SourceError::NotConnected
        }
        AgentAccessError::Relay | AgentAccessError::Answer => SourceError::Answer,
    }
}
