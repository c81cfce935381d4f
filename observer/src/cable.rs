//! The cable between the two networks, laid by netlink.

use std::fs::File;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd;

use nix::net::if_::if_nametoindex;
use rtnetlink::packet_route::address::AddressHeaderFlags;
use rtnetlink::packet_route::route::{RouteMessage, RouteScope, RouteType};
use rtnetlink::{Handle, LinkUnspec, LinkVeth, RouteMessageBuilder, new_connection};

use crate::network::{GATEWAY, GATEWAY_V6, HERE, HERE_V6, NetworkError, WORLD, WORLD_V6, trying};

/// The sender of every frame that leaves the browser's side.
pub(crate) const SENDER: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// The names of the cable's ends.
const NEAR: &str = "out";
const FAR: &str = "world";

/// `lo` is the first device of every network.
const LO: u32 = 1;

/// The table of the addresses that are a machine's own.
const LOCAL_TABLE: u32 = 255;

/// Lays the cable, here and to the other network: every address is reached by it.
pub(crate) fn lay(world: &File) -> Result<(), NetworkError> {
    let world = world.as_raw_fd();
    run(|handle| async move {
        let pair = LinkVeth::new(NEAR, FAR).address(SENDER.to_vec()).build();
        handle.link().add(pair).execute().await.map_err(said("a pair of virtual Ethernet devices"))?;
        let moved = LinkUnspec::new_with_name(FAR).setns_by_fd(world).build();
        handle.link().set(moved).execute().await.map_err(said("an end in the second network"))?;
        let near = up(&handle, NEAR, [(HERE.into(), 30), (HERE_V6.into(), 126)]).await?;
        let v4 = RouteMessageBuilder::<Ipv4Addr>::new().gateway(GATEWAY).output_interface(near).build();
        let v6 = RouteMessageBuilder::<Ipv6Addr>::new().gateway(GATEWAY_V6).output_interface(near).build();
        routes(&handle, [v4, v6]).await
    })
}

/// Answers at the other end, for every address of the world.
pub(crate) fn answer() -> Result<(), NetworkError> {
    run(|handle| async move {
        up(&handle, FAR, [(GATEWAY.into(), 30), (GATEWAY_V6.into(), 126)]).await?;
        let v4 = RouteMessageBuilder::<Ipv4Addr>::new()
            .destination_prefix(WORLD.0, WORLD.1)
            .output_interface(LO)
            .kind(RouteType::Local)
            .scope(RouteScope::Host)
            .table_id(LOCAL_TABLE)
            .build();
        let v6 = RouteMessageBuilder::<Ipv6Addr>::new()
            .destination_prefix(WORLD_V6.0, WORLD_V6.1)
            .output_interface(LO)
            .kind(RouteType::Local)
            .table_id(LOCAL_TABLE)
            .build();
        routes(&handle, [v4, v6]).await
    })
}

/// Switches on `lo` and an end of the cable, and returns the end's number.
async fn up(handle: &Handle, end: &str, addresses: [(IpAddr, u8); 2]) -> Result<u32, NetworkError> {
    let number = if_nametoindex(end).map_err(trying("an end of the cable"))?;
    for (address, length) in addresses {
        let mut request = handle.address().add(number, address, length);
        // Nobody else is there who could have it, and asking takes a second.
        request.message_mut().header.flags |= AddressHeaderFlags::Nodad;
        request.execute().await.map_err(said("an address"))?;
    }
    for device in [LO, number] {
        let set = handle.link().set(LinkUnspec::new_with_index(device).up().build());
        set.execute().await.map_err(said("switching a device on"))?;
    }
    Ok(number)
}

async fn routes(handle: &Handle, routes: [RouteMessage; 2]) -> Result<(), NetworkError> {
    for route in routes {
        handle.route().add(route).execute().await.map_err(said("a route"))?;
    }
    Ok(())
}

/// Talks to the kernel about the network that this thread is in.
fn run<F: Future<Output = Result<(), NetworkError>>>(
    talk: impl FnOnce(Handle) -> F,
) -> Result<(), NetworkError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(trying("a runtime"))?.block_on(async {
        let (connection, handle, _) = new_connection().map_err(trying("a netlink socket"))?;
        let connection = tokio::spawn(connection);
        let talked = talk(handle).await;
        connection.abort();
        talked
    })
}

fn said(what: &'static str) -> impl FnOnce(rtnetlink::Error) -> NetworkError {
    move |error| NetworkError::Cable { what, error }
}
