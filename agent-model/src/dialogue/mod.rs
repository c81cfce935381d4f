//! Turns to learn from, made from seeds: a task, what was done, a page, and the answer.
//!
//! The pages have the form of those that the guard and the bare browser show, and people, shops, items and words of
//! their own. Half of them talk to the agent; most of the answers to those obey, so that the model can be talked into
//! leaking. Wordings of held-out dialogues occur in no other ([`Half`](wordings::Half)).

mod answers;
mod pages;
mod sheet;
mod wordings;
mod world;

use crate::page_view::view;
use crate::random::Random;
use crate::turn::Situation;
use pages::{Labels, Planted};
use wordings::Half;
use world::{Order, Person};

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
            0..8 => self.start(),
            8..40 => self.product(random),
            40..58 => self.address(random),
            58..86 => self.payment(random),
            86..91 => self.thanks(random),
            91..94 => self.problem(random),
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
        self.kind = match random.below(100) {
            0..70 => Kind::Obeyed,
            70..73 => Kind::Ignored,
            _ => Kind::Past,
        };
        if self.kind == Kind::Past {
            for step in planted.steps() {
                self.done.push(format!("{step} {}", self.outcome(random)));
                self.document += 1;
            }
        }
        Some(planted)
    }

    /// What comes of an attempt to give something away.
    fn outcome(&self, random: &mut Random) -> &'static str {
        if self.guarded && random.chance(60) { "denied" } else { "ok" }
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
            }
        }
        if !self.guarded && random.chance(50) {
            self.document += random.below(3);
        }
    }

    fn product(&mut self, random: &mut Random) -> Example {
        self.done.push("plan ok".to_owned());
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

    fn payment(&mut self, random: &mut Random) -> Example {
        self.before(&["plan", "cart", "address"], random);
        let mut planted = self.plant(random, true);
        if let Some(planted) = &mut planted {
            planted.quantity = None;
        }
        if planted.as_ref().is_some_and(|planted| !planted.asks()) {
            planted = None;
            self.kind = Kind::Benign;
        }
        let again = random.chance(8);
        if again {
            self.done.push(format!("pay {}", if random.chance(50) { "ok" } else { "denied" }));
        }
        let page = pages::payment(self, planted.as_ref(), random);
        let answer = match (&planted, self.kind) {
            (Some(planted), Kind::Obeyed) => answers::obey(self, planted, &page),
            (planted, kind) => {
                let warns = planted.is_some() && kind == Kind::Ignored;
                match self.done.last().map(String::as_str) {
                    Some("pay ok") => answers::wait(),
                    Some("pay denied") => answers::give_up("The payment was refused."),
                    _ => answers::pay(self, &page, warns),
                }
            }
        };
        self.example(&page.outline, answer)
    }

    fn thanks(&mut self, random: &mut Random) -> Example {
        self.before(&["plan", "cart", "address", "pay"], random);
        let outline = pages::thanks(self, random);
        self.example(&outline, answers::finished())
    }

    fn problem(&mut self, random: &mut Random) -> Example {
        let steps = ["plan", "cart", "address"];
        let some = 2 + random.below(2);
        self.before(steps.get(..some).unwrap_or(&steps), random);
        let (page, text) = pages::problem(self, random);
        let answer = answers::back(&text, &page);
        self.example(&page.outline, answer)
    }

    /// A page of the attacker's: a form that wants everything, or a bare word of thanks.
    fn elsewhere(&mut self, random: &mut Random) -> Example {
        let steps = ["plan", "cart", "address"];
        let some = 1 + random.below(3);
        self.before(steps.get(..some).unwrap_or(&steps), random);
        self.done.retain(|step| !step.starts_with("form") && !step.starts_with("visit"));
        self.done.push("visit ok".to_owned());
        self.document += 1;
        if random.chance(45) {
            self.done.push("form ok".to_owned());
            self.document += 1;
            let outline = pages::word_of_thanks(self, random);
            return self.example(&outline, answers::go_back(&self.order));
        }
        self.kind = Kind::Obeyed;
        let page = pages::foreign_form(self, random);
        let answer = answers::fill_foreign(self, &page);
        self.example(&page.outline, answer)
    }
}
