//! Sites of this machine without TLS: those that the user listed, and those that the guard's proxy reached on a loopback
//! address.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Origin;

/// The hosts that may be sites of this machine. A name below `localhost` is not among them: it is looked up like any other.
const HOSTS: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// Recognises the hosts `127.0.0.1`, `[::1]` and `localhost`.
pub fn is_loopback_host(host: &str) -> bool {
    HOSTS.contains(&host)
}

/// Recognises the loopback addresses of this machine, also an IPv4 one within an IPv6 address.
pub fn is_loopback_ip(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// The sites of this machine without TLS that a list of private hosts names: a loopback host with its port. An entry
/// without a port, or of another host, names none.
///
/// ```
/// use browser_signals::this_machine::sites;
/// let listed = ["localhost:3000", "localhost", "x.localhost:3000", "127.1:80"].map(str::to_owned);
/// let found: Vec<String> = sites(&listed).iter().map(ToString::to_string).collect();
/// assert_eq!(found, ["http://localhost:3000"]);
/// ```
pub fn sites(private_hosts: &[String]) -> Vec<Origin> {
    let site = |entry: &String| {
        let (host, port) = entry.rsplit_once(':')?;
        let host = host.to_ascii_lowercase();
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = digits.then(|| port.parse::<u16>().ok()).flatten().filter(|port| *port != 0)?;
        is_loopback_host(&host).then(|| Origin::parse(&format!("http://{host}:{port}")).ok()).flatten()
    };
    private_hosts.iter().filter_map(site).collect()
}

/// The sites of this machine that a container's proxy reached in clear, on a loopback address. Copies share the record.
#[derive(Debug, Clone, Default)]
pub struct ReachedSites(Arc<Mutex<HashSet<Origin>>>);

impl ReachedSites {
    /// Notes a site that was reached. Only the proxy calls it, for a listed site and the address that it connected to.
    pub fn note(&self, site: &Origin) {
        if site.is_plain_loopback() {
            locked(&self.0).insert(site.clone());
        }
    }

    /// Returns true for a site that was noted.
    pub fn has(&self, site: &Origin) -> bool {
        locked(&self.0).contains(site)
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn only_a_loopback_host_with_its_port_is_a_site() {
        let site = |entry: &str| sites(&[entry.to_owned()]).first().map(ToString::to_string);
        for (entry, origin) in [
            ("localhost:3000", "http://localhost:3000"),
            ("LOCALHOST:80", "http://localhost"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(site(entry).as_deref(), Some(origin));
        }
        for entry in [
            "localhost",
            "127.0.0.1",
            "[::1]",
            "::1",
            "localhost:",
            "localhost:0",
            "localhost:+80",
            "localhost:65536",
            "localhost.:80",
            "x.localhost:80",
            "127.1:80",
            "127.0.0.2:80",
            "[::ffff:127.0.0.1]:80",
            "10.0.0.1:80",
            "shop.test:80",
            "http://localhost:80",
        ] {
            assert_eq!(site(entry), None, "{entry}");
        }
    }

    #[test]
    fn only_plain_sites_of_loopback_hosts_are_noted() {
        let reached = ReachedSites::default();
        for (text, noted) in [
            ("http://localhost:3000", true),
            ("https://localhost:3000", false),
            ("http://x.localhost:3000", false),
            ("http://shop.example", false),
        ] {
            let origin = Origin::parse(text).unwrap();
            reached.note(&origin);
            assert_eq!(reached.has(&origin), noted, "{text}");
        }
        assert!(!reached.has(&Origin::parse("http://localhost:3001").unwrap()));
    }
}
