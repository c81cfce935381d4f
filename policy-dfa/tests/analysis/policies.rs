//! Random policy texts, from clauses that often repeat and contradict each other.

use policy_dfa::{Axis, Compiled, Partial, Policy, Root, Unchecked, Valuation, VerbKind};
use proptest::prelude::*;
use sirl::{Kind, Tier};

pub const HEAD: &str = "policy \"random\" version 1
tier T1 { name country region city phone email }
tier T2 { street postal_code card_number card_expiry card_code government_id password one_time_code }
threshold T0 0.1 T1 0.5 T2 0.9
";

const REQUEST: [&str; 15] = [
    "container covers the fields",
    "container T0",
    "container T1",
    "container T2",
    "origin is the task's",
    "tls valid",
    "frame top",
    "frame any",
    "destination origin is the task's",
    "destination https",
    "sink not payment_form, login_form",
    "sink address_form",
    "visible",
    "safety reaches the threshold",
    "safety reaches the threshold else ask",
];

const VERB: [&str; 10] = [
    "container T1",
    "origin is the task's",
    "tls valid",
    "frame same origin",
    "destination origin is the task's",
    "destination https",
    "sink not payment_form, address_form",
    "visible",
    "flow stays",
    "flow own",
];

const WHEN: [&str; 5] =
    ["", "", " if container is T0", " unless container is T0 or T1", " if sink is free_text or other"];

const WAYS: [&str; 6] = ["fill", "fill", "wire", "fill or wire", "model", "nothing"];
const ADDRESS_WAYS: [&str; 9] =
    ["fill", "fill", "wire", "fill or wire", "model", "nothing", "fill or ucp", "ucp", "ucp or model"];

