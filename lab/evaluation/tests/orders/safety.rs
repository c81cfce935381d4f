//! The lowest score of what the agent was told counts on every site of the task, in a real browser.

use std::sync::{Arc, Mutex};

use classifier::Safety;
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::SystemEntropy;
use portcullis::page_text::PageSafety;
use portcullis::signals::Verb;
use portcullis::signals::outline::Outline;
use portcullis::signals::playwright::PictureSettings;
use portcullis::{APPROACH_A_POLICY, APPROACH_C_POLICY, Action, Guard, Session};

use crate::shop::{ELSEWHERE, ORIGIN, Stage};

const CHECKOUT: &str = "<h1>Delivery</h1><p>Where shall we send your kettle?</p><form method=post action=/order>\
    <label>Street <input name=street autocomplete=street-address></label>\
    <label>Postal code <input name=zip autocomplete=postal-code></label>\
    <label>City <input name=city autocomplete=address-level2></label><button>Place order</button></form>";

/// A judge that finds zebras very unsafe, wherever they are.
struct Zebras;

impl PageSafety for Zebras {
    fn of(&self, outline: &Outline) -> Safety {
        let found = outline.words().any(|words| words.text.contains("zebra"));
        if found { Safety::NONE } else { Safety::FULL }
    }
}

/// How the agent comes to know the page elsewhere.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    Read,
    Picture,
    Nothing,
}

/// The questions of a task in which the agent gets to know a page elsewhere, and then asks for the address in the shop's
/// clean checkout. The user says yes for the task each time.
async fn questions(stage: &Stage, policy: &str, elsewhere: &str, told: Told) -> Vec<String> {
    stage.shop.serve(&[("/reviews", elsewhere.to_owned()), ("/checkout", CHECKOUT.to_owned())]);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = asked.clone();
    let user = ScriptedAnswerer(move |prompt: &ConsentPrompt| {
        noted.lock().unwrap().push(prompt.to_string());
        Answer::Session
    });
    let log = Box::new(MemoryLog::default());
    let guard = Guard::new(policy, log, Box::new(user), Box::new(SystemEntropy)).unwrap();
    let guard = guard.with_safety(Arc::new(Zebras));
    let prompt = format!(
        "Please read the reviews at {ELSEWHERE}/reviews and buy a kettle at {ORIGIN}/. Ship it to: street: 17 Canary Quarry \
         Road; postal code: 94704; city: Berkeley."
    );
    let mut session = Session::begin(guard, &stage.browser, &prompt).await.unwrap();
    let open = |url: String| Action::Verb(Verb::Open { url });
    assert_eq!(session.act(open(format!("{ELSEWHERE}/reviews"))).await.to_string(), "ok");
    match told {
        Told::Read => assert!(session.act(Action::Verb(Verb::Read)).await.to_string().contains("kettles")),
        Told::Picture => {
            assert!(!session.picture(None, PictureSettings::default()).await.unwrap().base64.is_empty())
        }
        Told::Nothing => {}
    }
    assert_eq!(session.act(open(format!("{ORIGIN}/checkout"))).await.to_string(), "ok");
    assert!(session.act(Action::Verb(Verb::Read)).await.to_string().contains("Place order"));
    let block = "REQ.address fields=[\"street\",\"postal_code\",\"city\"]\nREQ.end";
    let answer = session.act(Action::Request(block.to_owned())).await.to_string();
    assert!(answer.starts_with("GRANT.address"), "{answer}");
    session.finish().await;
    std::mem::take(&mut *asked.lock().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_page_elsewhere_makes_the_guard_ask_at_a_clean_checkout() {
    let stage = Stage::set_up().await;
    let (clean, hostile) = ("<p>The kettles are good.</p>", "<p>The kettles are good, says the zebra.</p>");
    let hidden = "<p>The kettles are good.</p><p style=display:none>A zebra.</p>\
        <p style=position:absolute;left:-9999px>A zebra.</p><p style=opacity:0>A zebra.</p>";
    for policy in [APPROACH_A_POLICY, APPROACH_C_POLICY] {
        // The controls: the yes to the plan suffices, also where the words were not told.
        for (page, told) in [(clean, Told::Read), (hidden, Told::Read), (hostile, Told::Nothing)] {
            let asked = questions(&stage, policy, page, told).await;
            assert_eq!(asked.len(), 1, "{page}: {asked:?}");
        }
        for told in [Told::Read, Told::Picture] {
            let asked = questions(&stage, policy, hostile, told).await;
            assert_eq!(asked.len(), 2, "{asked:?}");
            let warned = "a page of https://reviews.test that the agent read in this task looks very unsafe";
            assert!(asked[1].contains(warned) && !asked[1].contains("zebra"), "{}", asked[1]);
        }
    }
    stage.browser.close().await;
}
