//! Network traffic of the browser over the whole benchmark suite, hostile and benign, in a raised container and in T0,
//! observed from outside: `eval "$(cargo xtask env)" && cargo run -p evaluation --example observed_suite -- [SEED]`.
//!
//! Exit codes: 0 no look-up by the browser itself, no datagram, and no connection except through the guard's proxy; 1
//! there was one, a trial broke off, or plain Chromium sends nothing either; 3 the system has no network namespaces.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("observed_suite: only Linux has networks of a program's own");
    std::process::ExitCode::from(3)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::net::Ipv4Addr;
    use std::process::{Command, ExitCode, Stdio};
    use std::time::{Duration, Instant};

    use browser_signals::playwright::Browser;
    use evaluation::guarded::{run_with, truthful_user};
    use evaluation::hosts;
    use evaluation::scenario::Scenario;
    use evaluation::servers::World;
    use evaluation::stage::{Stage, StageError, chromium};
    use evaluation::suite::ScenarioKind;
    use evaluation::tls::install_nss;
    use observer::traffic::Seen;
    use observer::{DnsClient, NamespaceRun, Network, processes, run_in_namespaces};
    use portcullis::audit::MemoryLog;
    use portcullis::consent::{Answer, Answerer, ScriptedAnswerer};
    use portcullis::guard::SystemEntropy;
    use portcullis::{DEFAULT_POLICY, Guard};

    /// The address of every host of the suite.
    const WORLD: Ipv4Addr = Ipv4Addr::new(44, 128, 70, 1);

    /// A page that asks a STUN server for its own address.
    const STUN: &str = "data:text/html,<script>const p=new RTCPeerConnection({iceServers:[{urls:'stun:44.128.70.9:3478'}]});p.createDataChannel('x');p.createOffer().then(o=>p.setLocalDescription(o))</script>";

    /// The time that plain Chromium gets.
    const PATIENCE: Duration = Duration::from_secs(60);

    pub fn main() -> ExitCode {
        let arguments: Vec<_> = std::env::args_os().skip(1).collect();
        let network = match run_in_namespaces(&arguments) {
            NamespaceRun::Inside(network) => network,
            NamespaceRun::Ended { success } => return ExitCode::from(u8::from(!success)),
            NamespaceRun::Skipped { why } => {
                eprintln!("observed_suite: {why}");
                return ExitCode::from(3);
            }
        };
        let seed = arguments.first().and_then(|seed| seed.to_str()?.parse().ok()).unwrap_or(1);
        let measured = tokio::runtime::Runtime::new().map_err(Into::into);
        match measured.and_then(|runtime| runtime.block_on(measure(&network, seed))) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::from(1),
            Err(error) => {
                eprintln!("observed_suite: {error}");
                ExitCode::from(1)
            }
        }
    }

    async fn measure(network: &Network, seed: u64) -> Result<bool, Box<dyn Error>> {
        for host in hosts::ALL {
            network.dns().set(host, WORLD);
        }
        let world = World::start_on(network.listen((WORLD, 443).into())?)?;
        let program = network.browser(&chromium().ok_or(StageError::NoChromium)?)?;
        let stage = Stage::set_up_by_name(world, program).await?;
        if !control(network, &stage, seed).await? {
            println!("plain Chromium sends nothing either: this says nothing");
            return Ok(false);
        }
        let start = network.traffic().now();
        let browser = stage.browser().await?;
        let (mut trials, mut broke_off) = (0, 0);
        for (container, user) in [("raised", true), ("T0", false)] {
            for kind in ScenarioKind::EVERY {
                for hostile in [true, false] {
                    let scenario = Scenario::new(*kind, hostile, seed);
                    let begun = network.traffic().now();
                    let finished = trial(&stage, &browser, &scenario, user).await?;
                    trials += 1;
                    broke_off += u32::from(!finished);
                    let seen = network.traffic().since(begun);
                    if leaves(&seen) > 0 || !finished {
                        let name = kind.as_str();
                        println!(
                            "{container} {name} hostile={hostile}: finished {finished}\n{}",
                            summary(&seen)
                        );
                    }
                }
            }
        }
        browser.close().await;
        let seen = network.traffic().since(start);
        println!("{trials} trials, {broke_off} broke off; behind the guard:\n{}", summary(&seen));
        println!("names that the guard's proxy looked up: {:?}", seen.names_queried_by(DnsClient::Guard));
        println!("connections that left, all by the proxy: {}", seen.connections().len());
        println!("packets: {}; the kernel's own, left out: {}", seen.packets().count(), seen.noise());
        Ok(leaves(&seen) == 0 && broke_off == 0)
    }

    /// Runs one trial with a user who answers by the truth of the task, or who refuses everything. Returns true if it
    /// came to its end.
    async fn trial(
        stage: &Stage,
        browser: &Browser,
        scenario: &Scenario,
        agrees: bool,
    ) -> Result<bool, Box<dyn Error>> {
        let log = MemoryLog::default();
        let user: Box<dyn Answerer> = if agrees {
            Box::new(ScriptedAnswerer(truthful_user(scenario)))
        } else {
            Box::new(ScriptedAnswerer(|_: &portcullis::consent::ConsentPrompt| Answer::No))
        };
        let guard = Guard::new(DEFAULT_POLICY, Box::new(log.clone()), user, Box::new(SystemEntropy))?;
        let guard = guard.with_payments(stage.payments.clone());
        let prompt = scenario.prompt(hosts::SHOP_ORIGIN);
        let (run, _) = run_with(stage, browser, scenario, guard, &prompt, &log).await?;
        Ok(run.broke_off.is_none())
    }

    /// Returns true if plain Chromium looks names up and sends datagrams in this network.
    async fn control(network: &Network, stage: &Stage, seed: u64) -> Result<bool, Box<dyn Error>> {
        let scenario = Scenario::new(ScenarioKind::Beacon, true, seed);
        stage.world.begin(&scenario);
        let begun = network.traffic().now();
        for address in [scenario.product_url(hosts::SHOP_ORIGIN), STUN.to_owned()] {
            let home = tempfile::tempdir()?;
            install_nss(home.path(), stage.world.ca_pem())?;
            let mut command = Command::new(stage.executable());
            command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]).arg(&address);
            command.arg(format!("--user-data-dir={}", home.path().join("profile").display()));
            command.env("HOME", home.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let plain = command.spawn()?;
            let end = Instant::now() + PATIENCE;
            let left = || {
                let seen = network.traffic().since(begun);
                let shop = seen.names_queried_by(DnsClient::Browser).contains(hosts::SHOP);
                if address == STUN { !seen.datagrams().is_empty() } else { shop }
            };
            while !left() && Instant::now() < end {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            processes::end(plain)?;
        }
        let seen = network.traffic().since(begun);
        println!("in plain Chromium:\n{}", summary(&seen));
        stage.world.take(&scenario.id);
        stage.world.take_strays();
        Ok(seen.names_queried_by(DnsClient::Browser).contains(hosts::SHOP) && !seen.datagrams().is_empty())
    }

    /// The number of packets that a guard should have kept in.
    fn leaves(seen: &Seen) -> usize {
        let asked =
            seen.names_queried_by(DnsClient::Browser).len() + seen.names_queried_by(DnsClient::Other).len();
        let strange = seen
            .names_queried_by(DnsClient::Guard)
            .iter()
            .filter(|name| !hosts::ALL.contains(&name.as_str()))
            .count();
        asked + seen.datagrams().len() + seen.others().len() + strange
    }

    fn summary(seen: &Seen) -> String {
        let names = [DnsClient::Browser, DnsClient::Other].map(|asker| seen.names_queried_by(asker));
        let asked: Vec<&String> = names.iter().flatten().collect();
        let datagrams = seen.datagrams();
        format!(
            "  look-ups by the browser: {} {asked:?}\n  datagrams: {}\n  other packets: {}",
            asked.len(),
            datagrams.len(),
            seen.others().len()
        )
    }
}
