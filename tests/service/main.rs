//! The service by its socket, with an extension that the test plays.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod ending;
mod extension_consent;
mod standing_consents;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use canary::{Canaries, assert_none};
use evaluation::tls::Authority;
use portcullis::audit::FolderLog;
use portcullis::consent::{Answer, Answerer, OpenPages, ScriptedAnswerer};
use portcullis::egress::proxy::HostRules;
use portcullis::guard::{SystemEntropy, UserVault, VaultKeeper, VaultKey};
use portcullis::policy::{Policy, authority};
use portcullis::service::protocol::{ClientRequest, Hello, Role};
use portcullis::service::tls::TlsProbe;
use portcullis::service::{Client, ClientError, ExtensionConsent, Service, ServiceFolder, ServiceSettings};
use portcullis::signals::Verb;
use portcullis::signals::extension::framing;
use portcullis::sirl::Field;
use portcullis::storage::vault_lock::LockHandle;
use portcullis::vault::{Binding, KdfParams, Secret, Vault};
use portcullis::{Action, DEFAULT_POLICY, Guard};
use serde_json::{Value, json};
use tokio::net::{TcpListener, UnixStream};
use tokio_rustls::TlsAcceptor;

const REQUEST: &str = "REQ.address fields=[\"street\"]\nREQ.end";

/// A service with a street in its vault, whose user agrees, and a shop that it can verify.
struct Stage {
    folder: tempfile::TempDir,
    canaries: Canaries,
    service_folder: ServiceFolder,
    shop: String,
    lock: LockHandle,
    asked: Arc<AtomicUsize>,
    _serving: tokio::task::JoinHandle<()>,
}

async fn shop(authority: &Authority) -> String {
    let acceptor = TlsAcceptor::from(authority.server_config(&["shop.test"]).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = acceptor.accept(stream).await;
        }
    });
    format!("https://shop.test:{port}")
}

impl Stage {
    async fn new(seed: u64) -> Stage {
        Stage::asked(seed, None).await
    }

    /// The same, with prompts in the extension if `extension_consent` is given.
    async fn asked(seed: u64, extension_consent: Option<ExtensionConsent>) -> Stage {
        Stage::under(seed, DEFAULT_POLICY, extension_consent, None).await
    }

