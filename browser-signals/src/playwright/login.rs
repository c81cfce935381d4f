//! The state of a login: taken from a container in which the user logged in by hand, and put into a fresh one.
//!
//! The storage is read and written in a document in which no script of the site runs: an empty one that the bridge serves at the site's
//! origin, or for writing the site's own plain text, such as its `/robots.txt`.

use serde_json::{Value, json};
use url::Url;
use zeroize::Zeroizing;

use super::error::BridgeError;
use super::tab::Tab;
use super::tab::state::{Release, TabState};
use crate::json::text;
use crate::login::{LoginCookie, LoginState, PresentCookies};
use crate::{Destination, Origin};

const SCRIPT: &str = include_str!("scripts/login.js");

/// The path of the empty document. The site is not asked for it.
const EMPTY: &str = "/.well-known/portcullis-empty";

/// The number of the parts that stay behind when a login is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NotTaken {
    /// The cookies of the container that this origin does not get, such as those of an identity provider.
    pub other_cookies: usize,
    /// The entries of the session storage, which ends with its tab.
    pub session_entries: usize,
    /// The entries and records of the site's storage that cannot be written down, such as keys that never leave the browser.
    pub records: usize,
    /// The databases that are too large, or that the browser does not read.
    pub databases: usize,
}

impl Tab {
    /// Takes the state of the login at this origin: the cookies that the origin gets, local storage and databases. The tab shows an
    /// empty document afterwards.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone, [`BridgeError::Protocol`] where it tells less than all.
    pub async fn take_login(&self, origin: &Origin) -> Result<(LoginState, NotTaken), BridgeError> {
        // The storage first: a page that leaves may write its last.
        self.show_empty_document(origin).await?;
        let stored = self.call_in_still_document(origin, "read", Value::Null).await?;
        let mut state = LoginState::new(origin.clone());
        let all = self.state.cookies().await?;
        let count = all.len();
        state.cookies = all.into_iter().filter(|cookie| cookie.is_for(origin)).collect();
        let lost = |name| {
            let number = stored.pointer(name).and_then(Value::as_u64);
            usize::try_from(number.unwrap_or_default()).unwrap_or(usize::MAX)
        };
        let not_taken = NotTaken {
            other_cookies: count - state.cookies.len(),
            session_entries: lost("/lost/session"),
            records: lost("/lost/records"),
            databases: lost("/lost/databases"),
        };
        let entries = stored.get("local").and_then(Value::as_array).into_iter().flatten();
        for entry in entries {
            let part = |at: usize| entry.get(at).and_then(Value::as_str).unwrap_or_default().to_owned();
            state.local.push((Zeroizing::new(part(0)), Zeroizing::new(part(1))));
        }
        state.databases = Zeroizing::new(text(&stored, "databases").unwrap_or_default().to_owned());
        Ok((state, not_taken))
    }

    /// Puts a login into the container: first everything is removed that the origin has there, then cookies, storage and databases are
    /// set. The tab shows an empty document afterwards, or the plain text of the site that it showed before.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone, [`BridgeError::Protocol`] where it refuses a part: then the container has half a
    /// login, and is to be closed.
    pub async fn restore_login(&self, state: &LoginState) -> Result<(), BridgeError> {
        let origin = state.origin();
        let page = self.state.page()?;
        // From here on the container is one that values were released into.
        let destination = Destination { origin: origin.clone(), path: "/".into(), method: "GET".into() };
        let release = Release { destination, page: origin.clone(), around: None };
        self.state.update(|inner| inner.releases.push(release));
        // A page of the site is gone before its storage is cleared, so that it cannot write anew. Plain text cannot.
        if !self.shows_plain_text(origin).await {
            self.show_empty_document(origin).await?;
        }
        let everything = json!({ "origin": origin.to_string(), "storageTypes": "all" });
        page.call("Storage.clearDataForOrigin", everything).await?;
        let context = json!({ "browserContextId": self.state.context });
        self.state.link.call("Storage.clearCookies", context).await?;
        let local: Vec<Value> = state.local.iter().map(|(name, value)| json!([**name, **value])).collect();
        let given = json!({ "local": local, "databases": *state.databases });
        self.call_in_still_document(origin, "write", given).await?;
        let cookies: Vec<Value> = state.cookies.iter().map(written).collect();
        let cookies = json!({ "cookies": cookies, "browserContextId": self.state.context });
        self.state.link.call("Storage.setCookies", cookies).await?;
        // The browser drops a cookie that it does not accept without a word.
        let now = self.state.cookies().await?;
        let is_there =
            |cookie: &LoginCookie| now.iter().any(|own| own.is_same(cookie) && *own.value == *cookie.value);
        if state.cookies.iter().all(is_there) {
            Ok(())
        } else {
            Err(BridgeError::Protocol("Storage.setCookies".to_owned()))
        }
    }

