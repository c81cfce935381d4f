//! The state of a login: what a browser keeps so that a site knows the user again.
//!
//! It is a secret as a password is: who has it is the user at that site. So it has no `Debug`, `Clone` or serde, is wiped when dropped,
//! and is read in two places only: a bridge writes it into a container, and the vault encrypts its bytes.
//!
//! | module | subject |
//! |---|---|
//! | `bytes` | the bytes that the vault encrypts |
//! | `simulated` | states for tests of the crates above |
//! | `tokens` | the texts in it by which the site could know the user |

mod bytes;
#[cfg(feature = "simulated")]
mod simulated;
mod tokens;

pub use bytes::LoginBytesError;
pub use tokens::MAX_TOKENS;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::Origin;

/// The cookies and the storage of one origin in which a user is logged in.
///
/// Only what this origin itself gets back is in it: cookies for other hosts are left out when it is made.
///
/// ```
/// use browser_signals::login::LoginState;
///
/// let shop = browser_signals::Origin::parse("https://shop.example")?;
/// let state = LoginState::new(shop);
/// let bytes = state.expose_to_vault();
/// assert!(LoginState::from_vault(&bytes).is_ok_and(|same| same.origin() == state.origin()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LoginState {
    origin: Origin,
    pub(crate) cookies: Vec<LoginCookie>,
    /// Names and values of the local storage.
    pub(crate) local: Vec<(Zeroizing<String>, Zeroizing<String>)>,
    /// The databases, as the bridge's script writes them.
    pub(crate) databases: Zeroizing<String>,
}

impl ZeroizeOnDrop for LoginState {}

/// One cookie with its flags.
pub(crate) struct LoginCookie {
    pub(crate) name: String,
    pub(crate) value: Zeroizing<String>,
    /// As the browser writes it: with a dot before the host where subdomains get it too.
    pub(crate) domain: String,
    pub(crate) path: String,
    /// In seconds since 1970; none for one that ends with the browser.
    pub(crate) expires: Option<f64>,
    pub(crate) http_only: bool,
    pub(crate) secure: bool,
    /// `Strict`, `Lax`, `None`, or empty where the site does not say.
    pub(crate) same_site: String,
    /// For a partitioned cookie, the site that it belongs to, and whether other sites stand above the frame.
    pub(crate) partition: Option<(String, bool)>,
}

impl LoginCookie {
    /// Whether the origin gets this cookie: it is for exactly this host, or for a domain that the host is in.
    #[cfg_attr(not(any(feature = "playwright", test)), allow(dead_code, reason = "the bridge uses it"))]
    pub(crate) fn is_for(&self, origin: &Origin) -> bool {
        let host = origin.host();
        let is_host = match self.domain.strip_prefix('.') {
            Some(domain) => {
                host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
            }
            None => host == self.domain,
        };
        is_host && (!self.secure || origin.scheme() == "https" || origin.is_plain_loopback())
    }

    /// When it ends, in milliseconds since 1970; none for one that ends with the browser.
    fn ends_ms(&self) -> Option<u64> {
        let end = self.expires.filter(|end| end.is_finite() && *end >= 0.0);
        end.map(|end| (end * 1000.0) as u64)
    }

    /// Whether it is the same cookie as another: only the value and the end may differ.
    pub(crate) fn is_same(&self, other: &LoginCookie) -> bool {
        let name = |cookie: &LoginCookie| {
            let LoginCookie { name, domain, path, http_only, secure, same_site, partition, .. } = cookie;
            let text = [name, domain, path, same_site].map(Clone::clone);
            (text, *http_only, *secure, partition.clone())
        };
        name(self) == name(other)
    }
}

impl LoginState {
    /// A state without content.
    pub fn new(origin: Origin) -> LoginState {
        LoginState { origin, cookies: Vec::new(), local: Vec::new(), databases: Zeroizing::default() }
    }

    /// The origin in which the user is logged in.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Whether nothing is in it: then the user is not logged in there, or the site keeps it elsewhere.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty() && self.local.is_empty() && self.databases.is_empty()
    }

    /// The first end of a cookie that no script sees and that the site sets to end after a day or later, in milliseconds since 1970. Other
    /// cookies are mostly not the login's.
    pub fn ends(&self, now_ms: u64) -> Option<u64> {
        const DAY_MS: u64 = 86_400_000;
        let ends = self.cookies.iter().filter(|cookie| cookie.http_only).filter_map(LoginCookie::ends_ms);
        ends.filter(|end| *end > now_ms.saturating_add(DAY_MS)).min()
    }

    /// Leaves out the cookies that have ended: a browser takes none of them.
    pub fn drop_ended(&mut self, now_ms: u64) {
        self.cookies.retain(|cookie| cookie.ends_ms().is_none_or(|end| end > now_ms));
    }

    /// Takes the values that the browser has now for cookies that are in the state already, and that no script of a page can set. Returns
    /// whether any differs.
    ///
    /// Other cookies, and the storage, stay as they are: a page could have changed them.
    pub fn renew(&mut self, now: PresentCookies) -> bool {
        let mut is_changed = false;
        for new in now.0.into_iter().filter(|cookie| cookie.http_only) {
            let own = self.cookies.iter_mut().find(|own| own.is_same(&new));
            if let Some(own) = own.filter(|own| *own.value != *new.value || own.expires != new.expires) {
                (own.value, own.expires) = (new.value, new.expires);
                is_changed = true;
            }
        }
        is_changed
    }
}

