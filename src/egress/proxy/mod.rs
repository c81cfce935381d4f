//! The egress proxy: a forward proxy of the guard's own, one for each container.
//!
//! The bridge cannot observe all traffic of a page: shared and service workers, new windows and sockets bypass it. All of
//! it needs connections, and the browser makes each connection of a container through this proxy. So no traffic leaves
//! that the proxy refuses.
//!
//! | time | open targets |
//! |---|---|
//! | before any release | every public host |
//! | after one | the origins of the grants, and the guard's payment handler |
//!
//! [`EgressProxy::narrow_to`] is called *before* a value is released: it returns once every connection to another target
//! has ended, including those that were opened earlier.
//!
//! **Limits.** A tunnel is encrypted from end to end: the proxy knows its host and port and nothing of its content. To a
//! granted origin itself everything may go, a `wss` socket too; the bridge keeps those out of a raised container. Sockets
//! of an `http` origin are tunnels, unlike its requests, and are refused after a release.
//!
//! **Names.** They are looked up here, and each address is checked before it is connected to: a public name for a private
//! address is refused. The browser itself resolves nothing: its host rules map every name to not-found.
//!
//! | module | subject |
//! |---|---|
//! | [`target`] | the targets of a client |
//! | [`rule`] | which targets are open |
//! | [`names`] | name resolution and host rules |
//! | `gate` | the current rule, and every connection that is open under it |
//! | `state` | shared state, limits and constant answers |
//! | `listener` | which requests are served |
//! | `forward` | tunnels and forwarded requests |
//! | `connection` | a connection to a server |
//! | `failures` | why connections failed, for the guard alone |

pub mod names;
pub mod rule;
pub mod target;

mod connection;
mod failures;
mod forward;
mod gate;
mod listener;
mod state;

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use browser_signals::Origin;
use browser_signals::playwright::{BrowserSettings, ContainerProxy};
use tokio::net::TcpListener;
use tokio::sync::watch;
use url::Url;
use vault::Entropy;
use zeroize::Zeroizing;

use crate::system::loopback::Hidden;
use crate::system::own_ports::OwnPort;
use failures::Failures;
use gate::Gate;
use listener::listen;
use state::Shared;

pub use failures::ConnectFailure;
pub use gate::StillOpen;
pub use names::{BadHostRule, HostRules, Resolver, SystemResolver};
pub use rule::{ConnectionRefusal, EgressRule, OpenRule, ReleasedRule};
pub use state::Limits;
pub use target::{ProxyMode, Target};

/// A proxy for one container. Dropping it closes the listener and every connection.
///
/// ```no_run
/// use portcullis::egress::proxy::EgressProxy;
/// use portcullis::guard::SystemEntropy;
/// use portcullis::signals::{Container, Origin, playwright::Browser};
///
/// # async fn example(browser: &Browser) -> Result<(), Box<dyn std::error::Error>> {
/// let proxy = EgressProxy::of(browser.settings(), &[], &mut SystemEntropy).await?;
/// let tab = browser.container_through(proxy.for_container(), Container::T0, &[]).await?;
/// // Before a value is released to the shop:
/// proxy.narrow_to(&[Origin::parse("https://shop.example")?]).await?;
/// # Ok(()) }
/// ```
pub struct EgressProxy {
    gate: Arc<Gate>,
    failures: Arc<Failures>,
    before: OpenRule,
    granted: Mutex<Vec<Origin>>,
    #[cfg(feature = "ablation")]
    stays_open: std::sync::atomic::AtomicBool,
    container: ContainerProxy,
    _closing: watch::Sender<()>,
    _own_port: OwnPort,
}

