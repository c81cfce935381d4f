//! A container whose every connection goes through a proxy.
//!
//! The browser gives a context its own proxy, and with the bypass rule `<-loopback>` no connection avoids it, not even
//! one to this machine. The proxy requires a password. Chromium takes none in a proxy's address, and asks for it once,
//! at the first request; from then on it is in the context's own memory and is sent with every connection, those of
//! workers, sockets and new windows included. So the bridge makes the first request itself, from a blank page before
//! any other page is there: to [`ContainerProxy::greeting`], which the proxy answers with "204 No Content".

use std::net::SocketAddr;

use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::json::text;
use crate::this_machine::ReachedSites;

/// The user name that the browser sends to the proxy. Only the password is secret.
const USER: &str = "container";

/// A proxy of the guard for one container, and the password that only its browser context gets.
#[derive(Clone)]
pub struct ContainerProxy {
    address: SocketAddr,
    password: Zeroizing<String>,
    greeting: String,
    reached: ReachedSites,
}

impl ContainerProxy {
    /// A proxy that listens at `address`. `password` and `greeting` are random strings of letters and digits: the
    /// password is sent with every connection, the greeting is the host of the one request at which it is asked for.
    pub fn new(address: SocketAddr, password: Zeroizing<String>, greeting: &str) -> ContainerProxy {
        ContainerProxy {
            address,
            password,
            greeting: format!("{greeting}.invalid"),
            reached: ReachedSites::default(),
        }
    }

    /// The sites of this machine that it reached on a loopback address. The proxy notes them.
    pub fn reached(&self) -> &ReachedSites {
        &self.reached
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The host of the bridge's first request. It is not in the DNS, and no one else knows it.
    pub fn greeting(&self) -> &str {
        &self.greeting
    }

    /// The credentials that a client has to send: the user name and the password, as basic authentication joins them.
    pub fn credential(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{USER}:{}", self.password.as_str()))
    }

    /// The parameters of `Target.createBrowserContext`.
    pub(crate) fn context(&self) -> Value {
        json!({
            "disposeOnDetach": true,
            "proxyServer": format!("http://{}", self.address),
            "proxyBypassList": "<-loopback>",
        })
    }

    /// Whether a challenge for a password comes from this proxy.
    pub(crate) fn is_challenged_by(&self, challenge: &Value) -> bool {
        text(challenge, "source") == Some("Proxy")
            && text(challenge, "origin") == Some(format!("http://{}", self.address).as_str())
    }

    /// The answer to a challenge, with the password.
    pub(crate) fn challenge_response(&self) -> Value {
        json!({ "response": "ProvideCredentials", "username": USER, "password": self.password.as_str() })
    }
}
