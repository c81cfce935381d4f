//! Actions in a container of the guard's browser: opening it behind a proxy, looks, verbs, purchases.

use std::sync::Arc;
use std::time::Duration;

use browser_signals::address::AddressRefused;
use browser_signals::playwright::{BridgeError, Browser, LoadFailure, ObservationTarget, Tab};
use browser_signals::this_machine;
use browser_signals::{Observed, Origin, Snapshot, TypeManner, Verb, WritingKey};
use policy_dfa::{Reason, Task};
use url::Url;
use vault::Entropy;

use crate::checkout::{ArmError, Outcome, Pending, PurchaseId};
use crate::egress::proxy::{ConnectFailure, ConnectionRefusal, EgressProxy};
use crate::egress::{AgreedSignOn, ContainerEgress, EgressChecks, Releases};
use crate::guard::Dependencies;
use crate::guard::agent_actions::AgentActions;
use crate::session::SessionError;
use crate::session::core::{KeyTarget, Look, Payment};
use crate::system::own_ports::is_own_port;

/// The maximum number of refusals that are recorded for one action of the agent. A page can cause any number of them.
const MAX_RECORDED: u64 = 100;

/// The time for the shop to redeem a payment before it is voided.
const REDEEM_WITHIN: Duration = Duration::from_secs(20);

/// The time for the shop to show its receipt before the agent goes on.
const RECEIPT_WITHIN: Duration = Duration::from_secs(1);

/// What the session and the container's egress share.
#[derive(Default)]
pub(super) struct SharedChecks {
    pub releases: Releases,
    pub agent_actions: AgentActions,
    pub sign_on: AgreedSignOn,
}

/// What a container is opened for.
pub(super) struct Opening<'a> {
    pub task: &'a Task,
    /// The origins of payment providers whose frames the task may fill.
    pub providers: &'a [Origin],
    /// Whether released values keep to the path of their grant.
    pub own_path: bool,
    /// The only origin that the container ever reaches, besides the payment handler.
    pub only: Option<&'a Origin>,
}

/// Opens the task's container, behind a proxy of its own.
pub(super) async fn open_container(
    dependencies: &mut Dependencies,
    browser: &Browser,
    Opening { task, providers, own_path, only }: Opening<'_>,
    shared: &SharedChecks,
) -> Result<(Tab, EgressProxy), SessionError> {
    let payment_origins: Vec<Origin> =
        dependencies.payments.iter().map(|payments| payments.origin()).collect();
    let proxy = start_proxy(browser, &payment_origins, &mut dependencies.entropy).await?;
    if let Some(only) = only {
        let narrowed = proxy.narrow_to(std::slice::from_ref(only)).await;
        narrowed.map_err(|error| SessionError::Proxy(error.to_string()))?;
    }
    let tab = browser.container_through(proxy.for_container(), task.container(), task.origins()).await?;
    let container_egress = ContainerEgress::new(
        task.container(),
        task.origins().to_vec(),
        payment_origins,
        shared.releases.clone(),
        dependencies.vault.clone(),
        dependencies.detectors.clone(),
    );
    let container_egress = container_egress.with_providers(providers.to_vec()).keeping_to_path(own_path);
    let container_egress = container_egress.watching(shared.agent_actions.clone());
    tab.set_providers(providers.to_vec());
    let container_egress = container_egress.signing_on(shared.sign_on.clone());
    match dependencies.egress {
        EgressChecks::On => tab.set_egress(Arc::new(container_egress)),
        #[cfg(feature = "ablation")]
        EgressChecks::Off => {
            proxy.stay_open();
            tab.set_egress(Arc::new(crate::egress::Unchecked(container_egress)));
        }
    }
    Ok((tab, proxy))
}

/// The sites of this machine without TLS that the user listed for the browser. Listeners of the guard are none.
pub(super) fn sites_on_this_machine(dependencies: &Dependencies, browser: &Browser) -> Vec<Origin> {
    let payment = dependencies.payments.as_ref().map(|payments| payments.origin());
    let listed = this_machine::sites(&browser.settings().private_hosts);
    let is_site = |site: &Origin| payment.as_ref() != Some(site) && !is_own_port(site.port());
    listed.into_iter().filter(is_site).collect()
}

/// Starts a proxy for one container, with the host rules and the private hosts of the browser's settings.
async fn start_proxy(
    browser: &Browser,
    payment: &[Origin],
    entropy: &mut (dyn Entropy + Send),
) -> Result<EgressProxy, SessionError> {
    let started = EgressProxy::of(browser.settings(), payment, entropy).await;
    started.map_err(|error| SessionError::Proxy(error.to_string()))
}

/// Restricts the egress to these origins, and then releases a value to one of them. If the restriction fails, nothing is
/// released.
pub(super) async fn release_within<T, F: Future<Output = T>>(
    proxy: &EgressProxy,
    open: &[Origin],
    release: impl FnOnce() -> F,
) -> Result<T, Reason> {
    proxy.narrow_to(open).await.map_err(|_| Reason::EgressBlocked)?;
    Ok(release().await)
}

