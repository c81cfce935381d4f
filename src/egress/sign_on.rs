//! The sign-on that the user agreed to, as the checks of a container see it.

use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::{Origin, OutgoingRequest};
use policy_dfa::SignOn;
use sirl::Field;

use super::ReleasedValue;

/// The sign-on of one container, shared by its checks; none until the user agreed to one.
#[derive(Debug, Clone, Default)]
pub struct AgreedSignOn(Arc<Mutex<Option<SignOn>>>);

impl AgreedSignOn {
    /// Notes the user's yes.
    pub fn agree(&self, sign_on: SignOn) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(sign_on);
    }

    /// A copy of the sign-on.
    pub fn get(&self) -> Option<SignOn> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Whether a value that was released to the provider may return to the site: the names of the account, which the question named, and
/// neither password nor code.
pub(super) fn may_return(sign_on: Option<&SignOn>, release: &ReleasedValue, to: &Origin) -> bool {
    sign_on.is_some_and(|both| {
        both.site == *to
            && both.provider == release.destination.origin
            && matches!(release.field, Field::Email | Field::Username)
    })
}

/// Whether a request is the provider's own return to the site: a page of the provider, which a page of another site cannot pretend to
/// be, sends the top frame there.
pub(super) fn is_return(sign_on: Option<&SignOn>, request: &OutgoingRequest<'_>, to: &Origin) -> bool {
    let came_from = |provider: &Origin| {
        let referrer = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("referer"));
        let referrer = referrer.and_then(|(_, address)| Origin::parse(address).ok());
        referrer.as_ref() == Some(provider) || request.from == Some(provider)
    };
    request.main_navigation && sign_on.is_some_and(|both| both.site == *to && came_from(&both.provider))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use browser_signals::Destination;

    use super::*;

    const SITE: &str = "https://shop.example";
    const PROVIDER: &str = "https://id.example";

    fn origin(text: &str) -> Origin {
        Origin::parse(text).unwrap()
    }

    #[test]
    fn the_names_of_the_account_return_to_the_site_and_nothing_else_does() {
        let both = SignOn { provider: origin(PROVIDER), site: origin(SITE) };
        for field in Field::ALL {
            for from in [PROVIDER, SITE, "https://other.example"] {
                for to in [SITE, PROVIDER, "https://other.example"] {
                    let destination =
                        Destination { origin: origin(from), path: "/in".into(), method: "POST".into() };
                    let release = ReleasedValue::new("login:id", field, destination);
                    let is_name = matches!(field, Field::Email | Field::Username);
                    let expected = is_name && (from, to) == (PROVIDER, SITE);
                    assert_eq!(
                        may_return(Some(&both), &release, &origin(to)),
                        expected,
                        "{field:?} {from} {to}"
                    );
                    assert!(!may_return(None, &release, &origin(to)));
                }
            }
        }
    }

    #[test]
    fn a_return_is_a_navigation_from_the_provider_to_the_site() {
        let both = SignOn { provider: origin(PROVIDER), site: origin(SITE) };
        for (referrer, main_navigation, to, expected) in [
            ("https://id.example/session", true, SITE, true),
            ("https://id.example/session", false, SITE, false),
            ("https://id.example/session", true, "https://other.example", false),
            ("https://shop.example/", true, SITE, false),
            ("https://id.example.evil.test/", true, SITE, false),
        ] {
            let headers = [("Referer".to_owned(), referrer.to_owned())];
            let request = OutgoingRequest {
                url: "https://shop.example/callback",
                method: "GET",
                headers: &headers,
                body: None,
                frame: None,
                from: None,
                resource_type: "Document",
                main_navigation,
            };
            assert_eq!(is_return(Some(&both), &request, &origin(to)), expected, "{referrer} {to}");
        }
    }
}
