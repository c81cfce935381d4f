//! What outlives a task: the policy's decision point, the vault, the audit log, the payment handler.

use std::sync::{Arc, Mutex};

use classifier::Detectors;
use policy_dfa::{DecisionPoint, Policy, authority};
use sirl::Schema;
use vault::{Entropy, Secret, Vault};

use crate::audit::AuditLog;
use crate::checkout::PaymentHandler;
use crate::consent::Answerer;

/// Why a guard could not be made.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The policy text has errors.
    #[error("the policy cannot be read: {0}")]
    Policy(String),
    /// The policy breaks an invariant.
    #[error("the policy is refused, because it breaks an invariant: {0}")]
    Refused(String),
    /// The vault could not be opened.
    #[error("the vault cannot be opened: {0}")]
    Vault(String),
    /// The operating system gave no random bytes.
    #[error("the operating system gives no random bytes")]
    Entropy,
}

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

/// A vault's bytes and the passphrase that opens them.
pub struct VaultFile<'a> {
    /// The file's content.
    pub bytes: &'a [u8],
    /// The passphrase.
    pub passphrase: &'a Secret,
}

/// Policy, vault, audit log, answerer and payment handler, ready for one session after another.
pub struct Guard {
    pub(crate) decision: DecisionPoint,
    pub(crate) vault: Arc<Mutex<Vault>>,
    pub(crate) audit: Box<dyn AuditLog>,
    pub(crate) answerer: Box<dyn Answerer>,
    pub(crate) payments: Option<Arc<PaymentHandler>>,
    pub(crate) detectors: Arc<Detectors>,
    pub(crate) entropy: Box<dyn Entropy + Send>,
    pub(crate) schema: Schema,
}

impl Guard {
    /// A guard under a policy, with an empty vault that lives as long as it.
    ///
    /// The policy is parsed, compiled and proved; one that breaks an invariant is refused.
    pub fn new(
        policy: &str,
        audit: Box<dyn AuditLog>,
        answerer: Box<dyn Answerer>,
        entropy: Box<dyn Entropy + Send>,
    ) -> Result<Guard, GuardError> {
        Guard::build(policy, None, audit, answerer, entropy)
    }

    /// A guard with the user's own vault.
    pub fn with_vault(
        policy: &str,
        file: VaultFile<'_>,
        audit: Box<dyn AuditLog>,
        answerer: Box<dyn Answerer>,
        entropy: Box<dyn Entropy + Send>,
    ) -> Result<Guard, GuardError> {
        Guard::build(policy, Some(file), audit, answerer, entropy)
    }

    fn build(
        policy: &str,
        file: Option<VaultFile<'_>>,
        audit: Box<dyn AuditLog>,
        answerer: Box<dyn Answerer>,
        mut entropy: Box<dyn Entropy + Send>,
    ) -> Result<Guard, GuardError> {
        let policy = Policy::parse(policy).map_err(|error| GuardError::Policy(error.to_string()))?;
        let compiled = policy.compile().map_err(|error| GuardError::Policy(error.to_string()))?;
        let checked = compiled.check().map_err(|violations| {
            let all: Vec<String> = violations.iter().map(ToString::to_string).collect();
            GuardError::Refused(all.join("; "))
        })?;
        let mut id = [0; 16];
        entropy.fill(&mut id);
        let (decision, verifier) = authority(checked, id);
        let vault = match file {
            None => Vault::ephemeral(entropy.as_mut(), verifier),
            Some(file) => Vault::unlock(file.bytes, file.passphrase, verifier)
                .map_err(|error| GuardError::Vault(error.to_string()))?,
        };
        let vault = Arc::new(Mutex::new(vault));
        let detectors = Detectors::standard().map_err(|error| GuardError::Policy(error.to_string()))?;
        let detectors = Arc::new(detectors);
        let schema = Schema::default();
        Ok(Guard { decision, vault, audit, answerer, payments: None, detectors, entropy, schema })
    }

    /// Narrows what a model may ask for to what a schema declares; without one, all that the language has.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Guard {
        self.schema = schema;
        self
    }

    /// Lets purchases go through this payment handler.
    #[must_use]
    pub fn with_payments(mut self, payments: Arc<PaymentHandler>) -> Guard {
        self.payments = Some(payments);
        self
    }

    /// Locks the vault: from now on nothing is released, in running sessions too.
    pub fn lock(&self) {
        if let Ok(mut vault) = self.vault.lock() {
            vault.lock();
        }
    }
}
