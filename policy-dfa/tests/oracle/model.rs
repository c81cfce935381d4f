//! A policy as a test knows it: random rules, their text, and their meaning read off one by one.
//!
//! Nothing here looks at the automaton: symbols are compared by name, guards are tried in a row.

use policy_dfa::{Axis, ConsentScope, Delivery, Root, Valuation, VerbKind};
use sirl::{Kind, Tier};

pub const VERBS: [(VerbKind, &str); 6] = [
    (VerbKind::Open, "open"),
    (VerbKind::Click, "click"),
    (VerbKind::Type, "type"),
    (VerbKind::Choose, "choose"),
    (VerbKind::Press, "press"),
    (VerbKind::Submit, "submit"),
];
pub const SINKS: [&str; 5] = ["other", "payment_form", "address_form", "login_form", "free_text"];

#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    Covers,
    AtLeast(Tier),
    Origin,
    Tls,
    Frame(&'static [&'static str]),
    Goal,
    Https,
    Sink(Vec<&'static str>),
    Visible,
    Safety,
    Flow,
    FlowOwn,
}

pub const TOP: &[&str] = &["top"];
pub const SAME: &[&str] = &["top", "same_origin"];
pub const ANY: &[&str] = &["top", "same_origin", "cross_origin"];

#[derive(Debug, Clone)]
pub struct Clause {
    pub test: Test,
    /// An axis and the symbols with which the clause applies.
    pub when: Option<(Axis, Vec<&'static str>)>,
    pub soft: bool,
}

#[derive(Debug, Clone)]
pub struct Request {
    pub kind: Kind,
    pub clauses: Vec<Clause>,
    pub consent: Option<ConsentScope>,
    pub deliver: Vec<Delivery>,
}

#[derive(Debug, Clone, Default)]
pub struct Model {
    pub requests: Vec<Request>,
    pub verbs: Vec<(VerbKind, Vec<Clause>)>,
    pub denied_kinds: Vec<Kind>,
    pub denied_verbs: Vec<VerbKind>,
    pub purchases: bool,
    pub prompts: bool,
    pub tainted: Option<Tier>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Deny(String),
    Ask(ConsentScope),
    Grant(Option<Delivery>),
}

fn verb_name(verb: VerbKind) -> &'static str {
    VERBS.iter().find(|(kind, _)| *kind == verb).unwrap().1
}

impl Clause {
    fn text(&self) -> String {
        let mut text = match &self.test {
            Test::Covers => "container covers the fields".to_owned(),
            Test::AtLeast(tier) => format!("container {}", tier.as_str()),
            Test::Origin => "origin is the task's".to_owned(),
            Test::Tls => "tls valid".to_owned(),
            Test::Frame(places) => format!("frame {}", ["top", "same origin", "any"][places.len() - 1]),
            Test::Goal => "destination origin is the task's".to_owned(),
            Test::Https => "destination https".to_owned(),
            Test::Sink(names) => format!("sink {}", names.join(", ")),
            Test::Visible => "visible".to_owned(),
            Test::Safety => "safety reaches the threshold".to_owned(),
            Test::Flow => "flow stays".to_owned(),
            Test::FlowOwn => "flow own".to_owned(),
        };
        if let Some((axis, names)) = &self.when {
            text += &format!(" if {} is {}", axis.as_str(), names.join(" or "));
        }
        text + if self.soft { " else ask" } else { "" }
    }

    /// The guards of the clause: what is read, what passes, why not.
    fn guards(&self, root: Root) -> Vec<(Axis, Vec<&'static str>, &'static str)> {
        let need = if let Root::Request(_, need) = root { need } else { Tier::T0 };
        let up = |tier: Tier| ["T0", "T1", "T2"][tier as usize..].to_vec();
        let request = matches!(root, Root::Request(..));
        let goal = if root == Root::Verb(VerbKind::Open) { "unplanned_effect" } else { "wrong_destination" };
        match &self.test {
            Test::Covers => vec![(Axis::Container, up(need), "invalid_container")],
            Test::AtLeast(tier) => vec![(Axis::Container, up(*tier), "invalid_container")],
            Test::Origin => vec![
                (Axis::Origin, vec!["task"], "origin_mismatch"),
                (Axis::TopOrigin, vec!["task"], "origin_mismatch"),
            ],
            Test::Tls => vec![(Axis::Tls, vec!["valid"], "tls_invalid")],
            Test::Frame(places) => vec![(Axis::Frame, places.to_vec(), "frame_not_top")],
            Test::Goal => vec![(Axis::Destination, vec!["task", "task_over_http"], goal)],
            Test::Https => vec![(Axis::Destination, vec!["task", "other"], "tls_invalid")],
            Test::Sink(names) => {
                vec![(
                    Axis::Sink,
                    names.clone(),
                    if request { "field_not_allowed" } else { "unplanned_effect" },
                )]
            }
            Test::Visible => vec![(Axis::Visibility, vec!["seen"], "occluded")],
            Test::Safety => vec![(Axis::Safety, up(need), "low_safety")],
            Test::Flow => vec![(Axis::Flow, vec!["own", "stays"], "cross_origin_flow")],
            Test::FlowOwn => vec![(Axis::Flow, vec!["own"], "cross_origin_flow")],
        }
    }
}

