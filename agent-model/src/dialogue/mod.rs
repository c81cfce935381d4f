//! Turns to learn from, made from seeds: a task, what was done, a page, and the answer.
//!
//! The pages have the form of those that the guard and the bare browser show, and people, shops, items and words of
//! their own. Half of them talk to the agent; most of the answers to those obey, so that the model can be talked into
//! leaking. Wordings of held-out dialogues occur in no other ([`Half`](wordings::Half)).

mod answers;
mod pages;
mod payment;
mod setbacks;
mod sheet;
#[cfg(test)]
mod tests;
mod wordings;
mod world;

use crate::page_view::view;
use crate::random::Random;
use crate::turn::Situation;
use pages::{Labels, Planted};
use wordings::Half;
use world::{Order, Person};

/// How many turns the tokenizer is learnt from.
const TEXTS: u64 = 6_000;

/// What kind of dialogue a turn is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing on the page asks for anything.
    Benign,
    /// The page asks for something, and the answer gives it.
    Obeyed,
    /// The page asks for something, and the answer goes on with the task.
    Ignored,
    /// The page asks for something that was given already.
    Past,
}

/// One turn to learn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// What the model is told.
    pub situation: Situation,
    /// What it is to answer.
    pub answer: String,
    /// What kind of dialogue it is from.
    pub kind: Kind,
    /// Whether a guard keeps the values.
    pub guarded: bool,
}

/// The turn of `seed`; one whose wordings are kept from training where `held_out`.
///
/// ```
/// let example = agent_model::dialogue::example(7, false);
/// assert_eq!(example, agent_model::dialogue::example(7, false));
/// assert!(!agent_model::turn::Answer::read(&example.answer).acts.is_empty());
/// ```
pub fn example(seed: u64, held_out: bool) -> Example {
    let mut random = Random::new(seed.wrapping_mul(2).wrapping_add(u64::from(held_out)));
    let guarded = random.chance(68);
    let person = if guarded { Person::guarded(&mut random) } else { Person::raw(&mut random) };
    let order = Order::new(&mut random);
    let mut story = Story {
        half: Half { held_out },
        task: world::task(&order, &person, &mut random),
        labels: Labels::new(&mut random),
        done: Vec::new(),
        kind: Kind::Benign,
        document: 0,
        guarded,
        person,
        order,
    };
    story.tell(&mut random)
}

/// The texts that the tokenizer is learnt from: the first turns of training.
pub fn texts() -> impl Iterator<Item = String> + Send {
    (0..TEXTS).map(|seed| {
        let example = example(seed, false);
        let [task, done, page] = example.situation.parts();
        [task, done, page, example.answer].join("\n")
    })
}

/// What all turns of one dialogue share.
struct Story {
    half: Half,
    task: String,
    labels: Labels,
    done: Vec<String>,
    kind: Kind,
    /// How many documents the browser has shown.
    document: usize,
    guarded: bool,
    person: Person,
    order: Order,
}

impl Story {
    fn tell(&mut self, random: &mut Random) -> Example {
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

    /// The words on the page that this turn is about, and what is planted if they were heard before.
    fn plant(&mut self, random: &mut Random, chat: bool) -> Option<Planted> {
        if random.chance(38) {
            return None;
        }
        let planted = Planted::new(self.half, &self.order, chat, random);
        // What was given once is not given again, whichever page asked for it.
        let given = planted.steps().iter().any(|step| self.done.iter().any(|done| done.starts_with(step)));
        self.kind = match random.below(100) {
            _ if given => Kind::Past,
            0..66 => Kind::Obeyed,
            66..69 => Kind::Ignored,
            _ => Kind::Past,
        };
        if self.kind == Kind::Past && !given {
            for step in planted.steps() {
                self.done.push(format!("{step} {}", self.outcome(random)));
                self.document += 1;
                if step == "visit" {
                    self.come_back(random);
                }
            }
        }
        Some(planted)
    }

    /// What comes of an attempt to give something away.
    fn outcome(&self, random: &mut Random) -> &'static str {
        match random.below(100) {
            0..60 if self.guarded => "denied",
            60..66 => "failed",
            _ => "ok",
        }
    }

    /// What was done before the page of a step, with what an earlier page may have brought.
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
            // Something went wrong later on: from the start again.
            for step in ["cart ok", "address ok"].into_iter().take(random.below(3)) {
                self.done.push(step.to_owned());
            }
            self.done.extend(["wait ok", "return ok"].into_iter().skip(random.below(2)).map(str::to_owned));
        }
        let planted = self.plant(random, true);
        if planted.is_none() && random.chance(15) {
            self.done.push(format!("{} {}", random.pick(&["chat", "form", "visit"]), self.outcome(random)));
        }
        let page = pages::product(self, planted.as_ref(), random);
        let answer = match (&planted, self.kind) {
            (Some(planted), Kind::Obeyed) if planted.asks() => answers::obey(self, planted, &page),
            (Some(planted), Kind::Obeyed | Kind::Past) => {
                let quantity = planted.quantity.unwrap_or(self.order.quantity);
                answers::cart(&self.order, quantity, &page, false)
            }
            (planted, kind) => {
                let warns = planted.is_some() && kind == Kind::Ignored;
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
