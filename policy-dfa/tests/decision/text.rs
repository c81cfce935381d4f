//! Policy texts, and the messages about malformed ones.

use crate::common::DEFAULT;
use policy_dfa::{Policy, SafetyBand};
use proptest::prelude::*;
use sirl::{Field, Tier};

const TIERS: &str = "tier T1 { name country region city phone email }
tier T2 { street postal_code card_number card_expiry card_code government_id password one_time_code }";

/// The problems of a policy that has these sections, as `line:column message; help`.
fn problems(sections: &str) -> Vec<String> {
    let error = Policy::parse(&format!("policy \"p\" version 1\n{sections}\n{TIERS}")).unwrap_err();
    let lines = error.problems().iter().map(|problem| {
        let help = problem.help.as_deref().map_or(String::new(), |help| format!("; {help}"));
        format!("{}:{} {}{help}", problem.line, problem.column, problem.message)
    });
    lines.collect()
}

#[test]
fn every_mistake_is_reported_with_its_location() {
    let cases = [
        ("requst address {}", "2:1 unknown section `requst`; did you mean `request`?"),
        ("request adress {}", "2:9 unknown kind of request `adress`; did you mean `address`?"),
        (
            "verb purchase {}",
            "2:6 unknown verb `purchase`; write one of: open, click, type, choose, press, submit",
        ),
        ("verb open { orgin is the task's }", "2:13 unknown clause `orgin`; did you mean `origin`?"),
        (
            "verb type { origin is the tasks }",
            "2:27 expected `task's`, found `tasks`; did you mean `task's`?",
        ),
        (
            "verb open { tls valid }",
            "2:13 `tls` cannot be asked of `open`: the page it goes to is not loaded yet; use `destination`, `container` or `flow`",
        ),
        ("verb click { tls loopback tls valid }", "2:27 `tls` is said twice; keep one of the two"),
        ("verb click { tls valid or valid }", "2:27 `valid` is said twice; keep one of the two"),
        ("verb click { tls insecure }", "2:18 expected `valid` or `loopback`, found `insecure`"),
        (
            "request payment { tls valid or loopback consent every time deliver fill }",
            "2:19 `payment` never goes over a connection in clear; leave `loopback` out: it is not for card data and government identity numbers",
        ),
        (
            "request identity { destination loopback consent every time deliver fill }",
            "2:20 `identity` never goes over a connection in clear; leave `loopback` out: it is not for card data and government identity numbers",
        ),
        (
            "request purchase { tls loopback consent every time deliver payment_api }",
            "2:20 `purchase` never goes over a connection in clear; leave `loopback` out: it is not for card data and government identity numbers",
        ),
        (
            "request payment { frame top or provider consent every time deliver fill }",
            "2:32 a provider is let in here, but the policy names none; add: provider \"pay\" { frame \"https://elements.pay.example\" token \"https://api.pay.example\" }",
        ),
        (
            "request login { frame provider consent every time deliver fill }",
            "2:17 a provider's frame takes card data alone; say so in `request payment`; write here: frame top",
        ),
        (
            "request payment { origin is the task's or provider's consent every time deliver fill }",
            "2:19 in a request, `frame` lets a provider in; write `is the task's` here, and: frame top or provider",
        ),
        (
            "request payment { frame provider consent once per session deliver fill }",
            "2:9 card data for a provider's frame need a yes each time; write: consent every time",
        ),
        (
            "request payment { frame provider consent every time deliver wire }",
            "2:9 card data are only filled into a provider's frame; write: deliver fill",
        ),
        (
            "verb click { frame provider }",
            "2:14 a verb is not let into frames by `frame`; write: origin is the task's or provider's",
        ),
        (
            "provider \"pay\" { frame \"http://pay.example\" token \"https://api.pay.example\" }",
            "2:24 `http://pay.example` is not encrypted; card data go over https only",
        ),
        (
            "provider \"pay\" { frame \"https://pay.example/fields\" token \"https://api.pay.example\" }",
            "2:24 `https://pay.example/fields` is more than an origin, or written in another way; write: https://pay.example",
        ),
        (
            "provider \"pay\" { frame \"*.pay.example\" token \"https://api.pay.example\" }",
            "2:24 `*.pay.example` is not an origin; not a web address; write one such as https://shop.example",
        ),
        (
            "provider \"pay\" { frame \"https://pay.example\" }",
            "2:10 provider `pay` does not name both its frames and where they send card data; write: frame \"https://elements.pay.example\" token \"https://api.pay.example\"",
        ),
        ("verb click { tls valid tls valid }", "2:24 `tls` is said twice; keep one of the two"),
        (
            "verb click { safety reaches the threshold }",
            "2:14 `safety` is about the fields of a request, not about a verb",
        ),
        (
            "verb click { container covers the fields }",
            "2:14 a verb has no fields that a container could cover; write: container T1",
        ),
        (
            "verb type { sink not other, payment_form, address_form, login_form, free_text }",
            "2:13 no sink passes this clause; leave at least one",
        ),
        ("verb type { sink unknown }", "2:13 an unknown sink passes no guard; name the sinks that pass"),
        (
            "verb type { sink chat }",
            "2:18 `sink` is never `chat`; write one of: other, payment_form, address_form, login_form, free_text, unknown",
        ),
        (
            "verb click { visible if tls is valid }",
            "2:25 a clause cannot depend on `tls`; write one of: container, sink",
        ),
        (
            "verb click { visible unless container is T0 or T1 or T2 }",
            "2:29 this condition on `container` always gives the same answer, or depends on an unknown; name some of the known values",
        ),
        (
            "request otp { consent every time deliver fill flow stays }",
            "2:47 `flow` is about text that a verb carries, not about a request",
        ),
        (
            "request otp { tls valid else ask consent every time deliver fill }",
            "2:25 only `safety` may ask in a request, so this clause has no `else`; remove it",
        ),
        (
            "request otp { safety reaches the threshold else grant consent every time deliver fill }",
            "2:49 expected `ask`, found `grant`; write one of: ask",
        ),
        (
            "request otp { deliver fill }",
            "2:9 request `otp` does not say when the user is asked; add a line such as: consent every time",
        ),
        (
            "request otp { consent none }",
            "2:9 request `otp` does not say where the values go; add a line such as: deliver fill",
        ),
        (
            "request otp { consent every time, naming payee and amount deliver fill }",
            "2:35 `otp` has no payee and no amount",
        ),
        (
            "request purchase { consent every time deliver fill }",
            "2:47 `fill` is not a way to deliver `purchase`; `payment_api` is for a purchase, and a purchase goes by it or by `ucp`",
        ),
        (
            "request otp { consent every time deliver payment_api }",
            "2:42 `payment_api` is not a way to deliver `otp`; `payment_api` is for a purchase, and a purchase goes by it or by `ucp`",
        ),
        (
            "request purchase { consent every time deliver ucp or fill }",
            "2:54 `fill` is not a way to deliver `purchase`; `payment_api` is for a purchase, and a purchase goes by it or by `ucp`",
        ),
        (
            "request login { consent every time deliver fill or ucp }",
            "2:52 `ucp` is not a way to deliver `login`; `ucp` is for an address and for a purchase alone",
        ),
        (
            "request address { consent every time deliver ucp or ucp }",
            "2:53 `ucp` is said twice; keep one of the two",
        ),
        (
            "request otp { consent none deliver fill or fill }",
            "2:44 `fill` is said twice; keep one of the two",
        ),
        (
            "request otp { consent none deliver nothing } request otp { consent none deliver nothing }",
            "2:54 `otp` is described twice; keep one of the two",
        ),
        (
            "tier T1 { street }",
            "2:11 `street` cannot be T1: a policy may raise a field's tier, never lower it; put it in T2",
        ),
        ("tier T3 { name }", "2:6 unknown tier `T3`; did you mean `T0`?"),
        ("tier T1 { name } tier T2 { name }", "2:28 `name` already has a tier: T1; name each field once"),
        ("threshold T0 0.5 T1 0.5 T2 0.9", "2:1 the thresholds do not rise; write T0 below T1 below T2"),
        (
            "threshold T0 0.5 T1 0.555 T2 0.9",
            "2:21 expected a number from 0 to 1 with at most two digits after the point, found `0.555`",
        ),
        (
            "site \"Bank.example\" { never login }",
            "2:6 `Bank.example` is not a host; write the host in small letters",
        ),
        (
            "site \"b.example\" { never log }",
            "2:26 unknown kind or verb `log`; write one of: address, payment, purchase, contact, identity, login, otp, open, click, type, choose, press, submit",
        ),
        (
            "site \"*.e.test\" { never otp, login } site \"a.e.test\" { never login }",
            "2:43 this rule changes nothing: `*.e.test` above already says it; remove one of the two",
        ),
        ("session { at most 3 prompts, 4 prompts }", "2:32 `prompts` is said twice; keep one of the two"),
        (
            "session { at most 3 coffees }",
            "2:21 unknown kind or verb `coffees`; write one of: address, payment, purchase, contact, identity, login, otp, open, click, type, choose, press, submit, prompts",
        ),
        (
            "session { values keep to their paths }",
            "2:32 expected `path`, found `paths`; did you mean `path`?",
        ),
        (
            "session { values keep to their path values keep to their path }",
            "2:37 `values` is said twice; keep one of the two",
        ),
        ("session { at most some prompts }", "2:19 expected how many, or how much money, found `some`"),
        (
            "session { at most 1.5 prompts }",
            "2:19 `1.5` is not a number of times; write a whole number up to 10000",
        ),
        (
            "session { at most 10.123 USD }",
            "2:19 `10.123 USD` is not an amount of money; write an amount such as 250.00 USD, with no more decimals than the currency has",
        ),
        ("session { at most 1.00 USD, 2.00 USD }", "2:34 `USD` is said twice; keep one of the two"),
        (
            "session { after suspicion never T2 until new_task }",
            "2:17 unknown event `suspicion`; write one of: suspected_injection, refusal, address, payment, purchase, contact, identity, login, otp, open, click, type, choose, press, submit",
        ),
        (
            "session { after login never T2 until login }",
            "2:38 `login` cannot end what it begins; write: until new_task",
        ),
        (
            "session { after login never T2, T2 until new_task }",
            "2:33 `T2` is said twice; keep one of the two",
        ),
        (
            "session { after login never T2 until new_task after login never T2 until new_task }",
            "2:47 `after` is said twice; keep one of the two",
        ),
        (
            "site \"a.e.test/x y\" { never login }",
            "2:6 `a.e.test/x y` is not a host; write a path such as /account or /account/*, as the browser shows it, without query or escapes",
        ),
        ("site \"a.e.test\" { newer login }", "2:19 a site has no rule `newer`; did you mean `never`?"),
        ("site \"a.e.test\" { never login, login }", "2:32 `login` is said twice; keep one of the two"),
        (
            "site \"*.e.test\" { never login } site \"a.e.test/x\" { only login }",
            "2:38 this allows nothing: `*.e.test` above forbids it, and a refusal wins; remove one of the two",
        ),
        ("verb type { flow stay }", "2:18 `flow` is never tested for `stay`; did you mean `stays`?"),
        (
            "request otp { consent once per page deliver fill }",
            "2:32 a yes does not hold per `page`; write one of: session, site",
        ),
        (
            "prove never grant T2 where tls is not valid or broken or insecure or loopback or unknown",
            "2:32 `tls` has no other value than those named here; leave at least one",
        ),
        ("prove never grant T2 prove never grant T2", "2:22 this is stated twice; keep one of the two"),
        (
            "prove never grant T2 where weather is good",
            "2:28 unknown signal `weather`; write one of: plan, site, taint, session, uses, container, origin, top_origin, tls, frame, document, destination, sink, claim, amount, placement, visibility, safety, flow, consent, prompts",
        ),
        (
            "prove never deliver payment to modle",
            "2:32 unknown way to deliver `modle`; did you mean `model`?",
        ),
    ];
    for (text, expected) in cases {
        let found = problems(text);
        assert_eq!(found.first().map(String::as_str), Some(expected), "{text}");
    }
}