/// Clauses without a repeated test.
fn request(ways: &[&'static str]) -> impl Strategy<Value = String> + use<> {
    let clauses = prop::sample::subsequence(REQUEST.to_vec(), 0..REQUEST.len());
    let consent = prop::sample::select(vec!["none", "every time", "once per session", "once per site"]);
    let deliver = prop::sample::select(ways.to_vec());
    (clauses, consent, deliver).prop_map(|(clauses, consent, deliver)| {
        let mut seen = Vec::new();
        let kept: Vec<&str> = clauses
            .into_iter()
            .filter(|clause| {
                let mut words = clause.split(' ');
                let first = words.next().unwrap();
                let test = match words.next() {
                    Some(second @ ("covers" | "origin" | "https")) => format!("{first} {second}"),
                    _ => first.to_owned(),
                };
                let fresh = !seen.contains(&test);
                seen.push(test);
                fresh
            })
            .collect();
        format!("    {}\n    consent {consent}\n    deliver {deliver}\n", kept.join("\n    "))
    })
}

fn verb(open: bool) -> impl Strategy<Value = String> {
    let tests: Vec<&str> = VERB
        .into_iter()
        .filter(|test| {
            !open || ["destination", "container", "flow"].iter().any(|word| test.starts_with(word))
        })
        .collect();
    let clause = (prop::sample::select(tests), prop::sample::select(WHEN.to_vec()), any::<bool>());
    prop::collection::vec(clause, 0..6).prop_map(|clauses| {
        let mut seen = Vec::new();
        let mut text = String::new();
        for (test, when, soft) in clauses {
            let two: Vec<&str> = test.split(' ').take(2).collect();
            if !seen.contains(&(two.clone(), when)) {
                seen.push((two, when));
                text += &format!("    {test}{when}{}\n", if soft { " else ask" } else { "" });
            }
        }
        text
    })
}

const SITES: [&str; 6] = [
    "site \"*.bank.example\" { never address, type }",
    "site \"my.bank.example\" { never address, type }",
    "site \"*.example\" { never type }",
    "site \"shop.example\" { only address }",
    "site \"shop.example/buy/*\" { only address, open }",
    "site \"evil.test\" { never address, open }",
];

const SESSION: [&str; 10] = [
    "at most 2 address",
    "at most 3 prompts",
    "at most 1 payment",
    "after suspected_injection never T2 until new_task",
    "after suspected_injection never address until new_task",
    "after type never address until open",
    "after type never T1, open until new_task",
    "after refusal never address until new_task",
    "after payment never type until new_task",
    "after address never open until address",
];

pub fn text() -> impl Strategy<Value = String> {
    let sites = prop::sample::subsequence(SITES.to_vec(), 0..4).prop_shuffle();
    let session = prop::sample::subsequence(SESSION.to_vec(), 0..6);
    let requests = (request(&ADDRESS_WAYS), prop::option::of(request(&WAYS)));
    (requests, prop::option::of(verb(true)), prop::option::of(verb(false)), sites, session).prop_map(
        |((address, login), open, typed, sites, session)| {
            let mut text = format!("{HEAD}request address {{\n{address}}}\n");
            for (head, inner) in [("request login", login), ("verb open", open), ("verb type", typed)] {
                if let Some(inner) = inner {
                    text += &format!("{head} {{\n{inner}}}\n");
                }
            }
            text += &format!("{}\nsession {{\n    {}\n}}\n", sites.join("\n"), session.join("\n    "));
            // Lines with an error are removed, since these tests are about valid policies.
            let Err(error) = Policy::parse(&text) else { return text };
            let mut lines: Vec<&str> = text.lines().collect();
            let mut bad: Vec<usize> = error.problems().iter().map(|problem| problem.line - 1).collect();
            bad.sort_unstable();
            bad.dedup();
            for line in bad.into_iter().rev() {
                lines.remove(line);
            }
            lines.join("\n") + "\n"
        },
    )
}

pub fn policy() -> impl Strategy<Value = (String, Policy)> {
    text().prop_filter_map("a policy that parses", |text| Some((text.clone(), Policy::parse(&text).ok()?)))
}

pub fn compiled(policy: &Policy) -> Compiled<Unchecked> {
    policy.compile().unwrap()
}

/// Mostly events that the policies describe.
pub fn root() -> impl Strategy<Value = Root> {
    let address = [Tier::T1, Tier::T2].map(|tier| Root::Request(Kind::Address, tier));
    let orders = [Tier::T1, Tier::T2].map(|tier| Root::Checkout(Kind::Address, tier));
    let described = [address.as_slice(), &orders, &[VerbKind::Open, VerbKind::Type].map(Root::Verb)].concat();
    prop_oneof![
        4 => prop::sample::select(described),
        1 => prop::sample::select(Root::all().collect::<Vec<_>>()),
    ]
}

pub fn valuation() -> impl Strategy<Value = Valuation> {
    prop::collection::vec(any::<u8>(), Axis::COUNT).prop_map(|bytes| {
        let mut valuation = good();
        for (axis, byte) in Axis::ALL.iter().zip(bytes) {
            // Mostly permissive symbols, so that walks go deep.
            if byte % 5 == 0 {
                valuation.set(*axis, (byte / 5) % axis.symbols().len() as u8);
            }
        }
        valuation
    })
}

/// A valuation that passes every guard, with consent.
pub fn good() -> Valuation {
    let mut valuation = Valuation::FIRST;
    for (axis, symbol) in [(Axis::Container, 2), (Axis::Safety, 3), (Axis::Consent, 1), (Axis::Sink, 2)] {
        valuation.set(axis, symbol);
    }
    valuation
}

/// A partial valuation with a few open axes.
pub fn partial() -> impl Strategy<Value = Partial> {
    let open = prop::sample::subsequence(Axis::ALL.to_vec(), 0..=5);
    (valuation(), open, any::<u8>()).prop_map(|(base, open, keep)| {
        Axis::ALL.iter().fold(Partial::anything(), |known, axis| {
            let symbols = axis.symbols();
            let own = base.name(*axis);
            if !open.contains(axis) {
                return known.named(*axis, &[own]).unwrap();
            }
            let kept: Vec<&str> = (0..symbols.len())
                .filter(|index| keep & (1 << index) != 0 || symbols[*index] == own)
                .map(|index| symbols[index])
                .collect();
            known.named(*axis, &kept).unwrap()
        })
    })
}

/// Every valuation of a partial one.
pub fn all(known: &Partial) -> Vec<Valuation> {
    let mut found = vec![known.witness()];
    for axis in Axis::ALL {
        let names: Vec<&str> = known.symbols(*axis).collect();
        let with = |valuation: &Valuation, name: &&str| {
            let mut next = *valuation;
            next.set(*axis, axis.symbols().iter().position(|symbol| symbol == name).unwrap() as u8);
            next
        };
        found = found.iter().flat_map(|one| names.iter().map(|name| with(one, name))).collect();
    }
    found
}
