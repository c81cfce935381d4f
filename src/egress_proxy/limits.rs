//! What one container may take up.

use std::time::Duration;

/// Bounds of one proxy. A connection needs at most `head` bytes for its request, and a tunnel two buffers of
/// 16 KiB: with the defaults a container takes up less than 16 MiB of the guard's memory.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections of clients at a time. Further ones are closed at once. Chromium opens 32 to one proxy, and
    /// again as many for sockets.
    pub connections: usize,
    /// Bytes of a request's head, at least 8192.
    pub head: usize,
    /// Header lines of a request.
    pub headers: usize,
    /// How long a request's head may take to arrive, and how long a connection may wait for its next request.
    pub head_time: Duration,
    /// How long looking a name up and connecting may take.
    pub connect_time: Duration,
    /// How long nothing may go either way before a connection to a server is closed.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 256,
            head: 16 * 1024,
            headers: 100,
            head_time: Duration::from_secs(10),
            connect_time: Duration::from_secs(15),
            idle: Duration::from_secs(300),
        }
    }
}
