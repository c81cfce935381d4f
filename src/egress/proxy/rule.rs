//! The rules that decide which targets a container may reach.

use std::net::IpAddr;

use browser_signals::Origin;
use browser_signals::address::{self, is_private_ip};
use browser_signals::this_machine::{self, is_loopback_host, is_loopback_ip};

use super::target::Target;

/// Why a connection is refused. It is for counts and tests and never sent to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionRefusal {
    /// A host of this machine or of a private network, by its name or by its address.
    #[error("a host of this machine or of a private network")]
    Private,
    /// A host of this machine whose name or address leads elsewhere.
    #[error("a host of this machine that leads elsewhere")]
    NotThisMachine,
    /// A port that web servers do not use.
    #[error("a port that no web server has")]
    Port,
    /// Values were released into the container, and they may not go to this target.
    #[error("not where the released values may go")]
    Released,
}

/// Decides which targets a container may reach. It is called before a name is looked up, and again for each address before
/// it is connected to. It must return quickly, without waiting.
pub trait EgressRule: Send + Sync {
    /// Checks a target.
    ///
    /// # Errors
    /// The reason of a refusal.
    fn judge(&self, target: &Target) -> Result<(), ConnectionRefusal>;

    /// Checks an address of the target.
    ///
    /// # Errors
    /// The reason of a refusal.
    fn judge_address(&self, target: &Target, address: IpAddr) -> Result<(), ConnectionRefusal>;
}

/// The rule before any release: every public host, the private hosts that the browser's settings list, and the guard's own
/// payment handler.
#[derive(Debug, Clone, Default)]
pub struct OpenRule {
    /// Private hosts (`host` or `host:port`) that may be reached all the same.
    pub private_hosts: Vec<String>,
    /// The origins of the guard's own payment handler, which may have a private address.
    pub payment: Vec<Origin>,
}

impl OpenRule {
    fn is_listed(&self, target: &Target) -> bool {
        target.url().is_some_and(|url| address::is_allowed(&url, &self.private_hosts))
            || self.payment.iter().any(|origin| target.is_of(origin))
    }

    /// The sites of this machine without TLS that are listed with their port.
    pub(super) fn sites_on_this_machine(&self) -> Vec<Origin> {
        let listed = this_machine::sites(&self.private_hosts);
        listed.into_iter().filter(|site| !self.payment.contains(site)).collect()
    }
}

impl EgressRule for OpenRule {
    fn judge(&self, target: &Target) -> Result<(), ConnectionRefusal> {
        if self.is_listed(target) {
            return Ok(());
        }
        let url = target.url().ok_or(ConnectionRefusal::Private)?;
        address::judge(&url, &[]).map_err(|_| ConnectionRefusal::Private)?;
        if is_web_port(target.port()) { Ok(()) } else { Err(ConnectionRefusal::Port) }
    }

    fn judge_address(&self, target: &Target, address: IpAddr) -> Result<(), ConnectionRefusal> {
        // What is sent to a site of this machine in clear must not leave it, whatever a resolver says.
        if is_loopback_host(target.host()) && !is_loopback_ip(address) {
            return Err(ConnectionRefusal::NotThisMachine);
        }
        if is_private_ip(address) && !self.is_listed(target) {
            Err(ConnectionRefusal::Private)
        } else {
            Ok(())
        }
    }
}

/// The rule after a release: the origins that grants name, and the guard's own payment handler.
#[derive(Debug, Clone)]
pub struct ReleasedRule {
    /// The rule before the release.
    pub before: OpenRule,
    /// The pages and destinations of the grants.
    pub granted: Vec<Origin>,
}

impl EgressRule for ReleasedRule {
    fn judge(&self, target: &Target) -> Result<(), ConnectionRefusal> {
        let mut open = self.granted.iter().chain(&self.before.payment);
        if !open.any(|origin| target.is_of(origin)) {
            return Err(ConnectionRefusal::Released);
        }
        self.before.judge(target)
    }

    fn judge_address(&self, target: &Target, address: IpAddr) -> Result<(), ConnectionRefusal> {
        self.before.judge_address(target, address)
    }
}

/// Ports from 1024 on that belong to other services. Browsers refuse them too:
/// <https://fetch.spec.whatwg.org/#bad-port>.
const OTHER_SERVICES: [u16; 23] = [
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
    6697, 10080, 3306, 5432, 6379, 11211,
];