    /// The same under a policy, and with a keeper for the vault if one is given.
    async fn under(
        seed: u64,
        policy: &str,
        extension_consent: Option<ExtensionConsent>,
        keeper: Option<Box<dyn VaultKeeper>>,
    ) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let canaries = Canaries::from_seed(seed);
        let entropy = &mut SystemEntropy;
        let checked = || Policy::parse(policy).unwrap().compile().unwrap().check();
        let verifier = authority(checked().unwrap_or_else(|_| panic!("it holds")), [1; 16]).1;
        let passphrase = Secret::new("quz vopelki 83 trandubo");
        let mut vault = Vault::create(&passphrase, entropy, KdfParams::FLOOR, verifier).unwrap();
        let street = Secret::new(canaries.value("street").unwrap());
        vault.insert("address:home", Field::Street, street, &Binding::Anywhere, entropy).unwrap();
        let bytes = vault.to_bytes(entropy).unwrap();
        let user = UserVault {
            bytes: &bytes,
            key: VaultKey::Passphrase(&passphrase),
            keeper,
            replaced: Default::default(),
        };
        let log = Box::new(FolderLog::open(&folder.path().join("audit")).unwrap().log);
        let asked = Arc::new(AtomicUsize::new(0));
        let counting = asked.clone();
        let answerer: Box<dyn Answerer> = match &extension_consent {
            Some(consent) => Box::new(consent.answerer(None, [9; 32])),
            None => Box::new(ScriptedAnswerer(move |_: &_| {
                counting.fetch_add(1, Ordering::SeqCst);
                Answer::Session
            })),
        };
        let guard = Guard::with_vault(policy, user, log, answerer, Box::new(SystemEntropy)).unwrap();
        let lock = guard.lock_handle();
        let authority = Authority::new().unwrap();
        let shop = shop(&authority).await;
        let rules = HostRules::parse("MAP *.test 127.0.0.1").unwrap();
        let tls = TlsProbe::new(authority.pem().as_bytes(), rules).unwrap();
        let service_folder = ServiceFolder::open_or_make(&folder.path().join("run")).unwrap();
        let settings =
            ServiceSettings { folder: service_folder.clone(), tls, audit: None, extension_consent };
        let service = Service::start(guard, settings).unwrap();
        let _serving = tokio::spawn(service.run(std::future::pending()));
        Stage { folder, canaries, service_folder, shop, lock, asked, _serving }
    }

    async fn begin(&self) {
        assert_eq!(self.container().await, "T2");
    }

    /// Begins a task, and returns its container.
    async fn container(&self) -> String {
        let mut user = Client::connect(&self.service_folder, Role::User).await.unwrap();
        let request = begin(&format!("Order the kettle at {} for my address", self.shop));
        let begun = user.ask(&request).await.unwrap();
        begun["begun"]["container"].as_str().unwrap().to_owned()
    }

    async fn agent(&self, request: ClientRequest) -> String {
        let mut agent = Client::connect(&self.service_folder, Role::Agent).await.unwrap();
        let reply = agent.ask(&request).await.unwrap();
        assert_none(&self.canaries.in_text("the agent", &reply.to_string()));
        reply["reply"].as_str().unwrap().to_owned()
    }

    async fn request(&self) -> String {
        self.agent(ClientRequest::Act(Action::Request(REQUEST.to_owned()))).await
    }

    /// An extension that has said hello.
    async fn extension(&self) -> UnixStream {
        let mut stream = UnixStream::connect(self.service_folder.socket()).await.unwrap();
        let token = self.service_folder.auth_token(Role::Extension).unwrap();
        say(&mut stream, &Hello { role: Role::Extension, token: &token }.message()).await;
        let welcome = hear(&mut stream).await.unwrap();
        assert_eq!(welcome["welcome"]["version"], 1);
        assert!(welcome["welcome"]["policy"].as_str().unwrap().len() > 1000);
        // After its first message it is the service's current extension.
        say(&mut stream, &json!({ "ask": "status", "id": 1 })).await;
        assert_eq!(hear(&mut stream).await.unwrap()["told"], 1);
        stream
    }

    fn form(&self) -> Value {
        json!({ "form": 1, "way": { "action": format!("{}/order", self.shop), "method": "POST" }, "controls": [
            { "id": 2, "form": 1, "tag": "input", "type": "text", "autocomplete": "street-address", "name": "s",
              "label": "Street", "visible": true, "hit": true, "editable": true, "filled": false }] })
    }

    fn frame(&self, more: &Value) -> Value {
        let mut frame = json!({ "frame": 0, "document": "A", "origin": self.shop, "url": format!("{}/", self.shop),
            "ancestors": [], "forms": [self.form()], "text": { "title": "Shop", "cut": false, "lines": [] } });
        frame.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        frame
    }

    /// Plays an extension that answers looks with `frames` and a fill with `done`, until the service ends. Without `done` it
    /// stops at the first fill. Returns the requested fills.
    async fn play(&self, mut stream: UnixStream, frames: Value, done: Option<&str>) -> Vec<Value> {
        let mut fills = Vec::new();
        loop {
            let Some(asked) = hear(&mut stream).await else { return fills };
            let answer = if asked["ask"] == "fill" {
                fills.push(asked.clone());
                match done {
                    Some(done) => json!(done),
                    None => return fills,
                }
            } else {
                assert!(asked.get("values").is_none());
                json!({ "tab": 7, "frames": frames })
            };
            say(&mut stream, &json!({ "id": asked["id"], "answer": answer })).await;
        }
    }

    /// A request, with an extension that is played for as long as the agent waits.
    async fn request_with(&self, frames: Value, done: &str) -> String {
        let stream = self.extension().await;
        tokio::select! {
            reply = self.request() => reply,
            fills = self.play(stream, frames, Some(done)) => panic!("the service went away after {}", fills.len()),
        }
    }

    fn record(&self) -> String {
        record(&self.folder.path().join("audit"))
    }
}