/// Why a proxy could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// A host rule of the browser's settings cannot be parsed.
    #[error(transparent)]
    Rule(#[from] BadHostRule),
    /// No port of the loopback address can be opened.
    #[error("no port on 127.0.0.1 for the container's proxy: {0}")]
    Port(#[from] io::Error),
}

impl EgressProxy {
    /// Starts the proxy of one container of a session: with the host rules and the private hosts of the browser's settings,
    /// the system's resolver, and these payment handlers. It must be called inside a tokio runtime.
    ///
    /// # Errors
    /// [`ProxyError`].
    pub async fn of(
        settings: &BrowserSettings,
        payment: &[Origin],
        entropy: &mut (dyn Entropy + Send),
    ) -> Result<EgressProxy, ProxyError> {
        let mut random = [0; 64];
        entropy.fill(&mut random);
        let rules = HostRules::parse(settings.proxy_rules.as_deref().unwrap_or_default())?;
        let before = OpenRule { private_hosts: settings.private_hosts.clone(), payment: payment.to_vec() };
        let names = Arc::new(SystemResolver);
        Ok(EgressProxy::start(before, rules, names, Limits::default(), random).await?)
    }

    /// Listens on a free port of the loopback address. `random` is 64 fresh random bytes for the password and for the host
    /// of the browser's first request. It must be called inside a tokio runtime.
    ///
    /// # Errors
    /// Those of opening a port.
    pub async fn start(
        before: OpenRule,
        rules: HostRules,
        resolver: Arc<dyn Resolver>,
        limits: Limits,
        random: [u8; 64],
    ) -> io::Result<EgressProxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let _own_port = OwnPort::register(address.port());
        let (password, greeting) = random.split_at(32);
        let container = ContainerProxy::new(address, Zeroizing::new(hex(password)), &hex(greeting));
        let gate = Arc::new(Gate::new(Arc::new(before.clone())));
        let failures = Arc::new(Failures::default());
        let (_closing, closing) = watch::channel(());
        let shared = Shared {
            address,
            credential: Hidden::new(container.credential().to_string()),
            greeting: container.greeting().to_owned(),
            gate: Arc::clone(&gate),
            failures: Arc::clone(&failures),
            rules,
            resolver,
            limits,
            closing,
            sites_on_this_machine: before.sites_on_this_machine(),
            payment: before.payment.clone(),
            reached: container.reached().clone(),
        };
        tokio::spawn(listen(listener, Arc::new(shared)));
        Ok(EgressProxy {
            gate,
            failures,
            before,
            granted: Mutex::default(),
            #[cfg(feature = "ablation")]
            stays_open: std::sync::atomic::AtomicBool::default(),
            container,
            _closing,
            _own_port,
        })
    }

    /// Lets no release narrow the proxy, for an experiment.
    #[cfg(feature = "ablation")]
    pub(crate) fn stay_open(&self) {
        self.stays_open.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    /// The settings with which the browser connects a container through this proxy.
    pub fn for_container(&self) -> &ContainerProxy {
        &self.container
    }

    /// Closes the container's egress, for the rest of its life, except to these origins, those of earlier calls, and the
    /// payment handler. It revokes every other connection and waits until it has ended. It must return before a value is
    /// released.
    ///
    /// # Errors
    /// [`StillOpen`] where a connection does not end: then nothing may be released. The narrower rule is in force all the
    /// same.
    pub async fn narrow_to(&self, origins: &[Origin]) -> Result<(), StillOpen> {
        #[cfg(feature = "ablation")]
        if self.stays_open.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(());
        }
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

    /// The number of connections that were permitted so far.
    pub fn opened(&self) -> u64 {
        self.gate.opened()
    }

    /// Why the host and port of an address could not be connected to, if they could not since failures were last forgotten.
    /// A connection that succeeded later changes nothing here.
    pub fn failure(&self, url: &Url) -> Option<ConnectFailure> {
        self.failures.of(url.host_str()?, url.port_or_known_default()?)
    }

    /// Forgets why connections failed so far.
    pub fn forget_failures(&self) {
        self.failures.forget();
    }

    /// The number of connections that were refused since the last call.
    pub fn take_refused(&self) -> u64 {
        self.gate.take_refused()
    }
}

/// Bytes in lower-case hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
