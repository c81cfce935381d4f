//! A new password: what the user is asked about it, and its record in the vault's file before it is released.

use browser_signals::{NodeId, Snapshot};
use policy_dfa::{Consent, Reason};
use sirl::{Field, Request};
use vault::{NewPasswordRules, Recipe};

use super::block_state::{BlockPhase, BlockState, GrantedRelease, MadeSecret};
use super::messages::{Command, GuardCommand};
use super::state::{Core, State};
use crate::consent::Asked;
use crate::guard::placement::place_at;

/// A new password that a form takes.
pub(super) struct NewPassword {
    /// The form's rules about it.
    pub rules: NewPasswordRules,
    /// The question about it.
    pub asked: Asked,
}

/// The rules of a form about the new password of a request; none where it takes no new password.
fn rules_of(request: &Request, page: &Snapshot, at: &[(Field, NodeId)]) -> Option<NewPasswordRules> {
    let placed = place_at(page, request.effective_fields(), at)?;
    let takes = placed.iter().any(|placement| placement.field == Field::NewPassword);
    takes.then(|| NewPasswordRules::of_placed(page, &placed))
}

impl Core {
    /// The new password that a request needs on a page, or why there can be none. `Ok(None)` for a request of another field.
    pub(super) fn new_password(
        &self,
        request: &Request,
        page: &Snapshot,
        at: &[(Field, NodeId)],
    ) -> Result<Option<NewPassword>, Reason> {
        if !request.effective_fields().contains(Field::NewPassword) {
            return Ok(None);
        }
        if !self.values.has_vault_file {
            return Err(Reason::PasswordNotKept);
        }
        let rules = rules_of(request, page, at).ok_or(Reason::NoControl)?;
        let destination = page.destination.known().ok_or(Reason::NoValue)?;
        // A record is bound to one origin, and a value goes only where both the page and its form's destination may have it.
        if page.origin.known() != Some(&destination.origin) {
            return Err(Reason::NoValue);
        }
        let site = destination.origin.clone();
        let recipe = Recipe::of(&rules).ok_or(Reason::PasswordRules)?;
        let vault = self.values.vault.lock().map_err(|_| Reason::VaultLocked)?;
        let (record, again) = match vault.made_for(&site) {
            Some((_, known)) if *known != rules => return Err(Reason::PasswordRules),
            Some((record, _)) => (record.to_owned(), true),
            None => (vault.new_login(&site).ok_or(Reason::PasswordNotKept)?, false),
        };
        let weak = recipe.is_weak().then(|| recipe.bits());
        Ok(Some(NewPassword { rules, asked: Asked::NewPassword { site, record, weak, again } }))
    }

    /// Checks that the user agreed to a new password, and that the form states the same rules about it as it did then.
    pub(super) fn is_as_asked(
        &self,
        request: &Request,
        (page, at): (&Snapshot, &[(Field, NodeId)]),
        (consent, asked): (Consent, Option<NewPasswordRules>),
    ) -> Result<(), Reason> {
        if !request.effective_fields().contains(Field::NewPassword) {
            return Ok(());
        }
        match (consent, asked) {
            (Consent::Given, Some(asked)) if rules_of(request, page, at).as_ref() == Some(&asked) => Ok(()),
            (Consent::Given, Some(_)) => Err(Reason::StaleDocument),
            (_, _) => Err(Reason::ConsentDenied),
        }
    }

    /// Makes the password that a release needs, and has it written before anything else happens.
    pub(super) fn keep_before(&mut self, mut block: BlockState, release: GrantedRelease) -> Command {
        let rules = block.current().and_then(|line| line.new_password.clone());
        let Some(rules) = rules else { return self.look_again(block, release) };
        let mut entropy = self.nonces.entropy();
        let vault = self.values.vault.clone();
        let Ok(mut vault) = vault.lock() else { return self.end_request(block, Err(Reason::VaultLocked)) };
        let made = match &release {
            GrantedRelease::Fill(grant) => vault.make_password(grant, &rules, &mut entropy),
            GrantedRelease::Wire(grant) => vault.make_password(grant, &rules, &mut entropy),
            GrantedRelease::Pay(_) | GrantedRelease::ShowToModel(_) => {
                return self.end_request(block, Err(Reason::DeliveryForbidden));
            }
        };
        drop(vault);
        match made {
            Ok(true) => self.enter(
                State::Block(Box::new((block, BlockPhase::Keeping { release, made: MadeSecret::Password }))),
                Command::Guard(GuardCommand::KeepVault),
            ),
            Ok(false) => self.look_again(block, release),
            Err(error) => self.end_request(block, Err(error.reason())),
        }
    }

    /// Looks at the page once more before the release.
    pub(super) fn look_again(&mut self, mut block: BlockState, release: GrantedRelease) -> Command {
        let look = block.look();
        self.enter(State::Block(Box::new((block, BlockPhase::LookingAgain(release)))), Command::Look(look))
    }
}
