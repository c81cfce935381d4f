//! The egress of a page: in a raised container before and after a release, and in an empty one.

use std::sync::Arc;

use crate::played::{Played, SHOP, STREET, origin};
use browser_signals::{Blocked, Container, Destination, EgressGuard, OutgoingRequest};
use classifier::Detectors;
use portcullis::egress::{ContainerEgress, ReleasedValue, Releases};
use portcullis::guard::SystemEntropy;
use portcullis::guard::shared_vault::SharedVault;
use sirl::Field;
use vault::{Binding, Secret};

const OWN: &str = "https://api.shop.example";
const CARD: &str = "4012888888881881";

struct Page {
    egress: ContainerEgress,
    releases: Releases,
    vault: SharedVault,
}

impl Page {
    /// A page to which the street was released, to be posted to `/address`.
    fn after_a_release() -> Page {
        let page = Page::before_a_release();
        page.release("POST");
        page
    }

    fn before_a_release() -> Page {
        Page::in_a(Container::T2)
    }

    fn in_a(container: Container) -> Page {
        let (releases, vault) = (Releases::default(), Played::new(Container::T2).vault);
        let detectors = Arc::new(Detectors::standard().unwrap());
        let task = vec![origin(SHOP), origin(OWN)];
        let egress =
            ContainerEgress::new(container, task, Vec::new(), releases.clone(), vault.clone(), detectors);
        Page { egress, releases, vault }
    }

    fn release(&self, method: &str) {
        let destination =
            Destination { origin: origin(SHOP), path: "/address".into(), method: method.into() };
        self.releases.note(ReleasedValue::new("address:task", Field::Street, destination));
    }

    fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<(), &'static str> {
        let headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request = OutgoingRequest {
            url,
            method,
            headers: &headers,
            body: (!body.is_empty()).then_some(body),
            frame: None,
            from: None,
            resource_type: "Fetch",
            main_navigation: false,
        };
        self.egress.judge(&request).map_err(|Blocked { reason }| reason)
    }

    fn go_to(&self, url: &str) -> Result<(), &'static str> {
        let request = OutgoingRequest {
            url,
            method: "GET",
            headers: &[],
            body: None,
            frame: None,
            from: None,
            resource_type: "Document",
            main_navigation: true,
        };
        self.egress.judge(&request).map_err(|Blocked { reason }| reason)
    }

    fn get(&self, url: &str) -> Result<(), &'static str> {
        self.send("GET", url, &[], b"")
    }

    fn post(&self, url: &str, body: &str) -> Result<(), &'static str> {
        self.send("POST", url, &[], body.as_bytes())
    }
}

/// Another origin of the task.
const LOG: &str = "https://api.shop.example/log";
/// Another path of the destination's origin.
const PROFILE: &str = "https://shop.example/profile";

#[test]
fn egress_is_open_in_an_empty_container_and_limited_to_the_task_in_a_raised_one() {
    let elsewhere = "https://reviews.example/kettles";
    for (container, gone) in
        [(Container::T0, Ok(())), (Container::T1, Err("navigation")), (Container::T2, Err("navigation"))]
    {
        let page = Page::in_a(container);
        assert_eq!(page.go_to(elsewhere), gone, "{container:?}");
        assert_eq!(page.go_to(LOG), Ok(()), "{container:?}");
        // Nothing is released into T0. If a value were, egress would be closed.
        page.release("POST");
        assert!(page.go_to(elsewhere).is_err(), "{container:?}");
    }
}

#[test]
fn a_released_value_goes_to_the_origin_of_its_destination_only() {
    let page = Page::after_a_release();
    let form = "street=17+Canary+Quarry+Road";
    assert_eq!(page.post("https://shop.example/address", form), Ok(()));
    assert_eq!(page.post(PROFILE, form), Ok(()));
    assert_eq!(page.post(LOG, form), Err("value"));
    assert_eq!(page.post("https://shop.example:8443/address", form), Err("origin"));
    assert_eq!(page.get(&format!("{LOG}?{form}")), Err("value"));
    assert_eq!(page.post("https://evil.example/address", "x"), Err("origin"));
    // The city was not released.
    assert_eq!(page.post(LOG, "city=Berkeley"), Ok(()));
}

