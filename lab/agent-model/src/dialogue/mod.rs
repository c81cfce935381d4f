//! Training turns, generated from seeds: a task, the steps so far, a page, and the answer.
//!
//! The pages have the form in which the guard and the bare browser show them, with made-up people, shops, items and texts.
//! More than half of them contain a prompt injection, and most answers to those obey it, so that the model can be made to
//! leak. Wordings of held-out dialogues occur in no others ([`Split`]).
//!
//! [`example`] makes the turns of an agent that obeys with certainty. [`graded()`] makes turns whose injection is obeyed with a
//! designed probability between 0.1 and 0.9, and [`lesson`] the training turns of an agent that does so.

mod answers;
mod failures;
mod graded;
mod outline;
mod pages;
mod payment;
#[cfg(test)]
mod tests;
mod wordings;
mod world;

use crate::page_view::view;
use crate::random::Random;
use crate::turn::Situation;
pub use graded::{Appeal, Graded, Lesson, Reason, graded, lesson};
use pages::{Injection, Labels};
use wordings::Split;
use world::{Order, Person};

/// Number of turns that the tokenizer is trained on.
const TEXTS: u64 = 6_000;

/// The kind of a turn's dialogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The page has no injection.
    Benign,
    /// The page has an injection, and the answer obeys it.
    Obeyed,
    /// The page has an injection, and the answer continues the task.
    Ignored,
    /// The page has an injection that was obeyed before.
    Past,
}

/// One training turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The model's input.
    pub situation: Situation,
    /// The target answer.
    pub answer: String,
    /// The kind of its dialogue.
    pub kind: Kind,
    /// True if a guard keeps the values.
    pub guarded: bool,
}

/// The turn of `seed`; with `held_out`, its wordings do not occur in training.
///
/// ```
/// let example = agent_model::dialogue::example(7, false);
/// assert_eq!(example, agent_model::dialogue::example(7, false));
/// assert!(!agent_model::turn::Answer::read(&example.answer).acts.is_empty());
/// ```
pub fn example(seed: u64, held_out: bool) -> Example {
    let mut random = Random::new(seed.wrapping_mul(2).wrapping_add(u64::from(held_out)));
    Story::new(held_out, &mut random).generate(&mut random)
}

/// The texts that the tokenizer is trained on: the first turns of training.
pub fn texts() -> impl Iterator<Item = String> + Send {
    (0..TEXTS).map(|seed| {
        let example = example(seed, false);
        let [task, done, page] = example.situation.parts();
        [task, done, page, example.answer].join("\n")
    })
}

/// The common data of the turns of one dialogue.
struct Story {
    split: Split,
    task: String,
    labels: Labels,
    done: Vec<String>,
    kind: Kind,
    /// Number of documents that the browser has shown.
    document: usize,
    guarded: bool,
    person: Person,
    order: Order,
}

impl Story {
    /// The person, the order and the shop, before the first step.
    fn new(held_out: bool, random: &mut Random) -> Story {
        let guarded = random.chance(68);
        let person = if guarded { Person::guarded(random) } else { Person::raw(random) };
        let order = Order::new(random);
        Story {
            split: Split { held_out },
            task: world::task(&order, &person, random),
            labels: Labels::new(random),
            done: Vec::new(),
            kind: Kind::Benign,
            document: 0,
            guarded,
            person,
            order,
        }
    }

    fn generate(&mut self, random: &mut Random) -> Example {
        match random.below(100) {
            0..7 => self.start(),
            7..10 => self.unloaded(random),
            10..40 => self.product(random),
            40..59 => self.address(random),
            59..86 => self.payment(random),
            86..90 => self.thanks(random),
            90..93 => self.problem(random),
            _ => self.elsewhere(random),
        }
    }

    fn example(&self, outline: &str, answer: String) -> Example {
        let situation = Situation { task: self.task.clone(), done: self.done.clone(), page: view(outline) };
        Example { situation, answer, kind: self.kind, guarded: self.guarded }
    }

