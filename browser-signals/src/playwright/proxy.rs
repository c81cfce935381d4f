//! A container whose every connection goes through a proxy.
//!
//! The browser gives a context its own proxy, and with the bypass rule `<-loopback>` nothing goes round it, this
//! machine included. The proxy wants a password. Chromium has no place for one in a proxy's address, and asks
//! for it once, at the first request; from then on it stands in the context's own memory and goes with every
//! connection, those of workers, sockets and new windows included. So the first request is the bridge's, made
//! from a blank page before any other page is there: [`ContainerProxy::greeting`], which the proxy answers with
//! "204 No Content".

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::session::{Session, text};
use super::tab::TabState;
use super::{BridgeError, Tab};

/// The name that the browser gives to the proxy. The password is what counts.
const USER: &str = "container";

/// A proxy of the guard for one container, and the password that only its browser context gets.
#[derive(Clone)]
pub struct ContainerProxy {
    address: SocketAddr,
    password: Zeroizing<String>,
    greeting: String,
}

impl ContainerProxy {
    /// A proxy that listens at `address`. `password` and `greeting` are random words of letters and digits: the
    /// password for every connection, the greeting for the host of the one request that asks for it.
    pub fn new(address: SocketAddr, password: Zeroizing<String>, greeting: &str) -> ContainerProxy {
        ContainerProxy { address, password, greeting: format!("{greeting}.invalid") }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The host of the bridge's first request. It has no place in the DNS, and nobody else knows it.
    pub fn greeting(&self) -> &str {
        &self.greeting
    }

    /// What a client has to say of itself: the user's name and the password, as basic authentication joins them.
    pub fn credential(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{USER}:{}", self.password.as_str()))
    }

    /// The members of `Target.createBrowserContext`.
    pub(super) fn context(&self) -> Value {
        json!({
            "disposeOnDetach": true,
            "proxyServer": format!("http://{}", self.address),
            "proxyBypassList": "<-loopback>",
        })
    }
}

impl Tab {
    /// Gives the proxy's password to the browser context, while its page is still blank.
    ///
    /// # Errors
    /// [`BridgeError::Protocol`] where the browser did not ask for it, or the proxy did not take it: then the
    /// container must not be used.
    pub(super) async fn introduce(&self, proxy: &ContainerProxy) -> Result<(), BridgeError> {
        let page = self.state.page()?;
        let greeting = format!("http://{}/", proxy.greeting());
        let documents = json!([{ "urlPattern": greeting, "resourceType": "Document" }]);
        self.state.update(|inner| inner.introduction = Some(proxy.clone()));
        page.call("Fetch.enable", json!({ "patterns": documents, "handleAuthRequests": true })).await?;
        let answer = page.call("Page.navigate", json!({ "url": greeting })).await;
        let asked = self.state.update(|inner| inner.introduction.take()).is_none();
        // An answer without content leaves the page where it is, which the browser calls aborted.
        let stayed = text(&answer?, "errorText") == Some("net::ERR_ABORTED");
        self.state.watch_requests(&page);
        if asked && stayed { Ok(()) } else { Err(BridgeError::Protocol("Fetch.authRequired".to_owned())) }
    }
}

impl TabState {
    /// Whether a paused request is the one that the proxy's password is asked for at.
    pub(super) fn is_introduction(&self, params: &Value) -> bool {
        let url = params.pointer("/request/url").and_then(Value::as_str).unwrap_or_default();
        let host = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        self.inner().introduction.as_ref().is_some_and(|proxy| host == Some(proxy.greeting()))
    }

    /// The browser wants a password. Only the container's own proxy gets one, and once.
    pub(super) fn on_auth_required(&self, session: &Arc<Session>, params: &Value) {
        let Some(id) = text(params, "requestId") else {
            return;
        };
        let challenge = params.get("authChallenge").unwrap_or(&Value::Null);
        let ours = |proxy: &ContainerProxy| {
            text(challenge, "source") == Some("Proxy")
                && text(challenge, "origin") == Some(format!("http://{}", proxy.address).as_str())
        };
        let proxy = self.update(|inner| inner.introduction.take_if(|proxy| ours(proxy)));
        let response = match &proxy {
            Some(proxy) => json!({
                "response": "ProvideCredentials",
                "username": USER,
                "password": proxy.password.as_str(),
            }),
            None => json!({ "response": "CancelAuth" }),
        };
        session.post("Fetch.continueWithAuth", json!({ "requestId": id, "authChallengeResponse": response }));
    }
}
