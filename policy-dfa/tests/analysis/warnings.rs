//! Warnings.

use policy_dfa::diff::Diff;
use policy_dfa::{Policy, Warning};
use proptest::prelude::*;

use crate::common::DEFAULT;
use crate::policies::{HEAD, policy};

/// The text without the rules of these warnings.
fn without(text: &str, warnings: &[&Warning]) -> String {
    let mut spans: Vec<_> = warnings.iter().filter_map(|warning| warning.span.clone()).collect();
    spans.sort_by_key(|span| span.start);
    let mut rest = text.to_owned();
    for span in spans.into_iter().rev() {
        rest.replace_range(span, "");
    }
    rest
}

fn about_clauses(warning: &Warning) -> bool {
    warning.message.contains("changes nothing for")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn all_redundant_clauses_can_be_removed_together(one in policy()) {
        let warnings = one.1.warnings();
        let redundant: Vec<&Warning> = warnings.iter().filter(|warning| about_clauses(warning)).collect();
        let less = without(&one.0, &redundant);
        let rest = Policy::parse(&less).unwrap_or_else(|error| panic!("{error}\n{less}"));
        let diff = Diff::between(&one.1.compile().unwrap(), &rest.compile().unwrap());
        prop_assert!(diff.is_empty(), "{diff}\n{}\nwithout\n{:?}", one.0, redundant);
        prop_assert!(!rest.warnings().iter().any(about_clauses), "{:?}\n{}", rest.warnings(), less);
    }

    #[test]
    fn every_other_clause_changes_something(one in policy()) {
        let warnings = one.1.warnings();
        let redundant: Vec<&Warning> = warnings.iter().filter(|warning| about_clauses(warning)).collect();
        let less = without(&one.0, &redundant);
        let rest = Policy::parse(&less).unwrap();
        for (number, line) in less.lines().enumerate() {
            let clause = line.trim();
            let first = clause.split(' ').next().unwrap_or("");
            let words = ["container", "origin", "tls", "frame", "destination", "sink", "visible", "safety", "flow"];
            if !words.contains(&first) {
                continue;
            }
            let fewer: Vec<&str> = less.lines().enumerate().filter(|(n, _)| *n != number).map(|(_, l)| l).collect();
            let fewer = Policy::parse(&fewer.join("\n")).unwrap();
            let diff = Diff::between(&rest.compile().unwrap(), &fewer.compile().unwrap());
            prop_assert!(!diff.changes.is_empty(), "{clause}\n{less}");
        }
    }
}

/// The shipped policy without its statements about purchases, which say nothing once a purchase is never granted.
fn unstated() -> String {
    DEFAULT
        .lines()
        .filter(|line| !line.starts_with("prove never grant purchase"))
        .map(|line| format!("{line}\n"))
        .collect()
}

fn messages(text: &str) -> Vec<String> {
    let policy = Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    policy.warnings().iter().map(|warning| warning.message.clone()).collect()
}

#[test]
fn the_shipped_policy_gives_no_warning() {
    assert_eq!(messages(DEFAULT), Vec::<String>::new());
}

