//! To a server: its name looked up here, so that what it leads to is known before anything is connected.

use tokio::net::TcpStream;

use super::gate::Pass;
use super::listener::Shared;
use super::target::Target;

/// Connects to the first address that the rule allows and that answers. The name is looked up once, and what was
/// judged is what is connected to. None where there is none, which is all that anybody learns.
pub(super) async fn connect(shared: &Shared, pass: &mut Pass, target: &Target) -> Option<TcpStream> {
    let gate = shared.gate();
    let connecting = async {
        let resolver = shared.resolver();
        let found = shared.rules().addresses(target.host(), target.port(), resolver).await.ok()?;
        for address in found {
            // A listener of this process would answer itself.
            if address == shared.own_address() || gate.judge_address(target, address.ip()).is_err() {
                continue;
            }
            if let Ok(stream) = TcpStream::connect(address).await {
                let _slower_only = stream.set_nodelay(true);
                return Some(stream);
            }
        }
        None
    };
    tokio::select! {
        biased;
        () = pass.cut() => None,
        connected = tokio::time::timeout(shared.limits().connect_time, connecting) => connected.ok().flatten(),
    }
}
