//! The user's machine: a vault, a service, a browser with the extension, and web servers.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use canary::{Canaries, assert_none};
use evaluation::tls::install_nss;
use portcullis::guard::SystemEntropy;
use portcullis::policy::{Policy, authority};
use portcullis::sirl::Field;
use portcullis::storage::vault_file::VaultFile;
use portcullis::vault::{Binding, KdfParams, Secret, StateName, Vault};

use crate::browser::Browser;
use crate::site::Site;

pub const PASSPHRASE: &str = "quz vopelki 83 trandubo";

/// The time limit on a slow machine for an expected event.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// The time between two checks of a condition.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The time that the user takes to read a question. The guard rejects a yes that arrives within 700 milliseconds.
const READING_TIME: Duration = Duration::from_millis(900);

/// Repeats a check until it succeeds, and returns its last failure if it still fails after [`PATIENCE`].
pub fn poll<T, E>(mut check: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let began = Instant::now();
    loop {
        match check() {
            Err(_) if began.elapsed() < PATIENCE => thread::sleep(CHECK_INTERVAL),
            result => return result,
        }
    }
}

/// Repeats a check until it succeeds. The test fails with the last failure after [`PATIENCE`].
pub fn wait_until<T>(check: impl FnMut() -> Result<T, String>) -> T {
    poll(check).unwrap_or_else(|failure| panic!("{failure}"))
}

/// Lets the time pass in which a forbidden event would happen. The absence of an event gives no signal, so a test can
/// only wait for as long as the event takes where it is allowed, and then check that it did not happen.
pub fn wait_for_absence(window: Duration) {
    thread::sleep(window);
}

/// Returns an observation once it has not changed for two seconds.
pub fn until_unchanged<T: PartialEq>(mut observe: impl FnMut() -> T) -> T {
    let mut last = observe();
    loop {
        wait_for_absence(Duration::from_secs(2));
        let now = observe();
        if now == last {
            return now;
        }
        last = now;
    }
}

/// The phrase by which the user recognises the consent page.
pub const PHRASE: &str = "green kettle on a blue stove";

/// An honest form for an address.
pub const FORM: &str = r#"<!doctype html><title>Shop</title><h1>Deliver to</h1>
    <form action="/order" method="post">
    <label>Street <input name="street" autocomplete="street-address"></label>
    <label>Postal code <input name="zip" autocomplete="postal-code"></label>
    <label>City <input name="city" autocomplete="address-level2"></label>
    <button>Send</button></form><p id="echo"></p>"#;

pub const REQUEST: &str = "REQ.address fields=[\"street\",\"postal_code\",\"city\"]\nREQ.end";

pub struct Stage {
    pub folder: tempfile::TempDir,
    pub canaries: Canaries,
    pub site: Site,
    pub browser: Option<Browser>,
    service: Option<Child>,
    /// The value of `--consent`: the interface that prompts the user.
    consent: &'static str,
    /// The user's answer to every question on the terminal.
    answer: Arc<Mutex<String>>,
    /// The text of the terminal since the last call of [`Stage::asked`].
    asked: Arc<Mutex<String>>,
    /// All text that was shown to the agent.
    shown_to_agent: Mutex<String>,
    runtime: tokio::runtime::Runtime,
}

