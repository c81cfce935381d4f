//! The guard's program is killed (SIGKILL) at each call of an order: when the call has arrived at the shop, and when the shop has carried it
//! out. The journal is a file, and a program that starts again finds out by it what became of the order.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use evaluation::hosts;
use evaluation::scenario::Scenario;
use evaluation::servers::Moment;
use evaluation::stage::{Stage, chromium, sandbox};
use evaluation::suite::ScenarioKind;
use portcullis::audit::MemoryLog;
use portcullis::checkout::{FileJournal, Journal, Settlement};
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::egress::proxy::EgressProxy;
use portcullis::guard::SystemEntropy;
use portcullis::orders::{OrderDesk, PublicKey, TestTokens};
use portcullis::signals::Verb;
use portcullis::signals::playwright::{Browser, BrowserSettings};
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};

const ROLE: &str = "PORTCULLIS_KILLED_ORDER";

/// What pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pays {
    Mandates,
    Token,
}

fn scenario(pays: Pays, seed: u64) -> Scenario {
    let scenario = Scenario::new(ScenarioKind::Review, false, seed);
    match pays {
        Pays::Mandates => scenario.taking_orders(),
        Pays::Token => scenario.taking_unsigned_orders(),
    }
}

fn desk(pays: Pays, folder: &Path) -> OrderDesk {
    let journal = Arc::new(FileJournal::open(&folder.join("orders.journal")).unwrap());
    let pem = std::fs::read(folder.join("ca.pem")).unwrap();
    let agent = "http://127.0.0.1:9/agent".parse().unwrap();
    let desk = OrderDesk::new(agent, OrderDesk::test_money("purse"), journal, &pem).unwrap();
    match pays {
        Pays::Mandates => desk,
        Pays::Token => desk.with_tokens(Arc::new(TestTokens::new(ucp_shop::TEST_TOKEN, None))),
    }
}

/// The program that is killed: one guard that orders once. It says its profile, and waits until the shop knows it.
#[tokio::test(flavor = "multi_thread")]
async fn the_guard_that_is_killed() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let [pays, seed, folder] = role.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
    let pays = if pays == "Token" { Pays::Token } else { Pays::Mandates };
    let (scenario, folder) = (scenario(pays, seed.parse().unwrap()), Path::new(folder));
    let mut settings = BrowserSettings::new(chromium().unwrap());
    settings.home = Some(folder.join("home"));
    settings.sandbox = sandbox();
    settings.proxy_rules = Some(std::fs::read_to_string(folder.join("rules")).unwrap());
    settings.private_hosts = hosts::ALL.iter().map(|host| (*host).to_owned()).collect();
    let browser = Browser::start(settings).await.unwrap();
    let user = ScriptedAnswerer(|_: &ConsentPrompt| Answer::Session);
    let log = Box::new(MemoryLog::default());
    let guard = Guard::new(DEFAULT_POLICY, log, Box::new(user), Box::new(SystemEntropy)).unwrap();
    let desk = Arc::new(desk(pays, folder));
    println!("\nprofile {}", desk.profile(&guard.mandate_key().unwrap()));
    let guard = guard.with_orders(desk);
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let prompt = scenario.prompt(hosts::SHOP_ORIGIN);
    let mut session = Session::begin(guard, &browser, &prompt).await.unwrap();
    let url = scenario.product_url(hosts::SHOP_ORIGIN);
    session.act(Action::Verb(Verb::Open { url })).await;
    let block = format!("REQ.purchase items={{\"{}.1\":{}}}\nREQ.end", scenario.id, scenario.quantity);
    println!("\nanswer {}", session.act(Action::Request(block)).await);
    session.finish().await;
    browser.close().await;
}

/// Kills the program at one moment of one call, counted from 0.
struct Killer {
    at: Option<(usize, Moment)>,
    calls: AtomicUsize,
    program: Mutex<Option<Child>>,
}

impl Killer {
    fn saw(&self, moment: Moment) {
        let call = match moment {
            Moment::Arrived => self.calls.fetch_add(1, Ordering::SeqCst),
            Moment::CarriedOut => self.calls.load(Ordering::SeqCst) - 1,
        };
        if self.at == Some((call, moment)) {
            let mut program = self.program.lock().unwrap().take().unwrap();
            program.kill().unwrap();
            program.wait().unwrap();
        }
    }
}

