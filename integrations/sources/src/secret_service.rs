//! The system's keyring by the freedesktop Secret Service, such as GNOME Keyring or KeePassXC's own.
//!
//! A login is an item whose attributes say its site: `URL`, `url` or `uri` with the exact origin (a `/` after it or not), or `server` and
//! `protocol` as network passwords have them. The attributes that say the account are `UserName`, `username`, `user`, `form_username` and `account`. KeePassXC
//! puts the seed of one-time codes among an item's attributes: they are read after the user agreed to the release, to see whether the item is for exactly the
//! site, and wiped. The user chooses among several items by their labels. A secret comes encrypted over D-Bus; the attributes do not.

use std::collections::HashMap;
use std::time::Duration;

use browser_signals::Origin;
use secret_service::{EncryptionType, Error, Item, SecretService};
use sirl::Field;
use vault::Secret;
use vault::sources::{
    Account, Fetched, FetchedCode, FetchedValues, Source, SourceError, SourceFuture, Wanted,
};
use zbus::connection::Builder;
use zeroize::{Zeroize, Zeroizing};

/// The time for one call. The user may have to unlock the keyring in its own window.
const CALL: Duration = Duration::from_secs(110);
/// The time for a look whether it is there.
const CHECK: Duration = Duration::from_secs(10);
/// The most items for one site that are looked at.
const MOST: usize = 20;
/// The attributes that have a site's address, and those that have the name of an account, the usual ones first.
const ADDRESSES: [&str; 3] = ["URL", "url", "uri"];
const NAMES: [&str; 5] = ["UserName", "username", "user", "form_username", "account"];

/// The system's keyring.
#[derive(Debug, Clone, Default)]
pub struct SystemKeyring {
    bus: Option<String>,
}

impl SystemKeyring {
    /// The keyring on the user's session bus.
    pub const fn new() -> SystemKeyring {
        SystemKeyring { bus: None }
    }

    /// The keyring on the D-Bus of this address, such as `unix:path=/run/user/1000/bus`.
    pub fn on_bus(address: &str) -> SystemKeyring {
        SystemKeyring { bus: Some(address.to_owned()) }
    }

    async fn connect(&self) -> Result<SecretService<'static>, SourceError> {
        let bus = match &self.bus {
            None => zbus::Connection::session().await,
            Some(address) => match Builder::address(address.as_str()) {
                Ok(builder) => builder.build().await,
                Err(error) => Err(error),
            },
        };
        let bus = bus.map_err(|_| SourceError::NotRunning)?;
        // In clear a secret could be read by every program that watches the bus.
        SecretService::connect_with_existing(EncryptionType::Dh, bus).await.map_err(|error| reason(&error))
    }
}

/// The reason of an error, whose own words may have a value.
const fn reason(error: &Error) -> SourceError {
    match error {
        Error::Unavailable => SourceError::NotRunning,
        Error::Locked | Error::Prompt | Error::PromptDisconnected => SourceError::Locked,
        _ => SourceError::Answer,
    }
}

impl Source for SystemKeyring {
    fn name(&self) -> &str {
        "system keyring"
    }

    fn check(&mut self) -> SourceFuture<'_, Result<(), SourceError>> {
        Box::pin(async {
            let is_locked = async {
                let service = self.connect().await?;
                let default = service.get_any_collection().await.map_err(|error| reason(&error))?;
                default.is_locked().await.map_err(|error| reason(&error))
            };
            match tokio::time::timeout(CHECK, is_locked).await.map_err(|_| SourceError::TimedOut)?? {
                false => Ok(()),
                true => Err(SourceError::Locked),
            }
        })
    }

    fn accounts<'a>(
        &'a mut self,
        origin: &'a Origin,
    ) -> SourceFuture<'a, Result<Option<Vec<Account>>, SourceError>> {
        Box::pin(async move {
            let service = self.connect().await?;
            let found = tokio::time::timeout(CALL, accounts(&service, origin)).await;
            found.map_err(|_| SourceError::TimedOut)?.map(Some)
        })
    }

    fn fetch<'a>(
        &'a mut self,
        wanted: &'a Wanted,
        account: Option<&'a Account>,
    ) -> SourceFuture<'a, Result<Fetched, SourceError>> {
        Box::pin(async move {
            let service = self.connect().await?;
            let fetched = tokio::time::timeout(CALL, fetch(&service, wanted, account)).await;
            fetched.map_err(|_| SourceError::TimedOut)?
        })
    }
}

