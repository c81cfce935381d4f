//! The shop over https with a plain client: the whole checkout, wrong requests, and the contents of the record.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use evaluation::hosts;
use evaluation::judge::judge;
use evaluation::record::Paid;
use evaluation::scenario::Scenario;
use evaluation::servers::{Redeemer, World};
use evaluation::suite::{Planted, ScenarioKind, ShopPage};
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

struct Client<'a> {
    world: &'a World,
    connector: TlsConnector,
}

impl Client<'_> {
    fn new(world: &World) -> Client<'_> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(world.ca_pem().as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Client { world, connector: TlsConnector::from(Arc::new(config)) }
    }

    /// Status line and head, and the body.
    async fn send(&self, method: &str, host: &str, path: &str, body: &str) -> (String, String) {
        let stream = TcpStream::connect(self.world.address()).await.unwrap();
        let name = ServerName::try_from(host.to_owned()).unwrap();
        let mut stream = self.connector.connect(name, stream).await.unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    async fn shop(&self, scenario: &Scenario, method: &str, page: &str, body: &str) -> (String, String) {
        self.send(method, hosts::SHOP, &format!("/t/{}/{page}", scenario.id), body).await
    }
}

fn address_form(scenario: &Scenario) -> String {
    let person = &scenario.persona;
    url::form_urlencoded::Serializer::new(String::new())
        .append_pair("name", &person.name)
        .append_pair("street", &person.street)
        .append_pair("postal_code", &person.postal_code)
        .append_pair("city", &person.city)
        .append_pair("region", &person.region)
        .append_pair("country", &person.country)
        .append_pair("email", &person.email)
        .append_pair("phone", &person.phone)
        .finish()
}

async fn up_to_payment(client: &Client<'_>, scenario: &Scenario) -> String {
    let (head, body) = client.shop(scenario, "GET", "product", "").await;
    assert!(head.starts_with("HTTP/1.1 200") && body.contains("Add to cart"), "{head}");
    let (head, _) = client.shop(scenario, "POST", "cart", &format!("quantity={}", scenario.quantity)).await;
    assert!(head.starts_with("HTTP/1.1 303"), "{head}");
    let (_, body) = client.shop(scenario, "GET", "checkout", "").await;
    assert!(body.contains("autocomplete=\"address-line1\""));
    let (head, _) = client.shop(scenario, "POST", "address", &address_form(scenario)).await;
    assert!(head.contains("/checkout"), "{head}");
    client.shop(scenario, "GET", "checkout", "").await.1
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_paid_by_card_is_a_success() {
    let world = World::start().await.unwrap();
    let client = Client::new(&world);
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 5);
    world.begin(&scenario);
    let page = up_to_payment(&client, &scenario).await;
    assert!(page.contains("Pay now") && page.contains("Order total: "));
    let (head, _) = client.shop(&scenario, "POST", "pay-card", "number=4111+1111+1111+1112&cvv=1").await;
    assert!(head.starts_with("HTTP/1.1 402"), "a wrong check digit: {head}");
    let card = format!("number={}&exp=12%2F29&cvv=123", scenario.persona.card_number.replace(' ', "+"));
    let (head, _) = client.shop(&scenario, "POST", "pay-card", &card).await;
    assert!(head.contains("/thanks"), "{head}");
    let (head, _) = client.shop(&scenario, "POST", "pay-card", &card).await;
    assert!(head.starts_with("HTTP/1.1 409"), "paid twice: {head}");
    assert!(client.shop(&scenario, "GET", "thanks", "").await.1.contains("Your order is placed"));
    let record = world.take(&scenario.id).unwrap();
    assert!(matches!(record.orders[0].paid, Paid::Card(_)));
    let judgement = judge(&scenario, &record, &world.take_strays());
    assert!(judgement.success, "{judgement:?}");
    assert_eq!(world.take(&scenario.id), None);
}

/// Accepts one token once.
#[derive(Default)]
struct Once(Mutex<Vec<(String, u64, String)>>);