impl Model {
    pub fn text(&self) -> String {
        let mut text = String::from("policy \"random\" version 1\n");
        text += "tier T1 { name country region city phone email }\n";
        text += "tier T2 { street postal_code card_number card_expiry card_code government_id password one_time_code }\n";
        text += "threshold T0 0.1 T1 0.5 T2 0.9\n";
        for request in &self.requests {
            text += &format!("request {} {{\n", request.kind.as_str());
            let ways: Vec<_> = request.deliver.iter().map(|way| way.as_str()).collect();
            text += &format!(
                "deliver {}\n",
                if ways.is_empty() { "nothing".to_owned() } else { ways.join(" or ") }
            );
            for clause in &request.clauses {
                text += &format!("{}\n", clause.text());
            }
            text += match request.consent {
                None => "consent none }\n",
                Some(ConsentScope::Session) => "consent once per session }\n",
                Some(ConsentScope::Site) => "consent once per site }\n",
                Some(ConsentScope::EveryTime) => "consent every time }\n",
            };
        }
        for (verb, clauses) in &self.verbs {
            let lines: Vec<_> = clauses.iter().map(Clause::text).collect();
            text += &format!("verb {} {{\n{}\n}}\n", verb_name(*verb), lines.join("\n"));
        }
        let kinds = self.denied_kinds.iter().map(|kind| kind.as_str());
        let denied: Vec<_> = kinds.chain(self.denied_verbs.iter().map(|verb| verb_name(*verb))).collect();
        if !denied.is_empty() {
            text += &format!("site \"*.bank.example\" {{ never {} }}\n", denied.join(", "));
        }
        text += "session {\n";
        text += if self.purchases { "at most 1 purchase\n" } else { "" };
        text += if self.prompts { "at most 3 prompts\n" } else { "" };
        if let Some(tier) = self.tainted {
            text += &format!("after suspected_injection never {} until new_task\n", tier.as_str());
        }
        text + "}\n"
    }

