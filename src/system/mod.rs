//! Services of the operating system: random bytes, the time of day, protections of the process, listeners on the
//! loopback address.
//!
//! | module | subject |
//! |---|---|
//! | [`process`] | core dumps off, and panics that print no value |
//! | `loopback` | which requests the guard's listeners on 127.0.0.1 answer |
//! | [`own_ports`] | the ports of these listeners |
//! | `tls` | the certificates that the guard's own connections trust |

#[cfg(feature = "browser")]
use std::time::{SystemTime, UNIX_EPOCH};

use vault::Entropy;

#[cfg(feature = "browser")]
pub(crate) mod loopback;
#[cfg(feature = "browser")]
pub mod own_ports;
pub mod process;
#[cfg(feature = "browser")]
pub(crate) mod tls;

/// The operating system's random bytes.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&mut self, bytes: &mut [u8]) {
        // Without random bytes nothing here is safe to go on with. The process ends without a message, since a message
        // could carry a value.
        if getrandom::fill(bytes).is_err() {
            std::process::abort();
        }
    }
}

/// The present time for records, in milliseconds since 1970.
#[cfg(feature = "browser")]
pub(crate) fn unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
