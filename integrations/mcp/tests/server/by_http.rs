//! The server by HTTP: who is answered, and what sessions share.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use crate::support::http::{HttpClient, OWN_NAME, send};
use crate::support::site::Site;
use evaluation::stage::Stage;
use mcp_guard::consent::ClientSlot;
use mcp_guard::consent::form::ClientForm;
use mcp_guard::http::listen;
use mcp_guard::http::tokens::Tokens;
use mcp_guard::{Gateway, GatewayError, GatewaySettings, Snapshots};
use portcullis::audit::{MemoryLog, verify_text};
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::signals::playwright::BrowserSettings;
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::json;
use tokio::sync::oneshot;

const EDITOR: &str = "00112233445566778899aabbccddeeffffeeddccbbaa99887766554433221100";
const TERMINAL: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE";

/// A server with two clients, and a user who gives this answer to every question, except that the client `terminal` may get another.
struct Server {
    browser: BrowserSettings,
    task: Option<String>,
    answer: Answer,
    terminal: Option<Answer>,
    log: MemoryLog,
    /// The questions as the user reads them.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(browser: BrowserSettings, answer: Answer) -> Server {
        Server {
            browser,
            task: None,
            answer,
            terminal: None,
            log: MemoryLog::default(),
            asked: Arc::default(),
        }
    }

    async fn with(&self, use_it: impl AsyncFnOnce(SocketAddr)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        std::fs::write(&path, format!("editor {EDITOR}\nterminal {TERMINAL}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let tokens = Tokens::read(&path).ok().unwrap();
        let listener = listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, answer, terminal) = (self.asked.clone(), self.answer, self.terminal);
        let user = Box::new(ScriptedAnswerer(move |prompt: &ConsentPrompt| {
            let question = prompt.to_string();
            let from_terminal = question.contains("the client `terminal` asks");
            asked.lock().unwrap().push(question);
            terminal.filter(|_| from_terminal).unwrap_or(answer)
        }));
        // Every client declares forms, and is named for them.
        let slot = ClientSlot::default();
        let user = Box::new(ClientForm::new(slot.clone(), vec![OWN_NAME.to_owned()], user));
        let log = Box::new(self.log.clone());
        let guard = Guard::new(DEFAULT_POLICY, log, user, Box::new(SystemEntropy)).unwrap();
        let settings = GatewaySettings {
            task: self.task.clone(),
            snapshots: Snapshots::OnRequest,
            ..GatewaySettings::default()
        };
        let gateway = Gateway::new(guard, self.browser.clone(), settings).with_client_slot(slot);
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move {
            let _dropped = stopped.await;
        };
        let used = async {
            use_it(address).await;
            drop(stop);
        };
        let (served, ()) = tokio::join!(gateway.serve_by_http(listener, tokens, stopped), used);
        served.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_client_with_its_token_at_the_servers_own_address_is_answered() {
    let server = Server::new(BrowserSettings::new("no browser"), Answer::No);
    server
        .with(async |address| {
            let client = HttpClient::new(address, EDITOR);
            let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
            let with = |name: &str, line: &[&str]| {
                let mut lines = client.lines();
                lines.retain(|line| !line.starts_with(name));
                lines.extend(line.iter().map(|line| format!("{name}: {line}")));
                lines
            };
            let status = async |lines: Vec<String>| {
                let answer = send(address, "POST", "/mcp", &lines, ping.as_bytes()).await;
                (answer.status, answer.header("www-authenticate").map(str::to_owned))
            };
            let challenge = (401, Some("bearer".to_owned()));
            let right = format!("Bearer {EDITOR}");
            assert_eq!(status(with("Authorization", &[])).await, challenge);
            for wrong in [
                &*format!("Bearer {}", EDITOR.replace('0', "1")),
                &format!("Bearer {right}"),
                &format!("Basic {EDITOR}"),
                EDITOR,
                "Bearer ",
                "Bearer editor",
            ] {
                assert_eq!(status(with("Authorization", &[wrong])).await, challenge, "{wrong}");
            }
            assert_eq!(status(with("Authorization", &[&right, &right])).await, challenge);
            let port = address.port();
            for host in [
                "evil.example",
                &*format!("evil.example:{port}"),
                "127.0.0.1",
                "127.0.0.1:1",
                "localhost",
                &format!("127.0.0.2:{port}"),
                &format!("localhost.:{port}"),
                &format!("{address}.evil.example"),
            ] {
                assert_eq!(status(with("Host", &[host])).await, (403, None), "{host}");
            }
            assert_eq!(status(with("Host", &[&address.to_string(), "evil.example"])).await.0 / 100, 4);
            for origin in [
                "http://evil.example",
                "null",
                "",
                "http://127.0.0.1",
                &*format!("https://{address}"),
                &format!("{address}"),
            ] {
                assert_eq!(status(with("Origin", &[origin])).await, (403, None), "{origin}");
            }
            // The server's own addresses get as far as the session, which there is none of.
            let lost = status(client.lines()).await;
            assert!(![200, 401, 403, 404].contains(&lost.0), "{lost:?}");
            for (name, value) in [
                ("Host", format!("localhost:{port}")),
                ("Origin", format!("http://localhost:{port}")),
                ("Origin", format!("http://{address}")),
                ("Authorization", format!("bearer {}", EDITOR.to_uppercase())),
                ("Authorization", format!("Bearer {TERMINAL}")),
            ] {
                assert_eq!(status(with(name, &[&value])).await, lost, "{name}: {value}");
            }
            assert_eq!(send(address, "POST", "/", &client.lines(), ping.as_bytes()).await.status, 404);
            for (body, expected, code) in [
                (b"{".to_vec(), 400, -32700),
                (vec![b'['; 5_000], 400, -32600),
                (vec![b' '; (16 << 20) + 1], 413, -32600),
            ] {
                let answer = send(address, "POST", "/mcp", &client.lines(), &body).await;
                assert_eq!(
                    (answer.status, answer.message()["error"]["code"].as_i64()),
                    (expected, Some(code))
                );
            }
        })
        .await;
    assert!(matches!(listen("0.0.0.0:0".parse().unwrap()).await, Err(GatewayError::NotLoopback(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_client_has_sessions_of_its_own() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &["shop.hostile.test"]).await;
    site.put("shop.hostile.test/", "<title>Shop</title><h1>violet heron</h1><button>Pay</button>");
    site.put(
        "shop.hostile.test/terminal",
        "<title>Shop</title><h1>amber newt</h1><textarea aria-label=Chat></textarea>",
    );
    let server = Server::new(site.browser(&stage), Answer::Once);
    server
        .with(async |address| {
            let (mut editor, mut terminal) =
                (HttpClient::new(address, EDITOR), HttpClient::new(address, TERMINAL));
            editor.begin().await;
            let shop = json!({ "url": "https://shop.hostile.test/" });
            assert_eq!(editor.call("browser_navigate", shop).await, "ok");
            assert!(editor.call("browser_snapshot", json!({})).await.contains("violet heron"));
            // Another client cannot use the session, with any method, nor begin one beside it.
            let status = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": { "name": "portcullis_status", "arguments": {} } });
            terminal.session.clone_from(&editor.session);
            for method in ["POST", "GET", "DELETE"] {
                let answer = terminal.request(method, &status.to_string()).await;
                assert_eq!(answer.status, 404, "{method}: {answer:?}");
            }
            assert!(editor.call("portcullis_status", json!({})).await.contains("container: T0"));
            // Beside it, it has one of its own, with other pages.
            terminal.begin().await;
            assert_ne!(terminal.session, editor.session);
            assert!(terminal.call("portcullis_status", json!({})).await.contains("no page is open"));
            let there = json!({ "url": "https://shop.hostile.test/terminal" });
            assert_eq!(terminal.call("browser_navigate", there).await, "ok");
            let (here, there) = (
                editor.call("browser_snapshot", json!({})).await,
                terminal.call("browser_snapshot", json!({})).await,
            );
            assert!(here.contains("violet heron") && !here.contains("amber newt"), "{here}");
            assert!(there.contains("amber newt") && !there.contains("violet heron"), "{there}");
            let tabs = terminal.call("browser_tabs", json!({ "action": "list" })).await;
            assert!(!tabs.contains("- 1:"), "{tabs}");
            // The next session, of whichever client, has a browser of its own.
            let first = editor.session.clone();
            editor.begin().await;
            assert_ne!(editor.session, first);
            assert!(editor.call("portcullis_status", json!({})).await.contains("no page is open"));
            let plan = json!({ "origins": ["https://shop.hostile.test"], "plan": "PLAN.address\nPLAN.end" });
            assert!(editor.call("portcullis_plan", plan.clone()).await.contains("container: T2"));
            let second = editor.session.clone();
            assert_eq!(editor.request("DELETE", "").await.status, 202);
            terminal.begin().await;
            assert!(terminal.call("portcullis_status", json!({})).await.contains("no page is open"));
            let click = terminal.call("browser_click", json!({ "target": "e1" })).await;
            assert!(click.contains("no page is open"), "{click}");
            assert!(terminal.call("portcullis_plan", plan).await.contains("container: T2"));
            for ended in [first, second] {
                editor.session = ended;
                assert_eq!(editor.request("POST", &status.to_string()).await.status, 404);
            }
        })
        .await;
    let asked = server.asked.lock().unwrap();
    let names: Vec<bool> =
        asked.iter().map(|question| question.contains("the client `editor` asks")).collect();
    assert_eq!(names, [true, false], "{asked:?}");
    assert!(asked[1].contains("the client `terminal` asks"), "{asked:?}");
    assert!(!asked.concat().contains("a name of its own"), "{asked:?}");
    // The last session was open when the server stopped.
    verify_text(&server.log.text()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_at_the_same_time_are_asked_about_one_by_one_and_share_what_was_guessed() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &["shop.hostile.test"]).await;
    site.put("shop.hostile.test/", "<title>Shop</title><textarea aria-label=Chat></textarea>");
    let mut server = Server::new(site.browser(&stage), Answer::Once);
    server.task = Some(TASK.to_owned());
    server.terminal = Some(Answer::No);
    server
        .with(async |address| {
            let mut clients = [HttpClient::new(address, EDITOR), HttpClient::new(address, TERMINAL)];
            let [editor, terminal] = &mut clients;
            tokio::join!(editor.begin(), terminal.begin());
            let shop = json!({ "url": "https://shop.hostile.test/" });
            let (one, other) = tokio::join!(
                editor.call("browser_navigate", shop.clone()),
                terminal.call("browser_navigate", shop.clone())
            );
            assert_eq!((one.as_str(), other.as_str()), ("ok", "ok"));
            // The yes to one client is none to the other.
            let (one, other) = tokio::join!(
                editor.call("portcullis_status", json!({})),
                terminal.call("portcullis_status", json!({}))
            );
            assert!(one.contains("container: T2") && other.contains("container: T0"), "{one}\n{other}");
            let says = |text: &str| json!({ "target": "textarea", "text": text });
            assert_eq!(editor.call("browser_type", says("hello")).await, "ok");
            // A guess of one client ends the typing of the other, whose session is open.
            let hit = terminal.call("browser_type", says("is it Berkeley?")).await;
            assert!(hit.contains("egress_blocked"), "{hit}");
            let tainted = editor.call("browser_type", says("hello again")).await;
            assert!(tainted.contains("tainted_session"), "{tainted}");
        })
        .await;
    let asked = server.asked.lock().unwrap();
    let of = |label: &str| {
        let named = format!("the client `{label}` asks");
        asked.iter().filter(|question| question.contains(&named)).count()
    };
    assert_eq!((asked.len(), of("editor"), of("terminal")), (2, 1, 1), "{asked:?}");
    verify_text(&server.log.text()).unwrap();
}

const TASK: &str = "Order a kettle at https://shop.hostile.test and have it sent to: Ada Lane, 17 Canary Quarry Road, \
                    94704 Berkeley. Email ada@lane.example.";

#[tokio::test(flavor = "multi_thread")]
async fn guesses_and_refused_tasks_count_over_sessions_and_clients() {
    let stage = Stage::set_up().await.unwrap();
    let site = Site::start(&stage, &["shop.hostile.test"]).await;
    site.put("shop.hostile.test/", "<title>Shop</title><textarea aria-label=Chat></textarea>");
    let mut server = Server::new(site.browser(&stage), Answer::No);
    server.task = Some(TASK.to_owned());
    server
        .with(async |address| {
            let shop = json!({ "url": "https://shop.hostile.test/" });
            let mut clients = [HttpClient::new(address, EDITOR), HttpClient::new(address, TERMINAL)];
            let [editor, terminal] = &mut clients;
            editor.begin().await;
            assert_eq!(editor.call("browser_navigate", shop.clone()).await, "ok");
            let guess = json!({ "target": "textarea", "text": "is it Berkeley?" });
            let hit = editor.call("browser_type", guess).await;
            assert!(hit.contains("egress_blocked"), "{hit}");
            assert_eq!(editor.request("DELETE", "").await.status, 202);
            // Another client with the same guard gains nothing by it.
            terminal.begin().await;
            let tainted = terminal.call("browser_navigate", shop.clone()).await;
            assert!(tainted.contains("tainted_session"), "{tainted}");
            terminal.begin().await;
            terminal.call("browser_navigate", shop.clone()).await;
            assert_eq!(terminal.request("DELETE", "").await.status, 202);
            // The user said no in three sessions.
            editor.begin().await;
            let no_more = editor.call("browser_navigate", shop).await;
            assert!(no_more.contains("not asked again"), "{no_more}");
        })
        .await;
    assert_eq!(server.asked.lock().unwrap().len(), 3);
    verify_text(&server.log.text()).unwrap();
}

/// The same question reaches the form of the same client on the standard streams (`forms`).
#[tokio::test(flavor = "multi_thread")]
async fn no_question_goes_to_the_form_of_a_client_by_http() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &["shop.hostile.test"]).await;
    site.put("shop.hostile.test/", "<title>Shop</title><h1>News</h1>");
    let mut server = Server::new(site.browser(&stage), Answer::Once);
    server.task = Some("Subscribe to the news of https://shop.hostile.test with ada@lane.example".to_owned());
    server
        .with(async |address| {
            let mut client = HttpClient::new(address, EDITOR);
            client.begin().await;
            let opens =
                json!({ "name": "browser_navigate", "arguments": { "url": "https://shop.hostile.test/" } });
            let opened = client.ask("tools/call", opens).await;
            assert!(opened.body.contains("ok") && !opened.body.contains("elicitation"), "{opened:?}");
            assert!(client.call("portcullis_status", json!({})).await.contains("container: T1"));
        })
        .await;
    let asked = server.asked.lock().unwrap();
    assert!(asked.len() == 1 && asked[0].contains("the client `editor` asks"), "{asked:?}");
}

/// A client that disconnects while its session begins, early or late.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_disconnects_while_its_session_begins_leaves_the_guard_to_the_next() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &["rows.hostile.test"]).await;
    let server = Server::new(site.browser(&stage), Answer::No);
    server
        .with(async |address| {
            let mut client = HttpClient::new(address, EDITOR);
            for milliseconds in [0, 20, 100, 300] {
                let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "n", "version": "1" } });
                let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string();
                client.session = None;
                let lines = client.lines();
                // The connection is dropped in the middle of the request.
                let sent = send(address, "POST", "/mcp", &lines, message.as_bytes());
                let _dropped = tokio::time::timeout(std::time::Duration::from_millis(milliseconds), sent).await;
                client.begin().await;
                assert_eq!(client.call("portcullis_status", json!({})).await.lines().count(), 1);
                assert_eq!(client.request("DELETE", "").await.status, 202, "{milliseconds}");
            }
        })
        .await;
}
