//! `portcullis mcp` as a client starts it: on its standard streams, as the configurations in `examples/clients` say.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics fails"
)]

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;

#[cfg(target_os = "linux")]
use evaluation::tls::{Authority, install_nss};
use serde_json::{Value, json};
use support::{Client, guard, portcullis, vault};
#[cfg(target_os = "linux")]
use tokio_rustls::rustls::{ServerConnection, Stream};

#[test]
fn the_clients_configurations_start_it() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, passphrase) = vault(folder.path());
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/clients");
    let read = |name: &str| std::fs::read_to_string(clients.join(name)).unwrap();
    let server = |name: &str, path: &str| -> Value {
        serde_json::from_str::<Value>(&read(name)).unwrap().pointer(path).unwrap().clone()
    };
    let list = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    // goose's file is simple YAML: its list of arguments is JSON.
    let goose = read("goose.yaml");
    let after =
        |key: &str| goose.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap().trim().to_owned();
    assert_eq!(after("cmd:"), "portcullis");
    let (mcp, vscode) =
        (server("mcp.json", "/mcpServers/browser"), server("vscode.json", "/servers/browser"));
    for arguments in
        [list(&mcp["args"]), list(&vscode["args"]), list(&serde_json::from_str(&after("args:")).unwrap())]
    {
        let arguments = arguments.iter().map(|argument| match argument.as_str() {
            "/home/me/.portcullis/vault" => vault.display().to_string(),
            "/home/me/.portcullis/audit" => folder.path().join("audit").display().to_string(),
            other => other.to_owned(),
        });
        let arguments: Vec<String> = arguments.collect();
        let mut client = Client::start(&mut guard(&passphrase, &arguments));
        let tools = client.begin();
        for tool in ["browser_snapshot", "browser_take_screenshot", "portcullis_request"] {
            assert!(tools.iter().any(|name| name == tool), "{tools:?}");
        }
        assert!(client.call("portcullis_status", json!({})).contains("no page is open"));
        // The browser runs, and reaches nothing on this machine.
        let refused = client.call("browser_navigate", json!({ "url": "https://127.0.0.1:9/" }));
        assert!(refused.contains("DENY.verb"), "{refused}");
        assert!(client.call("portcullis_status", json!({})).contains("container: T0"));
        assert!(client.end());
    }
    let verified = portcullis().args(["audit", "verify"]).arg(folder.path().join("audit")).output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn a_locked_vault_is_reported_before_anything_starts_and_standard_input_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, _) = vault(folder.path());
    let mut command = portcullis();
    command.arg("mcp").arg("--vault").arg(&vault).arg("--audit").arg(folder.path().join("audit"));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("is locked: run `portcullis vault unlock"), "{said}");
    assert!(output.stdout.is_empty());
}

/// A program in the place of pinentry, which gives these answers one after another, and notes what it is told.
fn pinentry(folder: &Path, answers: &[&str]) -> PathBuf {
    let programs = folder.join("programs");
    std::fs::create_dir_all(&programs).unwrap();
    for (number, answer) in answers.iter().enumerate() {
        std::fs::write(programs.join(format!("answer-{}", number + 1)), answer).unwrap();
    }
    let script = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho OK\ncount=0\nwhile read -r line; do echo \"$line\" >>told\ncase \"$line\" in\n\
        GETPIN) count=$((count + 1)); [ -f answer-$count ] || { echo 'ERR 83886179 cancelled'; continue; }; cat answer-$count;;\n\
        BYE) exit;;\n*) echo OK;;\nesac\ndone\n";
    // Another process writes it: what this one has open for writing may be open still in a child that another test starts at that moment,
    // and such a file cannot be executed.
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "cat > \"$0\" && chmod 700 \"$0\""]).arg(programs.join("pinentry"));
    let mut shell = shell.stdin(Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(shell.wait().unwrap().success());
    programs
}