/// The attributes by which an item for an origin is found.
fn searches(origin: &Origin) -> Vec<HashMap<String, String>> {
    let site = origin.to_string();
    let by_address = ADDRESSES.iter().flat_map(|name| {
        [site.clone(), format!("{site}/")].map(|address| HashMap::from([((*name).to_owned(), address)]))
    });
    let is_usual_port = site.matches(':').count() == 1;
    let (server, protocol) = (origin.host().to_owned(), origin.scheme().to_owned());
    let by_server = HashMap::from([("server".to_owned(), server), ("protocol".to_owned(), protocol)]);
    by_address.chain(is_usual_port.then_some(by_server)).collect()
}

/// The unlocked items for exactly an origin, each once, with their attributes. Where all of them are locked, the user is asked to unlock them in the keyring's window.
async fn items<'s>(
    service: &'s SecretService<'_>,
    origin: &Origin,
) -> Result<Vec<(Item<'s>, Attributes)>, SourceError> {
    let mut found: Vec<Item<'s>> = Vec::new();
    let mut locked: Vec<Item<'s>> = Vec::new();
    for search in searches(origin) {
        let search = search.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let items = service.search_items(search).await.map_err(|error| reason(&error))?;
        for (from, to) in [(items.unlocked, &mut found), (items.locked, &mut locked)] {
            for item in from {
                if !to.iter().any(|known| known.item_path == item.item_path) {
                    to.push(item);
                }
            }
        }
        if found.len() + locked.len() > MOST {
            return Err(SourceError::TooMany);
        }
    }
    if found.is_empty() && !locked.is_empty() {
        service.unlock_all(&locked.iter().collect::<Vec<_>>()).await.map_err(|error| reason(&error))?;
        for item in locked {
            if item.is_locked().await.map_err(|error| reason(&error))? {
                return Err(SourceError::Locked);
            }
            found.push(item);
        }
    }
    // What the service takes for a match is not asked.
    let mut own = Vec::new();
    for item in found {
        let attributes = Attributes(item.get_attributes().await.map_err(|error| reason(&error))?);
        if attributes.are_for(origin) {
            own.push((item, attributes));
        }
    }
    Ok(own)
}

async fn account_of(item: &Item<'_>) -> Result<Account, SourceError> {
    let label = item.get_label().await.map_err(|error| reason(&error))?;
    Ok(Account { id: item.item_path.to_string(), label })
}

async fn accounts(service: &SecretService<'_>, origin: &Origin) -> Result<Vec<Account>, SourceError> {
    let mut accounts = Vec::new();
    for (item, _) in items(service, origin).await? {
        accounts.push(account_of(&item).await?);
    }
    Ok(accounts)
}

async fn fetch(
    service: &SecretService<'_>,
    wanted: &Wanted,
    account: Option<&Account>,
) -> Result<Fetched, SourceError> {
    let mut items = items(service, wanted.origin()).await?;
    if let Some(account) = account {
        items.retain(|(item, _)| item.item_path.as_str() == account.id);
    }
    if items.len() > 1 {
        let mut accounts = Vec::new();
        for (item, _) in &items {
            accounts.push(account_of(item).await?);
        }
        return Ok(Fetched::Several(accounts));
    }
    let Some((item, attributes)) = items.pop() else { return Ok(Fetched::Nothing) };
    let password = match wanted.fields().contains(Field::Password) {
        true => Some(Zeroizing::new(item.get_secret().await.map_err(|error| reason(&error))?)),
        false => None,
    };
    let password = password.filter(|password| !password.is_empty()).map(|it| Secret::new(it.as_slice()));
    let code = match wanted.fields().contains(Field::OneTimeCode) {
        true => attributes.secret(&["otp"]).map(FetchedCode::Seed),
        false => None,
    };
    let account = account_of(&item).await?;
    Ok(Fetched::Values(FetchedValues { account, username: attributes.secret(&NAMES), password, code }))
}

