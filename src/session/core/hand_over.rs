//! The hand-over to the user: where a request is refused, the user may finish by hand.

use browser_signals::Origin;
use browser_signals::lookalike::warnings;
use policy_dfa::Reason;

use super::agent_messages::next_steps;
use super::block_state::LineReply;
use super::block_state::{BlockPhase, BlockState};
use super::messages::Command;
use super::state::{Core, State};
use crate::audit::AuditEvent;
use crate::consent::{HandOver, HandedOver};
use crate::session::outcome::{ActionOutcome, RequestResult};

impl Core {
    /// Offers the user to do by hand a request that was refused, before the block is answered. The same hand-over is offered
    /// once in a task, and each offer counts as a prompt.
    pub(super) fn offer_hand_over(&mut self, mut block: BlockState) -> Command {
        let Some((at, offer)) = self.possible_hand_over(&block) else { return self.answer_block(&block) };
        block.at = at;
        self.user.offered.insert(offer.as_read_by_the_model());
        // The offer replaces the warning of the same refusal.
        let before = self.user.warnings.len();
        self.user.warnings.retain(|warning| (warning.kind, &warning.origin) != (offer.kind, &offer.origin));
        let withdrawn = u32::try_from(before - self.user.warnings.len()).unwrap_or(0);
        self.counts.warnings = self.counts.warnings.saturating_sub(withdrawn);
        self.note_prompt();
        let phase = BlockPhase::HandingOver(Box::new(offer.clone()));
        self.enter(State::Block(Box::new((block, phase))), Command::HandOver(Box::new(offer)))
    }

    fn possible_hand_over(&mut self, block: &BlockState) -> Option<(usize, HandOver)> {
        if !self.settings.offers_hand_over || self.prompts_are_spent() {
            return None;
        }
        let origin = self.site_by_hand()?;
        block.requests.iter().enumerate().find_map(|(at, line)| {
            let offer = HandOver::of(line.request.kind, origin.clone(), line.refused?)?;
            let read = offer.as_read_by_the_model();
            let waits = offer.waits_for_a_second_refusal() && self.user.first_refusals.insert(read.clone());
            (!waits && !self.user.offered.contains(&read)).then_some((at, offer))
        })
    }

    /// The site on which the user may finish by hand. A site that they did not name is none: they did not mean to visit it.
    /// Nor is one whose name looks like another's, nor any once a page may direct the agent.
    fn site_by_hand(&self) -> Option<Origin> {
        let origin = self.read.origin.clone().filter(|origin| self.task.is_about(origin))?;
        let trusted =
            warnings(&origin, self.task.origins()).is_empty() && !self.policy.history.is_suspected();
        trusted.then_some(origin)
    }

    /// What the agent can do next after an outcome with refusals, or after that of a login's first step. It depends on the
    /// reasons, on the page's controls and on what the agent knows of its task, and on nothing in the vault.
    pub fn next_steps(&self, outcome: &ActionOutcome) -> Vec<&'static str> {
        let by_hand = !self.settings.offers_hand_over && self.site_by_hand().is_some();
        next_steps(outcome, by_hand, self.agent.login_goes_on)
    }

    /// The text of an outcome for the agent, with lines that say what it can do next.
    pub fn with_next_steps(&self, outcome: &ActionOutcome) -> String {
        let steps = self.next_steps(outcome);
        steps.iter().fold(outcome.to_string(), |told, step| format!("{told}\nnext: {step}"))
    }

    /// Ends a hand-over: the user finished, or may have, or lets the agent go on.
    pub(super) fn handed_over(
        &mut self,
        mut block: BlockState,
        offer: HandOver,
        ended: HandedOver,
    ) -> Command {
        let request = block.current().map_or(0, |line| line.number);
        let HandOver { kind, origin, .. } = offer;
        let finished = ended == HandedOver::Finished;
        self.unrecorded.push(AuditEvent::HandOver { request, kind, origin, finished });
        self.user.taken_over = ended.ends_the_agents_part();
        if let Some(line) = block.current().filter(|_| ended.ends_the_agents_part()) {
            self.counts.denied(Reason::TakenOver);
            line.reply = Some(LineReply::Own(RequestResult::denied(kind, Reason::TakenOver)));
        }
        self.answer_block(&block)
    }
}
