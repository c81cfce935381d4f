//! Hosts of this machine and of private networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Whether an address is not one of the public internet: private, loopback, link-local, carrier-grade NAT,
/// multicast, unspecified, documentation or reserved.
pub fn is_private_ip(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    a == 0
        || a >= 240
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation()
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (b == 18 || b == 19))
        || (a == 192 && b == 0 && c == 0)
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [first, second, ..] = segments;
    if address.is_unspecified() || address.is_loopback() || address.is_multicast() {
        return true;
    }
    // fc00::/7, fe80::/10, the deprecated fec0::/10, documentation, discard.
    if first & 0xfe00 == 0xfc00
        || first & 0xffc0 == 0xfe80
        || first & 0xffc0 == 0xfec0
        || (first, second) == (0x2001, 0x0db8)
        || first == 0x0100
    {
        return true;
    }
    embedded_v4(segments).is_some_and(is_private_v4)
}

/// The IPv4 address within a mapped, compatible, translated (NAT64) or 6to4 IPv6 address.
fn embedded_v4(segments: [u16; 8]) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = segments;
    let from = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    let zeros = a == 0 && b == 0 && c == 0 && d == 0;
    if zeros && ((e == 0 && (f == 0xffff || f == 0)) || (e == 0xffff && f == 0)) {
        return Some(from(g, h));
    }
    if a == 0x0064 && b == 0xff9b {
        return Some(from(g, h));
    }
    (a == 0x2002).then(|| from(b, c))
}

/// Why an address is not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefused {
    /// A scheme other than `http` or `https`.
    #[error("only http and https addresses are opened")]
    Scheme,
    /// A user name or password before the host.
    #[error("an address with a user name before the host is not opened")]
    UserInfo,
    /// A host of this machine or a private network.
    #[error("a host of this machine or of a private network is not opened")]
    PrivateHost,
    /// An origin that the task does not have.
    #[error("the address is outside the origins of the task")]
    OutsideTask,
    /// The answer to a form, which would be sent again.
    #[error("opening this again would send a form a second time")]
    SentAgain,
    /// The request carries protected data, or could, and does not leave.
    #[error("the request may carry protected data, and does not leave")]
    Egress,
}

/// Judges an address before any request is sent to it. `allowed` lists private hosts (`host` or `host:port`)
/// that may be opened nevertheless.
///
/// ```
/// use browser_signals::address::{AddressRefused, judge};
/// let url = |text| url::Url::parse(text).expect("an address");
/// assert_eq!(judge(&url("https://shop.example/"), &[]), Ok(()));
/// assert_eq!(judge(&url("http://0x7f.1/"), &[]), Err(AddressRefused::PrivateHost));
/// assert_eq!(judge(&url("http://127.0.0.1:8080/"), &["127.0.0.1:8080".to_owned()]), Ok(()));
/// ```
pub fn judge(url: &Url, allowed: &[String]) -> Result<(), AddressRefused> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(AddressRefused::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(AddressRefused::UserInfo);
    }
    if is_allowed(url, allowed) { Ok(()) } else { judge_host(url) }
}

/// Whether the host, with or without the port, is on the list.
pub fn is_allowed(url: &Url, allowed: &[String]) -> bool {
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return false;
    };
    let with_port = format!("{host}:{port}");
    allowed.iter().any(|entry| entry.eq_ignore_ascii_case(host) || entry.eq_ignore_ascii_case(&with_port))
}

fn judge_host(url: &Url) -> Result<(), AddressRefused> {
    let private = match url.host() {
        None => true,
        Some(Host::Ipv4(address)) => is_private_v4(address),
        Some(Host::Ipv6(address)) => is_private_v6(address),
        Some(Host::Domain(name)) => is_private_name(name),
    };
    if private { Err(AddressRefused::PrivateHost) } else { Ok(()) }
}

fn is_private_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let last = name.rsplit('.').next().unwrap_or_default();
    !name.contains('.')
        || matches!(
            last,
            "local" | "internal" | "localhost" | "localdomain" | "lan" | "home" | "corp" | "intranet"
        )
        || name.ends_with(".home.arpa")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> Result<(), AddressRefused> {
        judge(&Url::parse(text).expect("an address"), &[])
    }

    #[test]
    fn private_hosts_are_refused_in_every_spelling() {
        for text in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://017700000001/",
            "http://127.0.0.1./",
            "http://①②⑦.0.0.1/",
            "http://0/",
            "http://0.0.0.0/",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://192.168.1.1/",
            "http://169.254.169.254/",
            "http://100.64.0.1/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
            "http://[::1]/",
            "http://[::]/",
            "http://[fe80::1]/",
            "http://[fc00::1]/",
            "http://[ff02::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://printer/",
            "http://printer.local/",
            "http://metadata.google.internal/",
            "http://ｌocalhost/",
            "http://router.lan/",
        ] {
            assert_eq!(verdict(text), Err(AddressRefused::PrivateHost), "{text}");
        }
    }

    #[test]
    fn other_schemes_and_user_names_are_refused() {
        for text in [
            "file:///etc/passwd",
            "data:text/html,x",
            "blob:https://a.example/1",
            "chrome://version",
            "ftp://a.example/",
        ] {
            assert_eq!(verdict(text), Err(AddressRefused::Scheme), "{text}");
        }
        assert_eq!(verdict("https://bank.example@evil.example/"), Err(AddressRefused::UserInfo));
    }

    #[test]
    fn public_hosts_pass() {
        for text in [
            "https://shop.example/",
            "http://93.184.215.14/",
            "https://[2606:2800:21f:cb07::1]/",
            "http://172.32.0.1/",
        ] {
            assert_eq!(verdict(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn the_list_allows_only_its_own_hosts() {
        let allowed = ["127.0.0.1:8080".to_owned(), "shop.localhost".to_owned()];
        let judged = |text: &str| judge(&Url::parse(text).expect("an address"), &allowed);
        assert_eq!(judged("http://127.0.0.1:8080/a"), Ok(()));
        assert_eq!(judged("https://shop.localhost/a"), Ok(()));
        assert_eq!(judged("http://127.0.0.1:8081/a"), Err(AddressRefused::PrivateHost));
        assert_eq!(judged("http://x.shop.localhost/"), Err(AddressRefused::PrivateHost));
    }
}