/// A shop may put the user's name into a cookie of its session. A cookie with a domain or without a port also reaches
/// other origins.
#[test]
fn headers_carry_a_released_value_within_its_origin_only() {
    let page = Page::after_a_release();
    for (name, text) in [
        ("Cookie", "a=b; street=17%20Canary%20Quarry%20Road"),
        ("Referer", "https://shop.example/address?street=17+Canary+Quarry+Road"),
        ("X-Note", "17%20Canary%20Quarry%20Road"),
        ("Accept-Language", STREET),
    ] {
        assert_eq!(page.send("GET", PROFILE, &[(name, text)], b""), Ok(()), "{name}");
        assert_eq!(page.send("GET", LOG, &[(name, text)], b""), Err("value"), "{name}");
        let port = "https://shop.example:8443/";
        assert_eq!(page.send("GET", port, &[(name, text)], b""), Err("origin"), "{name}");
    }
    assert_eq!(page.send("GET", LOG, &[("User-Agent", "Mozilla/5.0"), ("Accept", "*/*")], b""), Ok(()));
}

/// The policy may say `values keep to their path`.
#[test]
fn a_value_that_keeps_to_its_path_goes_nowhere_else() {
    let mut page = Page::after_a_release();
    page.egress = page.egress.keeping_to_path(true);
    let (address, form) = ("https://shop.example/address", "street=17+Canary+Quarry+Road");
    assert_eq!(page.post(address, form), Ok(()));
    assert_eq!(page.post(PROFILE, form), Err("value"), "another path");
    assert_eq!(page.get(&format!("{address}?{form}")), Err("value"), "another method");
    assert_eq!(page.send("GET", PROFILE, &[("Cookie", STREET)], b""), Err("value"));
    assert_eq!(page.send("POST", PROFILE, &[], &[0x1f, 0x8b, 8, 0]), Err("opaque_body"));
    assert_eq!(page.post(LOG, form), Err("value"), "another origin");
    assert_eq!(page.get(PROFILE), Ok(()), "without the value");
    let submitted = OutgoingRequest {
        url: PROFILE,
        method: "POST",
        headers: &[],
        body: Some(form.as_bytes()),
        frame: None,
        from: None,
        resource_type: "Document",
        main_navigation: true,
    };
    assert!(!page.egress.holds(&submitted, true), "the policy has answered, so the user is not asked");
    assert!(Page::after_a_release().egress.holds(&submitted, true), "without the rule they are");
    // What was granted to a provider may go to each of its paths.
    page.egress = page.egress.with_providers(vec![origin(SHOP)]);
    assert_eq!(page.post(PROFILE, form), Ok(()));
}

#[test]
fn a_value_in_several_requests_is_reassembled_by_name() {
    type Send = fn(&Page, &str) -> Result<(), &'static str>;
    let ways: [(&str, Send); 6] = [
        ("query", |page, part| page.get(&format!("{LOG}?n={}&c={part}", part.len()))),
        ("path", |page, part| page.get(&format!("https://api.shop.example/i/{part}"))),
        ("form", |page, part| page.post(LOG, &format!("i=7&c={part}"))),
        ("json", |page, part| page.post(LOG, &format!("{{\"i\":7,\"c\":[\"{part}\"]}}"))),
        ("text", |page, part| page.post(LOG, part)),
        ("header", |page, part| page.send("GET", LOG, &[("Accept", "*/*"), ("X-C", part)], b"")),
    ];
    for (name, way) in ways {
        for step in [1, 4] {
            let page = Page::after_a_release();
            let letters: Vec<char> = STREET.chars().filter(|c| *c != ' ').collect();
            let parts = letters.chunks(step).map(|part| part.iter().collect::<String>());
            let answers: Vec<_> = parts.map(|part| way(&page, &part)).collect();
            let stopped = answers.iter().position(|answer| *answer == Err("value"));
            assert!(stopped.is_some_and(|at| at > 1), "{name}, {step} at a time: {answers:?}");
        }
    }
}

#[test]
fn most_of_a_value_counts_as_the_value() {
    let page = Page::after_a_release();
    assert_eq!(page.post(LOG, "c=Canary"), Ok(()));
    assert_eq!(page.post(LOG, "s=17+Canary+Quarry"), Err("value"));
}

