//! Random policies, as text.

use sirl::{Kind, Tier};

/// Random bytes, one for each choice.
pub struct Choices<'a>(&'a [u8], usize);

const SINKS: [&str; 5] = ["other", "payment_form", "address_form", "login_form", "free_text"];
const VERBS: [&str; 6] = ["open", "click", "type", "choose", "press", "submit"];
const TLS: [&str; 4] = ["tls valid", "tls valid", "tls valid or loopback", "tls loopback"];
const DESTINATIONS: [&str; 4] =
    ["destination https", "destination https", "destination https or loopback", "destination loopback"];
const FRAMES: [&str; 3] = ["top", "same origin", "any"];
const PAYMENT_FRAMES: [&str; 4] = ["top", "any", "top or provider", "provider"];
const OWNERS: [&str; 3] = ["is the task's", "is the task's", "is the task's or provider's"];
const PROVIDER: &str = "provider \"pay\" { frame \"https://frame.pay.example\" token \"https://api.pay.example\", \"https://b.pay.example\" }";
/// Signals that a statement may name, with their symbols.
const SIGNALS: [(&str, &[&str]); 10] = [
    ("container", &["T0", "T1", "T2", "unknown"]),
    (
        "destination",
        &[
            "task",
            "task_over_http",
            "task_on_loopback",
            "other",
            "other_over_http",
            "other_on_loopback",
            "provider",
            "unknown",
        ],
    ),
    ("frame", &["top", "same_origin", "cross_origin", "provider", "unknown"]),
    ("origin", &["task", "other", "provider", "unknown"]),
    ("tls", &["valid", "broken", "insecure", "loopback", "unknown"]),
    ("sink", &["other", "payment_form", "address_form", "login_form", "free_text", "unknown"]),
    ("consent", &["none", "given", "refused", "expired", "mandated"]),
    ("taint", &["clean", "tainted"]),
    ("session", &["free", "barred"]),
    ("uses", &["under", "spent"]),
];

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        Choices(bytes, 0)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.1 += 1;
        usize::from(self.0[self.1 % self.0.len()].wrapping_add((self.1 / self.0.len()) as u8)) % n
    }

    fn rarely(&mut self) -> bool {
        self.below(16) == 0
    }

    pub fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    /// A subset that is not empty.
    fn some<T: Clone>(&mut self, all: &[T]) -> Vec<T> {
        let first = self.below(all.len());
        (0..all.len()).filter(|i| *i == first || self.below(2) == 0).map(|i| all[i].clone()).collect()
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for index in 0..all.len() {
            let other = self.below(all.len());
            all.swap(index, other);
        }
    }
}

fn kinds() -> Vec<&'static str> {
    Kind::ALL.map(Kind::as_str).to_vec()
}

fn events() -> Vec<&'static str> {
    kinds().into_iter().chain(VERBS).collect()
}

fn subjects() -> Vec<&'static str> {
    Tier::ALL.map(Tier::as_str).into_iter().chain(events()).collect()
}

