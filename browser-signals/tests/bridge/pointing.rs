//! Points of the window: the element that is there, clicks at a point of an element, and the boxes of elements.

use browser_signals::playwright::{BridgeError, ObservationTarget, Tab};
use browser_signals::{ClickManner, Container, ElementRef, PlaceInElement};

use crate::support::{Open, Server, about, launch, ref_of, tab, text_with};

/// A canvas that says where it was clicked; a bar with a link in its middle; and a button far below.
const PAGE: &str = r#"<!doctype html><title>Map</title><style>body { margin: 0 }</style>
<canvas id=map role=img aria-label=Map width=200 height=100 style="position:absolute;left:40px;top:20px"></canvas>
<div id=bar role=button aria-label=Bar tabindex=0 style="position:absolute;left:300px;top:20px;width:200px;height:40px;line-height:40px;text-align:center">
<a href="/elsewhere">Link</a></div>
<iframe srcdoc="<style>body{margin:0}</style><button style='position:absolute;left:30px;top:10px;width:80px;height:40px;border:0'
onclick='parent.say(&quot;inner&quot;)'>Inner</button>" style="position:absolute;left:40px;top:200px;width:200px;height:80px;border:5px solid"></iframe>
<iframe src="OTHER" style="position:absolute;left:300px;top:200px;width:200px;height:80px;border:5px solid"></iframe>
<input type=range aria-label=Range min=0 max=100 value=50 style="position:absolute;left:540px;top:20px;width:200px;height:20px">
<button style="position:absolute;left:10px;top:2000px;width:100px;height:30px;border:0">Low</button>
<p id=log style="position:absolute;top:120px"></p><script>
var say = (words) => { log.textContent += words + '; '; };
map.onclick = (event) => say('map ' + event.offsetX + ' ' + event.offsetY);
bar.onclick = () => say('bar');
addEventListener('message', (event) => say(event.data));</script>"#;

const OTHER: &str = "<!doctype html><title>Other</title><style>body{margin:0}</style>\
    <button style='position:absolute;left:30px;top:10px;width:80px;height:40px;border:0' onclick=\"parent.postMessage('other', '*')\">\
    Other button</button>";

async fn opened(server: &Server, tab: &Tab) -> String {
    server.page("shop.example", "/", &PAGE.replace("OTHER", server.url("other.example", "/").as_str()));
    server.page("other.example", "/", OTHER);
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    text_with(tab, "Other button").await
}

/// Clicks at a point of the window, as a model does that saw a picture.
async fn click_at(tab: &Tab, x: f64, y: f64) -> Result<ElementRef, BridgeError> {
    let (element, place) = tab.element_at(x, y).await?;
    let seen = tab.observe(ObservationTarget::Element(&element)).await?;
    let manner = ClickManner { place: Some(place), ..ClickManner::default() };
    tab.click_as(&element, manner, &seen).await.map(|()| element)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_at_a_point_of_the_window_reaches_what_is_there_in_whatever_frame() {
    let server = Server::start();
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    opened(&server, &tab).await;
    for ((x, y), heard) in [
        ((150.0, 100.0), "map 110 80;"),
        ((41.0, 21.0), "map 1 1;"),
        // Each frame is at 40 or 300, has a border of 5, and its button at 30 and 10.
        ((40.0 + 5.0 + 30.0 + 40.0, 200.0 + 5.0 + 10.0 + 20.0), "inner;"),
        ((300.0 + 5.0 + 30.0 + 40.0, 200.0 + 5.0 + 10.0 + 20.0), "other;"),
    ] {
        click_at(&tab, x, y).await.unwrap_or_else(|error| panic!("{heard}: {error}"));
        assert!(text_with(&tab, heard).await.contains(heard), "{heard}");
    }
    for outside in [(-1.0, 10.0), (10.0, 1e6)] {
        assert_eq!(tab.element_at(outside.0, outside.1).await, Err(BridgeError::NotOne(0)));
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_at_a_point_does_what_was_decided_or_nothing() {
    let server = Server::start();
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    opened(&server, &tab).await;
    // A click in the middle of the bar follows the link, and this is what is decided about the bar. One beside the link does not.
    let click = async |x: i32, y: i32| {
        let (bar, seen) = about(&tab, "\"Bar\"").await;
        let manner = ClickManner { place: Some(PlaceInElement { x, y }), ..ClickManner::default() };
        tab.click_as(&bar, manner, &seen).await
    };
    for outside in [(5, 5), (5, 60), (-5, 5), (100_000, 5)] {
        assert_eq!(click(outside.0, outside.1).await, Err(BridgeError::Occluded), "{outside:?}");
    }
    assert!(!tab.read(&Open).await.expect("text").text.contains("bar;"));
    assert!(!server.requests().iter().any(|it| it.path == "/elsewhere"));
    // At another place a slider has another value, and a click would be recorded as no more than a click.
    for (place, outcome) in
        [(Some(PlaceInElement { x: 190, y: 10 }), Err(BridgeError::Occluded)), (None, Ok(()))]
    {
        let (range, seen) = about(&tab, "\"Range\"").await;
        let manner = ClickManner { place, ..ClickManner::default() };
        assert_eq!(tab.click_as(&range, manner, &seen).await, outcome, "{place:?}");
    }
    // The control: a place on the link is in order.
    server.page("shop.example", "/elsewhere", "<title>Elsewhere</title>there");
    click(100, 20).await.expect("clicked");
    assert!(text_with(&tab, "there").await.contains("there"));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boxes_are_where_the_window_shows_the_elements() {
    let server = Server::start();
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T1).await;
    let text = opened(&server, &tab).await;
    let found = async |words: &str| {
        let boxes = tab.boxes().await.expect("boxes");
        let found =
            boxes.get(&ref_of(&text, words)).unwrap_or_else(|| panic!("{words} has no box in\n{text}"));
        (found.x, found.y, found.width, found.height)
    };
    assert_eq!(found("\"Inner\"").await, (75.0, 215.0, 80.0, 40.0));
    assert_eq!(found("\"Other button\"").await, (335.0, 215.0, 80.0, 40.0));
    assert_eq!(found("\"Low\"").await, (10.0, 2000.0, 100.0, 30.0));
    // A click scrolls to its element, and all boxes with it.
    let (low, seen) = about(&tab, "\"Low\"").await;
    tab.click(&low, &seen).await.expect("clicked");
    let (x, y, ..) = found("\"Low\"").await;
    assert!(x == 10.0 && y < 1000.0, "{x} {y}");
    let (_, inner, ..) = found("\"Inner\"").await;
    let (_, other, ..) = found("\"Other button\"").await;
    assert_eq!((inner, other), (215.0 - (2000.0 - y), 215.0 - (2000.0 - y)));
    browser.close().await;
}
