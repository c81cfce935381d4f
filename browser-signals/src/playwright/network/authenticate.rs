//! Giving the proxy's password to the browser.

use std::sync::Arc;

use serde_json::{Value, json};

use super::proxy::ContainerProxy;
use crate::json::text;
use crate::playwright::error::BridgeError;
use crate::playwright::tab::state::{Session, TabState};

impl TabState {
    /// Gives the proxy's password to the browser context, while its page is still blank.
    ///
    /// # Errors
    /// [`BridgeError::Protocol`] where the browser did not ask for it, or the proxy did not take it: then the
    /// container must not be used.
    pub(crate) async fn authenticate_proxy(&self, proxy: &ContainerProxy) -> Result<(), BridgeError> {
        let page = self.page()?;
        let greeting = format!("http://{}/", proxy.greeting());
        let documents = json!([{ "urlPattern": greeting, "resourceType": "Document" }]);
        self.update(|inner| inner.unauthenticated_proxy = Some(proxy.clone()));
        page.call("Fetch.enable", json!({ "patterns": documents, "handleAuthRequests": true })).await?;
        let answer = page.call("Page.navigate", json!({ "url": greeting })).await;
        let asked = self.update(|inner| inner.unauthenticated_proxy.take()).is_none();
        // A response without content leaves the page where it is, which the browser calls aborted.
        let stayed = text(&answer?, "errorText") == Some("net::ERR_ABORTED");
        self.watch_requests(&page);
        if asked && stayed { Ok(()) } else { Err(BridgeError::Protocol("Fetch.authRequired".to_owned())) }
    }

    /// Whether a paused request is the one at which the browser asks for the proxy's password.
    pub(crate) fn is_proxy_greeting(&self, params: &Value) -> bool {
        let url = params.pointer("/request/url").and_then(Value::as_str).unwrap_or_default();
        let host = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        self.inner().unauthenticated_proxy.as_ref().is_some_and(|proxy| host == Some(proxy.greeting()))
    }

    /// Answers the browser's request for a password. Only the container's own proxy gets one, and only once.
    pub(crate) fn on_auth_required(&self, session: &Arc<Session>, params: &Value) {
        let Some(id) = text(params, "requestId") else {
            return;
        };
        let challenge = params.get("authChallenge").unwrap_or(&Value::Null);
        let proxy = self
            .update(|inner| inner.unauthenticated_proxy.take_if(|proxy| proxy.is_challenged_by(challenge)));
        let response = match &proxy {
            Some(proxy) => proxy.challenge_response(),
            None => json!({ "response": "CancelAuth" }),
        };
        session.post("Fetch.continueWithAuth", json!({ "requestId": id, "authChallengeResponse": response }));
    }
}
