//! What outlives a task: the policy's decision point, the vault, the audit log, the payment handler.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use classifier::Detectors;
use policy_dfa::{DecisionPoint, Policy, authority};
use sirl::Schema;
use vault::{Entropy, Secret, UnlockKey, Vault};

use crate::audit::AuditLog;
use crate::checkout::PaymentHandler;
use crate::consent::Answerer;
pub use crate::entropy::SystemEntropy;
use crate::kept_head;
use crate::lock::{IdleLock, LockHandle};
use crate::safety::{PageSafety, WindowSafety};
use crate::scrub::Scrubber;
use crate::session::memory::Memory;

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
    /// The audit log is not what the vault knows of it.
    #[error(
        "the audit log does not go with the vault: {0}; look at it with `portcullis audit verify`, and if you \
         replaced it yourself, say so with `portcullis vault accept`"
    )]
    Audit(String),
    /// The vault is older than the audit log says it was.
    #[error(
        "the vault's file is an older copy (change {found}, and the audit log knows change {known}); restore the \
         newer one, or if you put it back yourself, say so with `portcullis vault accept`"
    )]
    OlderVault {
        /// The file's generation.
        found: u64,
        /// The newest that the log knows.
        known: u64,
    },
    /// The operating system gave no random bytes.
    #[error("the operating system gives no random bytes")]
    Entropy,
}

/// The user's own vault: its bytes, what opens them, and where they are kept.
pub struct UserVault<'a> {
    /// The file's content.
    pub bytes: &'a [u8],
    /// What opens it.
    pub key: VaultKey<'a>,
    /// Where it is saved when an answer stands beyond a session or the audit log's head moves on; without
    /// one, neither is kept.
    pub keeper: Option<Box<dyn VaultKeeper>>,
    /// What the user replaced, and says so. All else that does not go together is taken for tampering.
    pub replaced: Replaced,
}

/// What the user replaced since the vault and its audit log were last used together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replaced {
    /// Nothing.
    #[default]
    Nothing,
    /// The vault's file was put back from a backup.
    Vault,
    /// The log is another one, or was put back from a copy.
    Log,
}

