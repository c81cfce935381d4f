//! The part of Portcullis that outlives a task: the policy's decision point, the vault, the audit log, the payment
//! handler; and the checks of a page and of a task that need no browser.
//!
//! | module | subject |
//! |---|---|
//! | `opening` | the user's own vault, and the errors of opening a guard |
//! | `dependencies` | vault, audit log, answerer and more, and the ways sessions use them |
//! | `shared` | what guards of sessions at the same time share |
//! | [`shared_vault`] | their vault |
//! | `logins` | saved logins |
//! | [`sources`] | the user's password managers |
//! | [`record_choices`] | the user's choices among records that fit alike |
//! | [`stored_head`] | the audit log's head, stored in the vault |
//! | `agent_memory` | guesses and taint of an agent's other tasks |
//! | [`taint`] | where text was read, and where it may go |
//! | [`agent_actions`] | the agent's recorded actions over all pages of a task |
//! | [`mandate`] | a yes given with the task to one purchase |
//! | [`placement`] | which control takes which field |
//! | `purpose` | what a form is for |
//! | [`upload_folder`] | files that the user offers for uploads |

pub mod agent_actions;
pub(crate) mod agent_memory;
pub(crate) mod dependencies;
mod logins;
pub mod mandate;
mod opening;
pub mod placement;
pub mod pointing;
pub(crate) mod purpose;
pub mod record_choices;
pub(crate) mod shared;
pub mod shared_vault;
pub mod sources;
pub mod stored_head;
pub(crate) mod taint;
#[cfg(unix)]
pub mod upload_folder;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use checkout_protocols::PublicKey;
use classifier::Detectors;
use policy_dfa::{DecisionPoint, Policy, authority};
use sirl::{Kind, Schema};
use vault::sources::Source;
use vault::{Entropy, Vault};

use crate::audit::AuditLog;
use crate::checkout::PaymentHandler;
use crate::consent::Answerer;
use crate::egress::EgressChecks;
use crate::orders::OrderDesk;
use crate::page_text::Scrubber;
use crate::safety::{PageSafety, WindowSafety};
use crate::storage::login_folder::LoginFolder;
use crate::storage::vault_lock::{FindKey, IdleLock, LockHandle};
pub use crate::system::SystemEntropy;
use agent_memory::SharedMemory;
pub(crate) use dependencies::Dependencies;
pub use opening::{GuardError, Replaced, UserVault, VaultKeeper, VaultKey};
use shared::{KeptFile, SharedAnswerer, SharedEntropy};
use shared_vault::SharedVault;
use sources::SharedSource;

/// A policy's decision point with its dependencies, ready for one session after another.
pub struct Guard {
    pub(crate) decision: DecisionPoint,
    pub(crate) dependencies: Dependencies,
}

impl Guard {
    /// A guard under a policy, with an empty vault that is dropped with the guard.
    ///
    /// Parses, compiles and proves the policy.
    ///
    /// # Errors
    /// [`GuardError`]; a policy that breaks an invariant is refused.
    pub fn new(
        policy: &str,
        audit: Box<dyn AuditLog>,
        answerer: Box<dyn Answerer>,
        entropy: Box<dyn Entropy + Send>,
    ) -> Result<Guard, GuardError> {
        Guard::build(policy, None, audit, answerer, entropy)
    }

