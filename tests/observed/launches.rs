//! The traffic that a guarded browser sends by itself, from its start on and without any page.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use browser_signals::playwright::OwnBrowser;
use evaluation::stage::sandbox;

use observer::{DnsClient, Network};
use portcullis::consent::Answer;

use crate::attacks::NOBODYS_STREET;
use crate::control::{page_with, the_browser_is_silent};
use crate::guarded::{Guarded, open};
use crate::plain::{Plain, program};
use crate::site::Sites;
use crate::{in_the_network, soon};

/// The time that a browser without a page is observed. Plain Chromium calls home within a second.
const WATCHED: Duration = Duration::from_secs(5);

#[test]
fn neither_a_start_nor_the_consent_window_sends_anything() {
    in_the_network("launches::neither_a_start_nor_the_consent_window_sends_anything", async |network| {
        let sites = Sites::serve(&network);
        let begun = network.traffic().now();
        let plain = Plain::open(&network, &sites, "about:blank");
        let calls_home = || !network.traffic().since(begun).names_queried_by(DnsClient::Browser).is_empty();
        assert!(soon(calls_home).await, "plain Chromium looks nothing up either, so the test proves nothing");
        println!("plain Chromium asks for {:?}", network.traffic().since(begun).dns_queries());
        drop(plain);

        let begun = network.traffic().now();
        let guarded = Guarded::launch(&network, &sites).await;
        let mut own = OwnBrowser::headless(program(&network)).unwrap();
        if !sandbox() {
            own = own.without_sandbox();
        }
        let window = own.open(&consent_page()).await.unwrap();
        tokio::time::sleep(WATCHED).await;
        drop(window);
        guarded.browser.close().await;
        let seen = network.traffic().since(begun);
        the_browser_is_silent("with no page", &seen);
        assert!(seen.connections().is_empty(), "{:?}", seen.connections());
    });
}

/// The address of a page of this machine, such as the consent page.
fn consent_page() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _whatever = stream.read(&mut [0; 4096]);
            let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 8\r\nConnection: close\r\n\r\n<h1>Pay?";
            let _gone = stream.write_all(page.as_bytes());
        }
    });
    address
}

/// With a window, as with `--headed`: the attacking page in a container without a task.
#[test]
fn a_headed_browser_is_as_silent() {
    in_the_network("launches::a_headed_browser_is_as_silent", async |network| {
        let Some(screen) = Screen::start().await else {
            eprintln!("SKIPPED launches::a_headed_browser_is_as_silent: no Xvfb; apt-get install xvfb");
            return;
        };
        let sites = Sites::serve(&network);
        let begun = network.traffic().now();
        let program = screen.on(&network);
        let guarded = Guarded::launch_with(&network, &sites, |settings| {
            settings.headless = false;
            settings.executable = program;
        })
        .await;
        let mut session = guarded.task(Answer::No).await;
        open(&mut session, &page_with(NOBODYS_STREET)).await;
        assert!(soon(|| sites.tried().is_some()).await, "the page did not try");
        tokio::time::sleep(WATCHED).await;
        session.finish().await;
        guarded.browser.close().await;
        the_browser_is_silent("with a window", &network.traffic().since(begun));
    });
}

/// The screen's number.
const SCREEN: &str = ":93";

/// A virtual screen.
struct Screen {
    process: Child,
    folder: tempfile::TempDir,
}

impl Screen {
    /// None where there is no Xvfb.
    async fn start() -> Option<Screen> {
        let mut server = Command::new("Xvfb");
        server
            .args([SCREEN, "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = server.spawn().ok()?;
        let ready = soon(|| Path::new("/tmp/.X11-unix/X93").exists()).await;
        assert!(ready, "Xvfb does not start");
        Some(Screen { process, folder: tempfile::tempdir().unwrap() })
    }

    /// Chromium on this screen.
    fn on(&self, network: &Network) -> PathBuf {
        let path = self.folder.path().join("chromium");
        let script = format!("#!/bin/sh\nDISPLAY={SCREEN} exec {} \"$@\"\n", program(network).display());
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _already_gone = self.process.kill();
        let _already_gone = self.process.wait();
    }
}
