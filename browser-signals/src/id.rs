//! The browser's own names of containers, documents and frames.

use std::sync::Arc;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Copies share one text, so that handing it on allocates nothing. Two are equal if their texts are.
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