    /// A guard with the user's own vault.
    ///
    /// # Errors
    /// [`GuardError`].
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
        let checked = Policy::parse(policy)?.compile()?.check()?;
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
                stored_head::check_unless_replaced(&vault, audit.as_ref(), replaced)?;
                (vault, keeper)
            }
        };
        let keeper =
            keeper.map(|keeper| Arc::new(Mutex::new(KeptFile { keeper, saved: vault.generation() })));
        let vault = SharedVault::new(vault);
        let detectors = Detectors::standard().map_err(|error| GuardError::Part(error.to_string()))?;
        let detectors = Arc::new(detectors);
        let scrubber = Scrubber::standard().map_err(|error| GuardError::Part(error.to_string()))?;
        // Only a policy with safety thresholds needs the models, which take time to load.
        let safety: Option<Arc<dyn PageSafety>> = match decision.thresholds() {
            Some(_) => {
                let shipped =
                    WindowSafety::standard().map_err(|error| GuardError::Part(error.to_string()))?;
                Some(Arc::new(shipped))
            }
            None => None,
        };
        let schema = Schema::default();
        let dependencies = Dependencies {
            vault,
            audit: Arc::new(Mutex::new(audit)),
            answerer: SharedAnswerer::new(answerer),
            payments: None,
            orders: None,
            detectors,
            entropy: SharedEntropy::new(entropy),
            schema,
            scrubber,
            safety,
            shows_values_to_model: false,
            egress: EgressChecks::On,
            keeper,
            idle: None,
            persona: None,
            memory: None,
            client: None,
            sources: Vec::new(),
            logins: None,
            key: None,
            #[cfg(unix)]
            uploads: None,
        };
        Ok(Guard { decision, dependencies })
    }

    /// Restricts requests to the kinds and fields that a schema declares. By default the whole language is allowed.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Guard {
        self.dependencies.schema = schema;
        self
    }

    /// Renders pages for the model with this scrubber.
    #[must_use]
    pub fn with_scrubber(mut self, scrubber: Scrubber) -> Guard {
        self.dependencies.scrubber = scrubber;
        self
    }

    /// Judges pages with this safety score, where the policy asks for one (`safety reaches the threshold`).
    #[must_use]
    pub fn with_safety(mut self, safety: Arc<dyn PageSafety>) -> Guard {
        self.dependencies.safety = Some(safety);
        self
    }

    /// Carries out a policy's `deliver model`: the model receives values of T1 in plain text and types them itself. An
    /// attack on the model can make it type them elsewhere. Without this option such a request is refused. It exists to
    /// measure approach A of the paper as it was meant; no policy shows a model a value of T2.
    #[must_use]
    pub fn with_values_shown_to_the_model(mut self) -> Guard {
        self.dependencies.shows_values_to_model = true;
        self
    }

    /// Compares neither the agent's text nor the requests of pages with the user's values, and narrows no connections, to measure what
    /// that prevents. After a fill the bridge still keeps documents and bodies from other origins. It exists only in builds with the
    /// feature `ablation`.
    #[cfg(feature = "ablation")]
    #[must_use]
    pub fn without_egress_checks(mut self) -> Guard {
        self.dependencies.egress = EgressChecks::Off;
        self
    }

    /// Pays for purchases through this payment handler.
    #[must_use]
    pub fn with_payments(mut self, payments: Arc<PaymentHandler>) -> Guard {
        self.dependencies.payments = Some(payments);
        self
    }

    /// The key by which shops verify the mandates of this guard's orders; none while the vault is locked.
    pub fn mandate_key(&self) -> Option<PublicKey> {
        let coordinates = self.dependencies.vault.lock().ok()?.mandate_key().ok()?;
        PublicKey::from_coordinates(&coordinates).ok()
    }

    /// Places orders at shops that speak a checkout protocol.
    #[must_use]
    pub fn with_orders(mut self, desk: Arc<OrderDesk>) -> Guard {
        self.dependencies.orders = Some(desk);
        self
    }

    /// A guard for a session at the same time: with the same policy, vault, record and answerer, and the same memory of the agent.
    /// The user is asked one question after the other. Neither session releases or finds the values that the user's words
    /// gave to the other's task.
    #[must_use]
    pub fn for_another_session(&self) -> Guard {
        Guard {
            decision: self.decision.for_another_session(),
            dependencies: self.dependencies.for_another_session(),
        }
    }

    /// Names the client in every question, by the user's own label for it.
    #[must_use]
    pub fn named_in_questions(mut self, label: &str) -> Guard {
        self.dependencies.client = Some(label.to_owned());
        self
    }

    /// Locks the vault. From now on nothing is released, in running sessions too.
    pub fn lock(&self) {
        self.lock_handle().lock();
    }

    /// A handle that locks the vault from elsewhere, such as on a signal or a locked screen.
    pub fn lock_handle(&self) -> LockHandle {
        LockHandle::new(&self.dependencies.vault)
    }

    /// Opens a vault that was locked again, once its key is found: before each action of the agent, and at the beginning of each task.
    #[must_use]
    pub fn with_key_from(mut self, finder: Arc<dyn FindKey>) -> Guard {
        self.dependencies.key = Some(finder);
        self
    }

    /// Locks the vault once the user has neither begun a task nor answered a prompt for this long.
    #[must_use]
    pub fn with_idle_lock(mut self, after: Duration) -> Guard {
        self.dependencies.idle = Some(Arc::new(Mutex::new(IdleLock::new(after))));
        self
    }

    /// Prefers the records of this persona, such as `address:work` for `work`. A persona or a record that the prompt
    /// names has precedence.
    #[must_use]
    pub fn with_persona(mut self, persona: &str) -> Guard {
        self.dependencies.persona = Some(persona.to_owned());
        self
    }

    /// Takes logins and one-time codes that the vault does not have from a password manager of the user's, for these kinds of request.
    /// It is asked once a request is granted. Several are asked in the order in which they are added.
    #[must_use]
    pub fn with_source(mut self, source: Box<dyn Source>, kinds: Vec<Kind>) -> Guard {
        self.dependencies.sources.push(SharedSource::new(source, kinds));
        self
    }

    /// Offers the logins that the user saved (`portcullis login`) to tasks that log in. The user is asked each time.
    #[must_use]
    pub fn with_logins(mut self, folder: LoginFolder) -> Guard {
        self.dependencies.logins = Some(folder);
        self
    }

    /// Offers the files of a folder for uploads. The user is asked about each upload.
    #[cfg(unix)]
    #[must_use]
    pub fn with_upload_folder(mut self, folder: upload_folder::UploadFolder) -> Guard {
        self.dependencies.uploads = Some(Arc::new(folder));
        self
    }

    /// Treats all tasks of this guard as one agent's, which begins and ends them by itself. Private text that the agent
    /// read in one task is not carried elsewhere in a later one either, and an agent that guessed a value in one task has
    /// no sensitive access in the next, until the user agrees to one.
    #[must_use]
    pub fn with_one_agent(mut self) -> Guard {
        self.dependencies.memory = Some(SharedMemory::default());
        self
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use browser_signals::Origin;
    use policy_dfa::Reason;

    use super::*;
    use crate::audit::MemoryLog;
    use crate::consent::{Answer, HandOver, ScriptedAnswerer, Warning, WarningCause};

    #[tokio::test]
    async fn no_session_waits_for_another_ones_question_to_show_a_warning() {
        let user = Box::new(ScriptedAnswerer(|_: &_| Answer::No));
        let log = Box::new(MemoryLog::default());
        let guard = Guard::new(crate::DEFAULT_POLICY, log, user, Box::new(SystemEntropy)).unwrap();
        let other = guard.for_another_session();
        let origin = Origin::parse("https://shop.example").unwrap();
        let cause = WarningCause::UnsafePage;
        let warning = Warning { kind: Kind::Address, origin: origin.clone(), cause };
        let asking = guard.dependencies.answerer.turn().await;
        assert!(!other.dependencies.warn(&warning).await);
        drop(asking);
        assert!(other.dependencies.warn(&warning).await);
        // The offer of a client names it.
        let offer = HandOver::of(Kind::Address, origin, Reason::LowSafety).unwrap();
        let named = HandOver { client: Some("editor".to_owned()), ..offer };
        assert!(named.to_string().starts_with("From your client `editor`: The agent asked"), "{named}");
    }
}