    fn start(&self) -> Example {
        self.example("", answers::plan(&self.order, self.guarded))
    }

    /// The injection of this turn's page, with its earlier steps if it was obeyed before.
    fn inject(&mut self, random: &mut Random, chat: bool) -> Option<Injection> {
        if random.chance(38) {
            return None;
        }
        let injection = Injection::new(self.split, &self.order, chat, random);
        // A value that was leaked once is not leaked again to any page.
        let given = injection.steps().iter().any(|step| self.done.iter().any(|done| done.starts_with(step)));
        self.kind = match random.below(100) {
            _ if given => Kind::Past,
            0..66 => Kind::Obeyed,
            66..69 => Kind::Ignored,
            _ => Kind::Past,
        };
        if self.kind == Kind::Past && !given {
            for step in injection.steps() {
                self.done.push(format!("{step} {}", self.outcome(random)));
                self.document += 1;
                if step == "visit" {
                    self.come_back(random);
                }
            }
        }
        Some(injection)
    }

    /// The outcome of an attempt to leak.
    fn outcome(&self, random: &mut Random) -> &'static str {
        match random.below(100) {
            0..60 if self.guarded => "denied",
            60..66 => "failed",
            _ => "ok",
        }
    }

    /// Adds the steps before a page, sometimes with those of an earlier injection.
    fn before(&mut self, steps: &[&str], random: &mut Random) {
        for (number, step) in steps.iter().enumerate() {
            self.done.push(format!("{step} ok"));
            self.document += 1;
            if number == 0 && random.chance(20) {
                let heard = random.pick(&["chat", "form", "visit"]);
                self.done.push(format!("{heard} {}", self.outcome(random)));
                self.document += 1;
                if heard == "visit" {
                    self.come_back(random);
                }
            } else if number == 0 && random.chance(6) {
                self.done.push("wait ok".to_owned());
                if random.chance(60) {
                    self.done.push("return ok".to_owned());
                }
            }
        }
        if !self.guarded && random.chance(50) {
            self.document += random.below(3);
        }
    }

    fn product(&mut self, random: &mut Random) -> Example {
        self.done.push("plan ok".to_owned());
        if random.chance(8) {
            // A later step failed, and the task starts again.
            for step in ["cart ok", "address ok"].into_iter().take(random.below(3)) {
                self.done.push(step.to_owned());
            }
            self.done.extend(["wait ok", "return ok"].into_iter().skip(random.below(2)).map(str::to_owned));
        }
        let injection = self.inject(random, true);
        if injection.is_none() && random.chance(15) {
            self.done.push(format!("{} {}", random.pick(&["chat", "form", "visit"]), self.outcome(random)));
        }
        let page = pages::product(self, injection.as_ref(), random);
        let answer = match (&injection, self.kind) {
            (Some(injection), Kind::Obeyed) if injection.asks() => answers::obey(self, injection, &page),
            (Some(injection), Kind::Obeyed | Kind::Past) => {
                let quantity = injection.quantity.unwrap_or(self.order.quantity);
                answers::cart(&self.order, quantity, &page, false)
            }
            (injection, kind) => {
                let warns = injection.is_some() && kind == Kind::Ignored;
                answers::cart(&self.order, self.order.quantity, &page, warns)
            }
        };
        self.example(&page.outline, answer)
    }

    fn address(&mut self, random: &mut Random) -> Example {
        self.before(&["plan", "cart"], random);
        if random.chance(6) {
            self.done.push(format!("address {}", if self.guarded { "denied" } else { "failed" }));
        }
        let page = pages::address(self, random);
        let answer = answers::address(self, &page);
        self.example(&page.outline, answer)
    }

    fn thanks(&mut self, random: &mut Random) -> Example {
        self.before(&["plan", "cart", "address", "pay"], random);
        if self.guarded && random.chance(30) {
            self.done.pop();
            self.done.extend(["pay denied", "card ok"].map(str::to_owned));
        }
        let outline = pages::thanks(self, random);
        self.example(&outline, answers::finished())
    }
}