/// The number of refusals to record since the last call.
pub(super) fn take_refusals(proxy: &EgressProxy) -> u64 {
    proxy.take_refused().min(MAX_RECORDED)
}

/// Observes the part of the page that a verb or a request is about.
pub(crate) async fn look(tab: &Tab, look: Look) -> Result<Vec<Observed<Snapshot>>, BridgeError> {
    match look {
        Look::Page => Ok(vec![tab.observe(ObservationTarget::Page).await?]),
        Look::Element(target) => Ok(vec![tab.observe(ObservationTarget::Element(&target)).await?]),
        Look::Forms => tab.forms().await,
        // A key has a look of its own.
        Look::Key(_) => Err(BridgeError::NotApplicable),
        Look::Focus => {
            let focus = tab.focused().await?;
            let about = focus.as_ref().map_or(ObservationTarget::Page, ObservationTarget::Element);
            Ok(vec![tab.observe(about).await?])
        }
    }
}

/// Looks at the text box that a key goes to.
pub(crate) async fn look_for_key(tab: &Tab, key: WritingKey) -> Result<KeyTarget, BridgeError> {
    let (target, text) = tab.text_after(key).await?;
    let page = tab.observe(ObservationTarget::Element(&target)).await?;
    Ok(KeyTarget { target, text, page })
}

/// Carries a verb out, on the page of its decision.
pub(crate) async fn carry_out(
    tab: &Tab,
    verb: Verb,
    decided: Option<&Observed<Snapshot>>,
) -> Result<(), BridgeError> {
    match (verb, decided) {
        (Verb::Open { url }, _) => {
            let url = Url::parse(&url).map_err(|_| BridgeError::Stale)?;
            tab.open(&url).await
        }
        (Verb::Click { target, manner }, Some(decided)) => tab.click_as(&target, manner, decided).await,
        (Verb::Hover { target }, Some(decided)) => tab.hover(&target, decided).await,
        (Verb::Drag { target, onto }, Some(decided)) => tab.drag(&target, &onto, decided).await,
        (Verb::Type { target, text, manner }, Some(decided)) => match manner {
            TypeManner::AtOnce => tab.type_text(&target, &text, decided).await,
            TypeManner::KeyByKey => tab.type_slowly(&target, &text, decided).await,
            TypeManner::Key(key) => tab.type_key(&target, key, &text, decided).await,
        },
        (Verb::Select { target, options }, Some(decided)) => tab.select(&target, &options, decided).await,
        (Verb::Check { target, on }, Some(decided)) => tab.check(&target, on, decided).await,
        (Verb::Submit { target }, Some(decided)) => tab.submit(&target, decided).await,
        (Verb::Press { key }, decided) => tab.press(&key, decided).await,
        (Verb::Wait { milliseconds }, _) => {
            tab.wait(milliseconds).await;
            Ok(())
        }
        (Verb::Back, _) => tab.back().await,
        (_, _) => Err(BridgeError::Stale),
    }
}

/// The reason of a failure of the bridge.
pub(crate) fn reason_of(error: &BridgeError) -> Reason {
    match error {
        BridgeError::Stale => Reason::StaleDocument,
        BridgeError::UnknownRef => Reason::UnknownElement,
        BridgeError::Occluded => Reason::Occluded,
        BridgeError::Diverted => Reason::WrongDestination,
        BridgeError::Refused(refused) => match refused {
            AddressRefused::Scheme | AddressRefused::UserInfo => Reason::AddressRefused,
            AddressRefused::PrivateHost => Reason::PrivateHost,
            AddressRefused::OutsideTask => Reason::OutsideTask,
            AddressRefused::SentAgain => Reason::SentAgain,
            AddressRefused::Egress => Reason::EgressBlocked,
        },
        BridgeError::TextWithheld => Reason::EgressBlocked,
        BridgeError::NotApplicable => Reason::NotApplicable,
        BridgeError::Filled => Reason::ControlFilled,
        BridgeError::RuledOut => Reason::PasswordRules,
        BridgeError::FormIncomplete => Reason::FormIncomplete,
        BridgeError::DialogOpen => Reason::DialogOpen,
        BridgeError::Unreachable(failure) => match failure {
            LoadFailure::Certificate => Reason::CertificateInvalid,
            LoadFailure::Tls => Reason::TlsFailed,
            LoadFailure::NoName => Reason::NameNotFound,
            LoadFailure::NoAnswer => Reason::PageUnreachable,
        },
        BridgeError::Timeout => Reason::BrowserTimeout,
        BridgeError::Protocol(_) => Reason::BrowserError,
        BridgeError::Unconfirmed => Reason::Unconfirmed,
        _ => Reason::BrowserLost,
    }
}