/// Runs the program, and returns its answer, none where it was killed, the number of calls, and the key of its mandates.
async fn run(
    stage: &Stage,
    folder: &Path,
    pays: Pays,
    seed: u64,
    at: Option<(usize, Moment)>,
) -> (Option<String>, usize, PublicKey) {
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::the_guard_that_is_killed", "--nocapture"])
        .env(ROLE, format!("{pays:?} {seed} {}", folder.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(program.stdout.take().unwrap()).lines();
    let mut input = program.stdin.take().unwrap();
    let killer = Arc::new(Killer { at, calls: AtomicUsize::new(0), program: Mutex::new(Some(program)) });
    let watch = Arc::clone(&killer);
    stage.world.watch_orders(Arc::new(move |_, moment| watch.saw(moment)));
    let (said, profile) = tokio::task::spawn_blocking(move || {
        let profile = said
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line.strip_prefix("profile ")?.to_owned()));
        (said, profile.unwrap())
    })
    .await
    .unwrap();
    let profile: serde_json::Value = serde_json::from_str(&profile).unwrap();
    stage.world.trust(&profile);
    stage.world.begin(&scenario(pays, seed));
    writeln!(input, "go").unwrap();
    let answer = tokio::task::spawn_blocking(move || {
        let mut lines = said.map_while(Result::ok);
        let answer = lines.find_map(|line| Some(line.strip_prefix("answer ")?.to_owned()));
        lines.for_each(drop);
        answer
    })
    .await
    .unwrap();
    if let Some(mut program) = killer.program.lock().unwrap().take() {
        program.wait().unwrap();
    }
    let key = PublicKey::from_jwk(&profile["signing_keys"][0]).unwrap();
    (answer, killer.calls.load(Ordering::SeqCst), key)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_each_call_never_buys_twice() {
    kill_at_each_call(Pays::Mandates, 4).await;
}

/// The shop is told the destination by a call of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_each_call_never_pays_by_two_tokens() {
    kill_at_each_call(Pays::Token, 5).await;
}

/// The calls of an order are the profile, the checkout, the changes, the look and the completion.
async fn kill_at_each_call(pays: Pays, number_of_calls: usize) {
    if std::env::var(ROLE).is_ok() {
        return;
    }
    let stage = Stage::set_up().await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    std::fs::write(folder.join("ca.pem"), stage.world.ca_pem()).unwrap();
    std::fs::write(folder.join("rules"), stage.world.host_rules()).unwrap();
    evaluation::tls::install_nss(&folder.join("home"), stage.world.ca_pem()).unwrap();

    // The control is not killed.
    let (answer, calls, _) = run(&stage, folder, pays, 1, None).await;
    assert!(answer.unwrap().contains("GRANT.purchase"));
    assert_eq!(stage.world.take(&scenario(pays, 1).id).unwrap().orders.len(), 1);
    assert_eq!(calls, number_of_calls);

    let mut unknown = 0;
    for (number, call) in (0..calls).enumerate() {
        for (half, moment) in [Moment::Arrived, Moment::CarriedOut].into_iter().enumerate() {
            let seed = 2 + 2 * number as u64 + half as u64;
            let (answer, _, key) = run(&stage, folder, pays, seed, Some((call, moment))).await;
            assert_eq!(answer, None, "{call} {moment:?}: it was killed");
            stage.world.watch_orders(Arc::new(|_, _| ()));
            // The program starts again, with a new key for its calls.
            let desk = desk(pays, folder);
            stage.world.trust(&desk.profile(&key));
            let proxy = EgressProxy::of(&stage.settings(), &[], &mut SystemEntropy).await.unwrap();
            let ended = desk.recover(&proxy).await.unwrap();
            // A call that had arrived when its program was killed is carried out all the same, before or after the recovery asks.
            let sold = stage.world.take(&scenario(pays, seed).id).unwrap().orders.len();
            let settlements: Vec<Settlement> = ended.iter().map(|(_, settlement)| *settlement).collect();
            match settlements.as_slice() {
                [] => assert_eq!(sold, 0, "{call} {moment:?}: nothing was signed"),
                [Settlement::Paid] => assert_eq!(sold, 1, "{call} {moment:?}"),
                [Settlement::Voided] => assert_eq!(sold, 0, "{call} {moment:?}"),
                several => panic!("{several:?}"),
            }
            unknown += settlements.len();
            drop(desk);
            let journal = FileJournal::open(&folder.join("orders.journal")).unwrap();
            assert_eq!(journal.open_intents().unwrap(), [], "{call} {moment:?}");
        }
    }
    assert_eq!(unknown, 2, "the two moments of the completion are after the intent");
    // And a last order goes through.
    let (answer, _, _) = run(&stage, folder, pays, 20, None).await;
    assert!(answer.unwrap().contains("GRANT.purchase"));
}
