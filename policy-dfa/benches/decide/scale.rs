//! A policy of 1,000 `site` rules and about 200 other rules, made from the default policy.

use std::fmt::Write;

pub const SITES: usize = 1_000;

const KINDS: [&str; 7] = ["address", "contact", "login", "otp", "identity", "purchase", "payment"];
const VERBS: [&str; 6] = ["open", "click", "choose", "press", "type", "submit"];
/// Clauses on a page, which `open` cannot have.
const ON_PAGE: [&str; 8] = [
    "tls valid or loopback if container is T1 or T2",
    "tls valid if sink is login_form",
    "frame top if container is T2",
    "frame same origin if container is T1",
    "sink not payment_form if container is T1",
    "sink not payment_form, login_form if container is T0",
    "visible if container is T2",
    "visible if sink is login_form, payment_form",
];
/// Clauses of every verb.
const ON_GOAL: [&str; 4] = [
    "destination https or loopback if container is T2",
    "destination https if container is T1 else ask",
    "flow own if container is T0 else ask",
    "container T1 if sink is address_form",
];
/// The conditions under which nothing of any kind is granted.
const NEVER: [&str; 8] = [
    "container is T0 or unknown",
    "origin is other or unknown",
    "top_origin is unknown",
    "tls is broken or insecure",
    "tls is unknown",
    "frame is cross_origin or unknown",
    "document is unknown",
    "claim is contradicts",
];

/// The text of the policy.
pub fn text(default: &str) -> String {
    let mut text = String::new();
    for line in default.lines().filter(|line| !line.starts_with('#')) {
        let verb = VERBS.into_iter().find(|verb| line.starts_with(&format!("verb {verb} ")));
        match (verb, line.split_once(" }")) {
            (Some(verb), Some((head, ""))) => {
                writeln!(text, "{}", head.replacen('{', "{\n   ", 1)).unwrap();
                clauses(&mut text, verb);
                text.push_str("}\n");
            }
            (Some(verb), _) => {
                writeln!(text, "{line}").unwrap();
                clauses(&mut text, verb);
            }
            (None, _) if line.starts_with("session {") => {
                sites(&mut text);
                writeln!(text, "{line}").unwrap();
                for (number, kind) in KINDS.iter().enumerate().take(6) {
                    let (never, until) = (VERBS[number], KINDS[(number + 1) % 6]);
                    writeln!(text, "    after {kind} never {never} until {until}").unwrap();
                }
            }
            _ => writeln!(text, "{line}").unwrap(),
        }
    }
    for kind in KINDS {
        NEVER.iter().for_each(|when| writeln!(text, "prove never grant {kind} where {when}").unwrap());
    }
    text + "prove never grant T2 after suspected_injection\nprove never grant click after address where container is unknown\n"
}

fn clauses(text: &mut String, verb: &str) {
    let on_page = ON_PAGE.iter().filter(|_| verb != "open");
    let with_sink = |clause: &&&str| verb != "open" || !clause.contains("sink");
    for clause in on_page.chain(&ON_GOAL).filter(with_sink) {
        writeln!(text, "    {}", clause.replace("form, payment", "form or payment")).unwrap();
    }
}

/// Hosts alone, hosts below a domain, and both with paths. The sites of the samples are among them.
fn sites(text: &mut String) {
    let fixed = [
        "site \"shop.example\" { only purchase }",
        "site \"*.shop.example/admin/*\" { never submit, type }",
        "site \"shop.example/admin/*\" { never login, submit }",
        "site \"*.test/account/*\" { never open, submit }",
    ];
    fixed.iter().for_each(|site| writeln!(text, "{site}").unwrap());
    for n in fixed.len()..SITES {
        let (site, rule) = match n % 5 {
            0 => (format!("www.host{n}.example"), "never login, otp"),
            1 => (format!("*.domain{n}.example"), "never address, contact, type"),
            2 => (format!("www.host{n}.example/account/*"), "never payment, submit, click"),
            3 => (format!("*.domain{}.example/settings", n - 2), "never press, choose, open"),
            _ => (format!("pay.host{n}.example/checkout/*"), "only purchase"),
        };
        writeln!(text, "site \"{site}\" {{ {rule} }}").unwrap();
    }
}

/// The rules of a policy that are no `site` rules: lines of its canonical text within sections, and statements.
pub fn rules(canonical: &str) -> usize {
    canonical.lines().filter(|line| line.starts_with("    ") || line.starts_with("prove ")).count()
}
