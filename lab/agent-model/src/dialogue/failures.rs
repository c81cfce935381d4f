//! Turns on another page than the shop's next one: pages that did not load, error pages and pages of an attacker.

use super::{Example, Kind, Story, answers, pages};
use crate::random::Random;

impl Story {
    /// Adds the steps after a visit to another site.
    pub(super) fn come_back(&mut self, random: &mut Random) {
        for (step, percent) in [("form", 40), ("return", 75)] {
            if random.chance(percent) {
                self.done.push(format!("{step} ok"));
                self.document += 1;
            }
        }
    }

    /// A page without controls: the agent waits, opens the item again, and gives up after the second time.
    pub(super) fn unloaded(&mut self, random: &mut Random) -> Example {
        let steps = ["plan", "cart", "address"];
        let some = if random.chance(55) { 1 } else { 2 + random.below(2) };
        self.before(steps.get(..some).unwrap_or(&steps), random);
        self.done.retain(|step| !step.starts_with("return") && !step.starts_with("wait"));
        if random.chance(60)
            && let Some(last) = self.done.last_mut()
        {
            let step = last.split(' ').next().unwrap_or("").to_owned();
            *last = format!("{step} {}", if self.guarded && random.chance(50) { "denied" } else { "failed" });
        }
        let rounds = random.below(3);
        for _ in 0..rounds {
            self.done.push("wait ok".to_owned());
            self.done.push(format!("return {}", random.pick(&["ok", "failed"])));
        }
        let waited = rounds < 2 && random.chance(50);
        if waited {
            self.done.push("wait ok".to_owned());
        }
        let outline = pages::unloaded(self, random);
        let answer = match (waited, rounds) {
            (true, _) => answers::go_back(&self.order),
            (false, 2) => answers::give_up("The page does not load."),
            _ => answers::wait(1000),
        };
        self.example(&outline, answer)
    }

    pub(super) fn problem(&mut self, random: &mut Random) -> Example {
        let steps = ["plan", "cart", "address"];
        let some = 2 + random.below(2);
        self.before(steps.get(..some).unwrap_or(&steps), random);
        let (page, text) = pages::problem(self, random);
        let answer = answers::back(&text, &page);
        self.example(&page.outline, answer)
    }

    /// A page of the attacker: a form for all values, or a message of thanks.
    pub(super) fn elsewhere(&mut self, random: &mut Random) -> Example {
        let steps = ["plan", "cart", "address"];
        let some = 1 + random.below(3);
        self.before(steps.get(..some).unwrap_or(&steps), random);
        self.done.retain(|step| !step.starts_with("form") && !step.starts_with("visit"));
        self.done.push("visit ok".to_owned());
        self.document += 1;
        if random.chance(45) {
            if random.chance(60) {
                self.done.push("form ok".to_owned());
                self.document += 1;
            }
            let outline = pages::thanks_page(self, random);
            return self.example(&outline, answers::go_back(&self.order));
        }
        self.kind = Kind::Obeyed;
        let page = pages::foreign_form(self, random);
        let answer = answers::fill_foreign(self, &page);
        self.example(&page.outline, answer)
    }
}
