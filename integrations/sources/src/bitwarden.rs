//! Bitwarden, by its command line `bw`.
//!
//! `bw` has no list without values: a search by address prints whole items, password and seed of codes with them. So it is asked once, after the user agreed to a release,
//! and everything but the wanted fields of one item is wiped. The user unlocks it and gives the guard its session (`BW_SESSION`). It was tested against a stub of
//! `bw` alone, since an account is needed for the real one.

use std::path::PathBuf;
use std::time::Duration;

use browser_signals::Origin;
use serde::Deserialize;
use serde_json::value::RawValue;
use vault::sources::{
    Account, Fetched, FetchedCode, FetchedValues, Source, SourceError, SourceFuture, Wanted,
};
use zeroize::Zeroizing;

use crate::json::{account, value_if_there};
use crate::program::Call;

/// The time for one call: it starts Node.
const CALL: Duration = Duration::from_secs(55);
/// The most bytes of an answer.
const LONGEST: usize = 4 << 20;

/// The user's Bitwarden.
pub struct Bitwarden {
    program: PathBuf,
}

#[derive(Deserialize)]
struct Status {
    status: String,
}

#[derive(Deserialize)]
struct Item<'a> {
    id: String,
    #[serde(borrow)]
    login: Option<Login<'a>>,
}

#[derive(Deserialize)]
struct Login<'a> {
    #[serde(borrow)]
    username: Option<&'a RawValue>,
    #[serde(borrow)]
    password: Option<&'a RawValue>,
    #[serde(borrow)]
    totp: Option<&'a RawValue>,
    uris: Option<Vec<Address>>,
}

#[derive(Deserialize)]
struct Address {
    uri: Option<String>,
}

impl Bitwarden {
    /// Bitwarden by this program.
    pub const fn new(program: PathBuf) -> Bitwarden {
        Bitwarden { program }
    }

    async fn said(&self, arguments: &[&str]) -> Result<Zeroizing<Vec<u8>>, SourceError> {
        let variables = &["BW_SESSION", "BITWARDENCLI_APPDATA_DIR", "XDG_CONFIG_HOME"];
        let failed = SourceError::Locked;
        let call = Call { program: &self.program, variables, longest: LONGEST, failed };
        let said = tokio::time::timeout(CALL, call.output(arguments)).await;
        said.map_err(|_| SourceError::TimedOut)?
    }
}

impl Source for Bitwarden {
    fn name(&self) -> &str {
        "Bitwarden"
    }

    fn check(&mut self) -> SourceFuture<'_, Result<(), SourceError>> {
        Box::pin(async {
            let said = self.said(&["status", "--nointeraction"]).await?;
            let Status { status } = serde_json::from_slice(&said).map_err(|_| SourceError::Answer)?;
            if status == "unlocked" { Ok(()) } else { Err(SourceError::Locked) }
        })
    }

    fn fetch<'a>(
        &'a mut self,
        wanted: &'a Wanted,
        account: Option<&'a Account>,
    ) -> SourceFuture<'a, Result<Fetched, SourceError>> {
        Box::pin(async move {
            let site = wanted.origin().to_string();
            let said = self.said(&["list", "items", "--nointeraction", "--url", &site]).await?;
            // The parser's own error may quote a value.
            let items: Vec<Item> = serde_json::from_slice(&said).map_err(|_| SourceError::Answer)?;
            let mut found = Vec::new();
            for item in items {
                // Bitwarden gives the items of the whole site, subdomains with it.
                let Some(login) = item.login.filter(|login| login.is_for(wanted.origin())) else { continue };
                if account.is_none_or(|account| account.id == item.id) {
                    found.push(login.values(&item.id)?);
                }
            }
            if found.len() > 1 {
                return Ok(Fetched::Several(found.into_iter().map(|values| values.account).collect()));
            }
            Ok(found.pop().map_or(Fetched::Nothing, Fetched::Values))
        })
    }
}

impl Login<'_> {
    /// Returns true if one of the login's addresses is of exactly this origin.
    fn is_for(&self, origin: &Origin) -> bool {
        let addresses = self.uris.iter().flatten().filter_map(|address| address.uri.as_deref());
        addresses.into_iter().any(|address| Origin::parse(address).as_ref() == Ok(origin))
    }

    fn values(&self, id: &str) -> Result<FetchedValues, SourceError> {
        let username = value_if_there(self.username)?;
        let code = value_if_there(self.totp)?.map(FetchedCode::Seed);
        let account = account(id, username.as_ref());
        Ok(FetchedValues { account, username, password: value_if_there(self.password)?, code })
    }
}
