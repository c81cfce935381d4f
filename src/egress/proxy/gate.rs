//! The current rule, and every connection that is open under it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use super::rule::{ConnectionRefusal, EgressRule};
use super::target::Target;

/// The time within which revoked connections must end.
const REVOKE_TIMEOUT: Duration = Duration::from_secs(2);

/// The error where a connection is still open that the rule does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the container's connections to other hosts could not be cut")]
pub struct StillOpen;

struct OpenConnection {
    target: Target,
    revoke: Option<oneshot::Sender<()>>,
}

struct State {
    rule: Arc<dyn EgressRule>,
    open: HashMap<u64, OpenConnection>,
    next: u64,
    opened: u64,
    refused: u64,
}

/// Permits connections that the rule allows, and revokes those that a new rule does not allow.
pub(super) struct Gate {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

impl Gate {
    pub fn new(rule: Arc<dyn EgressRule>) -> Gate {
        let state = State { rule, open: HashMap::new(), next: 0, opened: 0, refused: 0 };
        Gate { state: Mutex::new(state), changed: watch::Sender::new(()) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Permits a connection. It counts as open at once, before anything is connected: so a change of the rule also revokes
    /// connections that are being made.
    pub fn open(self: &Arc<Gate>, target: &Target) -> Result<ConnectionPermit, ConnectionRefusal> {
        let mut state = self.state();
        if let Err(refusal) = state.rule.judge(target) {
            state.refused += 1;
            return Err(refusal);
        }
        let (revoke, revoked) = oneshot::channel();
        let number = state.next;
        state.next += 1;
        state.opened += 1;
        state.open.insert(number, OpenConnection { target: target.clone(), revoke: Some(revoke) });
        Ok(ConnectionPermit { gate: Arc::clone(self), number, revoked })
    }

    /// Checks an address before it is connected to.
    pub fn judge_address(&self, target: &Target, address: IpAddr) -> Result<(), ConnectionRefusal> {
        let rule = Arc::clone(&self.state().rule);
        let judged = rule.judge_address(target, address);
        if judged.is_err() {
            self.state().refused += 1;
        }
        judged
    }

    /// Replaces the rule, revokes the connections that the new one does not allow, and waits until they have ended.
    ///
    /// The rule is in force from the first poll, also where the wait then fails.
    pub async fn change(&self, rule: Arc<dyn EgressRule>) -> Result<(), StillOpen> {
        let mut changes = self.changed.subscribe();
        {
            let mut state = self.state();
            for open in state.open.values_mut().filter(|open| rule.judge(&open.target).is_err()) {
                drop(open.revoke.take());
            }
            state.rule = Arc::clone(&rule);
        }
        let gone = async {
            while self.state().open.values().any(|open| rule.judge(&open.target).is_err()) {
                if changes.changed().await.is_err() {
                    break;
                }
            }
        };
        tokio::time::timeout(REVOKE_TIMEOUT, gone).await.map_err(|_| StillOpen)
    }

    /// The number of connections that were permitted so far.
    pub fn opened(&self) -> u64 {
        self.state().opened
    }

    /// The number of connections that were refused since the last call.
    pub fn take_refused(&self) -> u64 {
        std::mem::take(&mut self.state().refused)
    }

    #[cfg(test)]
    fn now_open(&self) -> usize {
        self.state().open.len()
    }
}

/// The permit of one open connection. Its holder drops it after the connection has ended.
pub(super) struct ConnectionPermit {
    gate: Arc<Gate>,
    number: u64,
    revoked: oneshot::Receiver<()>,
}

impl ConnectionPermit {
    /// Waits until the permit is revoked.
    pub async fn revoked(&mut self) {
        // Nothing is ever sent; the sender is dropped.
        let _revoked = (&mut self.revoked).await;
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.gate.state().open.remove(&self.number);
        self.gate.changed.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allows one port.
    struct Port(u16);

    impl EgressRule for Port {
        fn judge(&self, target: &Target) -> Result<(), ConnectionRefusal> {
            if target.port() == self.0 || self.0 == 0 { Ok(()) } else { Err(ConnectionRefusal::Released) }
        }

        fn judge_address(&self, _: &Target, _: IpAddr) -> Result<(), ConnectionRefusal> {
            Ok(())
        }
    }

    fn target(port: u16) -> Target {
        Target::of_tunnel(&format!("shop.example:{port}").parse().unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_change_waits_until_the_last_revoked_connection_has_ended() {
        let gate = Arc::new(Gate::new(Arc::new(Port(0))));
        let mut kept = gate.open(&target(443)).unwrap();
        let mut other = gate.open(&target(80)).unwrap();
        let changing = tokio::spawn({
            let gate = gate.clone();
            async move { gate.change(Arc::new(Port(443))).await }
        });
        other.revoked().await;
        assert!(gate.open(&target(80)).is_err(), "the new rule holds while old connections end");
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!changing.is_finished(), "the connection has not ended yet");
        drop(other);
        assert_eq!(changing.await.unwrap(), Ok(()));
        let revoked = tokio::time::timeout(Duration::from_millis(20), kept.revoked()).await;
        assert!(revoked.is_err(), "an allowed connection is not revoked");
        assert_eq!((gate.now_open(), gate.opened(), gate.take_refused(), gate.take_refused()), (1, 2, 1, 0));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_connection_that_does_not_end_is_reported() {
        let gate = Arc::new(Gate::new(Arc::new(Port(0))));
        let _stays = gate.open(&target(80)).unwrap();
        assert_eq!(gate.change(Arc::new(Port(443))).await, Err(StillOpen));
        assert!(gate.open(&target(80)).is_err(), "the rule holds all the same");
    }
}
