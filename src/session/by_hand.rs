//! Where the agent comes no further, the user may go on by hand.

use policy_dfa::Reason;

use super::core::{Command, Core, State};
use super::outcome::request_refused;
use super::work::{Phase, Work};
use crate::audit::AuditEvent;
use crate::consent::{HandOver, HandedOver};

impl Core {
    /// Before a block is answered: offers the user to do by hand what was refused, where a person can. The same is
    /// offered once in a task, and never more often than there may be prompts.
    pub(super) fn offer_by_hand(&mut self, mut work: Work) -> Command {
        let Some((at, offer)) = self.offer(&work) else { return self.answer_block(&work) };
        work.at = at;
        self.offered.insert(offer.clone());
        // The offer says what the warning would.
        let told = self.warnings.len();
        self.warnings.retain(|warning| (warning.kind, &warning.origin) != (offer.kind, &offer.origin));
        let withdrawn = u32::try_from(told - self.warnings.len()).unwrap_or(0);
        self.counts.warnings = self.counts.warnings.saturating_sub(withdrawn);
        self.note_prompt();
        let phase = Phase::HandingOver(Box::new(offer.clone()));
        self.enter(State::Block(Box::new((work, phase))), Command::HandOver(Box::new(offer)))
    }

    fn offer(&self, work: &Work) -> Option<(usize, HandOver)> {
        if !self.by_hand || self.asked_enough() {
            return None;
        }
        // Of a site that the user did not name nothing is offered: they never meant to be there.
        let origin = self.page.as_ref().filter(|origin| self.task.origins().contains(origin))?;
        work.lines.iter().enumerate().find_map(|(at, line)| {
            let offer = HandOver::of(line.request.kind, origin.clone(), line.refused?)?;
            (!self.offered.contains(&offer)).then_some((at, offer))
        })
    }

    /// The user went on by hand, or may have, or lets the agent go on.
    pub(super) fn handed_over(&mut self, mut work: Work, offer: HandOver, ended: HandedOver) -> Command {
        let request = work.current().map_or(0, |line| line.number);
        let HandOver { kind, origin, .. } = offer;
        let finished = ended == HandedOver::Finished;
        self.unrecorded.push(AuditEvent::HandOver { request, kind, origin, finished });
        self.taken_over = ended.ends_the_agents_part();
        if let Some(line) = work.current().filter(|_| ended.ends_the_agents_part()) {
            self.counts.denied(Reason::TakenOver);
            line.reply = Some(request_refused(kind, Reason::TakenOver));
        }
        self.answer_block(&work)
    }
}
