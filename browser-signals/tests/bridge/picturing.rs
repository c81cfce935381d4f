//! Pictures of a page.

use crate::support::{Open, Server, launch, ref_of, tab};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use browser_signals::Container;
use browser_signals::ElementRef;
use browser_signals::playwright::{
    BridgeError, ObservationTarget, Picture, PictureForm, PictureSettings, Tab,
};

/// A page of red, green and, far below, blue, to which a button scrolls; and another page of one colour.
const PAGE: &str = "<!doctype html><style>* { margin: 0 } div { height: 2000px }</style>\
    <div style='background: rgb(200, 0, 0)'><button onclick=\"location = '#end'\">Down</button><a href=/other>Other</a></div>\
    <div style='background: rgb(0, 150, 0)'></div><div id=end style='background: rgb(0, 0, 200)'></div>";

const OTHER: &str = "<!doctype html><body style='background: rgb(90, 90, 0)'>";

/// A picture's width, height and the colour at a share of both.
async fn taken(tab: &Tab, settings: PictureSettings, at: (f64, f64)) -> (u32, u32, [u8; 3]) {
    shown(&tab.picture(settings).await.expect("a picture"), at)
}

fn shown(picture: &Picture, at: (f64, f64)) -> (u32, u32, [u8; 3]) {
    let bytes = STANDARD.decode(&picture.base64).expect("base64");
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    let share = |of: u32, share: f64| (f64::from(of) * share) as usize;
    let from =
        share(info.height, at.1) * info.line_size + share(info.width, at.0) * info.color_type.samples();
    let colour = pixels.get(from..from + 3).and_then(|three| three.try_into().ok());
    (info.width, info.height, colour.expect("a pixel"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_shows_the_window_or_the_whole_page() {
    let server = Server::start();
    server.page("shop.example", "/", PAGE);
    server.page("shop.example", "/other", OTHER);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let window = PictureSettings::default();
    let (width, height, colour) = taken(&tab, window, (0.5, 0.9)).await;
    assert_eq!(colour, [200, 0, 0]);
    assert!(width > 300 && height > 300 && width * height <= 1_150_000, "{width} x {height}");

    let whole = PictureSettings { whole_page: true, ..window };
    for (share, expected) in [(0.2, [200, 0, 0]), (0.5, [0, 150, 0]), (0.9, [0, 0, 200])] {
        let (width, height, colour) = taken(&tab, whole, (0.5, share)).await;
        assert_eq!((height, colour), (1568, expected), "made smaller, at {share}");
        assert!((width as i32 - (1568 * 1280 / 6000)).abs() < 300, "{width}");
    }

    // An action that leads elsewhere on the page, and one that leads to another page.
    let text = tab.read(&Open).await.expect("text").text;
    let (down, other) = (ref_of(&text, "\"Down\""), ref_of(&text, "\"Other\""));
    let seen = tab.observe(ObservationTarget::Element(&down)).await.expect("a snapshot");
    tab.click(&down, &seen).await.expect("clicked");
    assert_eq!(taken(&tab, window, (0.5, 0.9)).await.2, [0, 0, 200], "where the page was scrolled to");
    let seen = tab.observe(ObservationTarget::Element(&other)).await.expect("a snapshot");
    tab.click(&other, &seen).await.expect("clicked");
    assert_eq!(taken(&tab, window, (0.5, 0.9)).await.2, [90, 90, 0], "the page where the click led");
    tab.close().await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_has_the_requested_format() {
    let server = Server::start();
    server.page("shop.example", "/", PAGE);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let beginnings: [(PictureForm, &[u8]); 3] =
        [(PictureForm::Png, b"\x89PNG"), (PictureForm::Jpeg, b"\xff\xd8\xff"), (PictureForm::Webp, b"RIFF")];
    for (form, beginning) in beginnings {
        let picture = tab.picture(PictureSettings { form, ..PictureSettings::default() }).await;
        let picture = picture.expect("a picture");
        let bytes = STANDARD.decode(&picture.base64).expect("base64");
        assert!(bytes.starts_with(beginning), "{}", picture.form.media_type());
    }
    tab.close().await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_of_an_element_shows_it_alone_wherever_it_is() {
    let server = Server::start();
    let page = "<!doctype html><style>* { margin: 0; border: 0 }</style><div style='height: 3000px'></div>\
        <button style='width: 120px; height: 60px; background: rgb(0, 0, 200); color: rgb(0, 0, 200)'>Blue</button>\
        <button style='display: none'>None</button><div style='height: 3000px'></div>";
    server.page("shop.example", "/", page);
    let browser = launch(&server).await;
    let tab = tab(&browser, &server, Container::T0).await;
    tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
    let blue = ref_of(&tab.read(&Open).await.expect("text").text, "\"Blue\"");
    let picture = tab.picture_of(&blue, PictureSettings::default()).await.expect("a picture");
    for place in [(0.5, 0.5), (0.02, 0.98)] {
        let (width, height, [red, green, blue]) = shown(&picture, place);
        assert_eq!((width, height), (120, 60));
        // Some renderers round a colour otherwise.
        assert!(red < 3 && green < 3 && blue.abs_diff(200) < 3, "{red} {green} {blue}");
    }
    let unknown = tab.picture_of(&ElementRef("e99".to_owned()), PictureSettings::default()).await;
    assert_eq!(unknown.err(), Some(BridgeError::UnknownRef));
    browser.close().await;
}