/// The attributes of an item, which may hold a seed. They are wiped.
struct Attributes(HashMap<String, String>);

impl Drop for Attributes {
    fn drop(&mut self) {
        self.0.values_mut().for_each(Zeroize::zeroize);
    }
}

impl Attributes {
    fn secret(&self, names: &[&str]) -> Option<Secret> {
        let found = names.iter().find_map(|name| self.0.get(*name).filter(|value| !value.is_empty()));
        found.map(|value| Secret::new(value.as_bytes()))
    }

    /// Whether they say that the item is for exactly this origin, and for no other.
    fn are_for(&self, origin: &Origin) -> bool {
        let addresses = ADDRESSES.iter().filter_map(|name| self.0.get(*name)).filter(|it| !it.is_empty());
        let mut addresses = addresses.peekable();
        if addresses.peek().is_some() {
            return addresses.all(|address| Origin::parse(address).as_ref() == Ok(origin));
        }
        let has = |name: &str, value: &str| self.0.get(name).is_some_and(|held| held == value);
        let is_usual_port = self.0.get("port").is_none_or(|port| port == "443");
        has("server", origin.host())
            && has("protocol", origin.scheme())
            && is_usual_port
            && origin.to_string().matches(':').count() == 1
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn origin(text: &str) -> Origin {
        Origin::parse(text).unwrap()
    }

    fn attributes(all: &[(&str, &str)]) -> Attributes {
        Attributes(all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn an_item_is_searched_by_the_exact_origin_in_its_usual_spellings() {
        let found = searches(&origin("https://shop.example"));
        let has = |name: &str, value: &str| {
            found.iter().any(|search| search.len() == 1 && search.get(name).is_some_and(|held| held == value))
        };
        for name in ADDRESSES {
            assert!(has(name, "https://shop.example") && has(name, "https://shop.example/"), "{name}");
        }
        let by_server = found.iter().find(|search| search.len() == 2).unwrap();
        assert_eq!(by_server.get("server").unwrap(), "shop.example");
        assert_eq!(by_server.get("protocol").unwrap(), "https");
        assert!(searches(&origin("https://shop.example:8443")).iter().all(|search| search.len() == 1));
    }

    #[test]
    fn an_item_for_another_origin_is_none_whatever_the_service_says() {
        let shop = origin("https://shop.example");
        for own in [
            &[("URL", "https://shop.example/login")][..],
            &[("uri", "https://shop.example"), ("url", "")],
            &[("server", "shop.example"), ("protocol", "https")],
            &[("server", "shop.example"), ("protocol", "https"), ("port", "443")],
        ] {
            assert!(attributes(own).are_for(&shop), "{own:?}");
        }
        for other in [
            &[][..],
            &[("URL", "https://shop.example.evil.test")],
            &[("URL", "https://login.shop.example")],
            &[("URL", "http://shop.example")],
            &[("URL", "https://shop.example"), ("url", "https://other.example")],
            &[("URL", "https://other.example"), ("server", "shop.example"), ("protocol", "https")],
            &[("server", "shop.example"), ("protocol", "http")],
            &[("server", "shop.example"), ("protocol", "https"), ("port", "8443")],
            &[("server", "shop.example")],
        ] {
            assert!(!attributes(other).are_for(&shop), "{other:?}");
        }
        let elsewhere = attributes(&[("server", "shop.example"), ("protocol", "https")]);
        assert!(!elsewhere.are_for(&origin("https://shop.example:8443")));
    }

    #[tokio::test]
    async fn without_a_bus_the_keyring_does_not_run() {
        let mut keyring = SystemKeyring::on_bus("unix:path=/nowhere/at/all");
        assert_eq!(keyring.check().await, Err(SourceError::NotRunning));
        let origin = origin("https://shop.example");
        assert_eq!(keyring.accounts(&origin).await.err(), Some(SourceError::NotRunning));
    }
}