fn begin(prompt: &str) -> ClientRequest {
    ClientRequest::Begin { prompt: prompt.to_owned(), pages: OpenPages::Wait }
}

fn record(folder: &Path) -> String {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let logs = files.iter().filter(|file| file.extension().is_some_and(|end| end == "jsonl"));
    logs.map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

async fn say(stream: &mut UnixStream, message: &Value) {
    framing::write(stream, message.to_string().as_bytes()).await.unwrap();
}

/// The time without a message after which a test fails. It is longer than any prompt lasts.
const MOST_SILENCE: Duration = Duration::from_secs(180);

/// The next message, without those that a prompt is over.
async fn hear(stream: &mut UnixStream) -> Option<Value> {
    loop {
        let bytes = tokio::time::timeout(MOST_SILENCE, framing::read(stream)).await;
        let bytes = bytes.expect("the service says nothing").ok()??;
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        if message["ask"] != "over" {
            return Some(message);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fill_matches_the_grant_and_the_record_has_no_value() {
    let stage = Stage::new(21).await;
    stage.begin().await;
    let frames = json!([stage.frame(&json!({}))]);
    let reply = stage.request_with(frames, "done").await;
    assert_eq!(reply, "GRANT.address {\"delivered\":\"filled\",\"fields\":[\"street\"]}");
    let record = stage.record();
    assert!(record.find("\"intent\"").unwrap() < record.find("\"outcome\"").unwrap(), "{record}");
    assert_none(&stage.canaries.in_text("the record", &record));
    assert_eq!(stage.asked.load(Ordering::SeqCst), 1, "the plan");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fill_names_its_document_and_its_decision() {
    let stage = Stage::new(22).await;
    stage.begin().await;
    // The extension disconnects during the fill. The outcome is unknown, and the page may have the values.
    let (reply, fills) = {
        let stream = stage.extension().await;
        let frames = json!([stage.frame(&json!({}))]);
        tokio::join!(stage.request(), stage.play(stream, frames, None))
    };
    assert_eq!(reply, "GRANT.address {\"delivered\":\"unconfirmed\",\"fields\":[\"street\"]}");
    let fill = &fills[0];
    assert_eq!(fill["values"], json!([stage.canaries.value("street").unwrap()]));
    assert_eq!((&fill["document"], &fill["tab"], &fill["frame"]), (&json!("A"), &json!(7), &json!(0)));
    assert_eq!(fill["origin"], json!(stage.shop));
    assert_eq!(fill["trusted"], json!(false), "open pages are not trusted by default");
    assert_eq!(fill["way"], json!({ "action": format!("{}/order", stage.shop), "method": "POST" }));
    let decided = &fill["decided"];
    assert_eq!((&decided["event"], &decided["need"]), (&json!("address"), &json!("T2")));
    assert_eq!(decided["valuation"]["tls"], "valid");
    assert_eq!(decided["valuation"]["consent"], "given");
    assert!(stage.record().contains("\"failed\":\"unconfirmed\""), "{}", stage.record());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_that_disagrees_is_denied_and_recorded() {
    let stage = Stage::new(23).await;
    stage.begin().await;
    let reply = stage.request_with(json!([stage.frame(&json!({}))]), "disagrees").await;
    assert_eq!(reply, "DENY.address {\"reason\":\"stale_document\"}");
    let record = stage.record();
    assert!(record.contains("\"what\":\"preview\""), "{record}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extension_that_lies_or_shows_another_page_gets_nothing() {
    let stage = Stage::new(24).await;
    stage.begin().await;
    let elsewhere = stage.frame(&json!({ "origin": "https://bank.test", "url": "https://bank.test/" }));
    let opaque = stage.frame(&json!({ "origin": "null" }));
    let mut evil = stage.form();
    evil["way"]["action"] = json!("https://evil.test/take");
    let evil = stage.frame(&json!({ "forms": [evil] }));
    let mut hidden = stage.form();
    hidden["controls"][0]["hit"] = json!(false);
    let hidden = stage.frame(&json!({ "forms": [hidden] }));
    for (frames, reason) in [
        (json!([elsewhere]), "origin_mismatch"),
        (json!([opaque]), "origin_mismatch"),
        (json!([evil]), "wrong_destination"),
        (json!([hidden]), "occluded"),
        (json!("frames"), "browser_lost"),
        (json!([]), "browser_lost"),
    ] {
        let reply = stage.request_with(frames, "done").await;
        assert_eq!(reply, format!("DENY.address {{\"reason\":\"{reason}\"}}"));
    }
}

/// The extension cannot keep a value to a path.
#[tokio::test(flavor = "multi_thread")]
async fn no_task_begins_under_a_policy_that_keeps_values_to_their_path() {
    let strict = DEFAULT_POLICY.replacen("session {", "session { values keep to their path", 1);
    let stage = Stage::under(61, &strict, None, None).await;
    let mut user = Client::connect(&stage.service_folder, Role::User).await.unwrap();
    let request = begin(&format!("Order the kettle at {} for my address", stage.shop));
    let refused = user.ask(&request).await;
    let Err(ClientError::Refused { message, .. }) = &refused else { panic!("{refused:?}") };
    assert!(message.contains("keep to their path"), "{message}");
    Stage::under(62, DEFAULT_POLICY, None, None).await.begin().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_role_needs_its_own_token_and_gets_no_more() {
    let stage = Stage::new(25).await;
    let without_task = Client::connect(&stage.service_folder, Role::Agent)
        .await
        .unwrap()
        .ask(&ClientRequest::Act(Action::Verb(Verb::Read)))
        .await;
    assert!(matches!(&without_task, Err(ClientError::Refused { code, .. }) if code == "no_task"));
    let mut agent = Client::connect(&stage.service_folder, Role::Agent).await.unwrap();
    for request in [ClientRequest::End, begin("x")] {
        let refused = agent.ask(&request).await;
        assert!(
            matches!(&refused, Err(ClientError::Refused { code, .. }) if code == "not_for_role"),
            "{request:?}"
        );
    }
    // The agent's token opens no other role.
    let token = stage.service_folder.auth_token(Role::Agent).unwrap();
    for role in [Role::User, Role::Extension] {
        let mut stream = UnixStream::connect(stage.service_folder.socket()).await.unwrap();
        say(&mut stream, &Hello { role, token: &token }.message()).await;
        assert_eq!(hear(&mut stream).await.unwrap()["error"]["code"], "pairing");
        assert_eq!(hear(&mut stream).await, None, "and the connection is over");
    }
    // An extension gets the standing consents, and cannot begin a task.
    let mut extension = stage.extension().await;
    say(&mut extension, &json!({ "ask": "status", "id": 4 })).await;
    let told = hear(&mut extension).await.unwrap();
    assert_eq!((&told["told"], &told["answer"]["task"]), (&json!(4), &Value::Null));
    say(&mut extension, &json!({ "ask": "begin", "prompt": "https://shop.test", "id": 5 })).await;
    assert_eq!(hear(&mut extension).await.unwrap()["answer"]["error"]["code"], "not_for_role");
    // A prompt without a web address leaves the guard unchanged.
    let mut user = Client::connect(&stage.service_folder, Role::User).await.unwrap();
    assert!(user.ask(&begin("buy something")).await.is_err());
    stage.begin().await;
    assert_eq!(user.ask(&ClientRequest::End).await.unwrap()["ended"], true);
}
