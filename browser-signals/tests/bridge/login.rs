//! The state of a login, from one container into another.

use browser_signals::Container;
use browser_signals::login::LoginState;
use browser_signals::playwright::developer_tools::ScriptResult;
use browser_signals::playwright::{BridgeError, Browser, Tab};
use serde_json::{Value, json};

use crate::support::{Server, launch, tab, text_with};

/// Logs in as a site does: cookies of each kind, local storage, and a database with values that are no JSON.
const LOG_IN: &str = r#"async () => {
    document.cookie = 'plain=light; path=/';
    document.cookie = 'deep=s3cr3t-0f-d33p; path=/account; max-age=900000; samesite=strict';
    document.cookie = 'wide=s3cr3t-0f-w1de; path=/; domain=shop.example; samesite=lax';
    localStorage.setItem('token', 'local-t0ken-0123456789');
    sessionStorage.setItem('tab', 'gone');
    const opening = indexedDB.open('accounts', 3);
    opening.onupgradeneeded = () => {
        const keyed = opening.result.createObjectStore('keyed', { keyPath: 'id', autoIncrement: true });
        keyed.createIndex('by name', 'name', { unique: true, multiEntry: false });
        opening.result.createObjectStore('loose');
    };
    const database = await new Promise((resolve, reject) => { opening.onsuccess = () => resolve(opening.result); opening.onerror = reject; });
    const writing = database.transaction(['keyed', 'loose'], 'readwrite');
    writing.objectStore('keyed').put({ id: 7, name: 'Ana', at: new Date(0), big: 12n, odd: [undefined, NaN, -0, null, /a+/gi] });
    writing.objectStore('loose').put(new Map([[new Uint16Array([1, 2]), new Set(['x', new ArrayBuffer(2)])]]), [1, 'two']);
    writing.objectStore('loose').put(new Blob(['x']), 'file');
    await new Promise(resolve => { writing.oncomplete = resolve; });
    database.close();
}"#;

/// A page that shows all that it finds, but for what cannot be taken along.
const LOOK: &str = r#"<!doctype html><title>Look</title><p id=out></p><script>
const kind = value => value === null ? 'null' : Object.is(value, -0) ? '-0' : typeof value === 'object' ? value.constructor.name : typeof value + ':' + String(value);
const shown = value => value instanceof Map ? [...value].flat().map(of => of instanceof Set ? [...of].map(kind) : [kind(of), of.length, of[1]])
    : [value.id, value.name, value.at.getTime(), kind(value.big), value.odd.map(kind), String(value.odd[4])];
(async () => {
    const found = { cookies: document.cookie.split('; ').sort(), local: { ...localStorage }, databases: [] };
    for (const { name, version } of await indexedDB.databases()) {
        const opening = indexedDB.open(name);
        const database = await new Promise(resolve => { opening.onsuccess = () => resolve(opening.result); });
        for (const storeName of database.objectStoreNames) {
            const store = database.transaction(storeName).objectStore(storeName);
            const all = of => new Promise(resolve => { of.onsuccess = () => resolve(of.result); });
            const [keys, values] = await Promise.all([all(store.getAllKeys()), all(store.getAll())]);
            const records = keys.map((key, at) => [key, values[at]]).filter(([, value]) => !(value instanceof Blob));
            found.databases.push([name, version, storeName, store.keyPath, store.autoIncrement, Array.from(store.indexNames),
                records.map(([key, value]) => [key, shown(value)])]);
        }
        database.close();
    }
    out.textContent = 'found ' + encodeURIComponent(JSON.stringify(found)).replaceAll('%', '-') + ' session ' + sessionStorage.length;
})().catch(error => { out.textContent = 'found nothing session ' + error; });
</script>"#;

/// What the page finds, and the number of entries of its session storage.
async fn found(tab: &Tab, server: &Server) -> (String, String) {
    tab.open(&server.url("shop.example", "/account/look")).await.expect("the page opens");
    let text = text_with(tab, " session ").await;
    let (_, found) = text.split_once("found ").expect("what it found");
    let (found, session) = found.split_once(" session ").expect("the number");
    (found.to_owned(), session.chars().take_while(|c| c.is_ascii_digit()).collect())
}

async fn run(tab: &Tab, script: &str) -> Value {
    match tab.run_script(script, None).await.expect("the script runs") {
        ScriptResult::Value(value) => value.unwrap_or_default(),
        ScriptResult::Thrown(error) => json!({ "thrown": error }),
    }
}

fn site() -> Server {
    let server = Server::start();
    for path in ["/", "/account"] {
        server.page("shop.example", path, "<!doctype html><title>Shop</title><p>Shop");
    }
    server.page("shop.example", "/account/look", LOOK);
    let text = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\nConnection: close\r\n\r\nUser-agent: *\n";
    server.page("shop.example", "/robots.txt", text);
    let writes = "<!doctype html><title>Writes</title><script>setInterval(() => localStorage.setItem('late', '1'), 1)</script>";
    server.page("shop.example", "/writes", writes);
    server.page("pay.example", "/", "<!doctype html><title>Provider</title>");
    server
}