/// What opens a vault.
pub enum VaultKey<'a> {
    /// Its passphrase.
    Passphrase(&'a Secret),
    /// The key that an unlock cache kept.
    Cached(&'a UnlockKey),
}

/// Where a vault's bytes are kept.
pub trait VaultKeeper: Send {
    /// Puts `bytes` in the place of what was there: whole, or not at all. A session changes no stored value: what
    /// differs are answers that stand and the head of the audit log.
    ///
    /// # Errors
    /// Those of the file system. What was there before still is.
    fn save(&mut self, bytes: &[u8]) -> std::io::Result<()>;
}

/// Policy, vault, audit log, answerer and payment handler, ready for one session after another.
pub struct Guard {
    pub(crate) decision: DecisionPoint,
    pub(crate) kit: Kit,
}

/// Everything of a guard but the decision point.
pub(crate) struct Kit {
    pub(crate) vault: Arc<Mutex<Vault>>,
    pub(crate) audit: Box<dyn AuditLog>,
    pub(crate) answerer: Box<dyn Answerer>,
    pub(crate) payments: Option<Arc<PaymentHandler>>,
    pub(crate) detectors: Arc<Detectors>,
    pub(crate) entropy: Box<dyn Entropy + Send>,
    pub(crate) schema: Schema,
    pub(crate) scrubber: Scrubber,
    pub(crate) safety: Option<Arc<dyn PageSafety>>,
    /// Whether a policy's `deliver model` is carried out.
    pub(crate) tells_model: bool,
    pub(crate) keeper: Option<Box<dyn VaultKeeper>>,
    pub(crate) idle: Option<IdleLock>,
    /// The persona that leads where the prompt names none.
    pub(crate) persona: Option<String>,
    /// The generation of the vault's file as it was opened or saved last.
    pub(crate) saved: Option<u64>,
    /// What is kept from task to task, where they are one agent's.
    pub(crate) memory: Option<Memory>,
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
        vault: UserVault<'_>,
        audit: Box<dyn AuditLog>,
        answerer: Box<dyn Answerer>,
        entropy: Box<dyn Entropy + Send>,
    ) -> Result<Guard, GuardError> {
        Guard::build(policy, Some(vault), audit, answerer, entropy)
    }

    fn build(
        policy: &str,
        user: Option<UserVault<'_>>,
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
        let (vault, keeper) = match user {
            None => (Vault::ephemeral(entropy.as_mut(), verifier), None),
            Some(UserVault { bytes, key, keeper, replaced }) => {
                let opened = match key {
                    VaultKey::Passphrase(passphrase) => Vault::unlock(bytes, passphrase, verifier),
                    VaultKey::Cached(key) => Vault::unlock_with_key(bytes, key, verifier),
                };
                let vault = opened.map_err(|error| GuardError::Vault(error.to_string()))?;
                check_log(&vault, audit.as_ref(), replaced)?;
                (vault, keeper)
            }
        };
        let saved = keeper.is_some().then(|| vault.generation());
        let vault = Arc::new(Mutex::new(vault));
        let detectors = Detectors::standard().map_err(|error| GuardError::Policy(error.to_string()))?;
        let detectors = Arc::new(detectors);
        let scrubber = Scrubber::standard().map_err(|error| GuardError::Policy(error.to_string()))?;
        // A policy that asks how safe a page is gets an answer; another one need not wait for it.
        let safety: Option<Arc<dyn PageSafety>> = match decision.thresholds() {
            Some(_) => {
                let shipped =
                    WindowSafety::standard().map_err(|error| GuardError::Policy(error.to_string()))?;
                Some(Arc::new(shipped))
            }
            None => None,
        };
        let schema = Schema::default();
        let kit = Kit {
            vault,
            audit,
            answerer,
            payments: None,
            detectors,
            entropy,
            schema,
            scrubber,
            safety,
            tells_model: false,
            keeper,
            idle: None,
            persona: None,
            saved,
            memory: None,
        };
        Ok(Guard { decision, kit })
    }

    /// Narrows what a model may ask for to what a schema declares; without one, all that the language has.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Guard {
        self.kit.schema = schema;
        self
    }

    /// Tells the model of pages what this scrubber leaves of them.
    #[must_use]
    pub fn with_scrubber(mut self, scrubber: Scrubber) -> Guard {
        self.kit.scrubber = scrubber;
        self
    }

    /// Judges by this how safe pages are, where the policy asks for it (`safety reaches the threshold`).
    #[must_use]
    pub fn with_safety(mut self, safety: Arc<dyn PageSafety>) -> Guard {
        self.kit.safety = Some(safety);
        self
    }

    /// Carries out a policy's `deliver model`: values of T1 are told to the model in plain text, which types them itself,
    /// and which can be talked into typing them elsewhere. Without this such a request is refused. It is for measuring
    /// approach A of the paper as it was meant; no policy tells a model a value of T2.
    #[must_use]
    pub fn with_values_told_to_the_model(mut self) -> Guard {
        self.kit.tells_model = true;
        self
    }

    /// Lets purchases go through this payment handler.
    #[must_use]
    pub fn with_payments(mut self, payments: Arc<PaymentHandler>) -> Guard {
        self.kit.payments = Some(payments);
        self
    }

    /// Locks the vault: from now on nothing is released, in running sessions too.
    pub fn lock(&self) {
        self.lock_handle().lock();
    }

    /// Something that locks the vault from elsewhere: a signal, a screen that was locked.
    pub fn lock_handle(&self) -> LockHandle {
        LockHandle::new(&self.kit.vault)
    }

    /// Locks the vault when the user has not begun a task or answered a prompt for this long.
    #[must_use]
    pub fn with_idle_lock(mut self, after: Duration) -> Guard {
        self.kit.idle = Some(IdleLock::new(after));
        self
    }

    /// Takes values from the records of this persona where it has them, such as `work` for `address:work`. A
    /// persona or a record that the prompt names goes before.
    #[must_use]
    pub fn with_persona(mut self, persona: &str) -> Guard {
        self.kit.persona = Some(persona.to_owned());
        self
    }
}

/// Checks that the log still holds what the vault saw of it, and that the vault is not older than the log, but
/// for what the user replaced.
fn check_log(vault: &Vault, audit: &dyn AuditLog, replaced: Replaced) -> Result<(), GuardError> {
    match replaced {
        Replaced::Nothing => kept_head::check(vault, audit),
        Replaced::Vault => {
            let known = kept_head::known(vault)?;
            audit.check(known.as_ref(), vault.public_key()).map(drop).map_err(GuardError::Audit)
        }
        Replaced::Log => {
            let newest = audit.check(None, vault.public_key()).map_err(GuardError::Audit)?;
            kept_head::is_not_older(vault, newest)
        }
    }
}