/// A nearly correct rule, from which a guard is missing now and then.
fn request(kind: &str, c: &mut Choices<'_>) -> String {
    let buys = kind == "purchase";
    let mut lines = Vec::new();
    let add = |lines: &mut Vec<String>, line: String, c: &mut Choices<'_>| {
        if !c.rarely() {
            lines.push(line);
        }
    };
    let container = if c.rarely() { "T1" } else { "covers the fields" };
    add(&mut lines, format!("container {container}"), c);
    add(&mut lines, "origin is the task's".to_owned(), c);
    let clear = !matches!(kind, "payment" | "purchase" | "identity");
    let tls = if clear { c.pick(&TLS) } else { "tls valid" };
    add(&mut lines, tls.to_owned(), c);
    let frame = match kind {
        "purchase" => "top",
        "payment" => c.pick(&PAYMENT_FRAMES),
        _ => c.pick(&FRAMES),
    };
    let in_provider = frame.ends_with("provider") && !c.rarely();
    let frame = if frame.ends_with("provider") && !in_provider { "top" } else { frame };
    if in_provider {
        lines.push(format!("frame {frame}"));
    } else {
        add(&mut lines, format!("frame {frame}"), c);
    }
    if !buys || c.below(4) == 0 {
        // Now and then both clauses about the destination are missing.
        if !c.rarely() {
            add(&mut lines, "destination origin is the task's".to_owned(), c);
            let channel = if clear { c.pick(&DESTINATIONS) } else { "destination https" };
            add(&mut lines, channel.to_owned(), c);
        }
        add(&mut lines, "visible".to_owned(), c);
    }
    if c.below(4) == 0 {
        let sinks = c.some(&SINKS);
        add(&mut lines, format!("sink {}", sinks.join(", ")), c);
    }
    if c.below(3) > 0 {
        let low = c.pick(&["", " else deny", " else ask", " else ask"]);
        add(&mut lines, format!("safety reaches the threshold{low}"), c);
    }
    lines.push(match c.below(16) {
        _ if in_provider => "consent every time".to_owned(),
        0 => "consent none".to_owned(),
        n if n < 5 => "consent once per session".to_owned(),
        n if n < 8 => "consent once per site".to_owned(),
        n if buys && n < 11 => "consent every time, naming payee and amount".to_owned(),
        n if buys && n < 14 => "consent every time, naming payee and amount, unless mandated".to_owned(),
        _ => "consent every time".to_owned(),
    });
    let delivery = match c.below(24) {
        0 => "nothing",
        n if buys && n < 8 => "payment_api",
        n if buys && n < 16 => "ucp",
        n if buys && n < 20 => "payment_api or ucp",
        _ if buys => "ucp or payment_api",
        n if kind == "address" && n < 6 => "ucp",
        n if kind == "address" && n < 12 => "fill or ucp",
        n if kind == "address" && n < 14 => "ucp or wire",
        _ if in_provider => "fill",
        1 => "model",
        2 => "wire or fill",
        _ => "fill",
    };
    lines.push(format!("deliver {delivery}"));
    c.shuffle(&mut lines);
    format!("request {kind} {{\n{}\n}}", lines.join("\n"))
}

fn verb(name: &str, c: &mut Choices<'_>) -> String {
    let mut tests = vec![
        format!("container {}", c.pick(&Tier::ALL).as_str()),
        format!("destination origin {}", c.pick(&OWNERS)),
        c.pick(&DESTINATIONS).to_owned(),
        "flow stays".to_owned(),
        "flow own".to_owned(),
    ];
    if name != "open" {
        tests.extend([c.pick(&TLS), "visible"].map(str::to_owned));
        tests.push(format!("origin {}", c.pick(&OWNERS)));
        tests.push(format!("frame {}", c.pick(&FRAMES)));
        let not = if c.below(2) == 0 { "not " } else { "" };
        let mut sinks = c.some(&SINKS);
        sinks.truncate(SINKS.len() - 1);
        tests.push(format!("sink {not}{}", sinks.join(", ")));
        // The same test twice, with different conditions.
        if c.below(2) == 0 {
            tests.push("visible if container is T2".to_owned());
            tests.push("container T1 if sink is other".to_owned());
        }
    }
    c.shuffle(&mut tests);
    let kept = c.below(tests.len() + 1);
    let dress = |test: String, c: &mut Choices<'_>| {
        let when = match c.below(4) {
            _ if test.contains(" if ") => "",
            0 => c.pick(&[" if container is T0", " unless container is T0", " if container is not T1"]),
            1 => c.pick(&[" if sink is free_text", " unless sink is payment_form or login_form"]),
            _ => "",
        };
        let or = match c.below(6) {
            0 | 1 => " else ask",
            2 => " else deny",
            _ => "",
        };
        format!("{test}{when}{or}")
    };
    let lines: Vec<_> = tests.into_iter().take(kept).map(|test| dress(test, c)).collect();
    format!("verb {name} {{\n{}\n}}", lines.join("\n"))
}

