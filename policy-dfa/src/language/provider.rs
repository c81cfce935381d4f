//! Payment providers: the exact origins of their frames, and of the servers that turn card data into a token.

use browser_signals::Origin;

/// The most providers of a policy.
pub(crate) const MAX_PROVIDERS: usize = 32;
/// The most origins of each kind that a provider has.
pub(crate) const MAX_ORIGINS: usize = 8;

/// A payment provider, by the origins that a policy names for it. Origins are compared exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    pub(crate) name: String,
    pub(crate) frames: Vec<Origin>,
    pub(crate) tokens: Vec<Origin>,
}

impl Provider {
    /// The name that the policy gives it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The origins whose frames take card data.
    pub fn frames(&self) -> &[Origin] {
        &self.frames
    }

    /// The origins that such a frame sends card data to, besides its own.
    pub fn tokens(&self) -> &[Origin] {
        &self.tokens
    }

    /// Whether a frame of `frame` may send card data to `to`: its own origin, or one of the provider's for tokens.
    pub fn sends(&self, frame: &Origin, to: &Origin) -> bool {
        to == frame || self.tokens.contains(to)
    }
}

impl std::fmt::Display for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |origins: &[Origin]| {
            origins.iter().map(|origin| format!("\"{origin}\"")).collect::<Vec<_>>().join(", ")
        };
        write!(
            f,
            "provider \"{}\" {{ frame {} token {} }}",
            self.name,
            list(&self.frames),
            list(&self.tokens)
        )
    }
}