#[test]
fn several_problems_are_reported_at_once() {
    let found = problems("request adress { consent none }\nverb opne { }\nprove never grant T2");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].starts_with("3:6 "), "{found:?}");
}

#[test]
fn a_problem_before_a_clause_with_the_word_of_a_section_is_the_only_one() {
    let found = problems("request otp { consent none deliver fill flow safety reaches the threshold }");
    assert_eq!(found.len(), 1, "{found:?}");
    let found = problems(
        "request address {\n    orgin is the task's\n    consent once per session\n    deliver fill\n}",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    let found = problems("request otp { consnt none } verb opne { }\n\tverb opn { }");
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn the_policy_as_a_whole_is_validated() {
    let error = Policy::parse("policy \"p\" version 1 tier T1 { name }").unwrap_err();
    assert!(error.to_string().contains("no tier is given for `country`"), "{error}");
    let found = problems("request otp { safety reaches the threshold consent every time deliver fill }");
    assert!(found[0].starts_with("2:15 `safety` is used, but the policy has no thresholds"), "{found:?}");
    assert!(Policy::parse(&" ".repeat(70_000)).is_err());
}

#[test]
fn the_shipped_policy_survives_printing_and_parsing() {
    let policy = Policy::parse(DEFAULT).unwrap();
    assert_eq!((policy.name(), policy.version(), policy.proofs().count()), ("default", 1, 15));
    let again = Policy::parse(&policy.to_string()).unwrap();
    assert_eq!((&again, again.to_string()), (&policy, policy.to_string()));
}

#[test]
fn a_tier_may_be_raised() {
    let raised = DEFAULT.replace("phone email }", "phone }").replace("tier T2 {", "tier T2 { email");
    let policy = Policy::parse(&raised).unwrap();
    assert_eq!((policy.tier(Field::Email), policy.tier(Field::Phone)), (Tier::T2, Tier::T1));
    assert!(policy.compile().unwrap().check().is_ok());
}

#[test]
fn safety_bands_begin_at_the_thresholds() {
    let text = format!("policy \"p\" version 2 threshold T0 0.50 T1 0.80 T2 0.95 {TIERS}");
    let thresholds = Policy::parse(&text).unwrap().thresholds().unwrap();
    let bands = [
        (0.0, SafetyBand::Below),
        (0.4999, SafetyBand::Below),
        (0.5, SafetyBand::T0),
        (0.8, SafetyBand::T1),
        (0.9499, SafetyBand::T1),
        (0.95, SafetyBand::T2),
        (1.0, SafetyBand::T2),
        (f64::NAN, SafetyBand::Below),
    ];
    for (safety, band) in bands {
        assert_eq!(thresholds.band(safety), band, "{safety}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The parser never panics, and the location of a problem is inside the text.
    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,80}") {
        if let Err(error) = Policy::parse(&text) {
            prop_assert!(error.problems().iter().all(|problem| text.get(problem.span.clone()).is_some()));
        }
    }

    /// The same for words of the language in any order.
    #[test]
    fn any_words_are_parsed_or_refused(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        let text = format!("policy \"p\" version 1 {}", words.join(" "));
        if let Err(error) = Policy::parse(&text) {
            prop_assert!(!error.problems().is_empty());
            prop_assert!(error.problems().iter().all(|problem| text.get(problem.span.clone()).is_some()));
        }
    }
}

const WORDS: &[&str] = &[
    "tier",
    "threshold",
    "request",
    "verb",
    "site",
    "session",
    "prove",
    "{",
    "}",
    ",",
    "T0",
    "T1",
    "T2",
    "name",
    "otp",
    "open",
    "type",
    "never",
    "grant",
    "deliver",
    "to",
    "model",
    "fill",
    "nothing",
    "consent",
    "none",
    "every",
    "time",
    "container",
    "covers",
    "the",
    "fields",
    "origin",
    "is",
    "not",
    "task's",
    "tls",
    "valid",
    "frame",
    "top",
    "same",
    "any",
    "destination",
    "https",
    "sink",
    "visible",
    "safety",
    "reaches",
    "flow",
    "stays",
    "if",
    "unless",
    "else",
    "ask",
    "deny",
    "where",
    "and",
    "or",
    "at",
    "most",
    "1",
    "0.5",
    "prompts",
    "after",
    "until",
    "\"a.example\"",
    "unknown",
];
