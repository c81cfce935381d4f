//! The ports of the guard's own listeners in this process.
//!
//! No container reaches them, with the one exception of the payment handler, and none is ever a site of this machine. Ports belong to
//! the process, so this register does too. The ports of another guard are unknown here.

use std::sync::{Mutex, MutexGuard, PoisonError};

static OWN_PORTS: Mutex<Vec<u16>> = Mutex::new(Vec::new());

/// The registration of a listener of the guard, for as long as it lives.
#[derive(Debug)]
#[must_use = "a port is only registered while this lives"]
pub struct OwnPort(u16);

impl OwnPort {
    /// Registers the port of a listener.
    pub fn register(port: u16) -> OwnPort {
        registered().push(port);
        OwnPort(port)
    }
}

impl Drop for OwnPort {
    fn drop(&mut self) {
        let mut ports = registered();
        if let Some(at) = ports.iter().position(|port| *port == self.0) {
            ports.swap_remove(at);
        }
    }
}

/// Recognises the port of a listener of the guard in this process.
pub(crate) fn is_own_port(port: u16) -> bool {
    registered().contains(&port)
}

fn registered() -> MutexGuard<'static, Vec<u16>> {
    OWN_PORTS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_the_guards_own_while_its_listener_lives() {
        let first = OwnPort::register(1);
        let second = OwnPort::register(1);
        drop(first);
        assert!(is_own_port(1));
        drop(second);
        assert!(!is_own_port(1));
    }
}
