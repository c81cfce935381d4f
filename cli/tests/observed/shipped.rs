//! Starts the program as an MCP client does.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;

use evaluation::tls::install_nss;
use observer::{DnsClient, Network};
use serde_json::json;

use crate::attacks::{Attack, NOBODYS_STREET, STREET};
use crate::control::{AFTERWARDS, by_way, control, no_street, page_with, the_browser_is_silent};
use crate::plain::{Openers, program};
use crate::site::{SHOP, Sites};
use crate::support::{Client, portcullis};
use crate::{in_the_network, soon};

/// The user's words, as a task file has them.
fn task() -> String {
    format!(
        "Please order the kettle at https://shop.test/order. Ship it to: name: Marguerite Vandersloot; street: {STREET}; \
         postal code: 94110; city: Willowmere."
    )
}

/// A folder that is the user's home, with a task in it.
struct Home(tempfile::TempDir);

impl Home {
    fn new(sites: &Sites) -> Home {
        let folder = tempfile::tempdir().unwrap();
        install_nss(folder.path(), sites.authority.pem()).unwrap();
        let path = folder.path().join("task.txt");
        fs::write(&path, task()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        Home(folder)
    }

    /// `portcullis mcp` with a task or without, and no option that loosens it: no private hosts, no policy of its own,
    /// no further tools.
    ///
    /// These are the only differences from a user's machine:
    ///
    /// - The network is the test's own, with unique names and addresses.
    /// - The trust store in the home folder contains the shop's authority; a user's contains the public ones.
    /// - `--chromium` names a script that starts the same Chromium with another name server, so that the test can tell
    ///   its look-ups from the proxy's.
    /// - `PATH` starts with openers that record their arguments.
    /// - There is no display, so that the questions go through the client.
    /// - The program is the test build, in which Cargo unites the features of all tested packages.
    ///
    /// As root Chromium runs without its own sandbox, here as everywhere.
    fn start(&self, network: &Network, openers: &Openers, with_task: bool) -> Client {
        let mut command = portcullis();
        command.arg("mcp");
        if with_task {
            command.arg("--task-file").arg(self.0.path().join("task.txt"));
        }
        command.arg("--chromium").arg(program(network));
        command.env("HOME", self.0.path()).env("PATH", openers.path());
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "DISPLAY", "WAYLAND_DISPLAY"] {
            command.env_remove(name);
        }
        Client::start(&mut command)
    }
}

#[test]
fn no_traffic_of_the_browser_itself_leaves_the_shipped_program() {
    in_the_network("shipped::no_traffic_of_the_browser_itself_leaves_the_shipped_program", async |network| {
        let (sites, openers) = (Sites::serve(&network), Openers::new());
        let succeed = control(&network, &sites, Some(&openers)).await;
        openers.forget();
        let home = Home::new(&sites);
        let started = network.traffic().now();
        let mut client = home.start(&network, &openers, true);
        client.begin_with_a_user();

        // The task starts with the first call: the user is asked about its sites and values, and then about the
        // release.
        let page = json!({ "url": "https://shop.test/order?letter" });
        let (opened, asked) = client.call_before_a_user("browser_navigate", page, "once");
        assert!(opened == "ok" && asked.len() == 1, "{opened} {asked:?}");
        let released = network.traffic().now();
        sites.forget();
        let block = json!({ "block": "REQ.address fields=[\"street\"]\nREQ.end" });
        let (reply, asked) = client.call_before_a_user("portcullis_request", block, "session");
        assert!(reply.starts_with("GRANT.address"), "{reply} {asked:?}");
        assert!(soon(|| sites.tried().is_some()).await, "the page did not try");
        println!("behind the guard, by place: {}", sites.tried().unwrap_or_default());
        tokio::time::sleep(AFTERWARDS).await;
        let seen = network.traffic().since(released);
        let left: Vec<Attack> = succeed.iter().copied().filter(|attack| attack.is_in(&seen)).collect();
        assert_eq!(by_way(&left), BTreeMap::new(), "what leaves in plain Chromium left here too");
        the_browser_is_silent("after a release", &seen);
        let asked = seen.names_queried_by(DnsClient::Guard);
        assert!(
            asked.iter().all(|name| name == "shop.test"),
            "the guard looked up what is closed: {asked:?}"
        );
        let shop = seen.connections().iter().all(|it| it.to.ip() == IpAddr::from(SHOP));
        assert!(shop, "a connection to what is closed: {:?}", seen.connections());
        assert_eq!(openers.told(), "", "a page had another program started");
        assert!(client.end());
        let seen = network.traffic().since(started);
        no_street(&seen, &sites);

        // Without a task the page may go anywhere through the guard's proxy, and only through it.
        sites.forget();
        let mut client = home.start(&network, &openers, false);
        client.begin();
        let page = json!({ "url": format!("{}&letter", page_with(NOBODYS_STREET)) });
        assert_eq!(client.call("browser_navigate", page), "ok");
        assert!(soon(|| sites.tried().is_some()).await, "the page did not try");
        tokio::time::sleep(AFTERWARDS).await;
        assert!(client.end());
        let seen = network.traffic().since(started);
        the_browser_is_silent("from its start to its end", &seen);
        let asked = seen.names_queried_by(DnsClient::Guard);
        assert!(asked.iter().any(|name| name.starts_with("top-fetch.")), "the proxy works: {asked:?}");
        assert_eq!(openers.told(), "", "a page had another program started");
        println!("{} packets, {} of the kernel's own left out", seen.packets().count(), seen.noise());
    });
}
