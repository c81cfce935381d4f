//! A secret that the vault made for a release: once it is in the vault's file it is recorded, and then released.

use browser_signals::Origin;
use policy_dfa::Reason;

use super::block_state::{BlockPhase, BlockState, GrantedRelease, MadeSecret};
use super::messages::{Command, GuardCommand};
use super::state::{Core, State};
use crate::audit::AuditEvent;

impl Core {
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
