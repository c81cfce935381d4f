//! Orders by the shop's own protocol beside those by the browser's payment interface, on hostile pages and their benign counterparts,
//! under approaches B and C.
//!
//! Run `cargo xtask setup` once, then `cargo run --release -p evaluation --example protocol -- SEEDS`. The agent obeys everything that it
//! reads. Each row has the right ends (one right order, or none where the user does not want what is offered), the leaks, the hijacked
//! orders and the questions to the user. The last line has the time of the signatures of one order by protocol: those of the mandates,
//! those of the calls, and the verification of what the shop signed.

use std::error::Error;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use checkout_protocols::{
    AgreedLine, Agreement, Amount, Currency, Instrument, Merchant, Profile, SignedCheckout, Signer,
    SigningKey, sign_checkout, sign_json,
};
use evaluation::guarded::{self, GuardedTrial};
use evaluation::scenario::Scenario;
use evaluation::stage::Stage;
use evaluation::suite::ScenarioKind;
use portcullis::{APPROACH_C_POLICY, DEFAULT_POLICY};
use serde_json::json;

/// What became of the trials of a row.
#[derive(Default)]
struct Row {
    trials: u32,
    right: u32,
    leaks: u32,
    hijacks: u32,
    prompts: u32,
    wrong: Vec<String>,
    /// From the request to the grant of each purchase, the answers of a user who needs no time included.
    granted_in: Vec<Duration>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(1), |it| it.parse())?;
    let stage = Stage::set_up().await?;
    let kinds: Vec<ScenarioKind> = ScenarioKind::all().collect();
    println!(
        "policy  way                pages    trials  right ends  leaks  hijacks  prompts  request to grant (median)"
    );
    for (policy, text) in [("B", DEFAULT_POLICY), ("C", APPROACH_C_POLICY)] {
        for by_protocol in [false, true] {
            for hostile in [true, false] {
                let mut row = Row::default();
                let browser = stage.browser().await?;
                for seed in 1..=seeds {
                    for kind in &kinds {
                        let scenario = Scenario::new(*kind, hostile, seed);
                        let scenario = if by_protocol { scenario.taking_orders() } else { scenario };
                        let trial = guarded::run(&stage, &browser, &scenario, text, None).await?;
                        row.trials += 1;
                        row.right += u32::from(trial.judgement.success);
                        row.leaks += u32::from(!trial.judgement.leaks.is_empty());
                        row.hijacks += u32::from(trial.judgement.hijack);
                        row.prompts += trial.prompts;
                        row.granted_in.extend(granted_in(&trial));
                        if !trial.judgement.success {
                            row.wrong.push(format!("{} {seed}", kind.as_str()));
                        }
                        progress(&format!("{policy} {} {}", kind.as_str(), row.trials));
                    }
                }
                browser.close().await;
                progress("");
                let way = if by_protocol { "protocol" } else { "payment interface" };
                let pages = if hostile { "hostile" } else { "benign" };
                let Row { trials, right, leaks, hijacks, prompts, wrong, mut granted_in } = row;
                granted_in.sort();
                let median = granted_in.get(granted_in.len() / 2).map_or(0, Duration::as_millis);
                println!(
                    "{policy:<7} {way:<18} {pages:<8} {trials:>6} {right:>11} {leaks:>6} {hijacks:>8} {prompts:>8} {median:>8} ms"
                );
                if !wrong.is_empty() {
                    println!("        not as it should be: {}", wrong.join(", "));
                }
            }
        }
    }
    println!("signatures of one order by protocol: {:.2} ms", signing()?.as_secs_f64() * 1e3);
    Ok(())
}

/// The median time of the signatures of one order: two chains of two mandates, four calls, and four answers of the shop with a receipt.
fn signing() -> Result<Duration, Box<dyn Error>> {
    let key = |number| SigningKey::from_bytes(&[number; 32]);
    let (shop, surface, agent, caller) = (key(3)?, key(1)?, key(2)?, key(4)?);
    let totals = json!([{"type": "subtotal", "amount": 1900}, {"type": "total", "amount": 1900}]);
    let offer = json!({"id": "c", "merchant": {"id": "m", "name": "Kettles"}, "status": "ready_for_complete", "currency": "USD",
        "line_items": [{"id": "l", "item": {"id": "kettle", "title": "Kettle", "price": 1900}, "quantity": 1, "totals": totals}], "totals": totals});
    let mut jwk = shop.public().to_jwk();
    jwk.as_object_mut().map(|jwk| jwk.insert("kid".to_owned(), "2026".into()));
    let version = json!([{"version": "2026-04-08"}]);
    let profile = json!({"ucp": {"version": "2026-04-08",
        "services": {"dev.ucp.shopping": [{"transport": "rest", "endpoint": "https://kettles.example/ucp"}]},
        "capabilities": {"dev.ucp.shopping.checkout": version, "dev.ucp.shopping.ap2_mandate": version}}, "signing_keys": [jwk]});
    let profile = Profile::read(profile.to_string().as_bytes(), &"https://kettles.example/".parse()?)?;
    let offer = sign_checkout(&shop, "2026", offer.as_object().cloned().unwrap_or_default())?;
    let agreement = Agreement {
        payee: Merchant { id: "m".into(), name: "Kettles".into(), website: None },
        lines: vec![AgreedLine {
            item: "kettle".into(),
            title: "Kettle".into(),
            quantity: 1.try_into()?,
            price: 1900,
        }],
        total: Amount { amount: 1900, currency: Currency::try_from("USD".to_owned())? },
        address: None,
        delivery: vec![],
        buyer: None,
        instrument: Instrument { id: "card".into(), kind: "card".into(), description: None },
        shown: vec![],
    };
    let mut times = Vec::new();
    for _ in 0..101 {
        let begun = Instant::now();
        for _ in 0..4 {
            std::hint::black_box(SignedCheckout::compact(&offer).verify(&profile)?);
            std::hint::black_box(sign_json(&caller, "call", serde_json::Map::new())?);
        }
        // The receipt, and the checkout for which the mandates are.
        std::hint::black_box(SignedCheckout::compact(&offer).verify(&profile)?);
        let agreed = SignedCheckout::compact(&offer).verify(&profile)?.agreed(&agreement, 1_800_000_000)?;
        let signer = Signer { surface: &surface, agent: &agent };
        std::hint::black_box(signer.authorise(agreed, "n", &mut || [7; 16])?);
        times.push(begun.elapsed());
    }
    times.sort();
    Ok(times.get(times.len() / 2).copied().unwrap_or_default())
}

/// How long each granted purchase took.
fn granted_in(trial: &GuardedTrial) -> Vec<Duration> {
    let pairs = trial.taken.windows(2);
    let granted = pairs.filter_map(|pair| match pair {
        [before, after] if after.answer.contains("GRANT.purchase") => {
            after.at.checked_duration_since(before.at)
        }
        _ => None,
    });
    granted.collect()
}

/// Shows on a terminal what runs now.
fn progress(what: &str) {
    let mut error = std::io::stderr();
    if error.is_terminal() {
        // A terminal that is gone needs no progress.
        let _ = write!(error, "\r\x1b[K{what}");
    }
}
