//! The messages about a JSON form that is no policy: each mistake with its location and a remedy.

use serde_json::{Value, json};

use crate::{merge, problems, shipped};

/// The first problem of the shipped policy with some keys changed, without its line and column.
fn first_problem(change: Value) -> String {
    let mut policy = shipped();
    merge(&mut policy, change);
    let first = problems(&policy.to_string()).remove(0);
    first.split_once(' ').unwrap().1.to_owned()
}

/// Faults of the form.
#[test]
fn every_mistake_in_the_form_is_reported_with_its_location() {
    let cases = [
        (json!({ "requsts": {} }), "requsts: unknown key `requsts`; did you mean `requests`?"),
        (
            json!({ "requests": { "adress": {} } }),
            "requests.adress: unknown key `adress`; did you mean `address`?",
        ),
        (
            json!({ "requests": { "address": { "concent": 1 } } }),
            "requests.address.concent: unknown key `concent`; did you mean `consent`?",
        ),
        (json!({ "version": "1" }), "version: expected the version, a whole number, found `\"1\"`"),
        (json!({ "version": -1 }), "version: expected the version, a whole number, found `-1`"),
        (json!({ "version": null }), "version: expected the version, a whole number, found `null`"),
        (json!({ "policy": 3 }), "policy: expected the name of a policy, a text, found `3`"),
        (json!({ "policy": "caf\u{e9}" }), "policy: `\\u{e9}` is not allowed in the name of a policy"),
        (json!({ "policy": "a\" version 2" }), "policy: `\"` is not allowed in the name of a policy"),
        (json!({ "policy": "a\u{202e}" }), "policy: `\\u{202e}` is not allowed in the name of a policy"),
        (json!({ "tiers": [] }), "tiers: expected the tiers, an object, found a list"),
        (
            json!({ "tiers": { "T1": ["emial"] } }),
            "tiers.T1[0]: `emial` is not a field; did you mean `email`?",
        ),
        (
            json!({ "tiers": { "T1": ["zip"] } }),
            "tiers.T1[0]: `zip` is not a field; write one of: name, country, region, city, phone, email, street, postal_code, card_number, card_expiry, card_code, government_id, password, one_time_code, username, company, birth_date, new_password",
        ),
        (
            json!({ "thresholds": { "T0": 0.1 } }),
            "thresholds: `T1` is missing; add a key such as: \"T1\": 0.95",
        ),
        (
            json!({ "verbs": { "read": {} } }),
            "verbs.read: unknown key `read`; write one of: open, click, type, choose, press, submit",
        ),
        (
            json!({ "verbs": { "click": { "clauses": [{}] } } }),
            "verbs.click.clauses[0]: a clause tests one thing, and this one 0; write a clause such as: { \"tls\": \"valid\" }",
        ),
        (
            json!({ "verbs": { "click": { "clauses": [{ "tls": "valid", "visible": true }] } } }),
            "verbs.click.clauses[0]: a clause tests one thing, and this one 2; write a clause such as: { \"tls\": \"valid\" }",
        ),
        (
            json!({ "verbs": { "click": { "clauses": [{ "tls": "broken" }] } } }),
            "verbs.click.clauses[0].tls: `broken` is not what `tls` is tested for; write one of: valid, valid_or_loopback, loopback",
        ),
        (
            json!({ "verbs": { "click": { "clauses": [{ "frame": "same" }] } } }),
            "verbs.click.clauses[0].frame: `same` is not what `frame` is tested for; write one of: top, same_origin, any, top_or_provider, provider",
        ),
        (
            json!({ "verbs": { "click": { "clauses": [{ "visible": false }] } } }),
            "verbs.click.clauses[0].visible: expected `true`, found `false`",
        ),
        (
            json!({ "verbs": { "type": { "clauses": [{ "sink": [] }] } } }),
            "verbs.type.clauses[0].sink: this list is empty; name a sink",
        ),
        (
            json!({ "verbs": { "type": { "clauses": [{ "sink": ["not", "other"] }] } } }),
            "verbs.type.clauses[0].sink[0]: `not` is not a sink; write one of: other, payment_form, address_form, login_form, free_text, unknown",
        ),
        (
            json!({ "verbs": { "click": { "clauses": [{ "visible": true, "else": "grant" }] } } }),
            "verbs.click.clauses[0].else: `grant` is not what follows a failed clause; write one of: ask, deny",
        ),
        (
            json!({ "verbs": { "click": { "clauses": [{ "visible": true, "if": { "container": ["T0"], "sink": ["other"] } }] } } }),
            "verbs.click.clauses[0].if: a condition is about one signal, and this one about 2; write a condition such as: { \"container\": [\"T1\", \"T2\"] }",
        ),
        (
            json!({ "verbs": { "click": { "clauses": [{ "visible": true, "if": { "contaner": ["T0"] } }] } } }),
            "verbs.click.clauses[0].if.contaner: unknown key `contaner`; did you mean `container`?",
        ),
        (
            json!({ "requests": { "otp": { "clauses": [{ "tls": "valid", "if": { "container": ["T0"] } }] } } }),
            "requests.otp.clauses[0].if: a clause of a request always applies, so it has no `if`; remove it",
        ),
        (
            json!({ "requests": { "otp": { "clauses": [{ "tls": "valid", "else": "ask" }] } } }),
            "requests.otp.clauses[0].else: only `safety` may ask in a request, so this clause has no `else`; remove it",
        ),
        (
            json!({ "requests": { "payment": { "consent": "every time" } } }),
            "requests.payment.consent: `every time` is not a consent; did you mean `every_time`?",
        ),
        (
            json!({ "requests": { "purchase": { "consent": "session" } } }),
            "requests.purchase.naming_payee_and_amount: consent `session` names no payee and no amount; write: \"consent\": \"every_time\"",
        ),
        (
            json!({ "requests": { "otp": { "deliver": "fill" } } }),
            "requests.otp.deliver: expected a way to deliver, a list, found `\"fill\"`",
        ),
        (
            json!({ "requests": { "otp": { "deliver": ["nothing"] } } }),
            "requests.otp.deliver[0]: `nothing` is not a way to deliver; write one of: fill, wire, payment_api, model, ucp",
        ),
        (
            json!({ "sites": [{ "site": "a.example" }] }),
            "sites[0]: a site says one thing, `never` or `only`; write a site such as: { \"site\": \"a.example\", \"never\": [\"login\"] }",
        ),
        (
            json!({ "sites": [{ "site": "a.example", "never": ["otp"], "only": ["otp"] }] }),
            "sites[0]: a site says one thing, `never` or `only`; write a site such as: { \"site\": \"a.example\", \"never\": [\"login\"] }",
        ),
        (
            json!({ "sites": [{ "site": "b\u{fc}cher.example", "never": ["otp"] }] }),
            "sites[0].site: `\\u{fc}` is not allowed in a host",
        ),
        (
            json!({ "sites": [{ "site": "a\" { never otp } site \"b", "never": ["otp"] }] }),
            "sites[0].site: `\"` is not allowed in a host",
        ),
        (
            json!({ "session": { "at_most": { "purchases": 1 } } }),
            "session.at_most.purchases: unknown key `purchases`; did you mean `purchase`?",
        ),
        (
            json!({ "session": { "at_most": { "purchase": 1.5 } } }),
            "session.at_most.purchase: `1.5` is not a number of times; write a whole number up to 10000",
        ),
        (
            json!({ "session": { "values": "origin" } }),
            "session.values: `origin` is not a limit for values; write one of: path",
        ),
        (
            json!({ "session": { "at_most": { "money": "250" } } }),
            "session.at_most.money: expected an amount such as \"250.00 USD\", found `\"250\"`",
        ),
        (
            json!({ "session": { "after": [{ "event": "otp", "never": ["T2"] }] } }),
            "session.after[0]: `until` is missing; add a key such as: \"until\": \"new_task\"",
        ),
        (
            json!({ "session": { "after": [{ "event": "new_task", "never": ["T2"], "until": "otp" }] } }),
            "session.after[0].event: `new_task` is not an event; write one of: suspected_injection, refusal, address, payment, purchase, contact, identity, login, otp, open, click, type, choose, press, submit",
        ),
        (
            json!({ "prove": [{ "never": "grant", "subject": "T2", "to": "model" }] }),
            "prove[0].to: a statement about `grant` has no `to`; remove it",
        ),
        (
            json!({ "prove": [{ "never": "deliver", "subject": "T2", "to": "modle" }] }),
            "prove[0].to: `modle` is not a way to deliver; did you mean `model`?",
        ),
        (
            json!({ "prove": [{ "never": "grant", "subject": "T2", "where": [{ "tls": [] }] }] }),
            "prove[0].where[0].tls: this list is empty; name a symbol of `tls`",
        ),
        (
            json!({ "prove": [{ "never": "grant", "subject": "T2", "where": [{ "tls": ["task"] }] }] }),
            "prove[0].where[0].tls[0]: `task` is not a symbol of `tls`; write one of: valid, broken, insecure, loopback, unknown",
        ),
    ];
    let found: Vec<_> = cases.iter().map(|(change, _)| first_problem(change.clone())).collect();
    let wrong: Vec<_> = found.iter().zip(&cases).filter(|(found, (_, expected))| found != expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Faults that the parser of the policy text finds, with their location in the JSON.
#[test]
fn what_the_text_may_not_say_the_json_may_not_say() {
    let t2 =
        ["street", "postal_code", "card_number", "card_expiry", "card_code", "government_id", "password"];
    let clauses = |clauses: Value| json!({ "requests": { "otp": { "clauses": clauses } } });
    let click = |clauses: Value| json!({ "verbs": { "click": { "clauses": clauses } } });
    let sites = |sites: Value| json!({ "sites": sites });
    let cases = [
        (
            json!({ "tiers": { "T1": ["name", "street"] } }),
            "tiers.T1[1]: `street` cannot be T1: a policy may raise a field's tier, never lower it; put it in T2",
        ),
        (
            json!({ "tiers": { "T2": t2 } }),
            ": no tier is given for `one_time_code`; every field needs a tier",
        ),
        (
            json!({ "tiers": { "T1": ["name", "name"] } }),
            "tiers.T1[1]: `name` already has a tier: T1; name each field once",
        ),
        (
            json!({ "version": 4_294_967_296_u64 }),
            "version: expected the version, a whole number, found `4294967296`",
        ),
        (
            json!({ "thresholds": { "T0": 0.5, "T1": 0.5, "T2": 0.9 } }),
            "thresholds: the thresholds do not rise; write T0 below T1 below T2",
        ),
        (
            json!({ "thresholds": { "T0": 0.5, "T1": 0.555, "T2": 0.9 } }),
            "thresholds.T1: expected a number from 0 to 1 with at most two digits after the point, found `0.555`",
        ),
        (
            clauses(json!([{ "safety": "threshold" }])),
            "requests.otp.clauses[0]: `safety` is used, but the policy has no thresholds; add a line such as: threshold T0 0.50 T1 0.80 T2 0.95",
        ),
        (
            clauses(json!([{ "flow": "stays" }])),
            "requests.otp.clauses[0]: `flow` is about text that a verb carries, not about a request",
        ),
        (
            clauses(json!([{ "tls": "valid" }, { "frame": "top" }, { "tls": "valid" }])),
            "requests.otp.clauses[2]: `tls` is said twice; keep one of the two",
        ),
        (
            json!({ "requests": { "otp": { "naming_payee_and_amount": true } } }),
            "requests.otp.naming_payee_and_amount: `otp` has no payee and no amount",
        ),
        (
            json!({ "requests": { "otp": { "deliver": ["fill", "payment_api"] } } }),
            "requests.otp.deliver[1]: `payment_api` is not a way to deliver `otp`; `payment_api` is for a purchase, and a purchase goes by it or by `ucp`",
        ),
        (
            json!({ "requests": { "purchase": { "deliver": ["fill"] } } }),
            "requests.purchase.deliver[0]: `fill` is not a way to deliver `purchase`; `payment_api` is for a purchase, and a purchase goes by it or by `ucp`",
        ),
        (
            json!({ "requests": { "otp": { "deliver": ["ucp"] } } }),
            "requests.otp.deliver[0]: `ucp` is not a way to deliver `otp`; `ucp` is for an address and for a purchase alone",
        ),
        (
            json!({ "requests": { "otp": { "deliver": ["fill", "fill"] } } }),
            "requests.otp.deliver[1]: `fill` is said twice; keep one of the two",
        ),
        (
            click(json!([{ "safety": "threshold" }])),
            "verbs.click.clauses[0]: `safety` is about the fields of a request, not about a verb",
        ),
        (
            click(json!([{ "container": "fields" }])),
            "verbs.click.clauses[0]: a verb has no fields that a container could cover; write: container T1",
        ),
        (
            json!({ "verbs": { "open": { "clauses": [{ "tls": "valid" }] } } }),
            "verbs.open.clauses[0]: `tls` cannot be asked of `open`: the page it goes to is not loaded yet; use `destination`, `container` or `flow`",
        ),
        (
            click(json!([{ "sink": ["other", "unknown"] }])),
            "verbs.click.clauses[0]: an unknown sink passes no guard; name the sinks that pass",
        ),
        (
            click(json!([{ "visible": true, "if": { "tls": ["valid"] } }])),
            "verbs.click.clauses[0].if.tls: a clause cannot depend on `tls`; write one of: container, sink",
        ),
        (
            click(json!([{ "visible": true, "if": { "container": ["T0", "T1", "T2"] } }])),
            "verbs.click.clauses[0].if.container: this condition on `container` always gives the same answer, or depends on an unknown; name some of the known values",
        ),
        (
            sites(json!([{ "site": "Bank.example", "never": ["otp"] }])),
            "sites[0].site: `Bank.example` is not a host; write the host in small letters",
        ),
        (
            sites(json!([{ "site": "a.example", "never": ["otp", "otp"] }])),
            "sites[0].never[1]: `otp` is said twice; keep one of the two",
        ),
        (
            sites(
                json!([{ "site": "*.e.test", "never": ["otp", "login"] }, { "site": "a.e.test", "never": ["login"] }]),
            ),
            "sites[1].site: this rule changes nothing: `*.e.test` above already says it; remove one of the two",
        ),
        (
            sites(json!([{ "site": "*.e.test", "never": ["otp"] }, { "site": "a.e.test", "only": ["otp"] }])),
            "sites[1].site: this allows nothing: `*.e.test` above forbids it, and a refusal wins; remove one of the two",
        ),
        (
            json!({ "session": { "at_most": { "otp": 10_001 } } }),
            "session.at_most.otp: `10001` is not a number of times; write a whole number up to 10000",
        ),
        (
            json!({ "session": { "at_most": { "money": "1.005 USD" } } }),
            "session.at_most.money: `1.005 USD` is not an amount of money; write an amount such as 250.00 USD, with no more decimals than the currency has",
        ),
        (
            json!({ "session": { "after": [{ "event": "otp", "never": ["T2"], "until": "otp" }] } }),
            "session.after[0].until: `otp` cannot end what it begins; write: until new_task",
        ),
        (
            json!({ "session": { "after": [{ "event": "otp", "never": ["T2", "T2"], "until": "login" }] } }),
            "session.after[0].never[1]: `T2` is said twice; keep one of the two",
        ),
        (
            json!({ "prove": [{ "never": "grant", "subject": "T2" }, { "never": "grant", "subject": "T2" }] }),
            "prove[1]: this is stated twice; keep one of the two",
        ),
    ];
    let found: Vec<_> = cases.iter().map(|(change, _)| first_problem(change.clone())).collect();
    let wrong: Vec<_> = found.iter().zip(&cases).filter(|(found, (_, expected))| found != expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let many = |n: usize, one: fn(usize) -> Value| Value::Array((0..n).map(one).collect());
    let site = |n: usize| json!({ "site": format!("a{n}.example"), "never": ["otp"] });
    let bar = |n: usize| json!({ "event": "otp", "never": [format!("T{}", n % 3)], "until": (["login", "click", "type", "open", "press", "choose", "submit", "contact", "address", "identity", "payment"][n / 3]) });
    assert!(first_problem(sites(many(1025, site))).starts_with("sites[1024].site: more than 1024 sites"));
    assert!(
        first_problem(json!({ "session": { "after": many(33, bar) } }))
            .starts_with("session.after[32]: more than 32")
    );
}
