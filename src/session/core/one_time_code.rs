//! A one-time code that the vault makes for a release, by the time of the system's clock.

use policy_dfa::Reason;
use sirl::Field;

use super::block_state::{BlockPhase, BlockState, GrantedRelease, MadeSecret};
use super::messages::{Command, GuardCommand};
use super::state::{Core, State};

impl Core {
    /// Asks for the time, if the release places a one-time code, which is made for it.
    pub(super) fn code_before(&mut self, block: BlockState, release: GrantedRelease) -> Command {
        let places_code = match &release {
            GrantedRelease::Fill(grant) => grant.terms().fields.contains(Field::OneTimeCode),
            GrantedRelease::Wire(grant) => grant.terms().fields.contains(Field::OneTimeCode),
            GrantedRelease::Pay(_) | GrantedRelease::ShowToModel(_) => false,
        };
        if !places_code {
            return self.keep_before(block, release);
        }
        let phase = BlockPhase::ReadingClock(release);
        self.enter(State::Block(Box::new((block, phase))), Command::Guard(GuardCommand::ReadClock))
    }

    /// Makes the code of this time, in milliseconds since 1970, and has its step written before anything else happens.
    pub(super) fn make_code(&mut self, block: BlockState, release: GrantedRelease, unix_ms: u64) -> Command {
        let mut entropy = self.nonces.entropy();
        let vault = self.values.vault.clone();
        let Ok(mut vault) = vault.lock() else { return self.end_request(block, Err(Reason::VaultLocked)) };
        let made = match &release {
            GrantedRelease::Fill(grant) => vault.make_code(grant, unix_ms, &mut entropy),
            GrantedRelease::Wire(grant) => vault.make_code(grant, unix_ms, &mut entropy),
            GrantedRelease::Pay(_) | GrantedRelease::ShowToModel(_) => {
                return self.end_request(block, Err(Reason::DeliveryForbidden));
            }
        };
        drop(vault);
        match made {
            Ok(true) if self.values.has_vault_file => {
                let phase = BlockPhase::Keeping { release, made: MadeSecret::Code };
                self.enter(State::Block(Box::new((block, phase))), Command::Guard(GuardCommand::KeepVault))
            }
            // A vault without a file notes the step in memory, and has no other life.
            Ok(true) => self.kept(block, release, MadeSecret::Code, true),
            Ok(false) => self.keep_before(block, release),
            Err(error) => self.end_request(block, Err(error.reason())),
        }
    }
}
