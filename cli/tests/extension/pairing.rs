//! A service that is absent, returns, or has another version; a worker that is stopped.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use portcullis::service::protocol::{EXTENSION_ID, VERSION};
use serde_json::{Value, json};

use crate::stage::{FORM, REQUEST, Stage};

#[test]
fn an_absent_or_foreign_service_is_reported_and_a_returning_one_is_found() {
    let mut stage = Stage::new(13);
    stage.site.put("shop.test/checkout", FORM);
    stage.browse();
    let url = stage.site.url("shop.test/checkout");
    stage.browser().open(&url);
    stage.options_until("the service is not running; start it with `portcullis serve`");

    // The service cannot verify the connection, so it does not count as secure.
    stage.serve(false);
    stage.options_until("Connected");
    stage.task();
    let reply = stage.agent_until(Some(REQUEST), "tls_invalid");
    assert!(reply.contains("tls_invalid"), "{reply}");

    stage.kill();
    let gone = stage.agent(Some(REQUEST));
    assert!(gone.contains("no service is running"), "{gone}");
    let impostor = stage.impostor(
        r#"{"error":{"code":"version","message":"this service speaks version 2, update the older"}}"#,
    );
    stage.options_until("this service speaks version 2");
    impostor.abort();
    stage.serve(true);
    stage.options_until("Connected");
    stage.task();
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply}");

    // The worker is stopped while it waits for a busy page, and then before anything is requested.
    stop_during_request(&mut stage);
    stage.browser().stop_worker();
    let page = stage.agent_until(None, "Deliver to");
    assert!(page.contains("Deliver to"), "{page}");
    stage.browser().open(&url);
    let values = stage.browser().values();
    assert_eq!(values["street"], "");
    stage.task();
    stage.browser().stop_worker();
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply}");
    let values = stage.browser().values();
    assert_eq!(values["street"], stage.value("street"));
    other_version_is_refused(&stage);
    stage.no_value_got_out();
}

/// Stops the worker during a request: that request is refused and a later one is granted.
fn stop_during_request(stage: &mut Stage) {
    let mut browser = stage.browser.take().unwrap();
    // On a slow machine the request may start too early or too late to be in progress.
    let mut replies = Vec::new();
    let refused = [1200, 600, 2000, 2800, 5000, 9000].into_iter().any(|until_then| {
        let busy = until_then + 2500;
        browser.evaluate(&format!(
            "setTimeout(() => {{ const began = Date.now(); while (Date.now() - began < {busy}); }}, 0) && 0",
        ));
        let reply = thread::scope(|scope| {
            let asking = scope.spawn(|| stage.agent(Some(REQUEST)));
            thread::sleep(Duration::from_millis(until_then));
            browser.stop_worker();
            asking.join().unwrap()
        });
        replies.push(reply.clone());
        reply.contains("DENY.address")
    });
    stage.browser = Some(browser);
    assert!(refused, "no request was in progress when the worker was stopped: {replies:?}");
    let reply = stage.agent_until(Some(REQUEST), "GRANT");
    assert!(reply.contains("GRANT.address"), "{reply}");
}

/// The service's answers to a first message of another version, without the auth token, or that is too long.
fn other_version_is_refused(stage: &Stage) {
    let say = |message: &Value| {
        let mut stream = UnixStream::connect(stage.folder.path().join("run/socket")).unwrap();
        let bytes = message.to_string();
        stream.write_all(&u32::try_from(bytes.len()).unwrap().to_ne_bytes()).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        answer(&mut stream)
    };
    let hello = |version: u64| json!({ "hello": { "version": version, "role": "agent", "word": "0" } });
    assert_eq!(say(&hello(VERSION + 1))["error"]["code"], "version");
    assert_eq!(say(&hello(VERSION))["error"]["code"], "pairing");
    let mut stream = UnixStream::connect(stage.folder.path().join("run/socket")).unwrap();
    stream.write_all(&u32::MAX.to_ne_bytes()).unwrap();
    assert_eq!(answer(&mut stream)["error"]["code"], "no_hello");
}

fn answer(from: &mut impl Read) -> Value {
    let mut length = [0; 4];
    from.read_exact(&mut length).unwrap();
    let mut bytes = vec![0; u32::from_ne_bytes(length) as usize];
    from.read_exact(&mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn the_host_serves_only_the_extension_and_reports_an_absent_service() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("run");
    let host = |origin: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        command.args(["native-host", "--folder"]).arg(&folder).args(["--", origin]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let own = format!("chrome-extension://{EXTENSION_ID}/");
    for other in ["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/", "https://shop.test/", ""] {
        assert_eq!(host(other).wait().unwrap().code(), Some(2), "{other}");
    }
    let mut child = host(&own);
    let mut input = child.stdin.take().unwrap();
    let hello = json!({ "hello": { "version": 1 } }).to_string();
    input.write_all(&u32::try_from(hello.len()).unwrap().to_ne_bytes()).unwrap();
    input.write_all(hello.as_bytes()).unwrap();
    assert_eq!(answer(child.stdout.as_mut().unwrap())["error"]["code"], "service_absent");
    assert!(child.wait().unwrap().success(), "the host ends after its report");
    // A length over the limit ends the connection, and nothing is buffered for it.
    let mut child = host(&own);
    child.stdin.as_mut().unwrap().write_all(&u32::MAX.to_ne_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_host_is_installed_and_removed() {
    let home = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        command.current_dir(home.path()).args([
            "install-host",
            "--browser",
            "chrome",
            "--user-data-dir",
            "it's mine",
        ]);
        command.args(["--folder", "run"]).args(more).output().unwrap()
    };
    assert!(run(&[]).status.success() && run(&[]).status.success());
    let hosts = home.path().join("it's mine/NativeMessagingHosts");
    let manifest = std::fs::read_to_string(hosts.join("org.portcullis.host.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["allowed_origins"], json!([format!("chrome-extension://{EXTENSION_ID}/")]));
    let mut starter = Command::new(manifest["path"].as_str().unwrap());
    let started = starter.arg("https://shop.test/").output().unwrap();
    assert_eq!(started.status.code(), Some(2), "the starter starts the host: {started:?}");
    assert!(run(&["--extension", "unpacked"]).status.success());
    let extension = std::fs::read_to_string(home.path().join("unpacked/manifest.json")).unwrap();
    assert_eq!(Some(extension.as_str()), portcullis_extension::file("manifest.json"));
    assert!(!run(&["--remove", "--extension", "unpacked"]).status.success());
    assert!(run(&["--remove"]).status.success() && run(&["--remove"]).status.success());
    assert_eq!(std::fs::read_dir(hosts).unwrap().count(), 0);
}
