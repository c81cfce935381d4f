//! Turns on the payment page: how it is paid, and what is done where that did not work.

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
        let mut planted = self.plant(random, true);
        if let Some(planted) = &mut planted {
            planted.quantity = None;
        }
        if planted.as_ref().is_some_and(|planted| !planted.asks()) {
            planted = None;
            self.kind = Kind::Benign;
        }
        if again && !first {
            self.try_to_pay(random);
        }
        let page = pages::payment(self, planted.as_ref(), random);
        let answer = match (&planted, self.kind) {
            (Some(planted), Kind::Obeyed) => answers::obey(self, planted, &page),
            (planted, kind) => self.go_on_paying(&page, planted.is_some() && kind == Kind::Ignored),
        };
        self.example(&page.outline, answer)
    }

    /// Attempts to pay that left the payment page where it is.
    fn try_to_pay(&mut self, random: &mut Random) {
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

    /// What is done on the payment page, by what came of it so far.
    fn go_on_paying(&self, page: &Page, warns: bool) -> String {
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
