//! The settings of a browser, and the accepted arguments.

use std::path::PathBuf;
use std::sync::Arc;

use crate::playwright::FileChoosers;
use crate::playwright::error::BridgeError;

/// A function that sees every CDP message that the bridge receives, as text.
pub type Tap = Arc<dyn Fn(&str) + Send + Sync>;

/// How to start a browser.
///
/// With the feature `serde` it is read from a program's own file: only `executable` is needed, the others are as in
/// [`BrowserSettings::new`], and a name that is no setting is an error. `tap` is not written.
#[derive(Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct BrowserSettings {
    /// Chromium's executable.
    pub executable: PathBuf,
    /// A private home folder for the browser; its `.pki/nssdb` holds extra authorities.
    #[cfg_attr(feature = "serde", serde(default))]
    pub home: Option<PathBuf>,
    /// Whether Chromium's own sandbox is on. It cannot be when running as root.
    #[cfg_attr(feature = "serde", serde(default = "on"))]
    pub sandbox: bool,
    /// Whether to run without a window.
    #[cfg_attr(feature = "serde", serde(default = "on"))]
    pub headless: bool,
    /// Host rules for the proxy of a container, such as `MAP shop.example 127.0.0.1:8443`. The proxy reads them;
    /// Chromium itself looks no name up.
    #[cfg_attr(feature = "serde", serde(default))]
    pub proxy_rules: Option<String>,
    /// Further arguments; only those of language and appearance are accepted.
    #[cfg_attr(feature = "serde", serde(default))]
    pub extra_arguments: Vec<String>,
    /// Private hosts (`host` or `host:port`) that may be opened nevertheless.
    #[cfg_attr(feature = "serde", serde(default))]
    pub private_hosts: Vec<String>,
    /// The folder that takes what pages download. Without one every download is refused.
    #[cfg_attr(feature = "serde", serde(default))]
    pub downloads: Option<PathBuf>,
    /// The browser cancels the file choosers that pages open, or they wait.
    #[cfg_attr(feature = "serde", serde(default))]
    pub file_choosers: FileChoosers,
    /// Whether a ref that the agent has seen is never given to an element of a later document of the same container. For
    /// agents that send several steps before they have the answer to the first.
    #[cfg_attr(feature = "serde", serde(default))]
    pub unique_refs: bool,
    /// Sees all that the browser sends to the bridge, for leak searches in tests.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub tap: Option<Tap>,
    /// A network barrier that is left out, for tests that show why it is needed.
    #[cfg(feature = "inspection")]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub without: Option<NetworkBarrier>,
}

#[cfg(feature = "serde")]
const fn on() -> bool {
    true
}

/// The names of the arguments that a caller may add. A list of forbidden ones would have to follow every new version of
/// Chromium.
const ADDED: [&str; 8] = [
    "--force-color-profile",
    "--force-device-scale-factor",
    "--force-prefers-reduced-motion",
    "--lang",
    "--ozone-platform",
    "--start-maximized",
    "--window-position",
    "--window-size",
];

/// Chromium resolves no name and connects only to listeners of this machine: the guard's proxies and its consent page.
/// Chromium asks the local network (mDNS) for an unresolved name that ends in `.local`, so these names are mapped to an
/// address, which is never looked up.
const NO_NAMES: &str = "--host-resolver-rules=MAP *.local 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1";

/// WebRTC sends nothing past a proxy. These are the newer and the older name of the same argument; each version of
/// Chromium ignores the other one.
const NO_DATAGRAMS: [&str; 2] = [
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/// The settings that keep Chromium itself from the network. Both are needed: the host rules let datagrams to addresses
/// pass, and WebRTC looks up the names of its relays in spite of its policy.
#[cfg(feature = "inspection")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkBarrier {
    /// The host rules by which no name resolves.
    HostRules,
    /// The WebRTC policy by which no datagram leaves.
    WebRtcPolicy,
}

impl BrowserSettings {
    /// A sandboxed browser without a window, and nothing else.
    pub fn new(executable: impl Into<PathBuf>) -> BrowserSettings {
        BrowserSettings {
            executable: executable.into(),
            home: None,
            sandbox: true,
            headless: true,
            proxy_rules: None,
            extra_arguments: Vec::new(),
            private_hosts: Vec::new(),
            downloads: None,
            file_choosers: FileChoosers::Cancelled,
            unique_refs: false,
            tap: None,
            #[cfg(feature = "inspection")]
            without: None,
        }
    }