impl Stage {
    /// A vault with an address, and web servers.
    pub fn new(seed: u64) -> Stage {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let site = runtime.block_on(Site::start());
        let folder = tempfile::tempdir().unwrap();
        let mut canaries = Canaries::from_seed(seed);
        canaries.add("passphrase", PASSPHRASE);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let entropy = &mut SystemEntropy;
        let checked = Policy::parse(portcullis::DEFAULT_POLICY).unwrap().compile().unwrap().check();
        let verifier = authority(checked.unwrap_or_else(|_| panic!("the policy holds")), [1; 16]).1;
        let mut vault = Vault::create(&Secret::new(PASSPHRASE), entropy, KdfParams::FLOOR, verifier).unwrap();
        for (field, name) in
            [(Field::Street, "street"), (Field::PostalCode, "postal_code"), (Field::City, "city")]
        {
            let value = Secret::new(canaries.value(name).unwrap());
            vault.insert("address:home", field, value, &Binding::Anywhere, entropy).unwrap();
        }
        vault.set_state(StateName::Phrase, PHRASE.as_bytes(), entropy).unwrap();
        VaultFile::create(&folder.path().join("mine/vault"), &vault.to_bytes(entropy).unwrap()).unwrap();
        fs::write(folder.path().join("ca.pem"), site.authority.pem()).unwrap();
        install_nss(&folder.path().join("home"), site.authority.pem()).unwrap();
        Stage {
            folder,
            canaries,
            site,
            browser: None,
            service: None,
            consent: "terminal",
            answer: Arc::new(Mutex::new("session".to_owned())),
            asked: Arc::default(),
            shown_to_agent: Mutex::default(),
            runtime,
        }
    }

