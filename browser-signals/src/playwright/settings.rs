//! What to launch, and which arguments are refused.

use std::path::PathBuf;
use std::sync::Arc;

use super::BridgeError;

/// Sees every CDP message that the bridge receives, as text.
pub type Tap = Arc<dyn Fn(&str) + Send + Sync>;

/// How to start a browser.
#[derive(Clone)]
pub struct BrowserSettings {
    /// Chromium's executable.
    pub executable: PathBuf,
    /// A private home folder for the browser; its `.pki/nssdb` holds extra authorities.
    pub home: Option<PathBuf>,
    /// Whether Chromium's own sandbox is on. It cannot be when running as root.
    pub sandbox: bool,
    /// Whether to run without a window.
    pub headless: bool,
    /// Chromium's host resolver rules, such as `MAP shop.example 127.0.0.1:8443`.
    pub host_rules: Option<String>,
    /// Further arguments. Those that weaken the browser are refused.
    pub extra_arguments: Vec<String>,
    /// Private hosts (`host` or `host:port`) that may be opened all the same.
    pub private_hosts: Vec<String>,
    /// Whether a handle that was told is never given to an element of a later document of the same container. For agents
    /// that send several steps before they have the answer to the first.
    pub handles_once: bool,
    /// For searches of everything that the browser told the bridge.
    pub tap: Option<Tap>,
}

/// Starts of arguments that switch off what the bridge relies on.
const REFUSED: [&str; 29] = [
    "--ignore-certificate-errors",
    "--ignore-urlfetcher-cert-requests",
    "--allow-insecure-localhost",
    "--allow-running-insecure-content",
    "--unsafely-treat-insecure-origin-as-secure",
    "--test-type",
    "--remote-debugging",
    "--remote-allow-origins",
    "--disable-web-security",
    "--disable-site-isolation",
    "--site-per-process=",
    "--disable-features",
    "--single-process",
    "--no-sandbox",
    "--disable-setuid-sandbox",
    "--load-extension",
    "--allow-file-access",
    "--user-data-dir",
    "--enable-automation",
    "--use-fake-ui",
    "--auto-accept",
    "--disable-popup-blocking",
    "--proxy-bypass",
    "--host-resolver-rules",
    "--host-rules",
    "--no-proxy",
    "--enable-quic",
    "--webrtc-ip-handling",
    "--force-webrtc",
];

impl BrowserSettings {
    /// A sandboxed browser without a window, and nothing else.
    pub fn new(executable: impl Into<PathBuf>) -> BrowserSettings {
        BrowserSettings {
            executable: executable.into(),
            home: None,
            sandbox: true,
            headless: true,
            host_rules: None,
            extra_arguments: Vec::new(),
            private_hosts: Vec::new(),
            handles_once: false,
            tap: None,
        }
    }

    /// The arguments for Chromium.
    pub(super) fn arguments(&self) -> Result<Vec<String>, BridgeError> {
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
            "--site-per-process",
            // The older and the newer name of the same: each version of Chromium ignores the other's.
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--disable-external-intent-requests",
        ]
        .map(str::to_owned)
        .into();
        if let Some(rules) = &self.host_rules {
            arguments.push(format!("--host-resolver-rules={rules}"));
        }
        for argument in &self.extra_arguments {
            // Chromium takes one dash for two, and any case on some platforms.
            let name = format!("--{}", argument.trim_start_matches('-').to_ascii_lowercase());
            if !argument.starts_with('-') || REFUSED.iter().any(|refused| name.starts_with(refused)) {
                return Err(BridgeError::Argument(argument.clone()));
            }
            arguments.push(argument.clone());
        }
        Ok(arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_weaken_the_browser_are_refused() {
        for argument in [
            "--ignore-certificate-errors",
            "--ignore-certificate-errors-spki-list=abc",
            "-ignore-certificate-errors",
            "--Ignore-Certificate-Errors",
            "--remote-debugging-port=9222",
            "--remote-debugging-pipe",
            "--disable-web-security",
            "--host-resolver-rules=MAP * 127.0.0.1",
            "--webrtc-ip-handling-policy=default",
            "--no-proxy-server",
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
}