/// The cookies that a container has now. Only a bridge makes them; they are as secret as the state of a login.
pub struct PresentCookies(
    #[cfg_attr(not(feature = "playwright"), allow(dead_code, reason = "the bridge makes them"))]
    pub(crate)  Vec<LoginCookie>,
);

#[cfg(feature = "playwright")]
impl PresentCookies {
    /// Returns true if a cookie for this origin is new or has another value than before.
    pub fn differ_at(&self, origin: &Origin, before: &PresentCookies) -> bool {
        let is_known =
            |cookie: &LoginCookie| before.0.iter().any(|it| it.is_same(cookie) && *it.value == *cookie.value);
        self.0.iter().any(|cookie| cookie.is_for(origin) && !is_known(cookie))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    fn cookie(domain: &str, secure: bool) -> LoginCookie {
        LoginCookie {
            name: "sid".to_owned(),
            value: Zeroizing::new("a1b2c3d4".to_owned()),
            domain: domain.to_owned(),
            path: "/".to_owned(),
            expires: None,
            http_only: true,
            secure,
            same_site: "Lax".to_owned(),
            partition: None,
        }
    }

    #[test]
    fn a_cookie_belongs_to_its_host_and_to_hosts_of_its_domain() {
        let of = |domain: &str, origin: &str| cookie(domain, true).is_for(&Origin::parse(origin).unwrap());
        for (domain, origin) in [
            ("shop.example", "https://shop.example"),
            (".shop.example", "https://shop.example"),
            (".shop.example", "https://www.shop.example:8443"),
            ("127.0.0.1", "http://127.0.0.1:3000"),
        ] {
            assert!(of(domain, origin), "{domain} {origin}");
        }
        for (domain, origin) in [
            ("shop.example", "https://www.shop.example"),
            (".shop.example", "https://notshop.example"),
            (".www.shop.example", "https://shop.example"),
            ("id.example", "https://shop.example"),
            ("", "https://shop.example"),
            (".", "https://shop.example"),
            ("shop.example", "http://shop.example"),
        ] {
            assert!(!of(domain, origin), "{domain} {origin}");
        }
    }

    #[test]
    fn a_renewal_changes_only_values_of_cookies_that_are_there_and_that_no_script_sets() {
        let mut state = LoginState::new(Origin::parse("https://shop.example").unwrap());
        state.cookies.push(cookie("shop.example", true));
        let script =
            LoginCookie { name: "theme".to_owned(), http_only: false, ..cookie("shop.example", true) };
        state.cookies.push(script);
        let with = |change: fn(&mut LoginCookie)| {
            let mut new = cookie("shop.example", true);
            new.value = Zeroizing::new("e5f6a7b8".to_owned());
            change(&mut new);
            new
        };
        // Poisoned in each way that the rule names: another name, domain, path or flag, and by a script.
        for change in [
            (|new| new.name = "other".to_owned()) as fn(&mut LoginCookie),
            |new| new.domain = ".shop.example".to_owned(),
            |new| new.path = "/account".to_owned(),
            |new| new.secure = false,
            |new| new.same_site = "None".to_owned(),
            |new| new.partition = Some(("https://evil.example".to_owned(), true)),
            |new| (new.name, new.http_only) = ("theme".to_owned(), false),
        ] {
            assert!(!state.renew(PresentCookies(vec![with(change)])));
            assert_eq!((state.cookies.len(), state.cookies[0].value.as_str()), (2, "a1b2c3d4"));
            assert_eq!(state.cookies[1].value.as_str(), "a1b2c3d4");
        }
        assert!(state.renew(PresentCookies(vec![with(|_| ())])));
        assert_eq!(state.cookies[0].value.as_str(), "e5f6a7b8");
        assert!(!state.renew(PresentCookies(vec![with(|_| ())])), "the same value is no change");
    }

    #[test]
    fn the_end_is_that_of_the_first_cookie_that_lasts() {
        let mut state = LoginState::new(Origin::parse("https://shop.example").unwrap());
        assert_eq!(state.ends(0), None);
        for end in [None, Some(60.0), Some(200_000.0), Some(100_000.0), Some(f64::NAN), Some(-1.0)] {
            state.cookies.push(LoginCookie { expires: end, ..cookie("shop.example", true) });
        }
        assert_eq!(state.ends(0), Some(100_000_000));
        // One that scripts see, such as a counter's, is not the login's.
        let counter =
            LoginCookie { expires: Some(90_000.0), http_only: false, ..cookie("shop.example", true) };
        state.cookies.push(counter);
        assert_eq!(state.ends(0), Some(100_000_000));
    }

    #[test]
    fn ended_cookies_are_left_out() {
        let mut state = LoginState::new(Origin::parse("https://shop.example").unwrap());
        for end in [None, Some(10.0), Some(10.001), Some(20.0), Some(f64::NAN)] {
            state.cookies.push(LoginCookie { expires: end, ..cookie("shop.example", true) });
        }
        state.drop_ended(10_000);
        let left: Vec<Option<f64>> = state.cookies.iter().map(|cookie| cookie.expires).collect();
        assert_eq!(left[..3], [None, Some(10.001), Some(20.0)]);
        assert_eq!(left.len(), 4, "an end that is no number is none");
    }
}
