//! Sealed fills of the widgets that pages draw in place of controls.

use crate::filling::{form, page, sealed};
use crate::support::{Server, launch, text_with};
use browser_signals::playwright::{BridgeError, Browser, Tab};
use browser_signals::{Observed, Snapshot};

/// A select that its page hides. A widget beside it shows what is chosen.
const SELECT: &str = r#"<form action="/pay" method="post"><input aria-label="Card" name="card">
<label for=land>Country</label>
<select id=land name=land style="position:absolute;border:0;padding:0;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)">
<option value="">Choose</option><option value="DE">Germany</option><option value="FR">France</option></select>
<span id=widget role=combobox tabindex=0 style="display:block;height:2em;width:20em">Choose</span><button>Pay</button></form>"#;

/// A combobox whose list appears a while after its text has changed.
const COMBOBOX: &str = r#"<form action="/pay" method="post"><input aria-label="Card" name="card">
<input aria-label="Country" name="land" role="combobox" aria-controls="list" aria-expanded="false"><ul id=list role=listbox hidden></ul>
<input type=hidden name=code><button>Pay</button></form><script>
const [input, code] = [document.querySelector('[role=combobox]'), document.querySelector('[name=code]')];
input.oninput = () => setTimeout(() => {
  list.replaceChildren(...['Niger', 'Nigeria'].map((name) => {
    const option = document.createElement('li');
    Object.assign(option, { role: 'option', textContent: name });
    option.addEventListener('click', () => { code.value = name; input.value = name; list.hidden = true; log.textContent = 'chosen'; });
    return option;
  }));
  list.hidden = false;
}, 300);
input.onblur = () => { if (!code.value) input.value = ''; };
</script>"#;

async fn fill(tab: &Tab, seen: &Observed<Snapshot>, land: &str) -> Result<(), BridgeError> {
    tab.fill(sealed(seen, &[("card", "4111"), ("land", land)])).await.map(|_| ())
}

async fn with_script(browser: &Browser, server: &Server, script: &str) -> Tab {
    page(browser, server, &format!("{SELECT}<script>{script}</script>")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_select_behind_a_widget_is_filled_if_the_widget_shows_it() {
    let server = Server::start();
    let browser = launch(&server).await;
    let follows =
        "land.addEventListener('change', () => { widget.textContent = land.selectedOptions[0].text; });";
    let tab = with_script(&browser, &server, follows).await;
    let seen = form(&tab).await;
    let land = seen.controls.iter().find(|it| it.name == "land").expect("a control");
    assert_eq!((land.visible.known(), land.hit.known()), (Some(&true), Some(&true)));
    assert_eq!(fill(&tab, &seen, "Germany").await, Ok(()));
    assert!(text_with(&tab, "Germany").await.contains("Germany"));
    tab.close().await;

    // The widget goes on showing another country than would be sent.
    let tab = with_script(&browser, &server, "").await;
    let seen = form(&tab).await;
    assert_eq!(fill(&tab, &seen, "Germany").await, Err(BridgeError::Diverted));
    assert!(!tab.html_for_canary_search().await.expect("the documents").contains("4111"), "all or none");
    tab.close().await;

    // The chosen option has no words, so nothing of it is shown.
    let tab = page(&browser, &server, &SELECT.replace(">Germany<", "><")).await;
    let seen = form(&tab).await;
    assert_eq!(fill(&tab, &seen, "DE").await, Err(BridgeError::Diverted));
    tab.close().await;

    // The widget shows something else from the start, is no combobox, or is covered.
    let covers = "const cover = document.createElement('div'); document.body.append(cover);
        cover.style = 'position:fixed;inset:0;background:white';";
    for script in ["widget.textContent = 'Newsletter';", "widget.role = '';", covers] {
        let tab = with_script(&browser, &server, script).await;
        let seen = form(&tab).await;
        let land = seen.controls.iter().find(|it| it.name == "land").expect("a control");
        assert_ne!((land.visible.known(), land.hit.known()), (Some(&true), Some(&true)), "{script}");
        assert_eq!(fill(&tab, &seen, "Germany").await, Err(BridgeError::Occluded), "{script}");
        tab.close().await;
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_option_of_a_combobox_is_chosen_as_its_list_appears() {
    let server = Server::start();
    let browser = launch(&server).await;
    let tab = page(&browser, &server, COMBOBOX).await;
    server.page("shop.example", "/pay", "<title>Thanks</title>");
    let seen = form(&tab).await;
    assert_eq!(fill(&tab, &seen, "Niger").await, Ok(()));
    assert!(text_with(&tab, "chosen").await.contains("chosen"), "not Nigeria, which begins alike");
    assert!(tab.changed_since_filled().await.expect("labels").is_empty());
    // An option that takes the text out of the input is no change of the page's; one that puts another text there is.
    for (takes, changes) in [("input.value = ''", 0), ("input.value = 'Narnia'", 1)] {
        let tab = page(&browser, &server, &COMBOBOX.replace("input.value = name", takes)).await;
        let seen = form(&tab).await;
        assert_eq!(fill(&tab, &seen, "Niger").await, Ok(()));
        assert!(text_with(&tab, "chosen").await.contains("chosen"), "{takes}");
        assert_eq!(tab.changed_since_filled().await.expect("labels").len(), changes, "{takes}");
    }
    // A combobox without such an option keeps the text.
    let tab = page(&browser, &server, COMBOBOX).await;
    let seen = form(&tab).await;
    assert_eq!(fill(&tab, &seen, "Germany").await, Ok(()));
    assert!(tab.changed_since_filled().await.expect("labels").is_empty());
    browser.close().await;
}