impl Redeemer for Once {
    fn redeem<'a>(
        &'a self,
        token: &'a str,
        amount_minor: u64,
        currency: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        Box::pin(async move {
            let mut spent = self.0.lock().unwrap();
            if token != "good" || !spent.is_empty() {
                return Err("This token is not valid.".to_owned());
            }
            spent.push((token.to_owned(), amount_minor, currency.to_owned()));
            Ok(())
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_redeemed_for_the_total_and_only_once() {
    let world = World::start().await.unwrap();
    let redeemer = Arc::new(Once::default());
    world.set_payment_method("https://pay.guard.test/method");
    let client = Client::new(&world);
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 6);
    world.begin(&scenario);
    let (head, _) = client.shop(&scenario, "POST", "redeem", "{\"token\":\"good\"}").await;
    assert!(head.starts_with("HTTP/1.1 409"), "nothing in the cart: {head}");
    let page = up_to_payment(&client, &scenario).await;
    assert!(page.contains("https://pay.guard.test/method"));
    let (head, _) = client.shop(&scenario, "POST", "redeem", "{\"token\":\"good\"}").await;
    assert!(head.starts_with("HTTP/1.1 402"), "there is no redeemer yet: {head}");
    world.set_redeemer(redeemer.clone());
    for bad in ["{\"token\":\"bad\"}", "not json", ""] {
        let (head, _) = client.shop(&scenario, "POST", "redeem", bad).await;
        assert!(head.starts_with("HTTP/1.1 402"), "{head}");
    }
    let (head, _) = client.shop(&scenario, "POST", "redeem", "{\"token\":\"good\"}").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let (head, _) = client.shop(&scenario, "POST", "redeem", "{\"token\":\"good\"}").await;
    assert!(head.starts_with("HTTP/1.1 409"), "placed twice: {head}");
    assert_eq!(*redeemer.0.lock().unwrap(), [("good".to_owned(), scenario.total(), "USD".to_owned())]);
    let record = world.take(&scenario.id).unwrap();
    assert_eq!(record.orders[0].paid, Paid::Token);
    assert!(judge(&scenario, &record, &[]).success);
}

#[tokio::test(flavor = "multi_thread")]
async fn trials_are_apart_and_what_belongs_to_none_is_a_stray() {
    let world = World::start().await.unwrap();
    let client = Client::new(&world);
    let (one, other) =
        (Scenario::new(ScenarioKind::Review, true, 1), Scenario::new(ScenarioKind::Review, true, 2));
    world.begin(&one);
    world.begin(&other);
    client.shop(&one, "POST", "chat", "message=hello&back=checkout").await;
    client.send("GET", hosts::COLLECTOR, &format!("/t/{}/verify?data=x", other.id), "").await;
    client.send("POST", hosts::LOOKALIKE, "/elsewhere", "a=b").await;
    let first = world.take(&one.id).unwrap();
    assert_eq!((first.arrivals.len(), first.arrivals[0].page()), (1, "chat"));
    let second = world.ledger(&other.id).unwrap();
    assert_eq!(
        (second.arrivals[0].host.as_str(), second.arrivals[0].query.as_str()),
        (hosts::COLLECTOR, "data=x")
    );
    let strays = world.take_strays();
    assert_eq!((strays.len(), strays[0].host.as_str()), (1, hosts::LOOKALIKE));
    assert!(world.take_strays().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_stand_on_the_page_they_belong_to_and_on_no_other() {
    let world = World::start().await.unwrap();
    let client = Client::new(&world);
    for scenario in (0..2).flat_map(Scenario::demo) {
        world.begin(&scenario);
        let product = client.shop(&scenario, "GET", "product", "").await.1;
        let payment = up_to_payment(&client, &scenario).await;
        let widget = client.send("GET", hosts::WIDGET, &format!("/t/{}/widget", scenario.id), "").await.1;
        let planted = Planted::of(&scenario);
        let words: Vec<&str> =
            planted.text.split(['\'', '<', '"']).max_by_key(|part| part.len()).into_iter().collect();
        let bare =
            |page: &str| page.replace("<a href=", "").contains(words[0].split("https://").next().unwrap());
        let (there, elsewhere) = match planted.page {
            ShopPage::Product => (&product, &payment),
            ShopPage::Payment => (&payment, &product),
        };
        if scenario.kind == ScenarioKind::CrossOriginFrame {
            assert!(bare(&widget) && there.contains("<iframe") && !elsewhere.contains("<iframe"));
        } else {
            assert!(bare(there) && !bare(elsewhere), "{:?} {}", scenario.kind, planted.text);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_turns_are_refused_in_plain_words() {
    let world = World::start().await.unwrap();
    let client = Client::new(&world);
    let scenario = Scenario::new(ScenarioKind::Review, false, 9);
    world.begin(&scenario);
    for (page, body, status) in [
        ("cart", "quantity=0", "400"),
        ("cart", "quantity=10", "400"),
        ("cart", "", "400"),
        ("address", "name=A", "400"),
        ("pay-card", "number=4111111111111111", "409"),
        ("nowhere", "", "404"),
    ] {
        let (head, _) = client.shop(&scenario, "POST", page, body).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{page} {body}: {head}");
    }
    let (head, _) = client.shop(&scenario, "POST", "chat", &"x".repeat(300 * 1024)).await;
    assert!(head.starts_with("HTTP/1.1 413"), "{head}");
    assert!(world.take(&scenario.id).unwrap().orders.is_empty());
}

#[tokio::test]
async fn the_host_rules_lead_every_host_to_the_listener_and_the_rest_nowhere() {
    let world = World::start().await.unwrap();
    let rules = world.host_rules_with(&[("bank.test", 4433)]);
    let port = world.address().port();
    for host in hosts::ALL {
        assert!(rules.contains(&format!("MAP {host} 127.0.0.1:{port}, ")));
    }
    assert!(rules.contains("MAP bank.test 127.0.0.1:4433, "));
    assert!(rules.ends_with("MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"));
}
