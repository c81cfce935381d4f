//! The error of a run.

use portcullis::GuardError;
use portcullis::session::SessionError;

use crate::suite::tls::TlsError;
use crate::trials::stage::StageError;
use crate::trials::unguarded::UnguardedError;

/// The reason why a run gives no report.
#[derive(Debug)]
pub enum EvaluationError {
    /// Something is not installed.
    NotSetUp(String),
    /// The policy cannot be used.
    Input(String),
    /// A trial could not be run.
    Failed(String),
}

impl From<StageError> for EvaluationError {
    fn from(error: StageError) -> EvaluationError {
        match error {
            StageError::NoChromium | StageError::Tls(TlsError::NoCertutil) | StageError::Browser(_) => {
                EvaluationError::NotSetUp(error.to_string())
            }
            other => EvaluationError::Failed(other.to_string()),
        }
    }
}

impl From<UnguardedError> for EvaluationError {
    fn from(error: UnguardedError) -> EvaluationError {
        EvaluationError::NotSetUp(error.to_string())
    }
}

impl From<SessionError> for EvaluationError {
    fn from(error: SessionError) -> EvaluationError {
        match error {
            SessionError::Guard(GuardError::Policy(_) | GuardError::Refused(_)) => {
                EvaluationError::Input(error.to_string())
            }
            other => EvaluationError::Failed(other.to_string()),
        }
    }
}

impl From<std::io::Error> for EvaluationError {
    fn from(error: std::io::Error) -> EvaluationError {
        EvaluationError::Failed(format!("the report's folder cannot be written: {error}"))
    }
}