#[test]
fn any_card_number_or_token_stays_at_the_granted_origin() {
    let page = Page::after_a_release();
    let elsewhere = "https://api.shop.example/collect";
    assert_eq!(page.get(&format!("{elsewhere}?c={CARD}")), Err("typed"));
    assert_eq!(page.post(elsewhere, "key=ghp_R7fJq2LwXz9TbV4nYc8KdM1sHgE5uPa3oQ6i"), Err("typed"));
    assert_eq!(page.get(&format!("{elsewhere}?mail=someone@else.example")), Ok(()));
    assert_eq!(page.post(PROFILE, &format!("c={CARD}")), Ok(()));
    assert_eq!(Page::before_a_release().get(&format!("{elsewhere}?c={CARD}")), Ok(()));
}

#[test]
fn a_binary_body_goes_to_the_origin_of_the_destination_only() {
    let page = Page::after_a_release();
    let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x33, 0x54];
    assert_eq!(page.send("POST", "https://shop.example/address", &[], &gzip), Ok(()));
    assert_eq!(page.send("POST", LOG, &[], &gzip), Err("opaque_body"));
    assert_eq!(page.send("POST", LOG, &[], b"a\0b"), Err("opaque_body"));
    assert_eq!(page.send("POST", LOG, &[], "grüße\r\n\tan alle".as_bytes()), Ok(()));
    assert_eq!(Page::before_a_release().send("POST", LOG, &[], &gzip), Ok(()));
}

#[test]
fn a_destination_of_one_value_is_closed_to_another() {
    let page = Page::after_a_release();
    let destination = Destination { origin: origin(OWN), path: "/contact".into(), method: "POST".into() };
    page.releases.note(ReleasedValue::new("address:task", Field::City, destination));
    let contact = "https://api.shop.example/contact";
    assert_eq!(page.post(contact, "city=Berkeley"), Ok(()));
    assert_eq!(page.post(contact, "street=17+Canary+Quarry+Road"), Err("value"));
    assert_eq!(page.post(contact, "c=17+Canary"), Ok(()));
    assert_eq!(page.post(contact, "c=Quarry+Road"), Err("value"));
    assert_eq!(page.send("POST", contact, &[], b"a\0b"), Err("opaque_body"));
}

#[test]
fn a_locked_vault_blocks_all_egress_after_a_release() {
    let page = Page::after_a_release();
    page.vault.lock().unwrap().lock();
    assert_eq!(page.get(LOG), Err("vault"));
    assert_eq!(page.get("data:text/plain,x"), Ok(()));
}

#[test]
fn a_request_with_the_card_names_no_greater_sum_than_the_page_did() {
    let page = Page::before_a_release();
    let number = Secret::new(b"4111111111111111");
    let mut vault = page.vault.lock().unwrap();
    vault.insert("card:task", Field::CardNumber, number, &Binding::Anywhere, &mut SystemEntropy).unwrap();
    drop(vault);
    let total = sirl::Money::parse("42.00", sirl::Currency::new("USD").unwrap());
    let destination = Destination { origin: origin(SHOP), path: "/pay".into(), method: "POST".into() };
    let handle = "card:task".to_owned();
    page.releases.note(ReleasedValue { total, ..ReleasedValue::new(handle, Field::CardNumber, destination) });
    let pay = format!("{SHOP}/pay");
    let sent = |body: &str| page.send("POST", &pay, &[], body.as_bytes());
    for body in [
        "card=4111111111111111&total=43.00",
        r#"{"card":"4111 1111 1111 1111","amount":4201}"#,
        "number=4111-1111-1111-1111&grand_total=1%2C000.00",
    ] {
        assert_eq!(sent(body), Err("amount"), "{body}");
    }
    for body in [
        "card=4111111111111111&total=42.00",
        r#"{"card":"4111 1111 1111 1111","amount":4200,"discount":{"amount":9900}}"#,
        "card=4111111111111111&price=99.00",
        "total=43.00",
    ] {
        assert_eq!(sent(body), Ok(()), "{body}");
    }
    // A card that was filled where no total was named has nothing to be compared with.
    let destination = Destination { origin: origin(SHOP), path: "/donate".into(), method: "POST".into() };
    page.releases.note(ReleasedValue::new("card:task", Field::CardNumber, destination));
    assert_eq!(sent("card=4111111111111111&total=43.00"), Ok(()));
}