    /// The arguments for Chromium.
    pub(crate) fn arguments(&self) -> Result<Vec<String>, BridgeError> {
        let mut arguments: Vec<String> = [
            "--disable-gpu",
            "--disable-quic",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-domain-reliability",
            "--no-pings",
            "--no-first-run",
            "--deny-permission-prompts",
            // Chromium asks a server of Google's about each form. Nothing listens at this address, and the proxies refuse it.
            "--autofill-server-url=http://127.0.0.1:9/",
            "--site-per-process",
        ]
        .map(str::to_owned)
        .into();
        arguments.extend(self.network_barriers().iter().map(|&line| line.to_owned()));
        for argument in &self.extra_arguments {
            let name = argument.split('=').next().unwrap_or_default();
            if !ADDED.contains(&name) {
                return Err(BridgeError::Argument(argument.clone()));
            }
            arguments.push(argument.clone());
        }
        Ok(arguments)
    }

    #[cfg(not(feature = "inspection"))]
    fn network_barriers(&self) -> Vec<&'static str> {
        [&[NO_NAMES], NO_DATAGRAMS.as_slice()].concat()
    }

    #[cfg(feature = "inspection")]
    fn network_barriers(&self) -> Vec<&'static str> {
        match self.without {
            None => [&[NO_NAMES], NO_DATAGRAMS.as_slice()].concat(),
            Some(NetworkBarrier::HostRules) => NO_DATAGRAMS.to_vec(),
            Some(NetworkBarrier::WebRtcPolicy) => vec![NO_NAMES],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_a_file_are_as_strict_as_those_in_code() {
        let read = |text: &str| serde_json::from_str::<BrowserSettings>(text);
        let written = |settings: &BrowserSettings| serde_json::json!(settings);
        let least = read(r#"{ "executable": "/usr/bin/chromium" }"#).unwrap();
        assert_eq!(written(&least), written(&BrowserSettings::new("/usr/bin/chromium")));
        let some = r#"{ "executable": "/usr/bin/chromium", "sandbox": false, "file_choosers": "wait" }"#;
        let some = read(some).unwrap();
        assert_eq!((some.sandbox, some.file_choosers), (false, FileChoosers::Wait));
        assert_eq!(written(&read(&written(&some).to_string()).unwrap()), written(&some));
        for wrong in ["{}", r#"{ "executable": "/usr/bin/chromium", "sandboxed": false }"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_arguments_of_language_and_appearance_are_accepted() {
        for argument in [
            "--ignore-certificate-errors",
            "-ignore-certificate-errors",
            "--Ignore-Certificate-Errors",
            "--remote-debugging-port=9222",
            "--remote-debugging-pipe",
            "--disable-web-security",
            "--host-resolver-rules=MAP * 127.0.0.1",
            "--host-rules=MAP * 127.0.0.1",
            "--webrtc-ip-handling-policy=default",
            "--force-webrtc-ip-handling-policy=default",
            "--dns-over-https-templates=https://dns.example",
            "--enable-features=AsyncDns",
            "--disable-features=WebRtcHideLocalIpsWithMdns",
            "--enable-blink-features=DirectSockets",
            "--proxy-server=127.0.0.1:1",
            "--no-proxy-server",
            "--log-net-log=/tmp/log",
            "--renderer-cmd-prefix=xdg-open",
            "--language",
            " --lang=en",
            "lang=en",
            "",
            "https://shop.example",
        ] {
            let mut settings = BrowserSettings::new("/usr/bin/chromium");
            settings.extra_arguments.push(argument.to_owned());
            assert_eq!(settings.arguments(), Err(BridgeError::Argument(argument.to_owned())));
        }
        let mut settings = BrowserSettings::new("/usr/bin/chromium");
        settings.extra_arguments.push("--lang=en".to_owned());
        assert!(settings.arguments().is_ok_and(|arguments| arguments.contains(&"--lang=en".to_owned())));
    }

    #[test]
    fn chromium_gets_both_network_barriers_and_none_of_the_proxys_rules() {
        let mut settings = BrowserSettings::new("/usr/bin/chromium");
        settings.proxy_rules = Some("MAP shop.example 127.0.0.1:8443".to_owned());
        let arguments = settings.arguments().unwrap_or_default();
        for line in [NO_NAMES].iter().chain(&NO_DATAGRAMS) {
            assert_eq!(arguments.iter().filter(|it| it == line).count(), 1, "{line}");
        }
        assert!(!arguments.iter().any(|argument| argument.contains("shop.example")));
    }
}
