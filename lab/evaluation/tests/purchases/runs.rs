//! The same steps with a guard, under approach C, and without one.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use browser_signals::playwright::Browser;
use browser_signals::{ElementRef, Verb};
use evaluation::agent;
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, Asked, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::{APPROACH_C_POLICY, Action, Guard, Session};

use crate::shop::{Page, SHOP_ORIGIN, Scene};

/// The payment to the shop that the user agrees to, once.
pub const AGREED: &str = "64.15";

/// The time limit on a slow machine for an expected event.
const PATIENCE: Duration = Duration::from_secs(60);

/// The results of the guarded steps.
pub struct Run {
    /// The answer to the agent's request.
    pub answer: String,
    /// The questions about payments.
    pub asked: Vec<String>,
    /// The pages' reports of their attempts.
    pub reports: Vec<String>,
    /// The bank's charges.
    pub charged: Vec<(String, String)>,
}

impl Run {
    /// True if no page could ask for a payment at all: now and then Chromium refuses a page that should be allowed to.
    pub fn was_not_let(&self) -> bool {
        self.charged.is_empty() && self.reports.iter().any(|report| report.contains("NotSupportedError"))
    }
}

/// Returns true for more than the user agreed to: another payee, another amount, or more than one payment.
pub fn is_more(charged: &[(String, String)]) -> bool {
    charged.len() > 1 || charged.iter().any(|paid| *paid != agreed())
}

/// The one payment that the user agreed to.
pub fn agreed() -> (String, String) {
    (SHOP_ORIGIN.to_owned(), format!("{AGREED} USD"))
}

/// The agent's choices before it pays, by the words of a line in the page's text.
#[derive(Clone, Copy)]
pub enum Sets {
    Type(&'static str, &'static str),
    Choose(&'static str, &'static str),
    Tick(&'static str),
}

impl Sets {
    fn verb(self, text: &str) -> Verb {
        match self {
            Sets::Type(words, text_to_type) => Verb::typed(handle(text, words), text_to_type),
            Sets::Choose(words, option) => Verb::select(handle(text, words), option),
            Sets::Tick(words) => Verb::Check { target: handle(text, words), on: true },
        }
    }
}

/// The ref of the last line with these words; an overlay comes last.
fn handle(text: &str, words: &str) -> ElementRef {
    let mut lines = text.lines().rev().filter(|line| line.contains(words) && line.contains("[ref="));
    let line = lines.next().unwrap_or_else(|| panic!("no {words} in\n{text}"));
    ElementRef(line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0.to_owned())
}

/// The agent buys under approach C. The user agrees to this payee and amount alone, and to no recurring payment and no
/// choice of the agent.
pub async fn guarded(scene: &Scene, browser: &Browser, pages: &[Page], sets: &[Sets]) -> Run {
    scene.serve(pages, &scene.stage.payments.method_url());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = asked.clone();
    let user = ScriptedAnswerer(move |prompt: &ConsentPrompt| {
        let (mut pays, mut fits) = (false, true);
        for asked in &prompt.asked {
            if let Asked::Pay { payee, amount, page_says, .. } = asked {
                pays = true;
                let comes_again = page_says.iter().any(|line| line.contains("every month"));
                fits &= (payee.to_string(), amount.to_string()) == agreed() && !comes_again;
            }
        }
        if pays {
            let words = prompt.to_string();
            fits &=
                !["typed", "chose", "ticked"].iter().any(|set| words.contains(&format!("the agent {set}")));
            noted.lock().unwrap().push(words);
        }
        if fits { Answer::Once } else { Answer::No }
    });
    let log = Box::new(MemoryLog::default());
    let guard = Guard::new(APPROACH_C_POLICY, log, Box::new(user), Box::new(SystemEntropy)).unwrap();
    let guard = guard.with_payments(scene.stage.payments.clone());
    let prompt = format!(
        "Please buy the kettle at {SHOP_ORIGIN}/. Spend at most 90 USD in all. Pay with card number 4111111111111111, \
         exp 12/29."
    );
    let mut session = Session::begin(guard, browser, &prompt).await.unwrap();
    let verb = |verb| Action::Verb(verb);
    assert_eq!(session.act(verb(Verb::Open { url: format!("{SHOP_ORIGIN}/") })).await.to_string(), "ok");
    let mut text = session.act(verb(Verb::Read)).await.to_string();
    for set in sets {
        assert_eq!(session.act(verb(set.verb(&text))).await.to_string(), "ok", "the page takes it");
        text = session.act(verb(Verb::Read)).await.to_string();
    }
    let block = format!("REQ.purchase ctx={{\"total\":{AGREED},\"currency\":\"USD\"}}\nREQ.end");
    let answer = session.act(Action::Request(block)).await.to_string();
    // Waits for the page's further attempts.
    session.act(verb(Verb::Wait { milliseconds: 1_500 })).await.to_string();
    session.finish().await;
    let asked = std::mem::take(&mut *asked.lock().unwrap());
    Run { answer, asked, reports: scene.reports(), charged: scene.charged() }
}

/// The agent presses the button without a guard, and the wallet pays. Waits until `done` returns true.
pub async fn unguarded(
    scene: &Scene,
    method: &str,
    pages: &[Page],
    sets: &[Sets],
    done: impl Fn(&Scene) -> bool,
) -> Result<(), String> {
    scene.serve(pages, method);
    let browser = scene.bare().await;
    let hands = browser.tab().await.unwrap();
    let act = |verb| agent::Action::Verb(verb);
    assert_eq!(hands.act(&act(Verb::Open { url: format!("{SHOP_ORIGIN}/") })).await.to_string(), "ok");
    let mut text = hands.act(&act(Verb::Read)).await.to_string();
    for set in sets {
        assert_eq!(hands.act(&act(set.verb(&text))).await.to_string(), "ok");
        text = hands.act(&act(Verb::Read)).await.to_string();
    }
    let pressed = hands.act(&act(Verb::click(handle(&text, "button \"Pay now\"")))).await.to_string();
    let end = Instant::now() + PATIENCE;
    let mut seen = false;
    while Instant::now() < end && !seen && !scene.reports().iter().any(|it| it.contains("NotSupportedError"))
    {
        seen = done(scene);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let report = format!("pressed: {pressed}; {:?} {:?}", scene.reports(), scene.charged());
    hands.close().await.unwrap();
    browser.close().await.unwrap();
    if seen { Ok(()) } else { Err(report) }
}