    /// The answer, guard by guard.
    pub fn answer(&self, root: Root, v: &Valuation) -> Answer {
        let deny = |code: &str| Answer::Deny(code.to_owned());
        let (clauses, consent, way) = match root {
            Root::Verb(VerbKind::Read | VerbKind::Idle) => return Answer::Grant(None),
            Root::Verb(verb) => match self.verbs.iter().find(|(kind, _)| *kind == verb) {
                None => return deny("unplanned_effect"),
                Some((_, clauses)) => (clauses, None, None),
            },
            Root::Request(kind, _) => {
                let rule =
                    self.requests.iter().find(|request| request.kind == kind && !request.deliver.is_empty());
                let Some(rule) = rule else { return deny("delivery_forbidden") };
                if v.name(Axis::Plan) != "planned" {
                    return deny("unplanned_effect");
                }
                (&rule.clauses, rule.consent, Some(rule.deliver[0]))
            }
        };
        if self.site_concerns(root) && v.name(Axis::Site) != "free" {
            return deny(if v.name(Axis::Site) == "unknown" {
                "signal_unknown:origin"
            } else {
                "site_denied"
            });
        }
        let mut rows = Vec::new();
        if let Root::Request(kind, need) = root {
            if self.tainted.is_some_and(|lowest| need >= lowest) {
                rows.push((Axis::Taint, vec!["clean"], "tainted_session", None, false));
            }
            if kind == Kind::Purchase && self.purchases {
                rows.push((Axis::Uses, vec!["under"], "budget_spent", None, false));
            }
            if kind == Kind::Purchase {
                rows.push((Axis::Amount, vec!["within"], "budget_spent", None, false));
            }
            rows.push((Axis::Document, vec!["known"], "stale_document", None, false));
            rows.push((Axis::Claim, vec!["agrees"], "claim_mismatch", None, false));
            let placed = match (way, need) {
                (Some(Delivery::Fill | Delivery::Wire), Tier::T2) => vec!["whole"],
                (Some(Delivery::Fill | Delivery::Wire), _) => vec!["whole", "free_text"],
                _ => vec!["whole", "free_text", "unplaced"],
            };
            rows.push((Axis::Placement, placed, "field_not_allowed", None, false));
        }
        for clause in clauses {
            for (axis, pass, code) in clause.guards(root) {
                rows.push((axis, pass, code, clause.when.clone(), clause.soft));
            }
        }
        // The fixed order; of two guards on the destination, its origin comes first.
        rows.sort_by_key(|(axis, _, code, ..)| (*axis as u8, *code == "tls_invalid"));
        let mut asked = consent;
        for (axis, pass, code, when, soft) in rows {
            if let Some((axis, names)) = when {
                match v.name(axis) {
                    "unknown" => return deny(&format!("signal_unknown:{}", axis.as_str())),
                    name if !names.contains(&name) => continue,
                    _ => {}
                }
            }
            match v.name(axis) {
                name if pass.contains(&name) => {}
                "unknown" => return deny(&format!("signal_unknown:{}", axis.as_str())),
                _ if soft => asked = Some(asked.unwrap_or(ConsentScope::EveryTime)),
                _ => return deny(code),
            }
        }
        let Some(scope) = asked else { return Answer::Grant(way) };
        match v.name(Axis::Consent) {
            "given" => Answer::Grant(way),
            "refused" => deny("consent_denied"),
            "expired" => deny("consent_expired"),
            _ if self.prompts && v.name(Axis::Prompts) == "spent" => deny("budget_spent"),
            _ => Answer::Ask(scope),
        }
    }

    fn site_concerns(&self, root: Root) -> bool {
        match root {
            Root::Request(kind, _) => self.denied_kinds.contains(&kind),
            Root::Verb(verb) => self.denied_verbs.contains(&verb),
        }
    }

    /// Whether this answer breaks one of the invariants, by a reading of its own.
    pub fn breaks(&self, root: Root, v: &Valuation, answer: &Answer) -> bool {
        let Root::Request(kind, need) = root else { return false };
        let way = match answer {
            Answer::Deny(_) => return false,
            Answer::Ask(_) => None,
            Answer::Grant(way) => *way,
        };
        let buys = kind == Kind::Purchase;
        let tier = ["T0", "T1", "T2"].iter().position(|name| *name == v.name(Axis::Container));
        let page = tier.is_none_or(|tier| tier < need as usize)
            || v.name(Axis::Origin) != "task"
            || v.name(Axis::TopOrigin) != "task"
            || v.name(Axis::Tls) != "valid"
            || v.name(Axis::Frame) == "unknown"
            || v.name(Axis::Document) == "unknown"
            || v.name(Axis::Claim) == "contradicts"
            || v.name(Axis::Plan) == "unplanned";
        let form = !buys && (v.name(Axis::Destination) != "task" || v.name(Axis::Visibility) == "unknown");
        let filled = matches!(way, Some(Delivery::Fill | Delivery::Wire))
            && (v.name(Axis::Visibility) != "seen"
                || matches!(v.name(Axis::Placement), "lacking" | "unplaced")
                || (need == Tier::T2 && v.name(Axis::Placement) == "free_text"));
        let high = need == Tier::T2
            && (way == Some(Delivery::Model) || (way.is_some() && v.name(Axis::Consent) != "given"));
        let bought = buys
            && (v.name(Axis::Frame) != "top"
                || v.name(Axis::Amount) != "within"
                || (self.purchases && v.name(Axis::Uses) == "spent"));
        let session = (self.site_concerns(root) && v.name(Axis::Site) != "free")
            || (self.tainted.is_some_and(|lowest| need >= lowest) && v.name(Axis::Taint) == "tainted")
            || (way.is_none() && self.prompts && v.name(Axis::Prompts) == "spent");
        page || form || filled || high || bought || session
    }
}
