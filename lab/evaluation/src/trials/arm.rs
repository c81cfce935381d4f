//! The arms of the factorial experiment: what a low score does, how a purchase is agreed to and paid, and whether pages are scrubbed.
//!
//! Everything else is the policy of approach C, so that two arms differ in one factor.

use portcullis::{APPROACH_A_POLICY, APPROACH_C_POLICY};

/// The effect of a score below the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Score {
    /// Nothing: no score is asked for.
    Off,
    /// It refuses the release.
    Refuse,
    /// It withdraws a yes, and asks.
    Ask,
}

/// The way in which a purchase is agreed to and paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Payment {
    /// By a card in the shop's form, asked about each time. A mandate does not exist here: no amount can be checked.
    Form,
    /// By the browser's payment interface, asked about each time.
    Each,
    /// By the browser's payment interface, where the task's mandate may take the place of the question.
    Mandate,
}

/// One arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arm {
    /// The effect of a low score.
    pub score: Score,
    /// The way of paying.
    pub payment: Payment,
    /// True if words of pages are withheld.
    pub scrubbed: bool,
}

const fn arm(score: Score, payment: Payment) -> Arm {
    Arm { score, payment, scrubbed: true }
}

impl Arm {
    /// The arm that is approach B but for its name: no score, and a question for each payment.
    pub const REFERENCE: Arm = arm(Score::Off, Payment::Each);

    /// All arms: the nine of the factors, and two of them without scrubbing.
    pub const ALL: [Arm; 11] = [
        arm(Score::Off, Payment::Form),
        Arm::REFERENCE,
        arm(Score::Off, Payment::Mandate),
        arm(Score::Refuse, Payment::Form),
        arm(Score::Refuse, Payment::Each),
        arm(Score::Refuse, Payment::Mandate),
        arm(Score::Ask, Payment::Form),
        arm(Score::Ask, Payment::Each),
        arm(Score::Ask, Payment::Mandate),
        Arm { score: Score::Off, payment: Payment::Each, scrubbed: false },
        Arm { score: Score::Ask, payment: Payment::Mandate, scrubbed: false },
    ];

    /// The arms under which agents other than the obedient one act too: approach B, approach C and the negative control.
    pub const WITH_EVERY_AGENT: [Arm; 3] =
        [Arm::REFERENCE, arm(Score::Ask, Payment::Mandate), arm(Score::Off, Payment::Mandate)];

    /// Its name in tables and files.
    pub const fn as_str(self) -> &'static str {
        match (self.score, self.payment, self.scrubbed) {
            (Score::Off, Payment::Form, true) => "off-form",
            (Score::Off, Payment::Each, true) => "off-each",
            (Score::Off, Payment::Mandate, true) => "off-mandate",
            (Score::Refuse, Payment::Form, true) => "refuse-form",
            (Score::Refuse, Payment::Each, true) => "refuse-each",
            (Score::Refuse, Payment::Mandate, true) => "refuse-mandate",
            (Score::Ask, Payment::Form, true) => "ask-form",
            (Score::Ask, Payment::Each, true) => "ask-each",
            (Score::Ask, Payment::Mandate, true) => "ask-mandate",
            (Score::Off, Payment::Form, false) => "off-form-unscrubbed",
            (Score::Off, Payment::Each, false) => "off-each-unscrubbed",
            (Score::Off, Payment::Mandate, false) => "off-mandate-unscrubbed",
            (Score::Refuse, Payment::Form, false) => "refuse-form-unscrubbed",
            (Score::Refuse, Payment::Each, false) => "refuse-each-unscrubbed",
            (Score::Refuse, Payment::Mandate, false) => "refuse-mandate-unscrubbed",
            (Score::Ask, Payment::Form, false) => "ask-form-unscrubbed",
            (Score::Ask, Payment::Each, false) => "ask-each-unscrubbed",
            (Score::Ask, Payment::Mandate, false) => "ask-mandate-unscrubbed",
        }
    }

    /// The text of its policy.
    pub fn policy(self) -> String {
        let mut text = match self.payment {
            Payment::Mandate => APPROACH_C_POLICY.to_owned(),
            Payment::Each => without_mandate(APPROACH_C_POLICY),
            Payment::Form => by_form(&without_mandate(APPROACH_C_POLICY)),
        };
        text = match self.score {
            Score::Ask => text,
            Score::Refuse => {
                text.replace("safety reaches the threshold else ask", "safety reaches the threshold")
            }
            // The mandate without a score is a negative control: nothing takes it back.
            Score::Off => lines(&text, |line| !(line.contains("safety") || line.starts_with("threshold"))),
        };
        text.replace("policy \"approach C\"", &format!("policy \"arm {}\"", self.as_str()))
    }
}

fn lines(text: &str, keeps: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|line| line.starts_with('#') || keeps(line)).flat_map(|line| [line, "\n"]).collect()
}

fn without_mandate(text: &str) -> String {
    lines(&text.replace(", unless mandated", ""), |line| !line.contains("mandated"))
}

/// The same policy with approach A's card in the shop's form, and no purchase by the payment interface.
fn by_form(text: &str) -> String {
    let mut text = text.to_owned();
    for kind in ["purchase", "payment"] {
        if let (Some(own), Some(other)) = (section(&text, kind), section(APPROACH_A_POLICY, kind)) {
            text = text.replace(own, other);
        }
    }
    lines(&text.replace("at most 1 purchase", "at most 1 payment"), |line| {
        line != "prove never deliver payment to fill"
    })
}

/// The section of a kind of request.
fn section<'t>(policy: &'t str, kind: &str) -> Option<&'t str> {
    let from = policy.find(&format!("request {kind} {{"))?;
    let rest = policy.get(from..)?;
    rest.get(..=rest.find('}')?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use portcullis::policy::Policy;

    use super::*;

    #[test]
    fn every_arm_has_a_name_and_a_policy_that_holds() {
        let names: BTreeSet<&str> = Arm::ALL.iter().map(|arm| arm.as_str()).collect();
        assert_eq!(names.len(), Arm::ALL.len());
        for arm in Arm::ALL {
            let text = arm.policy();
            let policy =
                Policy::parse(&text).unwrap_or_else(|error| panic!("{}: {error}\n{text}", arm.as_str()));
            assert_eq!(policy.name(), format!("arm {}", arm.as_str()));
            if let Err(violations) = policy.compile().unwrap().check() {
                panic!("{}: {violations:?}", arm.as_str());
            }
        }
    }

    #[test]
    fn arms_differ_in_their_factor() {
        let of = |score, payment| arm(score, payment).policy();
        assert!(of(Score::Ask, Payment::Mandate).contains("unless mandated"));
        assert!(!of(Score::Ask, Payment::Each).contains("mandated"));
        assert!(!of(Score::Off, Payment::Mandate).contains("safety reaches"));
        assert!(of(Score::Off, Payment::Mandate).contains("unless mandated"));
        assert!(of(Score::Refuse, Payment::Each).contains("safety reaches the threshold\n"));
        let form = of(Score::Ask, Payment::Form);
        assert!(section(&form, "payment").unwrap().contains("deliver fill"));
        assert!(section(&form, "purchase").unwrap().contains("deliver nothing"));
    }
}
