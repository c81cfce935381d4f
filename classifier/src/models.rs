//! The models that come with the library; their cards are in `models/CARDS`.

use crate::{LinearClassifier, ModelError};

impl LinearClassifier {
    /// The shipped model of what stands around quoted attacks: its risk says how likely a text speaks of attacks and
    /// means none.
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn mention() -> Result<LinearClassifier, ModelError> {
        LinearClassifier::from_bytes(include_bytes!("../models/mention.model"))
    }

    /// The shipped model of messages that want money or secrets by a story.
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn scam() -> Result<LinearClassifier, ModelError> {
        LinearClassifier::from_bytes(include_bytes!("../models/scam.model"))
    }

    /// The shipped model of insults, hate, threats, lewdness and requests for harm.
    ///
    /// # Errors
    /// None in a build whose tests passed.
    pub fn toxicity() -> Result<LinearClassifier, ModelError> {
        LinearClassifier::from_bytes(include_bytes!("../models/toxicity.model"))
    }
}
