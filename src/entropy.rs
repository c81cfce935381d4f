//! Random bytes.

use vault::Entropy;

/// The operating system's random bytes.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&mut self, bytes: &mut [u8]) {
        // Without random bytes nothing here is safe to go on with; the process ends without a message
        // that could carry anything.
        if getrandom::fill(bytes).is_err() {
            std::process::abort();
        }
    }
}
