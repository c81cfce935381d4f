//! Random policies, most of them careless, and random valuations.

use policy_dfa::{Axis, Valuation, symbol};

/// The generator SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % n as u64) as usize
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// Most of the items, in their order.
    fn most<'a>(&mut self, all: &[&'a str]) -> Vec<&'a str> {
        all.iter().filter(|_| self.below(5) != 0).copied().collect()
    }

    pub fn valuation(&mut self) -> Valuation {
        let mut valuation = Valuation::FIRST;
        for axis in Axis::ALL {
            valuation.set(*axis, self.below(axis.symbols().len()) as u8);
        }
        valuation
    }
}

const EVENTS: [&str; 13] = [
    "address", "payment", "purchase", "contact", "identity", "login", "otp", "open", "click", "type",
    "choose", "press", "submit",
];
const CLAUSES: [&str; 7] = [
    "container covers the fields",
    "origin is the task's",
    "tls valid",
    "destination origin is the task's",
    "destination https",
    "visible",
    "safety reaches the threshold",
];

pub fn policy(seed: u64) -> String {
    let r = &mut Random(seed);
    let mut text = format!("policy \"random {seed}\" version {seed}\n");
    text += "tier T1 { name country region city phone }\ntier T2 { email street postal_code }\n";
    text += "tier T2 { card_number card_expiry card_code government_id password one_time_code }\n";
    text += &format!("threshold T0 0.0{} T1 0.5 T2 0.9{}\n", r.below(10), r.below(10));
    for kind in r.most(&EVENTS[..7]) {
        let clauses = r.most(&CLAUSES).join("\n");
        let frame = r.pick(&["frame top", "frame same origin", "frame any", "sink login_form, other"]);
        let consent = r.pick(&["none", "once per session", "once per site", "every time"]);
        let deliver = match kind {
            "purchase" => r.pick(&["payment_api", "payment_api or ucp", "ucp or payment_api"]),
            "address" => r.pick(&["fill", "wire or ucp", "ucp", "nothing"]),
            _ => r.pick(&["fill", "wire", "nothing"]),
        };
        text += &format!("request {kind} {{\n{clauses}\n{frame}\nconsent {consent}\ndeliver {deliver}\n}}\n");
    }
    for verb in r.most(&EVENTS[7..]) {
        let mut clauses = String::new();
        for clause in
            r.most(&["destination origin is the task's", "destination https", "flow own", "container T1"])
        {
            let when =
                r.pick(&["", " if container is T2", " unless container is T0", " if sink is not unknown"]);
            let when = if clause.starts_with("container") || when.contains("not") { "" } else { when };
            clauses += &format!("{clause}{when}{}\n", r.pick(&["", " else ask"]));
        }
        text += &format!("verb {verb} {{\n{clauses}}}\n");
    }
    for number in 0..r.below(6) {
        let pattern = r.pick(&["*.shop", "bank", "a.b"]);
        let path = r.pick(&["", "/account/*", "/pay"]);
        let effect = r.pick(&["never", "only"]);
        let event = r.below(EVENTS.len());
        text += &format!("site \"{pattern}{number}.example{path}\" {{ {effect} {} }}\n", EVENTS[event]);
    }
    let mut session = String::new();
    if r.below(3) != 0 {
        session += &format!(
            "at most {} purchases, {} open, {} prompts",
            1 + r.below(9),
            2 + r.below(90),
            1 + r.below(9)
        );
        session += r.pick(&["\n", ", 120.50 USD\n"]);
    }
    if r.below(2) == 0 {
        session += "after suspected_injection never T2 until new_task\n";
    }
    if r.below(2) == 0 {
        session += "after refusal never T1, submit until login\n";
    }
    if r.below(3) == 0 {
        session += "values keep to their path\n";
    }
    if !session.is_empty() {
        text += &format!("session {{\n{session}}}\n");
    }
    text + "prove never grant T2 where container is T0\n"
}

/// A valuation that passes every guard, with consent.
fn good() -> Valuation {
    Valuation::FIRST.with(symbol::Container::T2).with(symbol::Safety::T2).with(symbol::Consent::Given)
}

/// Every valuation that differs from the good one on at most two axes, some of them twice.
pub fn near() -> Vec<Valuation> {
    let mut all = Vec::new();
    for (i, first) in Axis::ALL.iter().enumerate() {
        for second in &Axis::ALL[i + 1..] {
            for a in 0..first.symbols().len() as u8 {
                for b in 0..second.symbols().len() as u8 {
                    let mut valuation = good();
                    valuation.set(*first, a);
                    valuation.set(*second, b);
                    all.push(valuation);
                }
            }
        }
    }
    all
}