    /// The cookies that the container has now, to renew a login with ([`LoginState::renew`]).
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the browser is gone.
    pub async fn present_cookies(&self) -> Result<PresentCookies, BridgeError> {
        Ok(PresentCookies(self.state.cookies().await?))
    }

    /// Shows an empty document at an origin.
    async fn show_empty_document(&self, origin: &Origin) -> Result<(), BridgeError> {
        let url = format!("{origin}{EMPTY}");
        let url = Url::parse(&url).map_err(|_| BridgeError::Protocol("login".to_owned()))?;
        let page = self.state.page()?;
        // A worker of the site would answer in the bridge's place.
        page.call("Network.setBypassServiceWorker", json!({ "bypass": true })).await?;
        self.state.update(|inner| inner.empty_document = Some(url.clone()));
        let shown = self.show(&url).await;
        self.state.update(|inner| inner.empty_document = None);
        page.call("Network.setBypassServiceWorker", json!({ "bypass": false })).await?;
        shown
    }

    /// Returns true if the tab shows plain text of an origin. Plain text has no scripts.
    async fn shows_plain_text(&self, origin: &Origin) -> bool {
        let kind = self.call_in_still_document(origin, "kind", Value::Null).await;
        kind.is_ok_and(|kind| kind == "text/plain")
    }

    /// Calls the storage's script in a world of its own in the document.
    async fn call_in_still_document(
        &self,
        origin: &Origin,
        command: &str,
        given: Value,
    ) -> Result<Value, BridgeError> {
        let frames = self.state.frames().await?;
        let top = frames.top()?;
        let world = self.state.world(top).await?;
        if world.origin.as_ref() != Some(origin) {
            return Err(BridgeError::Stale);
        }
        let call = json!({
            "functionDeclaration": SCRIPT, "executionContextId": world.context, "awaitPromise": true, "returnByValue": true,
            "arguments": [{ "value": command }, { "value": given }],
        });
        let answer = top.session.call("Runtime.callFunctionOn", call).await?;
        if answer.get("exceptionDetails").is_some() {
            return Err(BridgeError::Protocol("login".to_owned()));
        }
        Ok(answer.pointer("/result/value").cloned().unwrap_or_default())
    }
}

impl TabState {
    /// All cookies of the container.
    async fn cookies(&self) -> Result<Vec<LoginCookie>, BridgeError> {
        let context = json!({ "browserContextId": self.context });
        let answer = self.link.call("Storage.getCookies", context).await?;
        let cookies = answer.get("cookies").and_then(Value::as_array).into_iter().flatten();
        Ok(cookies.filter_map(read).collect())
    }
}

/// A cookie as the browser tells it.
fn read(cookie: &Value) -> Option<LoginCookie> {
    let of = |name| text(cookie, name).map(str::to_owned);
    let is = |name| cookie.get(name).and_then(Value::as_bool).unwrap_or_default();
    let ends = cookie.get("expires").and_then(Value::as_f64).filter(|_| !is("session"));
    let partition = cookie.get("partitionKey").and_then(|key| {
        let below_others = key.get("hasCrossSiteAncestor").and_then(Value::as_bool).unwrap_or_default();
        Some((text(key, "topLevelSite")?.to_owned(), below_others))
    });
    Some(LoginCookie {
        name: of("name")?,
        value: Zeroizing::new(of("value")?),
        domain: of("domain")?,
        path: of("path")?,
        expires: ends.filter(|end| *end >= 0.0),
        http_only: is("httpOnly"),
        secure: is("secure"),
        same_site: of("sameSite").unwrap_or_default(),
        partition,
    })
}

/// A cookie as the browser takes it. A host-only one has an address in the place of its domain.
fn written(cookie: &LoginCookie) -> Value {
    let LoginCookie { name, value, domain, path, expires, http_only, secure, same_site, partition } = cookie;
    let mut all =
        json!({ "name": name, "value": **value, "path": path, "httpOnly": http_only, "secure": secure });
    let mut set = |name: &str, value: Value| {
        if let Some(all) = all.as_object_mut() {
            all.insert(name.to_owned(), value);
        }
    };
    if domain.starts_with('.') {
        set("domain", json!(domain));
    } else {
        let scheme = if *secure { "https" } else { "http" };
        set("url", json!(format!("{scheme}://{domain}{path}")));
    }
    if let Some(end) = expires {
        set("expires", json!(end));
    }
    if !same_site.is_empty() {
        set("sameSite", json!(same_site));
    }
    if let Some((site, below_others)) = partition {
        set("partitionKey", json!({ "topLevelSite": site, "hasCrossSiteAncestor": below_others }));
    }
    all
}
