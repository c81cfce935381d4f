//! The search for a proof that entries belong to one origin; see [`super::exact`].

use std::collections::HashSet;

use browser_signals::Origin;
use tokio::time::Instant;

use super::answer::{self, Found};
use super::client::{Client, Logins};
use super::exact::{FASTER_THAN_A_PERSON, LONGEST_SEARCH, Questions};
use super::{Association, KeePassXcError};

/// The search for a proof about the entries of one answer.
pub(super) struct Proof<'a> {
    pub(super) association: &'a Association,
    pub(super) deadline: Instant,
    /// [`exact::tells_refusals`](super::exact::tells_refusals) of the version.
    pub(super) tells_refusals: bool,
}

impl Proof<'_> {
    /// Asks the questions. Entries move from `open` to `elsewhere`; those that are proved are returned.
    pub(super) async fn find<'e>(
        &self,
        client: &mut Client,
        origin: &Origin,
        open: &mut HashSet<&'e str>,
        elsewhere: &mut HashSet<String>,
    ) -> Result<HashSet<&'e str>, KeePassXcError> {
        let Some(questions) = Questions::new(origin)? else { return Ok(HashSet::new()) };
        let mut all_silent = self.drop_given(client, &questions.scheme, open, elsewhere).await?;
        let mut free = HashSet::new();
        if !self.tells_refusals {
            // Without it the other answers prove nothing, and the user would be asked in vain.
            free = self.free(client, &questions, open).await?;
            open.retain(|uuid| free.contains(*uuid));
        }
        for question in [&questions.shorter, &questions.port].into_iter().flatten() {
            if !open.is_empty() {
                all_silent &= self.drop_given(client, question, open, elsewhere).await?;
            }
        }
        if self.tells_refusals && !all_silent && !open.is_empty() {
            free = self.free(client, &questions, open).await?;
        }
        let mut proven = std::mem::take(open);
        if !(self.tells_refusals && all_silent) {
            proven.retain(|uuid| free.contains(*uuid));
        }
        Ok(proven)
    }

    /// Asks a question and drops what it brings. It returns true if nothing came, and nothing was withheld either,
    /// as far as KeePassXC tells.
    async fn drop_given(
        &self,
        client: &mut Client,
        url: &str,
        open: &mut HashSet<&str>,
        elsewhere: &mut HashSet<String>,
    ) -> Result<bool, KeePassXcError> {
        let Some(given) = self.given(client, url, self.deadline).await? else { return Ok(true) };
        open.retain(|uuid| !given.contains(*uuid));
        elsewhere.extend(given);
        Ok(false)
    }

    /// The entries that come faster than a person answers, for a host that nobody has decided on. There are
    /// none where the answer took longer; then the connection is closed.
    async fn free(
        &self,
        client: &mut Client,
        questions: &Questions,
        open: &HashSet<&str>,
    ) -> Result<HashSet<String>, KeePassXcError> {
        let started = Instant::now();
        self.given(client, &questions.nothing, self.deadline).await?;
        let usual = started.elapsed();
        // A stall during the first search must not make a person's time of it.
        let search = (4 * usual).min(LONGEST_SEARCH);
        let deadline = self.deadline.min(Instant::now() + FASTER_THAN_A_PERSON + search);
        let mut free = HashSet::new();
        for url in questions.controls(open) {
            match self.given(client, &url, deadline).await {
                Ok(given) => free.extend(given.unwrap_or_default()),
                Err(KeePassXcError::TimedOut) => return Ok(HashSet::new()),
                Err(error) => return Err(error),
            }
        }
        Ok(free)
    }

    async fn given(
        &self,
        client: &mut Client,
        url: &str,
        deadline: Instant,
    ) -> Result<Option<HashSet<String>>, KeePassXcError> {
        match client.ask_for_logins(self.association, url, deadline).await {
            Ok((plain, nonce)) => answer::uuids(&plain, &nonce).map(Some),
            Err(KeePassXcError::NoLogins) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Sorts the entries of an answer by what was proved.
pub(super) fn sort(
    found: Vec<Found>,
    origin: &Origin,
    proven: &HashSet<String>,
    elsewhere: &HashSet<String>,
) -> Logins {
    let mut logins = Logins { exact: Vec::new(), elsewhere: 0, unproven: 0, unusable: 0 };
    for Found { uuid, address, login } in found {
        let is_exact = match &address {
            Some(address) => address.as_ref() == Some(origin),
            None => proven.contains(&uuid),
        };
        match login {
            Some(login) if is_exact => logins.exact.push(login),
            None if is_exact => logins.unusable += 1,
            _ if address.is_some() || elsewhere.contains(&uuid) => logins.elsewhere += 1,
            _ => logins.unproven += 1,
        }
    }
    logins
}
