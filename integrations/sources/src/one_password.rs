//! 1Password, by its command line `op`.
//!
//! `op` lists items with their addresses and without their secrets, and reads one field at a time. The user unlocks it in 1Password's own window, or by a service
//! account's token in the guard's environment. It was tested against a stub of `op` alone, since an account is needed for the real one.

use std::path::PathBuf;
use std::time::Duration;

use browser_signals::Origin;
use serde::Deserialize;
use sirl::Field;
use vault::Secret;
use vault::sources::{
    Account, Fetched, FetchedCode, FetchedValues, Source, SourceError, SourceFuture, Wanted,
};
use zeroize::Zeroizing;

use crate::program::Call;

/// The time for one call. The user may have to unlock it.
const CALL: Duration = Duration::from_secs(55);
/// The most bytes of a list, and of a field.
const LONGEST_LIST: usize = 4 << 20;
const LONGEST_FIELD: usize = 8 * 1024;

/// The user's 1Password.
pub struct OnePassword {
    program: PathBuf,
}

/// An item of the list, without secrets.
#[derive(Deserialize)]
struct Item {
    id: String,
    #[serde(default)]
    title: String,
    vault: ItemVault,
    #[serde(default)]
    urls: Vec<Address>,
    /// The user name, of a login.
    #[serde(default)]
    additional_information: String,
}

#[derive(Deserialize)]
struct ItemVault {
    id: String,
}

#[derive(Deserialize)]
struct Address {
    #[serde(default)]
    href: String,
}

impl OnePassword {
    /// 1Password by this program.
    pub const fn new(program: PathBuf) -> OnePassword {
        OnePassword { program }
    }

    async fn said(&self, longest: usize, arguments: &[&str]) -> Result<Zeroizing<Vec<u8>>, SourceError> {
        let variables = &["OP_SERVICE_ACCOUNT_TOKEN", "OP_ACCOUNT", "XDG_CONFIG_HOME"];
        // Not signed in, locked, and refused by the user end alike.
        let call = Call { program: &self.program, variables, longest, failed: SourceError::Locked };
        let said = tokio::time::timeout(CALL, call.output(arguments)).await;
        said.map_err(|_| SourceError::TimedOut)?
    }

    /// The logins for exactly this origin.
    async fn items(&self, origin: &Origin) -> Result<Vec<Item>, SourceError> {
        let list = ["item", "list", "--categories", "Login", "--format", "json"];
        let said = self.said(LONGEST_LIST, &list).await?;
        let items: Vec<Item> = serde_json::from_slice(&said).map_err(|_| SourceError::Answer)?;
        let is_for_it =
            |item: &Item| item.urls.iter().any(|url| Origin::parse(&url.href).as_ref() == Ok(origin));
        let items: Vec<Item> = items.into_iter().filter(is_for_it).collect();
        // They become parts of an address of `op`.
        if items.iter().all(|item| is_id(&item.id) && is_id(&item.vault.id)) {
            Ok(items)
        } else {
            Err(SourceError::Answer)
        }
    }

    async fn field(&self, item: &Item, name: &str) -> Result<Option<Secret>, SourceError> {
        let address = format!("op://{}/{}/{name}", item.vault.id, item.id);
        match self.said(LONGEST_FIELD, &["read", "--no-newline", &address]).await {
            Ok(mut value) if !value.is_empty() => Ok(Some(Secret::new(std::mem::take(&mut *value)))),
            // An item without the field, and one that cannot be read, end alike; the list was readable before.
            Ok(_) | Err(SourceError::Locked) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Source for OnePassword {
    fn name(&self) -> &str {
        "1Password"
    }

    fn check(&mut self) -> SourceFuture<'_, Result<(), SourceError>> {
        Box::pin(async { self.said(LONGEST_FIELD, &["whoami"]).await.map(drop) })
    }

    fn accounts<'a>(
        &'a mut self,
        origin: &'a Origin,
    ) -> SourceFuture<'a, Result<Option<Vec<Account>>, SourceError>> {
        Box::pin(async move {
            let items = self.items(origin).await?.into_iter();
            let label = |item: &Item| {
                let name = &item.additional_information;
                if name.is_empty() { item.title.clone() } else { name.clone() }
            };
            Ok(Some(items.map(|item| Account { label: label(&item), id: item.id }).collect()))
        })
    }

    fn fetch<'a>(
        &'a mut self,
        wanted: &'a Wanted,
        account: Option<&'a Account>,
    ) -> SourceFuture<'a, Result<Fetched, SourceError>> {
        Box::pin(async move {
            let Some(account) = account else { return Ok(Fetched::Nothing) };
            let items = self.items(wanted.origin()).await?;
            let Some(item) = items.iter().find(|item| item.id == account.id) else {
                return Ok(Fetched::Nothing);
            };
            let wants = |field| wanted.fields().contains(field);
            let mut values =
                FetchedValues { account: account.clone(), username: None, password: None, code: None };
            if wants(Field::Username) || wants(Field::Email) {
                values.username = self.field(item, "username").await?;
            }
            if wants(Field::Password) {
                values.password = self.field(item, "password").await?;
            }
            if wants(Field::OneTimeCode) {
                let code = self.field(item, "one-time password?attribute=otp").await?;
                values.code = code.map(FetchedCode::Code);
            }
            Ok(Fetched::Values(values))
        })
    }
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
