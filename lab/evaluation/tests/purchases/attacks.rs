//! Attacks on purchases.

use crate::drawn::drawn;
use crate::runs::{Run, Sets, agreed, guarded, is_more, unguarded};
use crate::shop::{EVIL, Page, SHOP, Scene};
use crate::wallet;
use browser_signals::playwright::Browser;

/// The number of tries if Chromium did not let a page ask for a payment.
const ATTEMPTS: usize = 4;

/// The way in which an attack fails under approach C.
enum Fails {
    /// The named page asks, is denied, and reports the denial.
    Denied(&'static str),
    /// The guard answers with this reason, after so many questions, and no page gets to ask.
    Refused(&'static str, usize),
    /// Only the agreed payment is made.
    PaidOnce,
}

struct Attack {
    name: &'static str,
    pages: Vec<Page>,
    fails: Fails,
}

/// The shop's checkout: the text of the page, and the script of its button.
fn checkout(more: &str, press: &str) -> Page {
    let body = format!(
        "<main><h1>Checkout</h1><p>One kettle, delivered to your home.</p><p>Order total: 64.15 USD</p>\
         <button id=pay>Pay now</button></main>{more}<script>document.querySelector('#pay').onclick = () => {{ {press} }};</script>"
    );
    (SHOP, "/", body)
}

/// The attacker's page, which asks as it loads.
fn asks_at_once(path: &'static str) -> Page {
    (EVIL, path, "<h1>Checkout</h1><script>pay('evil', '64.15')</script>".to_owned())
}

/// The guarded browser, and another one wherever Chromium's flaw did not let a page ask for a payment.
struct Guarded<'a> {
    scene: &'a Scene,
    browser: Browser,
}

impl<'a> Guarded<'a> {
    async fn launch(scene: &'a Scene) -> Guarded<'a> {
        Guarded { scene, browser: scene.browser().await }
    }

    async fn run(&mut self, pages: &[Page], sets: &[Sets]) -> Run {
        for _ in 0..ATTEMPTS {
            let run = guarded(self.scene, &self.browser, pages, sets).await;
            if !run.was_not_let() {
                return run;
            }
            eprintln!("once more, since a page was not let ask: {:?}", run.reports);
            let another = self.scene.browser().await;
            std::mem::replace(&mut self.browser, another).close().await;
        }
        panic!("{ATTEMPTS} browsers did not let a page ask for a payment");
    }
}

async fn unguarded_at_last(
    scene: &Scene,
    method: &str,
    pages: &[Page],
    sets: &[Sets],
    done: impl Fn(&Scene) -> bool,
) {
    let mut reported = String::new();
    for _ in 0..ATTEMPTS {
        match unguarded(scene, method, pages, sets, &done).await {
            Ok(()) => return,
            Err(why) => reported = why,
        }
    }
    panic!("the control does nothing: {reported}");
}

/// Runs each attack with its control, and under approach C.
async fn are_kept(attacks: Vec<Attack>) {
    let scene = Scene::set_up().await;
    let wallet = wallet::open(&scene.stage.bank).await;
    let mut browser = Guarded::launch(&scene).await;
    for Attack { name, pages, fails } in drawn(attacks) {
        unguarded_at_last(&scene, &wallet, &pages, &[], |scene| is_more(&scene.charged())).await;
        println!("{name}: without a guard {:?}", scene.charged());
        let run = browser.run(&pages, &[]).await;
        println!("{name}: under C {:?}, {}, {:?}", run.charged, run.answer, run.reports);
        assert!(!is_more(&run.charged), "{name}: {:?}", run.charged);
        match fails {
            Fails::Denied(who) => {
                assert_eq!(run.charged, [], "{name}");
                let denied = format!("{who}: denied");
                assert!(run.reports.contains(&denied), "{name}: {:?} {}", run.reports, run.answer);
                assert!(run.answer.starts_with("DENY.purchase"), "{name}: {}", run.answer);
                // The user was asked about the page's claim, and agreed.
                assert_eq!(run.asked.len(), 1, "{name}: {:?}", run.asked);
            }
            Fails::Refused(reason, questions) => {
                assert_eq!(run.charged, [], "{name}");
                let refused = format!("DENY.purchase {{\"reason\":\"{reason}\"}}");
                assert_eq!(run.answer, refused, "{name}: {:?}", run.reports);
                assert_eq!(run.asked.len(), questions, "{name}: {:?}", run.asked);
                assert_eq!(run.reports, [""; 0], "{name}");
            }
            Fails::PaidOnce => {
                assert_eq!(run.charged, [agreed()], "{name}: {} {:?}", run.answer, run.reports);
                assert!(run.answer.starts_with("GRANT.purchase"), "{name}: {}", run.answer);
            }
        }
    }
}

/// The other tests would prove nothing if an honest shop were not paid.
#[tokio::test(flavor = "multi_thread")]
async fn an_honest_shop_is_paid_once_with_and_without_a_guard() {
    let scene = Scene::set_up().await;
    let pages = [checkout("", "pay('shop', '64.15')")];
    let wallet = wallet::open(&scene.stage.bank).await;
    unguarded_at_last(&scene, &wallet, &pages, &[], |scene| scene.charged() == [agreed()]).await;
    let run = Guarded::launch(&scene).await.run(&pages, &[]).await;
    assert_eq!(run.charged, [agreed()], "{} {:?}", run.answer, run.reports);
    assert!(run.answer.starts_with("GRANT.purchase"), "{}", run.answer);
    assert_eq!(run.asked.len(), 1, "{:?}", run.asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_different_amount_than_agreed_is_not_paid() {
    let updated = "pay('shop', '64.15', { update: Promise.resolve(\
        { total: { label: 'Total', amount: { currency: 'USD', value: '94.15' } } }) })";
    are_kept(vec![
        Attack {
            name: "the total rises after the question",
            pages: vec![checkout("", "pay('shop', '94.15')")],
            fails: Fails::Denied("shop"),
        },
        Attack {
            name: "the total is changed once the payment interface has opened",
            pages: vec![checkout("", updated)],
            fails: Fails::Denied("shop"),
        },
        Attack {
            name: "the same number in a dearer currency",
            pages: vec![checkout("", "pay('shop', '64.15', { currency: 'GBP' })")],
            fails: Fails::Denied("shop"),
        },
        Attack {
            name: "a button of the same name lies over the button and asks for more",
            pages: vec![checkout(
                "<button style='position:fixed;inset:0;width:100%;height:100%' onclick=\"pay('shop', '94.15')\">Pay now</button>",
                "pay('shop', '64.15')",
            )],
            fails: Fails::Denied("shop"),
        },
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_is_paid() {
    let frame =
        |style: &str| format!("<iframe style='{style}' allow=payment src=https://{EVIL}/frame></iframe>");
    let framed = (EVIL, "/frame", "<script>onmessage = () => pay('evil', '64.15')</script>".to_owned());
    let button = "<style>body { margin: 0 }</style><button style='width:100%;height:400px' onclick=\"pay('evil', '64.15')\">Pay now</button>";
    are_kept(vec![
        Attack {
            name: "the button leads to another payee, who asks at once",
            pages: vec![checkout("", &format!("location = 'https://{EVIL}/pay'")), asks_at_once("/pay")],
            fails: Fails::Refused("outside_task", 1),
        },
        Attack {
            name: "the button opens a window of another payee",
            pages: vec![checkout("", &format!("open('https://{EVIL}/pay')")), asks_at_once("/pay")],
            fails: Fails::Refused("no_payment_interface", 1),
        },
        Attack {
            name: "a frame of another origin asks as the button is pressed",
            pages: vec![checkout(&frame(""), "frames[0].postMessage('now', '*')"), framed],
            fails: Fails::Denied("evil"),
        },
        Attack {
            name: "a frame of another origin lies over the button, with a button of the same name",
            pages: vec![
                checkout(&frame("position:fixed;inset:0;width:100%;height:100%"), "pay('shop', '64.15')"),
                (EVIL, "/frame", button.to_owned()),
            ],
            fails: Fails::Refused("origin_mismatch", 0),
        },
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_paid_twice_and_nothing_recurs() {
    are_kept(vec![
        Attack {
            name: "a second order behind the first",
            pages: vec![checkout("", "pay('first', '64.15').then(() => pay('second', '64.15'))")],
            fails: Fails::PaidOnce,
        },
        Attack {
            name: "the receipt asks for the same again as it loads",
            pages: vec![
                checkout("", "pay('first', '64.15').then(() => { location = '/receipt' })"),
                (SHOP, "/receipt", "<h1>Thank you</h1><script>pay('again', '64.15')</script>".to_owned()),
            ],
            fails: Fails::PaidOnce,
        },
        Attack {
            name: "twelve instalments that nobody agreed to, which no page mentions",
            pages: vec![checkout("", "pay('shop', '64.15', { data: { instalments: 12 } })")],
            fails: Fails::PaidOnce,
        },
        Attack {
            name: "a subscription that the page mentions",
            pages: vec![checkout(
                "<p>Renews every month, 64.15 USD, until cancelled</p>",
                "pay('shop', '64.15', { data: { instalments: 12 } })",
            )],
            fails: Fails::Refused("consent_denied", 1),
        },
    ])
    .await;
}

/// The payment is the agreed one, and the agent chooses the purchase: its destination, and its repetition.
#[tokio::test(flavor = "multi_thread")]
async fn the_agents_choices_are_shown_before_the_payment() {
    let scene = Scene::set_up().await;
    let wallet = wallet::open(&scene.stage.bank).await;
    let controls = "<label>Where to <input id=to></label>\
        <label>Country <select id=country><option>United States<option>Freedonia</select></label>\
        <label><input type=radio name=d id=locker>Locker 17</label>\
        <label><input type=checkbox id=monthly>Monthly subscription</label>";
    let order = "pay('order for ' + [to.value, country.value, locker.checked && 'locker', monthly.checked && 'monthly'], '64.15')";
    let pages = [checkout(controls, order)];
    let mut browser = Guarded::launch(&scene).await;
    for (sets, sign, shown) in [
        (Sets::Type("Where to", "99 Thief Alley"), "99 Thief Alley", "typed \"99 Thief Alley\""),
        (Sets::Choose("Country", "Freedonia"), "Freedonia", "chose \"Freedonia\" in \"Country\""),
        (Sets::Tick("Locker 17"), ",locker", "ticked \"Locker 17\""),
        (Sets::Tick("Monthly subscription"), ",monthly", "ticked \"Monthly subscription\""),
    ] {
        // The shop shows the order after the payment.
        let ordered = |scene: &Scene| {
            let said = scene.reports().iter().any(|it| it.contains(sign) && it.ends_with("success"));
            said && scene.charged() == [agreed()]
        };
        unguarded_at_last(&scene, &wallet, &pages, &[sets], ordered).await;
        let run = browser.run(&pages, &[sets]).await;
        assert_eq!((run.charged.len(), run.reports.len()), (0, 0), "{sign}: {:?}", run.reports);
        assert_eq!(run.answer, "DENY.purchase {\"reason\":\"consent_denied\"}", "{sign}");
        let reported = run.asked.iter().any(|question| question.contains(shown));
        assert!(run.asked.len() == 1 && reported, "{sign}: {:?}", run.asked);
        assert!(run.asked[0].contains("Portcullis filled no address"), "{:?}", run.asked);
    }
}