/// Whether a public web server may use this port: 80, 443, and those from 1024 on except for other well-known services, so
/// that a page cannot reach a mail server or a database through the proxy.
fn is_web_port(port: u16) -> bool {
    matches!(port, 80 | 443) || (port >= 1024 && !OTHER_SERVICES.contains(&port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tunnel(text: &str) -> Target {
        Target::of_tunnel(&text.parse().unwrap()).unwrap()
    }

    fn forward(text: &str) -> Target {
        Target::of_forward(&text.parse().unwrap()).unwrap()
    }

    fn open() -> OpenRule {
        OpenRule {
            private_hosts: vec!["shop.test:8443".to_owned(), "printer".to_owned()],
            payment: vec![Origin::parse("http://127.0.0.1:4000").unwrap()],
        }
    }

    #[test]
    fn before_a_release_public_hosts_are_open_and_private_ones_are_not() {
        for target in
            ["shop.example:443", "shop.example:8443", "93.184.215.14:443", "shop.test:8443", "printer:631"]
        {
            assert_eq!(open().judge(&tunnel(target)), Ok(()), "{target}");
        }
        for target in [
            "127.0.0.1:443",
            "127.0.0.1:4000",
            "localhost:443",
            "[::1]:443",
            "[::ffff:10.0.0.1]:443",
            "169.254.169.254:80",
            "router.lan:443",
            "intranet:443",
        ] {
            assert_eq!(open().judge(&tunnel(target)), Err(ConnectionRefusal::Private), "{target}");
        }
        for target in ["shop.example:25", "shop.example:22", "shop.example:6379", "shop.example:6667"] {
            assert_eq!(open().judge(&tunnel(target)), Err(ConnectionRefusal::Port), "{target}");
        }
        assert_eq!(open().judge(&forward("http://127.0.0.1:4000/pay")), Ok(()), "the payment handler");
    }

    #[test]
    fn a_name_that_leads_to_a_private_address_is_refused() {
        let (private, public) =
            (["127.0.0.1", "10.0.0.1", "::1", "::ffff:10.0.0.1"], ["93.184.215.14", "2606:2800::1"]);
        for address in private {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(
                open().judge_address(&tunnel("shop.example:443"), address),
                Err(ConnectionRefusal::Private)
            );
            assert_eq!(
                open().judge_address(&tunnel("shop.test:443"), address),
                Err(ConnectionRefusal::Private),
                "the port"
            );
            assert_eq!(open().judge_address(&tunnel("shop.test:8443"), address), Ok(()));
            let handler = open().judge_address(&forward("http://127.0.0.1:4000/"), address);
            let expected =
                if address.is_loopback() { Ok(()) } else { Err(ConnectionRefusal::NotThisMachine) };
            assert_eq!(handler, expected, "{address}");
        }
        for address in public {
            assert_eq!(open().judge_address(&tunnel("shop.example:443"), address.parse().unwrap()), Ok(()));
        }
    }

    #[test]
    fn a_host_of_this_machine_leads_to_a_loopback_address_or_nowhere() {
        let hosts = ["localhost:3000", "127.0.0.1:3000", "[::1]:3000", "x.localhost:3000"];
        let rule = OpenRule { private_hosts: hosts.map(str::to_owned).to_vec(), payment: Vec::new() };
        let judged = |host: &str, address: &str| {
            let address = address.parse().unwrap();
            let all = [tunnel(host), forward(&format!("http://{host}/"))];
            all.map(|target| rule.judge_address(&target, address))
        };
        for host in &hosts[..3] {
            for address in ["127.0.0.1", "127.0.0.53", "::1", "::ffff:127.0.0.1"] {
                assert_eq!(judged(host, address), [Ok(()); 2], "{host} {address}");
            }
            for address in ["93.184.215.14", "2606:2800::1", "10.0.0.1", "0.0.0.0", "::ffff:93.184.215.14"] {
                assert_eq!(
                    judged(host, address),
                    [Err(ConnectionRefusal::NotThisMachine); 2],
                    "{host} {address}"
                );
            }
        }
        // A listed name below `localhost` is a host like any other, wherever it leads.
        assert_eq!(judged(hosts[3], "93.184.215.14"), [Ok(()); 2]);
        let sites: Vec<String> = rule.sites_on_this_machine().iter().map(ToString::to_string).collect();
        assert_eq!(sites, ["http://localhost:3000", "http://127.0.0.1:3000", "http://[::1]:3000"]);
    }

    #[test]
    fn after_a_release_only_what_was_granted_is_open() {
        let granted = ["https://shop.example", "https://pay.example:8443", "https://10.0.0.1"];
        let granted = granted.map(|text| Origin::parse(text).unwrap()).to_vec();
        let rule = ReleasedRule { before: open(), granted };
        for target in ["shop.example:443", "pay.example:8443"] {
            assert_eq!(rule.judge(&tunnel(target)), Ok(()), "{target}");
        }
        assert_eq!(rule.judge(&forward("http://127.0.0.1:4000/")), Ok(()), "the payment handler");
        for target in [
            "evil.example:443",
            "shop.example:8443",
            "shop.example.:443",
            "www.shop.example:443",
            "pay.example:443",
            "shop.test:8443",
            "127.0.0.1:4000",
        ] {
            assert_eq!(rule.judge(&tunnel(target)), Err(ConnectionRefusal::Released), "{target}");
        }
        assert_eq!(
            rule.judge(&forward("http://shop.example:443/")),
            Err(ConnectionRefusal::Released),
            "in clear"
        );
        // A grant does not open what was closed before.
        assert_eq!(rule.judge(&tunnel("10.0.0.1:443")), Err(ConnectionRefusal::Private));
        let address = "127.0.0.1".parse().unwrap();
        assert_eq!(rule.judge_address(&tunnel("shop.example:443"), address), Err(ConnectionRefusal::Private));
    }
}