#[test]
fn a_locked_vault_is_unlocked_in_a_window_of_the_systems_program() {
    let (right, wrong, last) = ("right", "D wrong%25\nOK\n", "S notice\nD wrong again\nOK\n");
    for (answers, opens) in [
        (vec![right], true),
        (vec![wrong, last, right], true),
        (vec![wrong, wrong, wrong, right], false),
        (vec![], false),
        (vec!["nonsense\n"], false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (vault, file) = vault(folder.path());
        let passphrase = std::fs::read_to_string(file).unwrap().trim_end().to_owned();
        let typed = format!("D {}\nOK\n", passphrase.replace('%', "%25"));
        let answers: Vec<&str> =
            answers.into_iter().map(|it| if it == right { &typed } else { it }).collect();
        let programs = pinentry(folder.path(), &answers);
        let path = std::env::join_paths([programs.clone(), "/usr/bin".into(), "/bin".into()]).unwrap();
        let mut command = portcullis();
        command.args(["mcp", "--keep-unlocked", "0", "--vault"]).arg(&vault);
        command.arg("--audit").arg(folder.path().join("audit")).env("PATH", path).env("DISPLAY", ":93");
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // With the vault open the server waits for a client, and there is none.
        assert_eq!(said.contains("initialize request"), opens, "{answers:?}: {said}");
        assert_eq!(said.contains("is locked"), !opens, "{said}");
        let told = std::fs::read_to_string(programs.join("told")).unwrap();
        assert!(told.contains("SETDESC Portcullis needs the passphrase of the vault /"), "{told}");
        assert!(!told.contains(&passphrase) && !said.contains(&passphrase));
    }
}

/// A person locks the vault of a running guard, and goes on later without starting the client again.
#[test]
fn a_running_guard_locks_its_vault_and_opens_it_again() {
    let address = site_without_tls("Kettle");
    let folder = tempfile::tempdir().unwrap();
    let (vault, file) = vault(folder.path());
    let passphrase = std::fs::read_to_string(&file).unwrap();
    let audit = folder.path().join("audit").display().to_string();
    let of_vault = |command: &str, input: &str| {
        let mut child = portcullis()
            .args(["vault", command])
            .arg(&vault)
            .args(if command == "unlock" { &["--minutes", "30"][..] } else { &[] })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let ended = child.wait_with_output().unwrap();
        let said = [ended.stdout, ended.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
        (ended.status.code(), said.concat())
    };
    let (code, said) = of_vault("unlock", &passphrase);
    if code == Some(3) {
        eprintln!("SKIPPED a_running_guard_locks_its_vault_and_opens_it_again: {said}");
        return;
    }
    assert_eq!(code, Some(0), "{said}");
    let arguments = ["--vault", &vault.display().to_string(), "--audit", &audit, "--private-hosts"];
    let mut command = portcullis();
    command.arg("mcp").args(arguments).arg(address.to_string());
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let mut client = Client::start(&mut command);
    client.begin();
    let url = format!("http://{address}/");
    client.call("browser_navigate", json!({ "url": url }));
    let is_locked = |client: &mut Client| {
        client.call("browser_navigate", json!({ "url": url }));
        client.call("portcullis_status", json!({})).contains("the user's vault is locked")
    };
    assert!(!is_locked(&mut client));
    let (code, said) = of_vault("lock", "");
    assert!(code == Some(0) && said.contains("was signalled to lock it"), "{said}");
    // The signal arrives a little after the command ends.
    let began = std::time::Instant::now();
    while !is_locked(&mut client) {
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "the vault stays open");
    }
    // The command opens the vault's file, which the guard holds, for reading alone.
    let (code, said) = of_vault("unlock", &passphrase);
    assert_eq!(code, Some(0), "{said}");
    assert!(!is_locked(&mut client), "each action looks for the key");
    of_vault("lock", "");
    assert!(client.end());
}

/// A site that gives the same answer to every request, until this process ends.
fn site_without_tls(heading: &'static str) -> SocketAddr {
    let site = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = site.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in site.incoming() {
            let mut connection = connection.unwrap();
            // A client that connects early and sends nothing does not delay others.
            std::thread::spawn(move || {
                let _asked = connection.read(&mut [0; 4096]);
                let page = format!("<title>Under construction</title><h1>{heading}</h1>");
                let head = format!("Content-Type: text/html\r\nContent-Length: {}", page.len());
                let _told =
                    write!(connection, "HTTP/1.1 200 OK\r\n{head}\r\nConnection: close\r\n\r\n{page}");
            });
        }
    });
    address
}

