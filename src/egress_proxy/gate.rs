//! The rule that holds now, and every way that is open under it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use super::rule::{Refusal, Rule};
use super::target::Target;

/// How long ways that were cut have to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(2);

/// What the rule does not allow is still open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the container's connections to other hosts could not be cut")]
pub struct StillOpen;

struct Open {
    target: Target,
    cut: Option<oneshot::Sender<()>>,
}

struct State {
    rule: Arc<dyn Rule>,
    open: HashMap<u64, Open>,
    next: u64,
    opened: u64,
    refused: u64,
}

/// Lets ways be opened as long as the rule allows them, and cuts those that a new rule does not.
pub(super) struct Gate {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

impl Gate {
    pub fn new(rule: Arc<dyn Rule>) -> Gate {
        let state = State { rule, open: HashMap::new(), next: 0, opened: 0, refused: 0 };
        Gate { state: Mutex::new(state), changed: watch::Sender::new(()) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a way, or says why not. It counts as open from now on, before anything is connected: so a way that
    /// is on its way when the rule changes is cut like any other.
    pub fn open(self: &Arc<Gate>, target: &Target) -> Result<Pass, Refusal> {
        let mut state = self.state();
        if let Err(refusal) = state.rule.judge(target) {
            state.refused += 1;
            return Err(refusal);
        }
        let (cut, cutting) = oneshot::channel();
        let number = state.next;
        state.next += 1;
        state.opened += 1;
        state.open.insert(number, Open { target: target.clone(), cut: Some(cut) });
        Ok(Pass { gate: Arc::clone(self), number, cutting })
    }

    /// Whether an address may be connected to.
    pub fn judge_address(&self, target: &Target, address: IpAddr) -> Result<(), Refusal> {
        let rule = Arc::clone(&self.state().rule);
        let judged = rule.judge_address(target, address);
        if judged.is_err() {
            self.state().refused += 1;
        }
        judged
    }

    /// Puts a rule in the place of the one that holds, cuts what it does not allow, and waits until that is gone.
    ///
    /// The rule holds from the first poll, also where the wait then fails.
    pub async fn change(&self, rule: Arc<dyn Rule>) -> Result<(), StillOpen> {
        let mut changes = self.changed.subscribe();
        {
            let mut state = self.state();
            for open in state.open.values_mut().filter(|open| rule.judge(&open.target).is_err()) {
                drop(open.cut.take());
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
        tokio::time::timeout(GONE_WITHIN, gone).await.map_err(|_| StillOpen)
    }

    /// How many ways were opened so far.
    pub fn opened(&self) -> u64 {
        self.state().opened
    }

    /// How many were refused since the last call.
    pub fn take_refused(&self) -> u64 {
        std::mem::take(&mut self.state().refused)
    }

    #[cfg(test)]
    fn now_open(&self) -> usize {
        self.state().open.len()
    }
}

/// One open way. Whoever holds it drops it once nothing of the way is left.
pub(super) struct Pass {
    gate: Arc<Gate>,
    number: u64,
    cutting: oneshot::Receiver<()>,
}

impl Pass {
    /// Waits until the way is cut.
    pub async fn cut(&mut self) {
        // Nothing is ever sent: the sender is dropped.
        let _cut = (&mut self.cutting).await;
    }
}

impl Drop for Pass {
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

    impl Rule for Port {
        fn judge(&self, target: &Target) -> Result<(), Refusal> {
            if target.port() == self.0 || self.0 == 0 { Ok(()) } else { Err(Refusal::Released) }
        }

        fn judge_address(&self, _: &Target, _: IpAddr) -> Result<(), Refusal> {
            Ok(())
        }
    }

    fn target(port: u16) -> Target {
        Target::of_tunnel(&format!("shop.example:{port}").parse().unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_change_waits_until_the_last_way_that_was_cut_is_gone() {
        let gate = Arc::new(Gate::new(Arc::new(Port(0))));
        let mut kept = gate.open(&target(443)).unwrap();
        let mut other = gate.open(&target(80)).unwrap();
        let changing = tokio::spawn({
            let gate = gate.clone();
            async move { gate.change(Arc::new(Port(443))).await }
        });
        other.cut().await;
        assert!(gate.open(&target(80)).is_err(), "the new rule holds while old ways end");
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!changing.is_finished(), "the way is not gone yet");
        drop(other);
        assert_eq!(changing.await.unwrap(), Ok(()));
        let cut = tokio::time::timeout(Duration::from_millis(20), kept.cut()).await;
        assert!(cut.is_err(), "what is allowed is not cut");
        assert_eq!((gate.now_open(), gate.opened(), gate.take_refused(), gate.take_refused()), (1, 2, 1, 0));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_way_that_does_not_end_is_told() {
        let gate = Arc::new(Gate::new(Arc::new(Port(0))));
        let _stays = gate.open(&target(80)).unwrap();
        assert_eq!(gate.change(Arc::new(Port(443))).await, Err(StillOpen));
        assert!(gate.open(&target(80)).is_err(), "the rule holds all the same");
    }
}