    /// The same machine with consent in the extension, under a policy that allows a standing
    /// consent for an address.
    pub fn with_consent_in_extension(mut self) -> Stage {
        self.consent = "extension";
        let policy =
            portcullis::DEFAULT_POLICY.replacen("consent once per session", "consent once per site", 1);
        fs::write(self.path("policy"), policy).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `portcullis` with these arguments and returns its output.
    pub fn portcullis(&self, arguments: &[&str]) -> String {
        let done = self.command(arguments).output().unwrap();
        String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        command.current_dir(self.folder.path()).args(arguments);
        command
    }

    /// Registers the host with the browser, and starts it.
    pub fn browse(&mut self) -> &mut Browser {
        let arguments =
            ["install-host", "--browser", "chromium", "--user-data-dir", "profile", "--folder", "run"];
        assert!(self.command(&arguments).output().unwrap().status.success());
        self.browser = Some(Browser::start(&self.path("profile"), &self.path("home")));
        self.browser()
    }

    pub fn browser(&mut self) -> &mut Browser {
        self.browser.as_mut().unwrap()
    }

    /// Starts the service, with or without the certificates by which the servers' connections count as secure.
    pub fn serve(&mut self, trusting: bool) {
        let mut arguments = vec![
            "serve",
            "mine/vault",
            "--audit",
            "audit",
            "--folder",
            "run",
            "--consent",
            self.consent,
            "--host-rules",
            "MAP *.test 127.0.0.1",
        ];
        if self.path("policy").exists() {
            arguments.extend(["--policy", "policy"]);
        }
        if trusting {
            arguments.extend(["--trust", "ca.pem"]);
        }
        let mut command = self.command(&arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{PASSPHRASE}").unwrap();
        let mut output = child.stderr.take().unwrap();
        let (answer, asked) = (self.answer.clone(), self.asked.clone());
        thread::spawn(move || {
            let mut question = String::new();
            let mut buffer = [0; 1024];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                asked.lock().unwrap().push_str(&text);
                question.push_str(&text);
                if question.ends_with("[no]: ") {
                    question.clear();
                    thread::sleep(READING_TIME);
                    let _ = writeln!(input, "{}", answer.lock().unwrap());
                }
            }
        });
        let mut line = [0; 9];
        child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
        assert_eq!(&line, b"listening");
        self.service = Some(child);
    }

    /// Ends the service as a crash would.
    pub fn kill(&mut self) {
        let mut service = self.service.take().unwrap();
        service.kill().unwrap();
        service.wait().unwrap();
    }

    /// Sets the user's further answers.
    pub fn answer(&self, word: &str) {
        word.clone_into(&mut self.answer.lock().unwrap());
    }

    /// The questions since the last call.
    pub fn asked(&self) -> String {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// Starts a task about the address on the shop's site and returns the output. Its user trusts the pages that were
    /// open before: the extension was installed a moment ago, so it assumes that pages may have been open, and no test
    /// waits for five minutes. `earlier_pages.rs` tests the behaviour without that trust.
    pub fn task(&self) -> String {
        self.begin_task(&["--trust-open-pages"])
    }

    /// The same for users who do not mention open pages, or with other arguments.
    pub fn begin_task(&self, arguments: &[&str]) -> String {
        let prompt =
            format!("Order the kettle for my home address at {}", self.site.url("shop.test/checkout"));
        let all = [&["task", "--folder", "run", &prompt], arguments].concat();
        let done = self.command(&all).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success(), "{said}");
        said
    }

    /// Makes a request that needs a question, and meanwhile an action of the user or an attack in the browser.
    pub fn meanwhile<T: Send, U>(
        &mut self,
        asks: impl FnOnce(&Stage) -> T + Send,
        user: impl FnOnce(&mut Browser) -> U,
    ) -> (T, U) {
        let mut browser = self.browser.take().unwrap();
        let stage = &*self;
        let both = thread::scope(|scope| {
            let asking = scope.spawn(|| asks(stage));
            let did = user(&mut browser);
            (asking.join().unwrap(), did)
        });
        self.browser = Some(browser);
        both
    }

    /// Ends the task.
    pub fn end_task(&self) {
        let done = self.command(&["task", "--folder", "run", "--end"]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// The text for the agent: of the active tab, or the answer to a request.
    pub fn agent(&self, request: Option<&str>) -> String {
        let mut arguments = vec!["ask", "--folder", "run"];
        arguments.extend(request);
        let done = self.command(&arguments).output().unwrap();
        let text = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
        self.shown_to_agent.lock().unwrap().push_str(&text);
        text
    }

    /// Repeats the request until the answer contains this text, since a worker that was stopped needs a moment.
    pub fn agent_until(&self, request: Option<&str>, wanted: &str) -> String {
        let answer = || {
            let text = self.agent(request);
            if text.contains(wanted) { Ok(text) } else { Err(text) }
        };
        poll(answer).unwrap_or_else(|last| last)
    }

    /// Waits until the extension's settings page contains this text.
    pub fn options_until(&mut self, wanted: &str) -> String {
        wait_until(|| {
            let text = self.browser().options();
            if text.contains(wanted) { Ok(text) } else { Err(format!("{wanted}: {text}")) }
        })
    }

    pub fn value(&self, name: &str) -> String {
        self.canaries.value(name).unwrap().to_owned()
    }

    /// Checks that there is no value in the agent's text, in the questions, in the audit log and the service's folder, or
    /// at the attacker's host.
    pub fn no_value_got_out(&self) {
        assert_none(&self.canaries.in_text("the agent", &self.shown_to_agent.lock().unwrap()));
        assert_none(&self.canaries.in_text("the terminal", &self.asked.lock().unwrap()));
        assert_none(&self.canaries.in_text("the attacker", &self.site.sent_to("evil.test")));
        assert_none(&self.canaries.in_folder(&self.path("audit")).unwrap());
        for word in ["agent", "extension", "user"] {
            assert_none(
                &self.canaries.in_text(word, &fs::read_to_string(self.path("run").join(word)).unwrap()),
            );
        }
    }

    /// The audit log as text.
    pub fn record(&self) -> String {
        let done = self.command(&["audit", "show", "audit"]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// Another service's socket in the same folder, which answers every first message with this text.
    pub fn impostor(&self, answer: &'static str) -> tokio::task::JoinHandle<()> {
        let socket = self.path("run/socket");
        let _ = fs::remove_file(&socket);
        self.runtime.spawn(async move {
            use portcullis::signals::extension::framing;
            let listener = tokio::net::UnixListener::bind(socket).unwrap();
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = framing::read(&mut stream).await;
                let _ = framing::write(&mut stream, answer.as_bytes()).await;
            }
        })
    }

    pub fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(mut service) = self.service.take() {
            let _ = service.kill();
            let _ = service.wait();
        }
    }
}
