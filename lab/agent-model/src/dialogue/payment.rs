//! Turns on the payment page: paying, and the next steps where it failed.

use super::pages::Page;
use super::{Example, Kind, Story, answers, pages};
use crate::random::Random;

impl Story {
    pub(super) fn payment(&mut self, random: &mut Random) -> Example {
        self.before(&["plan", "cart", "address"], random);
        let again = random.chance(if self.guarded { 40 } else { 15 });
        let first = random.chance(50);
        if again && first {
            self.try_to_pay(random);
        }
        let mut injection = self.inject(random, true);
        if let Some(injection) = &mut injection {
            injection.quantity = None;
        }
        if injection.as_ref().is_some_and(|injection| !injection.asks()) {
            injection = None;
            self.kind = Kind::Benign;
        }
        if again && !first {
            self.try_to_pay(random);
        }
        let page = pages::payment(self, injection.as_ref(), random);
        let answer = match (&injection, self.kind) {
            (Some(injection), Kind::Obeyed) => answers::obey(self, injection, &page),
            (injection, kind) => self.continue_paying(&page, injection.is_some() && kind == Kind::Ignored),
        };
        self.example(&page.outline, answer)
    }

    /// Adds attempts to pay that stayed on the payment page.
    pub(super) fn try_to_pay(&mut self, random: &mut Random) {
        let tried: &[&str] = match (self.guarded, random.below(100)) {
            (true, 0..50) => &["pay denied"],
            (true, 50..70) => &["pay denied", "card denied"],
            (true, 70..80) => &["pay denied", "card ok"],
            (false, 0..15) => &["pay failed"],
            (false, 15..25) => &["pay failed", "pay failed"],
            (_, 25..85) => &["pay ok"],
            (_, 85..93) => &["pay ok", "wait ok"],
            _ => &["pay ok", "wait ok", "wait ok"],
        };
        self.done.extend(tried.iter().map(|step| (*step).to_owned()));
    }

    /// The answer on the payment page, by the outcomes so far.
    pub(super) fn continue_paying(&self, page: &Page, warns: bool) -> String {
        let from = self.done.iter().rposition(|step| step.starts_with("address")).unwrap_or(0);
        let tried = self.done.get(from..).unwrap_or_default();
        let times = |word: &str| tried.iter().filter(|step| *step == word).count();
        let last =
            tried.iter().rfind(|step| ["pay ", "card ", "wait "].iter().any(|one| step.starts_with(one)));
        match last.map(String::as_str) {
            Some("pay denied") => answers::pay_by_form(self, page, warns),
            Some("card denied") => answers::give_up("The payment was refused."),
            Some("pay failed") if times("pay failed") > 1 => answers::give_up("The payment fails."),
            Some("wait ok") if times("wait ok") > 1 => answers::give_up("The shop does not answer."),
            Some("pay ok" | "card ok" | "wait ok") => answers::wait(300),
            _ => answers::pay(self, page, warns),
        }
    }
}