/// A `session` section, which is empty now and then.
pub fn session(c: &mut Choices<'_>) -> String {
    let mut lines = Vec::new();
    let mut counted = events();
    c.shuffle(&mut counted);
    counted.truncate(c.below(4));
    let mut limits: Vec<_> = counted.iter().map(|event| format!("{} {event}", c.below(3))).collect();
    if c.below(2) == 0 {
        limits.push(format!("{} prompts", c.below(4)));
    }
    if c.below(4) == 0 {
        limits.push("250.00 USD".to_owned());
    }
    if !limits.is_empty() {
        lines.push(format!("at most {}", limits.join(", ")));
    }
    for _ in 0..c.below(4) {
        let triggers: Vec<_> = ["suspected_injection", "refusal"].into_iter().chain(events()).collect();
        let after = if c.below(2) == 0 { "suspected_injection" } else { c.pick(&triggers) };
        let mut never = vec![c.pick(&subjects())];
        never.extend(Some(c.pick(&subjects())).filter(|other| *other != never[0] && c.below(2) == 0));
        let until = if c.below(2) == 0 { "new_task" } else { c.pick(&triggers) };
        let until = if until == after { "new_task" } else { until };
        // The order does not matter, and the canonical one makes equal rules equal texts.
        never.sort_by_key(|subject| subjects().iter().position(|known| known == subject));
        lines.push(format!("after {after} never {} until {until}", never.join(", ")));
    }
    let mut kept: Vec<String> = Vec::new();
    for line in lines {
        if !kept.contains(&line) {
            kept.push(line);
        }
    }
    format!("session {{\n{}\n}}", kept.join("\n"))
}

fn proof(c: &mut Choices<'_>) -> String {
    let subject = c.pick(&subjects());
    if c.below(4) == 0 {
        return format!(
            "prove never deliver {subject} to {}",
            c.pick(&["fill", "wire", "payment_api", "model", "ucp"])
        );
    }
    let triggers: Vec<_> = ["suspected_injection", "refusal"].into_iter().chain(events()).collect();
    let after = if c.below(2) == 0 { format!(" after {}", c.pick(&triggers)) } else { String::new() };
    let mut conditions = String::new();
    for index in 0..c.below(4) {
        let (signal, symbols) = c.pick(&SIGNALS);
        let mut named = c.some(symbols);
        named.truncate(symbols.len() - 1);
        let not = if c.below(3) == 0 { "not " } else { "" };
        let word = if index == 0 { "where" } else { "and" };
        conditions += &format!(" {word} {signal} is {not}{}", named.join(" or "));
    }
    format!("prove never grant {subject}{after}{conditions}")
}

pub fn policy(bytes: &[u8]) -> String {
    let c = &mut Choices::new(bytes);
    let mut low = vec!["name", "country", "region", "city", "phone", "email"];
    let raised = if c.below(4) == 0 { c.some(&low) } else { vec![] };
    low.retain(|field| !raised.contains(field));
    let high = "street postal_code card_number card_expiry card_code government_id password one_time_code";
    let mut sections = vec![
        format!("tier T1 {{ {} }}", low.join(" ")),
        format!("tier T2 {{ {high} {} }}", raised.join(" ")),
        "threshold T0 0.1 T1 0.5 T2 0.9".to_owned(),
    ];
    let mut kinds = kinds();
    c.shuffle(&mut kinds);
    kinds.truncate(1 + c.below(3));
    sections.extend(kinds.into_iter().map(|kind| request(kind, c)));
    let verbs: Vec<_> = VERBS.into_iter().filter(|_| c.below(2) == 0).collect();
    sections.extend(verbs.into_iter().map(|name| verb(name, c)));
    for host in ["*.bank.example", "a.shop.example/account/*", "[::1]"] {
        if c.below(3) == 0 {
            let effect = c.pick(&["never", "only"]);
            sections.push(format!("site \"{host}\" {{ {effect} {} }}", c.some(&events()).join(", ")));
        }
    }
    let names_provider =
        sections.iter().any(|section| section.contains("or provider") || section.contains("frame provider"));
    if names_provider || c.below(8) == 0 {
        sections.push(PROVIDER.to_owned());
    }
    let session = session(c);
    let mut proofs: Vec<_> = (0..c.below(4)).map(|_| proof(c)).collect();
    // A statement for each `after` rule. It holds unless another event ends the bar before a new task.
    for rule in session.lines().filter_map(|line| line.strip_prefix("after ")) {
        let (event, rest) = rule.split_once(" never ").unwrap();
        let subject = rest.split([',', ' ']).next().unwrap();
        proofs.push(format!("prove never grant {subject} after {event}"));
    }
    sections.push(session);
    proofs.sort();
    proofs.dedup();
    sections.extend(proofs);
    c.shuffle(&mut sections);
    format!("policy \"random\" version 1\n{}\n", sections.join("\n"))
}
