//! A one-time code that the vault makes: the time, the note of its step in the vault's file, and the record, before it is released.

use browser_signals::Origin;
use policy_dfa::Reason;
use sirl::Field;

use super::block_state::{BlockPhase, BlockState, GrantedRelease, MadeSecret};
use super::messages::{Command, GuardCommand};
use super::state::{Core, State};
use crate::audit::AuditEvent;

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

    /// Goes on once the vault's file is written, with a record of what was made. Where the file could not be written, it is forgotten:
    /// nobody was given it.
    pub(super) fn kept(
        &mut self,
        mut block: BlockState,
        release: GrantedRelease,
        made: MadeSecret,
        kept: bool,
    ) -> Command {
        let Some(origin) = destination_of(&release) else {
            return self.end_request(block, Err(Reason::DeliveryForbidden));
        };
        if !kept {
            let reason = self.forget(made, &origin);
            return self.end_request(block, Err(reason));
        }
        let request = block.current().map_or(0, |line| line.number);
        let event = match made {
            MadeSecret::Password => AuditEvent::PasswordMade { request, origin },
            MadeSecret::Code => AuditEvent::CodeMade { request, origin },
        };
        let phase = BlockPhase::RecordingKept { release, made };
        let command = Command::Guard(GuardCommand::Record { events: vec![event], sync: true });
        self.enter(State::Block(Box::new((block, phase))), command)
    }

    fn forget(&mut self, made: MadeSecret, origin: &Origin) -> Reason {
        if let Ok(mut vault) = self.values.vault.lock() {
            match made {
                MadeSecret::Password => vault.forget_made(origin),
                MadeSecret::Code => vault.forget_codes(),
            }
        }
        match made {
            MadeSecret::Password => Reason::PasswordNotKept,
            MadeSecret::Code => Reason::CodeNotKept,
        }
    }
}

fn destination_of(release: &GrantedRelease) -> Option<Origin> {
    let destination = match release {
        GrantedRelease::Fill(grant) => grant.terms().destination.clone(),
        GrantedRelease::Wire(grant) => grant.terms().destination.clone(),
        GrantedRelease::Pay(_) | GrantedRelease::ShowToModel(_) => None,
    };
    destination.map(|to| to.origin)
}
