//! Chromium on a pipe: file descriptor 3 takes commands, 4 gives messages, each ended by a zero byte.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

use crate::playwright::browser::environment::Environment;
use crate::playwright::browser::settings::BrowserSettings;
use crate::playwright::browser::throwaway::ThrowawayFolder;
use crate::playwright::error::BridgeError;

/// The longest message of the browser's. A picture of a long page is some tens of megabytes.
const LONGEST: usize = 256 << 20;

/// Arguments that switch off parts of the browser which an agent does not need. The disabled features are those that would
/// answer a page or fetch something by themselves.
const QUIET: [&str; 23] = [
    "--remote-debugging-pipe",
    "--no-default-browser-check",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    "--disable-field-trial-config",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-back-forward-cache",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-dev-shm-usage",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-search-engine-choice-screen",
    "--disable-infobars",
    "--metrics-recording-only",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--force-color-profile=srgb",
    "--disable-features=HttpsUpgrades,Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,\
     DestroyProfileOnBrowserClose,PaintHolding",
];

/// The argument of a browser whose pages the bridge opens: it starts without a window.
pub(super) const NOTHING: [&str; 1] = ["--no-startup-window"];

/// Further arguments, for a browser without a window.
const WINDOWLESS: [&str; 4] = [
    "--headless",
    "--hide-scrollbars",
    "--mute-audio",
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
];

/// A started Chromium and the ends of its pipe.
pub(super) struct Process {
    child: Child,
    profile: ThrowawayFolder,
    environment: Environment,
    commands: OwnedFd,
    messages: OwnedFd,
}

impl Process {
    /// Starts Chromium with a temporary profile, and with these arguments that say what it shows at its start.
    pub(super) fn start(settings: &BrowserSettings, shows: &[&str]) -> Result<Process, BridgeError> {
        let arguments = settings.arguments()?;
        if !settings.executable.exists() {
            return Err(BridgeError::NotInstalled(format!(
                "no Chromium at {}",
                settings.executable.display()
            )));
        }
        let failed = |error: std::io::Error| BridgeError::Launch(error.to_string());
        let profile = ThrowawayFolder::new().map_err(failed)?;
        let (for_commands, commands) = std::io::pipe().map_err(failed)?;
        let (messages, for_messages) = std::io::pipe().map_err(failed)?;
        let mut command = Command::new(&settings.executable);
        command.args(QUIET).args(shows).args(&arguments);
        if settings.headless {
            command.args(WINDOWLESS);
        }
        if !settings.sandbox {
            command.arg("--no-sandbox");
        }
        let mut folder = std::ffi::OsString::from("--user-data-dir=");
        folder.push(profile.path());
        command.arg(folder);
        let environment = Environment::of(settings)?;
        command.env_clear().envs(&environment.variables);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let ends = vec![
            FdMapping { parent_fd: for_commands.into(), child_fd: 3 },
            FdMapping { parent_fd: for_messages.into(), child_fd: 4 },
        ];
        command.fd_mappings(ends).map_err(|error| BridgeError::Launch(error.to_string()))?;
        let child = command.spawn().map_err(failed)?;
        Ok(Process { child, profile, environment, commands: commands.into(), messages: messages.into() })
    }

    /// The ends as streams. Must be called inside a tokio runtime.
    pub(super) fn open(self) -> Result<Open, BridgeError> {
        let Process { child, profile, environment, commands, messages } = self;
        let failed = |error: std::io::Error| BridgeError::Launch(error.to_string());
        // Only the descriptor that is read here must not block; the browser has its own descriptors.
        let messages =
            Receiver::from_owned_fd_unchecked(unblocked(messages).map_err(failed)?).map_err(failed)?;
        let (send, queued) = std::sync::mpsc::channel::<String>();
        // If one thread wrote and read, it and the browser could both wait for the other to read.
        std::thread::Builder::new()
            .name("browser-commands".to_owned())
            .spawn(move || write_all(commands, &queued))
            .map_err(failed)?;
        Ok(Open {
            reader: Reader { messages, buffer: Vec::new() },
            send,
            child: Running { child, _profile: profile, _environment: environment },
        })
    }
}

fn unblocked(end: OwnedFd) -> std::io::Result<OwnedFd> {
    let flags = rustix::fs::fcntl_getfl(&end)?;
    rustix::fs::fcntl_setfl(&end, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok(end)
}

fn write_all(commands: OwnedFd, queued: &std::sync::mpsc::Receiver<String>) {
    let mut pipe = File::from(commands);
    while let Ok(message) = queued.recv() {
        let mut bytes = message.into_bytes();
        bytes.push(0);
        if pipe.write_all(&bytes).is_err() {
            return;
        }
    }
}

/// The open pipe, and the process behind it.
pub(super) struct Open {
    pub(super) reader: Reader,
    pub(super) send: std::sync::mpsc::Sender<String>,
    pub(super) child: Running,
}

/// The browser's messages.
pub(super) struct Reader {
    messages: Receiver,
    buffer: Vec<u8>,
}

impl Reader {
    /// The next message; none where the browser is gone, or the message is too long.
    pub(super) async fn next(&mut self) -> Option<String> {
        let mut searched = 0;
        loop {
            let unread = self.buffer.get(searched..).unwrap_or_default();
            if let Some(end) = unread.iter().position(|byte| *byte == 0) {
                let rest = self.buffer.split_off(searched + end + 1);
                let mut message = std::mem::replace(&mut self.buffer, rest);
                message.pop();
                return String::from_utf8(message).ok();
            }
            searched = self.buffer.len();
            if searched > LONGEST {
                return None;
            }
            // This is the only await, so that nothing is lost from the buffer if this future is dropped.
            if self.messages.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
        }
    }
}

/// The process. Dropping it ends it and removes its profile.
pub(super) struct Running {
    child: Child,
    _profile: ThrowawayFolder,
    _environment: Environment,
}

impl Running {
    /// Waits until the process has ended by itself, for two seconds at most.
    pub(super) async fn ended(&mut self) {
        for _ in 0..100 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _reaped_already = self.child.wait();
    }
}
