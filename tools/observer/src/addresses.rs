//! The addresses of the two networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The far end of the veth pair, which is the default gateway.
pub const GATEWAY: Ipv4Addr = Ipv4Addr::new(44, 128, 0, 1);
/// The near end of the veth pair, in the network of the browser and the guard.
pub const NEAR_END: Ipv4Addr = Ipv4Addr::new(44, 128, 0, 2);
/// The far end by IPv6.
pub const GATEWAY_V6: Ipv6Addr = Ipv6Addr::new(0x3ffe, 0x44, 0, 0, 0, 0, 0, 1);
/// The near end by IPv6.
pub const NEAR_END_V6: Ipv6Addr = Ipv6Addr::new(0x3ffe, 0x44, 0, 0, 0, 0, 0, 2);
/// The addresses of the simulated internet. They look public and are not in use: 44.128.0.0/16 is the test network
/// of amateur packet radio, and 3ffe::/16 was that of the first IPv6 network.
pub const INTERNET: (Ipv4Addr, u8) = (Ipv4Addr::new(44, 128, 64, 0), 18);
/// The IPv6 addresses of the simulated internet.
pub const INTERNET_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x3ffe, 0x44, 0x64, 0, 0, 0, 0, 0), 48);
/// The name server of the guard.
pub const GUARD_DNS: Ipv4Addr = Ipv4Addr::new(44, 128, 64, 1);
/// The name server of the browser.
pub const BROWSER_DNS: Ipv4Addr = Ipv4Addr::new(44, 128, 64, 2);

/// The sender of every frame that leaves the network of the browser and the guard.
pub(crate) const SENDER: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// Tells if an address is that of one of the two name servers.
pub(crate) fn is_name_server(address: IpAddr) -> bool {
    [GUARD_DNS, BROWSER_DNS].map(IpAddr::from).contains(&address)
}
