//! The tiers of containers, and the browser's own ids of containers, documents and frames.

use std::sync::Arc;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Copies share one text, so that a clone allocates nothing. Two ids are equal if their texts are.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id with this text, as the browser wrote it.
            pub fn new(text: impl Into<Arc<str>>) -> $name {
                $name(text.into())
            }

            /// The text, as the browser wrote it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

id!(
    /// The browser's id of a browser context.
    ContainerId
);
id!(
    /// The browser's id of a loaded document (CDP `loaderId`): a navigation changes it.
    DocumentId
);
id!(
    /// The browser's id of a frame.
    FrameId
);

/// The tier of a container, which is an isolated browser context. It is `T0` until the user raises it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Container {
    /// Reading only: nothing sensitive is released.
    T0,
    /// Low-risk data may be released.
    T1,
    /// High-risk data may be released.
    T2,
}

impl Container {
    /// The name of the tier: `T0`, `T1` or `T2`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Container::T0 => "T0",
            Container::T1 => "T1",
            Container::T2 => "T2",
        }
    }
}
