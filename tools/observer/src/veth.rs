//! The veth pair between the two networks, set up by netlink.

use std::fs::File;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd;

use nix::net::if_::if_nametoindex;
use rtnetlink::packet_route::address::AddressHeaderFlags;
use rtnetlink::packet_route::route::{RouteMessage, RouteScope, RouteType};
use rtnetlink::{Handle, LinkUnspec, LinkVeth, RouteMessageBuilder, new_connection};

use crate::addresses::{GATEWAY, GATEWAY_V6, INTERNET, INTERNET_V6, NEAR_END, NEAR_END_V6, SENDER};
use crate::error::{NetworkError, failed};

/// The names of the two ends.
const NEAR: &str = "out";
const FAR: &str = "world";

/// The index of `lo`, which is the first device of every network.
const LO: u32 = 1;

/// The routing table of the machine's own addresses.
const LOCAL_TABLE: u32 = 255;

/// Makes the pair, moves its far end to the other network, and makes it the default route.
pub(crate) fn connect(internet: &File) -> Result<(), NetworkError> {
    let internet = internet.as_raw_fd();
    run(|handle| async move {
        let pair = LinkVeth::new(NEAR, FAR).address(SENDER.to_vec()).build();
        handle.link().add(pair).execute().await.map_err(rejected("a pair of virtual Ethernet devices"))?;
        let moved = LinkUnspec::new_with_name(FAR).setns_by_fd(internet).build();
        handle.link().set(moved).execute().await.map_err(rejected("an end in the second network"))?;
        let near = up(&handle, NEAR, [(NEAR_END.into(), 30), (NEAR_END_V6.into(), 126)]).await?;
        let v4 = RouteMessageBuilder::<Ipv4Addr>::new().gateway(GATEWAY).output_interface(near).build();
        let v6 = RouteMessageBuilder::<Ipv6Addr>::new().gateway(GATEWAY_V6).output_interface(near).build();
        routes(&handle, [v4, v6]).await
    })
}

/// Accepts every address of the simulated internet at the far end.
pub(crate) fn accept_all() -> Result<(), NetworkError> {
    run(|handle| async move {
        up(&handle, FAR, [(GATEWAY.into(), 30), (GATEWAY_V6.into(), 126)]).await?;
        let v4 = RouteMessageBuilder::<Ipv4Addr>::new()
            .destination_prefix(INTERNET.0, INTERNET.1)
            .output_interface(LO)
            .kind(RouteType::Local)
            .scope(RouteScope::Host)
            .table_id(LOCAL_TABLE)
            .build();
        let v6 = RouteMessageBuilder::<Ipv6Addr>::new()
            .destination_prefix(INTERNET_V6.0, INTERNET_V6.1)
            .output_interface(LO)
            .kind(RouteType::Local)
            .table_id(LOCAL_TABLE)
            .build();
        routes(&handle, [v4, v6]).await
    })
}

/// Switches on `lo` and one end of the pair, and returns the index of the end.
async fn up(handle: &Handle, end: &str, addresses: [(IpAddr, u8); 2]) -> Result<u32, NetworkError> {
    let number = if_nametoindex(end).map_err(failed("an end of the veth pair"))?;
    for (address, length) in addresses {
        let mut request = handle.address().add(number, address, length);
        // Duplicate address detection takes a second, and no other machine can have the address.
        request.message_mut().header.flags |= AddressHeaderFlags::Nodad;
        request.execute().await.map_err(rejected("an address"))?;
    }
    for device in [LO, number] {
        let set = handle.link().set(LinkUnspec::new_with_index(device).up().build());
        set.execute().await.map_err(rejected("switching a device on"))?;
    }
    Ok(number)
}

async fn routes(handle: &Handle, routes: [RouteMessage; 2]) -> Result<(), NetworkError> {
    for route in routes {
        handle.route().add(route).execute().await.map_err(rejected("a route"))?;
    }
    Ok(())
}

/// Sends netlink requests about the network that this thread is in.
fn run<F: Future<Output = Result<(), NetworkError>>>(
    request: impl FnOnce(Handle) -> F,
) -> Result<(), NetworkError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(failed("a runtime"))?.block_on(async {
        let (connection, handle, _) = new_connection().map_err(failed("a netlink socket"))?;
        let connection = tokio::spawn(connection);
        let answer = request(handle).await;
        connection.abort();
        answer
    })
}

fn rejected(what: &'static str) -> impl FnOnce(rtnetlink::Error) -> NetworkError {
    move |error| NetworkError::Veth { what, error }
}