async fn logged_in(browser: &Browser, server: &Server) -> Tab {
    let tab = tab(browser, server, Container::T0).await;
    tab.open(&server.url("pay.example", "/")).await.expect("the page opens");
    assert_eq!(
        run(&tab, "() => { document.cookie = 'provider=s3cr3t-0f-1d; path=/'; return 1; }").await,
        json!(1)
    );
    tab.open(&server.url("shop.example", "/account")).await.expect("the page opens");
    assert_eq!(run(&tab, LOG_IN).await, Value::Null);
    tab
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_is_taken_whole_and_put_into_another_container() {
    let server = site();
    let browser = launch(&server).await;
    let there = logged_in(&browser, &server).await;
    let (had, session) = found(&there, &server).await;
    assert!(had.contains("local-t0ken-0123456789") && session == "1", "{had} {session}");
    let asked_before = server.requests().len();
    let (state, lost) = there.take_login(&server.origin("shop.example")).await.expect("it is taken");
    assert_eq!(server.requests().len(), asked_before, "the site is not asked for the empty document");
    assert_eq!((lost.other_cookies, lost.session_entries, lost.records), (1, 1, 1));
    let tokens = state.tokens();
    let has = |text: &str| tokens.iter().any(|token| token.as_str() == text);
    for token in ["local-t0ken-0123456789", "s3cr3t-0f-d33p", "s3cr3t-0f-w1de"] {
        assert!(has(token), "{token}");
    }
    assert!(!has("light") && !has("s3cr3t-0f-1d"));

    // Through the bytes that the vault keeps.
    let state = LoginState::from_vault(&state.expose_to_vault()).expect("the same state");
    let fresh = tab(&browser, &server, Container::T2).await;
    // What the site left there before is gone.
    fresh.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let stale = "() => { document.cookie = 'stale=1'; localStorage.setItem('stale', '1'); const opening = indexedDB.open('stale'); \
        opening.onupgradeneeded = () => opening.result.createObjectStore('stale'); \
        return new Promise(done => { opening.onsuccess = () => { opening.result.close(); done(1); }; }); }";
    assert_eq!(run(&fresh, stale).await, json!(1));
    fresh.restore_login(&state).await.expect("it is restored");
    assert_eq!(found(&fresh, &server).await, (had.clone(), "0".to_owned()));
    assert_eq!(
        fresh.run_script("1", None).await,
        Err(BridgeError::TextWithheld),
        "the container has a secret now"
    );

    // The provider's cookie is in no other container, and the cookie of a path is sent there only.
    let sent = |path: &str| {
        let of = |request: &&crate::support::Received| request.host == "shop.example" && request.path == path;
        server.requests().iter().rev().find(of).map(|request| request.cookie.clone()).unwrap_or_default()
    };
    assert!(sent("/account/look").contains("deep=s3cr3t-0f-d33p"), "{}", sent("/account/look"));
    let mut elsewhere = tab(&browser, &server, Container::T2).await;
    // Plain text of the site's stays where it is, since nothing in it can write.
    elsewhere.open(&server.url("shop.example", "/robots.txt")).await.expect("the text opens");
    let asked_before = server.requests().len();
    elsewhere.restore_login(&state).await.expect("it is restored");
    assert_eq!(server.requests().len(), asked_before);
    assert!(text_with(&elsewhere, "User-agent").await.contains("User-agent"));
    assert_eq!(found(&elsewhere, &server).await, (had.clone(), "0".to_owned()));
    // A page that goes on writing is gone before its storage is cleared.
    let written_to = tab(&browser, &server, Container::T2).await;
    written_to.open(&server.url("shop.example", "/writes")).await.expect("the page opens");
    written_to.restore_login(&state).await.expect("it is restored");
    assert_eq!(found(&written_to, &server).await, (had, "0".to_owned()));
    for (host, path) in [("pay.example", "/"), ("shop.example", "/")] {
        elsewhere.close().await;
        elsewhere = tab(&browser, &server, Container::T0).await;
        elsewhere.restore_login(&state).await.expect("it is restored");
        elsewhere.open(&server.url(host, path)).await.expect("the page opens");
        let cookie = server.requests().last().map(|request| request.cookie.clone()).unwrap_or_default();
        assert_eq!(cookie.contains("wide"), host == "shop.example", "{cookie}");
        assert!(!cookie.contains("deep") && !cookie.contains("provider"), "{cookie}");
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewal_takes_no_cookie_that_a_script_set() {
    let server = site();
    let browser = launch(&server).await;
    let there = logged_in(&browser, &server).await;
    let (mut state, _) = there.take_login(&server.origin("shop.example")).await.expect("it is taken");
    there.open(&server.url("shop.example", "/account")).await.expect("the page opens");
    let poison = "() => { document.cookie = 'deep=p01son-0f-d33p; path=/account; max-age=900000; samesite=strict'; return document.cookie; }";
    assert!(run(&there, poison).await.as_str().is_some_and(|cookie| cookie.contains("p01son")));
    assert!(!state.renew(there.present_cookies().await.expect("asked")));
    assert!(state.tokens().iter().any(|token| token.as_str() == "s3cr3t-0f-d33p"));
    browser.close().await;
}
