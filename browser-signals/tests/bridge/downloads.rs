//! Downloads into a folder that the user named.

use std::fs;
use std::path::Path;

use browser_signals::Container;
use browser_signals::playwright::{Browser, Download, DownloadEnd, ObservationTarget, PageEvent, Tab};

use crate::support::{Open, PATIENCE, Server, events_with, launch_with, ref_of, settings, tab};

const PAGE: &str = r#"<!doctype html><title>Shop</title><a href=/file download="../../.hidden">Named</a>
<a href=/attached>Attached</a><a href=/large>Large</a><a href=/cut>Cut</a>
<button onclick="const a = document.createElement('a'); a.href = window.URL.createObjectURL(new Blob(['made'])); a.download = 'made.txt'; a.click()">Made</button>"#;

fn attached(length: usize, body: &str) -> String {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"report.pdf\"";
    format!("{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_is_a_download_is_no_page_that_cannot_be_reached() {
    let server = Server::start();
    server.page("shop.example", "/", PAGE);
    server.page("shop.example", "/attached", &attached(5, "%PDF-"));
    let folder = tempfile::tempdir().expect("a folder");
    for kept in [true, false] {
        let mut settings = settings(&server);
        settings.downloads = kept.then(|| folder.path().to_owned());
        let browser = launch_with(settings).await;
        for tier in [Container::T0, Container::T2] {
            let tab = tab(&browser, &server, tier).await;
            tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
            tab.open(&server.url("shop.example", "/attached")).await.expect("the page stays");
            let text = tab.read(&Open).await.expect("text").text;
            assert!(text.contains("\"Attached\""), "{text}");
            let told = ended(&tab, 1).await;
            assert_eq!(told[0].end, if kept { DownloadEnd::Kept } else { DownloadEnd::NoFolder });
            tab.close().await;
        }
        browser.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_kept_as_a_pdf_under_the_name_of_its_host() {
    let server = Server::start();
    server.page("shop.example", "/", PAGE);
    let folder = tempfile::tempdir().expect("a folder");
    for kept in [true, false] {
        let mut settings = settings(&server);
        settings.downloads = kept.then(|| folder.path().to_owned());
        let browser = launch_with(settings).await;
        let tab = tab(&browser, &server, Container::T2).await;
        tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
        for name in ["shop.example.pdf", "shop.example (2).pdf"] {
            tab.keep_as_pdf().await.expect("kept or refused");
            let told = ended(&tab, 1).await;
            if kept {
                assert_eq!((told[0].name.as_str(), told[0].end), (name, DownloadEnd::Kept));
                let written = fs::read(folder.path().join(name)).expect("the file");
                assert!(written.starts_with(b"%PDF-") && told[0].bytes == written.len() as u64);
            } else {
                assert_eq!(told[0].end, DownloadEnd::NoFolder);
            }
        }
        tab.close().await;
        browser.close().await;
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 2);
}

async fn press(tab: &Tab, name: &str) {
    let target = ref_of(&tab.read(&Open).await.expect("text").text, &format!("\"{name}\""));
    let seen = tab.observe(ObservationTarget::Element(&target)).await.expect("a snapshot");
    let _a_download_is_no_navigation = tab.click(&target, &seen).await;
}

/// The downloads that ended, once there are so many.
async fn ended(tab: &Tab, count: usize) -> Vec<Download> {
    let began = std::time::Instant::now();
    let mut all = tab.take_downloads();
    while all.len() < count {
        assert!(began.elapsed() < PATIENCE, "{all:?}");
        tab.downloads_end(PATIENCE).await;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        all.extend(tab.take_downloads());
    }
    all
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_download_is_kept_under_a_safe_name_for_the_user_alone() {
    let server = Server::start();
    server.page("shop.example", "/", PAGE);
    server.page("shop.example", "/file", "of the server");
    server.page("shop.example", "/attached", &attached(5, "%PDF-"));
    server.page("shop.example", "/large", &attached(300 << 20, "%PDF-"));
    server.page("shop.example", "/cut", &attached(5000, "%PDF-"));
    let folder = tempfile::tempdir().expect("a folder");
    for by_playwright in [false, true] {
        let mut settings = settings(&server);
        settings.downloads = Some(folder.path().to_owned());
        let browser = match by_playwright {
            true => Browser::launch(settings).await,
            #[cfg(all(feature = "pipe", unix))]
            false => Browser::launch_on_pipe(settings).await,
            #[cfg(not(all(feature = "pipe", unix)))]
            false => continue,
        };
        let browser = browser.expect("the browser starts");
        for tier in [Container::T0, Container::T2] {
            let tab = tab(&browser, &server, tier).await;
            tab.open(&server.url("shop.example", "/")).await.expect("the page opens");
            for (link, name, content) in [
                ("Named", "_.._.hidden", "of the server"),
                ("Attached", "report.pdf", "%PDF-"),
                ("Made", "made.txt", "made"),
            ] {
                press(&tab, link).await;
                let expected = Download {
                    name: name.to_owned(),
                    origin: Some(server.origin("shop.example")),
                    bytes: content.len() as u64,
                    end: DownloadEnd::Kept,
                };
                assert_eq!(ended(&tab, 1).await, [expected], "{link}");
                let path = folder.path().join(name);
                assert_eq!(fs::read_to_string(&path).expect("the file"), content);
                #[cfg(unix)]
                {
                    use std::os::unix::fs::PermissionsExt;
                    assert_eq!(path.metadata().expect("the file").permissions().mode() & 0o777, 0o600);
                }
                assert_eq!(files(folder.path()), [name]);
                fs::remove_file(path).expect("removed");
            }
            assert_eq!(events_with(&tab, |_| true).await, []);
            for (link, end) in [("Large", DownloadEnd::TooLarge), ("Cut", DownloadEnd::Failed)] {
                press(&tab, link).await;
                assert_eq!(ended(&tab, 1).await.first().map(|it| it.end), Some(end), "{link}");
                let refused = events_with(&tab, |all| !all.is_empty()).await;
                assert_eq!(refused, [PageEvent::DownloadRefused], "{link}");
            }
            if tier == Container::T0 {
                // Five of the twenty are done.
                for number in 6..=21 {
                    press(&tab, "Attached").await;
                    let end = if number <= 20 { DownloadEnd::Kept } else { DownloadEnd::TooMany };
                    assert_eq!(ended(&tab, 1).await.first().map(|it| it.end), Some(end), "{number}");
                }
                let names = files(folder.path());
                assert!(names.len() == 15 && names.contains(&"report (15).pdf".to_owned()), "{names:?}");
                names.iter().for_each(|name| fs::remove_file(folder.path().join(name)).expect("removed"));
            }
            tab.close().await;
        }
        browser.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_folder_in_a_lost_one_and_after_the_end_nothing_is_kept() {
    let server = Server::start();
    server.page("shop.example", "/", PAGE);
    server.page("shop.example", "/attached", &attached(5, "%PDF-"));
    let browser = crate::support::launch(&server).await;
    let without = tab(&browser, &server, Container::T0).await;
    without.open(&server.url("shop.example", "/")).await.expect("the page opens");
    press(&without, "Attached").await;
    let refused = ended(&without, 1).await;
    assert_eq!(
        refused.first().map(|it| (it.name.as_str(), it.end)),
        Some(("report.pdf", DownloadEnd::NoFolder))
    );
    browser.close().await;

    let folder = tempfile::tempdir().expect("a folder");
    let mut in_lost = settings(&server);
    in_lost.downloads = Some(folder.path().join("gone"));
    let browser = Browser::launch(in_lost).await.expect("the browser starts");
    let lost = tab(&browser, &server, Container::T0).await;
    lost.open(&server.url("shop.example", "/")).await.expect("the page opens");
    press(&lost, "Attached").await;
    assert_eq!(ended(&lost, 1).await.first().map(|it| it.end), Some(DownloadEnd::Failed));
    assert_eq!(files(folder.path()), [""; 0]);
    browser.close().await;

    let mut settings = settings(&server);
    settings.downloads = Some(folder.path().to_owned());
    let browser = Browser::launch(settings).await.expect("the browser starts");
    let over = tab(&browser, &server, Container::T0).await;
    over.open(&server.url("shop.example", "/")).await.expect("the page opens");
    over.end_downloads();
    press(&over, "Attached").await;
    assert_eq!(ended(&over, 1).await.first().map(|it| it.end), Some(DownloadEnd::Failed));
    assert_eq!(files(folder.path()), [""; 0]);
    browser.close().await;
}