/// The statement of `examples/clients/README.md` about pages under development.
#[test]
fn a_page_under_development_without_tls_needs_its_host_and_port() {
    let (address, other) = (site_without_tls("Kettle"), site_without_tls("Reviews"));
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("own.policy").display().to_string();
    let silent = portcullis::DEFAULT_POLICY.replace(" or loopback", "");
    let silent = silent.replace("prove never grant payment where tls is loopback\n", "");
    assert!(!silent.contains(" loopback\n    flow"), "{silent}");
    std::fs::write(&policy, silent).unwrap();
    let host = format!("{address},{other}");
    for (arguments, answer) in [
        (vec!["--private-hosts", &host], "ok"),
        (vec!["--private-hosts", "127.0.0.1"], &*format!("--private-hosts {address}")),
        (vec!["--policy", &policy, "--private-hosts", &host], "`tls valid or loopback` in the policy"),
        (vec![], &*format!("--private-hosts {address}")),
    ] {
        let mut client = Client::start(portcullis().arg("mcp").args(&arguments));
        client.begin();
        let url = json!({ "url": format!("http://{address}/") });
        let said = client.call("browser_navigate", url);
        assert!(said == answer || (answer != "ok" && said.contains(answer)), "{arguments:?}: {said}");
        let read = client.call("browser_snapshot", json!({}));
        assert_eq!(read.contains("Kettle"), answer == "ok", "{read}");
        if answer == "ok" {
            // A page cannot send the agent on to another site of this machine in clear.
            let url = json!({ "url": format!("http://{other}/") });
            assert!(client.call("browser_navigate", url).contains(r#""reason":"tls_invalid""#));
            assert!(!client.call("browser_snapshot", json!({})).contains("Reviews"));
            // There is no such key, and the server does not answer.
            let key = json!({ "key": "F13" });
            assert!(client.call("browser_press_key", key).contains(r#""reason":"not_applicable""#));
            let url = json!({ "url": "https://nobody.example/" });
            assert!(client.call("browser_navigate", url).contains(r#""reason":"name_not_found""#));
        }
        assert!(client.end());
    }
}

/// A page that shows the file that it gets.
const DESK: &str = "Desk</h1><p id=got></p><input type=file aria-label=Attach onchange=\"this.files[0].text().then((words) => { \
    document.getElementById('got').textContent = 'got ' + words; })\"><h1>";

#[test]
fn a_file_of_the_folder_that_the_user_names_goes_to_a_page_after_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let (files, downloads) = (folder.path().join("files"), folder.path().join("files/downloads"));
    std::fs::create_dir_all(&downloads).unwrap();
    std::fs::write(files.join("invoice.txt"), "twelve kettles").unwrap();
    let files = files.display().to_string();
    for (arguments, said) in [
        (vec!["--files", &files, "--downloads", downloads.to_str().unwrap()], "name two folders apart"),
        (vec!["--files", "/nowhere/at/all"], "/nowhere/at/all cannot be read as a folder"),
        (vec!["--files", &files, "--observe"], "cannot be used with"),
    ] {
        let output = portcullis().arg("mcp").args(&arguments).stdin(Stdio::null()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(said), "{arguments:?}: {stderr}");
    }
    let address = site_without_tls(DESK).to_string();
    let task = format!("Send my invoice to http://{address}");
    let arguments = ["mcp", "--files", &files, "--private-hosts", &address, "--task", &task];
    let mut client = Client::start(portcullis().args(arguments));
    assert!(client.begin_with_a_user().iter().any(|tool| tool == "browser_file_upload"));
    let url = json!({ "url": format!("http://{address}/") });
    let (said, asked) = client.call_before_a_user("browser_navigate", url, "once");
    assert!(said == "ok" && asked.len() == 1, "{said} {asked:?}");
    let page = client.call("browser_snapshot", json!({}));
    let input = page.split("\"Attach\" [ref=").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
    client.call("browser_click", json!({ "target": input }));
    let paths = json!({ "paths": ["invoice.txt"] });
    let (said, asked) = client.call_before_a_user("browser_file_upload", paths, "once");
    assert!(said == "ok" && asked.len() == 1, "{said} {asked:?}");
    let page = client.call("browser_snapshot", json!({}));
    assert!(page.contains("got twelve kettles"), "{page}");
    assert!(client.end());
}

/// That a form asks is tested with the server, on sites with the usual port: an unusual one is a warning, and no form asks then.
#[test]
fn the_users_options_name_the_client_whose_form_may_ask() {
    for (arguments, said) in [
        (&["--consent-form", "test", "--consent", "window"][..], "leave one of them out"),
        (&["--consent-form", "test", "--observe"], "cannot be used with"),
        (&["--consent-form", ""], "a value is required"),
    ] {
        let output = portcullis().arg("mcp").args(arguments).stdin(Stdio::null()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(said), "{arguments:?}: {stderr}");
    }
    let address = site_without_tls("News");
    let folder = tempfile::tempdir().unwrap();
    let (options, task) = (folder.path().join("guard.toml"), folder.path().join("task.txt"));
    std::fs::write(task, format!("Subscribe to the news of http://{address} with ada@lane.example")).unwrap();
    let lines = [
        "consent-form = [\"editor\", \"test\"]".to_owned(),
        "task-file = \"task.txt\"".to_owned(),
        format!("private-hosts = [\"{address}\"]"),
    ];
    std::fs::write(&options, lines.join("\n")).unwrap();
    // Without a display no window opens.
    let mut command = portcullis();
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let mut client = Client::start(command.args(["mcp", "--config"]).arg(&options));
    client.begin_with_a_form();
    let url = json!({ "url": format!("http://{address}/") });
    let (said, asked) = client.call_before_a_user("browser_navigate", url, "yes");
    assert!(said == "ok" && asked.is_empty(), "{said} {asked:?}");
    assert!(client.call("portcullis_status", json!({})).contains("container: T0"));
    assert!(client.end());
}

/// The statement of `spec/guide.md` about an authority of the user's own.
#[cfg(target_os = "linux")]
#[test]
fn an_authority_in_the_users_nss_database_is_trusted() {
    let authority = Authority::new().unwrap();
    let config = authority.server_config(&["localhost"]).unwrap();
    let site = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = site.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for connection in site.incoming() {
            let (mut connection, config) = (connection.unwrap(), config.clone());
            std::thread::spawn(move || {
                let mut session = ServerConnection::new(config).unwrap();
                let mut stream = Stream::new(&mut session, &mut connection);
                let _asked = stream.read(&mut [0; 4096]);
                let page = "<title>Shop</title><h1>Kettle</h1>";
                let head = format!("Content-Type: text/html\r\nContent-Length: {}", page.len());
                let _told = write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\nConnection: close\r\n\r\n{page}");
                let _closed = stream.flush();
            });
        }
    });
    for trusted in [true, false] {
        let home = tempfile::tempdir().unwrap();
        if trusted {
            install_nss(home.path(), authority.pem()).unwrap();
        }
        let host = format!("localhost:{port}");
        let mut command = portcullis();
        command.env("HOME", home.path()).env_remove("XDG_DATA_HOME");
        let mut client = Client::start(command.args(["mcp", "--private-hosts", &host]));
        client.begin();
        let opened = client.call("browser_navigate", json!({ "url": format!("https://{host}/") }));
        assert_eq!(opened == "ok", trusted, "{opened}");
        assert!(client.end());
        let mut command = portcullis();
        command.env("HOME", home.path()).env_remove("XDG_DATA_HOME").args(["doctor", "--quick", "--json"]);
        let said: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        let checks = said["checks"].as_array().unwrap();
        let found = checks.iter().find(|one| one["name"] == "own authorities").unwrap();
        assert_eq!(found["status"], if trusted { "ok" } else { "missing" }, "{found}");
        assert_eq!(found["says"].as_str().unwrap().contains("portcullis-evaluation"), trusted, "{found}");
    }
}