/// The reason why an address could not be opened. The browser sees only that the proxy did not connect it; the proxy says
/// why.
pub(super) fn opening_reason(proxy: &EgressProxy, url: &str, error: &BridgeError) -> Reason {
    let failed = match error {
        BridgeError::Unreachable(_) => Url::parse(url).ok().and_then(|url| proxy.failure(&url)),
        _ => None,
    };
    match failed {
        // An agent that learned which names lead to private addresses could list the names of a private network.
        Some(ConnectFailure::Refused(ConnectionRefusal::Private | ConnectionRefusal::NotThisMachine)) => {
            Reason::NameNotFound
        }
        Some(ConnectFailure::Refused(ConnectionRefusal::Port)) => Reason::PortRefused,
        Some(ConnectFailure::Refused(ConnectionRefusal::Released)) => Reason::EgressBlocked,
        Some(ConnectFailure::NoName) => Reason::NameNotFound,
        Some(ConnectFailure::NoAnswer) => Reason::PageUnreachable,
        None => reason_of(error),
    }
}

/// The reason of a failure to put placeholders into a form. A control that takes none is the page's failure and not the
/// browser's.
pub(super) fn wire_reason(error: &BridgeError) -> Reason {
    match error {
        BridgeError::NotApplicable => Reason::NoControl,
        error => reason_of(error),
    }
}

/// Carries one purchase out: arms the handler for exactly this payee and amount, lets the browser use it, presses the
/// shop's button, and closes everything again whatever happens.
pub(super) async fn pay(tab: &Tab, dependencies: &mut Dependencies, payment: Payment) -> Result<(), Reason> {
    let Payment { card, payee, amount, button, decided } = payment;
    let Some(handler) = dependencies.payments.clone() else { return Err(Reason::NoPaymentHandler) };
    let mut id = [0; 16];
    dependencies.entropy.fill(&mut id);
    let pending = Pending::new(payee.clone(), payee, amount);
    let armed = handler.arm(pending, card, PurchaseId(id)).map_err(|error| match error {
        ArmError::AlreadyPending => Reason::PaymentPending,
        ArmError::Mismatch => Reason::ClaimMismatch,
        ArmError::Unsettled => Reason::PaymentDeclined,
        ArmError::JournalUnavailable => Reason::AuditUnavailable,
    })?;
    let origin = handler.origin();
    let started = match tab.payment_permission(&origin, true).await {
        Ok(()) => tab.click(&button, &decided).await,
        Err(error) => Err(error),
    };
    // A shop can start the payment as soon as the mouse button is down. The bank's answer counts even if the click then
    // failed, so that a completed payment is never reported as refused.
    let within = if started.is_ok() { REDEEM_WITHIN } else { Duration::ZERO };
    let outcome = armed.outcome(within).await;
    close_payments(tab, &origin).await;
    match outcome {
        Outcome::Paid { .. } => {
            // The shop shows its receipt, which the agent should read next.
            let _lost_after_payment = tab.wait_for_navigation(&decided, RECEIPT_WITHIN).await;
            Ok(())
        }
        Outcome::Unasked => Err(started.err().map_or(Reason::NoPaymentInterface, |error| reason_of(&error))),
        Outcome::Declined(_) | Outcome::Expired | Outcome::Unsettled => {
            Err(started.err().map_or(Reason::PaymentDeclined, |error| reason_of(&error)))
        }
    }
}

/// Revokes the browser's permission for the payment handler. If the browser does not answer, this closes the container.
/// The handler itself is disarmed either way.
async fn close_payments(tab: &Tab, handler: &Origin) {
    if tab.payment_permission(handler, false).await.is_err() {
        tab.close().await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::sync::Arc;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::egress::proxy::{HostRules, Limits, OpenRule, SystemResolver};

    /// Asks the proxy for a tunnel to a server of this machine, and returns the connection and the answer.
    async fn tunnel(proxy: &EgressProxy, to: &str) -> (TcpStream, String) {
        let endpoint = proxy.for_container();
        let mut stream = TcpStream::connect(endpoint.address()).await.unwrap();
        let credential = STANDARD.encode(endpoint.credential().as_bytes());
        let ask =
            format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nProxy-Authorization: Basic {credential}\r\n\r\n");
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut answer = [0; 64];
        let length = stream.read(&mut answer).await.unwrap();
        (stream, String::from_utf8_lossy(answer.get(..length).unwrap()).into_owned())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_value_is_released_only_after_every_other_connection_is_cut() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = format!("evil.test:{}", server.local_addr().unwrap().port());
        let before = OpenRule { private_hosts: vec!["evil.test".to_owned()], payment: Vec::new() };
        let (rules, names) = (HostRules::parse("MAP *.test 127.0.0.1").unwrap(), Arc::new(SystemResolver));
        let proxy = EgressProxy::start(before, rules, names, Limits::default(), [7; 64]).await.unwrap();
        let (mut early, answer) = tunnel(&proxy, &to).await;
        assert!(answer.contains("200"), "{answer}");
        let shop = Origin::parse("https://shop.example").unwrap();
        // At the release the earlier tunnel is gone, and no new one opens.
        let through = &proxy;
        let release = move || async move {
            let gone = early.read(&mut [0; 8]).await.unwrap_or(0) == 0;
            (gone, tunnel(through, &to).await.1)
        };
        let (gone, answer) = release_within(&proxy, &[shop], release).await.unwrap();
        assert!(gone);
        assert!(!answer.contains(" 200"), "{answer}");
    }
}
