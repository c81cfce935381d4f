//! States of logins for tests of the crates above.

use zeroize::Zeroizing;

use super::{LoginCookie, LoginState, PresentCookies};
use crate::Origin;

impl LoginState {
    /// A state with these cookies, which scripts do not see, and these entries of the local storage; the cookies end at `expires`, in
    /// seconds since 1970, or with the browser.
    pub fn simulated(
        origin: &Origin,
        cookies: &[(&str, &str)],
        local: &[(&str, &str)],
        expires: Option<f64>,
    ) -> LoginState {
        let mut state = LoginState::new(origin.clone());
        state.cookies.extend(cookies.iter().map(|(name, value)| LoginCookie {
            name: (*name).to_owned(),
            value: Zeroizing::new((*value).to_owned()),
            domain: origin.host().to_owned(),
            path: "/".to_owned(),
            expires,
            http_only: true,
            secure: origin.scheme() == "https",
            same_site: "Lax".to_owned(),
            partition: None,
        }));
        let entry = |text: &str| Zeroizing::new(text.to_owned());
        state.local.extend(local.iter().map(|(name, value)| (entry(name), entry(value))));
        state
    }
}

impl PresentCookies {
    /// The cookies of a state, as if a container had them now.
    pub fn simulated(state: LoginState) -> PresentCookies {
        PresentCookies(state.cookies)
    }
}