#[test]
fn every_warning_has_its_location() {
    let session =
        |rule: &str| DEFAULT.replace("    after suspected", &format!("    {rule}\n    after suspected"));
    let more = |lines: &str| format!("{DEFAULT}{lines}\n");
    let cases = [
        (
            DEFAULT.replace("    deliver nothing", "    tls valid\n    deliver nothing"),
            "`tls valid` changes nothing for `payment`: nothing of it is delivered",
            "tls valid",
        ),
        (
            DEFAULT.replace(
                "deliver ucp or payment_api",
                "container covers the fields deliver ucp or payment_api",
            ),
            "`container T2` changes nothing for `purchase`: `container covers the fields` says it already",
            "container T2",
        ),
        (
            DEFAULT.replace("verb choose {", "verb choose { flow own flow stays"),
            "`flow stays` changes nothing for `choose`: `flow own` says it already",
            "flow stays",
        ),
        (
            DEFAULT.replacen("deliver fill", "deliver fill or wire", 1),
            "`address` is never delivered by `wire`: a grant goes by the first way named, `fill`",
            "address",
        ),
        (
            unstated().replace("deliver ucp or payment_api", "visible deliver payment_api"),
            "`purchase` can never be granted: `visible` can never hold for it",
            "purchase",
        ),
        (
            DEFAULT.replace("deliver ucp or payment_api", "visible deliver ucp or payment_api"),
            "`purchase` can never be granted by `payment_api`: `visible` can never hold for it",
            "purchase",
        ),
        (
            DEFAULT.replacen("tls valid or loopback", "tls loopback", 1),
            "`address` can never be granted by `ucp`: `tls loopback` can never hold for it",
            "address",
        ),
        (
            DEFAULT.replacen("deliver fill or ucp", "deliver wire or ucp or fill", 1),
            "`address` is never delivered by `fill`: a grant goes by the first way named, `wire`",
            "address",
        ),
        (
            unstated().replace("at most 1 purchase", "at most 0 purchase"),
            "`purchase` can never be granted: `at most 0 purchase` can never hold for it",
            "purchase",
        ),
        (
            more("threshold T0 0.1 T1 0.2 T2 0.3"),
            "the thresholds are never used: no request says `safety reaches the threshold`",
            "",
        ),
        (session("at most 3 payment"), "`at most 3 payment` changes nothing: `payment` is never granted", ""),
        (
            session("after payment never open until new_task"),
            "`after payment never open until new_task` changes nothing: `payment` never happens",
            "after payment never open until new_task",
        ),
        (
            session("after refusal never payment until new_task"),
            "`after refusal never payment until new_task` changes nothing: what it bars is never granted",
            "after refusal never payment until new_task",
        ),
        (
            session("after suspected_injection never otp until new_task"),
            "`after suspected_injection never otp until new_task` changes nothing: the others bar it already",
            "after suspected_injection never otp until new_task",
        ),
        (
            more("site \"my.bank.example\" { never login }\nsite \"*.bank.example\" { never login, otp }"),
            "`site \"my.bank.example\" { never login }` changes nothing: `site \"*.bank.example\"` says it already",
            "\"my.bank.example\" { never login }",
        ),
        (
            more("site \"bank.example\" { never payment }"),
            "`site \"bank.example\" { never payment }` changes nothing: what it names is never granted",
            "\"bank.example\" { never payment }",
        ),
        (
            more("site \"shop.example\" { only login }\nsite \"bank.example\" { never login }"),
            "`site \"bank.example\" { never login }` changes nothing: it is allowed only on `shop.example` and the like",
            "\"bank.example\" { never login }",
        ),
        (
            more(
                "site \"shop.example\" { only login }\nsite \"bank.example\" { only login }\nsite \"bank.example\" { never login, otp }",
            ),
            "`site \"bank.example\" { only login }` changes nothing: `site \"bank.example\"` forbids it there",
            "\"bank.example\" { only login }",
        ),
        (
            more("site \"shop.example/login\" { only login }\nsite \"shop.example\" { never login }"),
            "`login` can never be granted: `site \"shop.example/login\" { only login }` can never hold for it",
            "login",
        ),
        (
            more("prove never grant login where tls is valid and tls is broken"),
            "`never grant login where tls is valid and tls is broken` says nothing: its conditions contradict each other",
            "prove never grant login where tls is valid and tls is broken",
        ),
        (
            more("prove never grant purchase where visibility is seen"),
            "`never grant purchase where visibility is seen` says nothing: its conditions never hold for `purchase`",
            "prove never grant purchase where visibility is seen",
        ),
        (
            more("prove never grant login after payment"),
            "`never grant login after payment` says nothing: `payment` never happens",
            "prove never grant login after payment",
        ),
        (
            more("prove never deliver login to payment_api"),
            "`never deliver login to payment_api` says nothing: no policy can deliver `login` by `payment_api`",
            "prove never deliver login to payment_api",
        ),
        (
            DEFAULT.replace(
                "verb press  { origin is the task's unless container is T0 }",
                "prove never grant press where container is T0",
            ),
            "`never grant press where container is T0` says nothing: `press` is never granted anyway",
            "prove never grant press where container is T0",
        ),
        (
            DEFAULT.replace(
                "tier T1 { name country region city phone email }\ntier T2 {",
                "tier T2 { username company name country region city phone email",
            ),
            "no field is T1, so `never grant T1 where tls is broken or insecure or unknown` is about higher tiers alone",
            "prove never grant T1 where tls is not valid or loopback",
        ),
    ];
    for (text, expected, at) in cases {
        assert_ne!(text, DEFAULT, "{expected}");
        let Ok(policy) = Policy::parse(&text) else {
            panic!("{expected}\n{}", Policy::parse(&text).unwrap_err())
        };
        let warnings = policy.warnings();
        let found = warnings.iter().find(|warning| warning.message == expected);
        let Some(found) = found else { panic!("{expected}\nnot in\n{warnings:#?}") };
        assert_eq!(found.span.clone().map_or("", |span| &text[span]), at, "{expected}");
        assert_eq!(warnings.len(), 1, "{warnings:#?}");
    }
}

/// What an order needs whatever the policy says, and what it has not, need not be written where nothing is filled.
#[test]
fn clauses_that_every_order_implies_change_nothing_where_nothing_is_filled() {
    let found = messages(&DEFAULT.replacen("deliver fill or ucp", "deliver ucp", 1));
    let clauses = [
        "`origin is the task's` changes nothing for `address`: the rules around it say it already",
        "`tls valid or loopback` changes nothing for `address`: the rules around it say it already",
        "`frame top` changes nothing for `address`: the rules around it say it already",
        "`destination origin is the task's` changes nothing for `address`: the rules around it say it already",
        "`destination https or loopback` changes nothing for `address`: the rules around it say it already",
        "`visible` changes nothing for `address`: an order by `ucp` fills no control",
    ];
    assert_eq!(found, clauses);
}

#[test]
fn a_statement_about_deliver_nothing_gives_no_warning() {
    let text = format!(
        "{HEAD}request payment {{ consent every time deliver nothing }}\nprove never grant payment\n"
    );
    let found = messages(&text);
    assert_eq!(found, ["the thresholds are never used: no request says `safety reaches the threshold`"]);
}

#[test]
fn a_never_rule_with_a_path_does_not_make_an_only_rule_redundant() {
    // The `only` rule still limits the pages on which a login may start.
    let text = format!(
        "{DEFAULT}site \"shop.example/login\" {{ only login }}\nsite \"shop.example/*\" {{ never login }}\n"
    );
    assert_eq!(messages(&text), Vec::<String>::new());
}
