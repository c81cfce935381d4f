//! The way out of a container: a forward proxy of the guard's own, one for each.
//!
//! What leaves a page does not all pass where the bridge can look: shared and service workers, new windows and
//! sockets go their own ways. Every one of them is a connection, and the browser makes each connection of a
//! container through this proxy. So what the proxy refuses does not leave, whoever asked.
//!
//! | when | what is open |
//! |---|---|
//! | before any release | every public host |
//! | after one | the origins of the grants, and the guard's payment handler |
//!
//! [`EgressProxy::narrow_to`] is called *before* a value goes: it returns once every connection to elsewhere is
//! cut, those included that were opened earlier.
//!
//! **What it does not see.** A tunnel is encrypted from end to end: the proxy knows its host and port, and
//! nothing of what is in it. Towards the granted origin itself everything may go, a `wss` socket too; what keeps
//! those out of a raised container are the bridge's own means. An `http` origin's sockets are told from its
//! requests, and refused after a release.
//!
//! **Names.** They are looked up here, and what they lead to is judged before it is connected to: a public name
//! for a private address is refused. The browser itself looks nothing up: its host rules map every name to not-found.
//!
//! | module | subject |
//! |---|---|
//! | [`target`] | where a client wants to go |
//! | [`rule`] | which ways are open |
//! | [`names`] | from a host's name to its addresses |
//! | [`limits`] | what one container may take up |
//! | `gate` | the rule that holds now, and every way that is open under it |
//! | `listener` | who is answered, and with what |
//! | `connect`, `tunnel`, `forward` | to the server, and there and back |
//! | `watched` | a connection whose silence can be measured |

pub mod limits;
pub mod names;
pub mod rule;
pub mod target;

mod connect;
mod forward;
mod gate;
mod listener;
mod tunnel;
mod watched;

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::Origin;
use browser_signals::playwright::{BrowserSettings, ContainerProxy};
use tokio::net::TcpListener;
use tokio::sync::watch;
use vault::Entropy;
use zeroize::Zeroizing;

use crate::loopback::Hidden;
use gate::Gate;
use listener::{Shared, listen};

pub use gate::StillOpen;
pub use limits::Limits;
pub use names::{BadHostRule, HostRules, Resolver, SystemResolver};
pub use rule::{OpenRule, Refusal, ReleasedRule, Rule};
pub use target::{Target, Way};

/// A proxy for one container. Dropping it closes the listener and every connection.
///
/// ```no_run
/// use portcullis::egress_proxy::EgressProxy;
/// use portcullis::guard::SystemEntropy;
/// use portcullis::signals::{Container, Origin, playwright::Browser};
///
/// # async fn example(browser: &Browser) -> Result<(), Box<dyn std::error::Error>> {
/// let proxy = EgressProxy::of(browser.settings(), &[], &mut SystemEntropy).await?;
/// let tab = browser.container_through(proxy.for_container(), Container::T0, &[]).await?;
/// // Before a value goes to the shop:
/// proxy.narrow_to(&[Origin::parse("https://shop.example")?]).await?;
/// # Ok(()) }
/// ```
pub struct EgressProxy {
    gate: Arc<Gate>,
    before: OpenRule,
    granted: Mutex<Vec<Origin>>,
    container: ContainerProxy,
    _closing: watch::Sender<()>,
}

/// Why a proxy could not be started.
#[derive(Debug, thiserror::Error)]
pub enum NoProxy {
    /// A host rule of the browser's settings cannot be read.
    #[error(transparent)]
    Rule(#[from] BadHostRule),
    /// No port of the loopback address can be opened.
    #[error("no port on 127.0.0.1 for the container's proxy: {0}")]
    Port(#[from] io::Error),
}

impl EgressProxy {
    /// The proxy of one container as a session starts it: with the host rules and the private hosts of the browser's
    /// settings, the operating system's names, and these payment handlers. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// [`NoProxy`].
    pub async fn of(
        settings: &BrowserSettings,
        payment: &[Origin],
        entropy: &mut (dyn Entropy + Send),
    ) -> Result<EgressProxy, NoProxy> {
        let mut random = [0; 64];
        entropy.fill(&mut random);
        let rules = HostRules::parse(settings.proxy_rules.as_deref().unwrap_or_default())?;
        let before = OpenRule { private_hosts: settings.private_hosts.clone(), payment: payment.to_vec() };
        let names = Arc::new(SystemResolver);
        Ok(EgressProxy::start(before, rules, names, Limits::default(), random).await?)
    }

    /// Listens on a free port of the loopback address. `random` are 64 fresh random bytes, from which the
    /// password is made and the host of the browser's first request. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(
        before: OpenRule,
        rules: HostRules,
        resolver: Arc<dyn Resolver>,
        limits: Limits,
        random: [u8; 64],
    ) -> io::Result<EgressProxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (password, greeting) = random.split_at(32);
        let container = ContainerProxy::new(address, Zeroizing::new(hex(password)), &hex(greeting));
        let gate = Arc::new(Gate::new(Arc::new(before.clone())));
        let (_closing, closing) = watch::channel(());
        let shared = Shared {
            address,
            credential: Hidden::new(container.credential().to_string()),
            greeting: container.greeting().to_owned(),
            gate: Arc::clone(&gate),
            rules,
            resolver,
            limits,
            closing,
        };
        tokio::spawn(listen(listener, Arc::new(shared)));
        Ok(EgressProxy { gate, before, granted: Mutex::default(), container, _closing })
    }

    /// What the browser needs to know to send a container through this proxy.
    pub fn for_container(&self) -> &ContainerProxy {
        &self.container
    }

    /// Opens nothing but these origins, those of earlier calls, and the payment handler, for as long as the
    /// container lives; cuts every connection to elsewhere, and waits until it is gone. It must be called, and
    /// have returned, before a value goes.
    ///
    /// # Errors
    /// [`StillOpen`] where a connection does not end: then nothing may be released. The narrower rule holds all
    /// the same.
    pub async fn narrow_to(&self, origins: &[Origin]) -> Result<(), StillOpen> {
        let granted = {
            let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
            for origin in origins {
                if !granted.contains(origin) {
                    granted.push(origin.clone());
                }
            }
            granted.clone()
        };
        self.gate.change(Arc::new(ReleasedRule { before: self.before.clone(), granted })).await
    }

    /// How many ways were opened so far.
    pub fn opened(&self) -> u64 {
        self.gate.opened()
    }

    /// How many ways were refused since the last call.
    pub fn take_refused(&self) -> u64 {
        self.gate.take_refused()
    }
}

/// Bytes in lower-case hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
