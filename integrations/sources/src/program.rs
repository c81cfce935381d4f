//! The output of a password manager's own program.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncReadExt;
use tokio::process::Command;
use vault::sources::SourceError;
use zeroize::Zeroizing;

/// The variables that each program gets: by these it finds its own files, and the user's window. `GPG_TTY` is none of them: the terminal
/// may be that of the agent's client, which would read a passphrase.
const VARIABLES: [&str; 8] = [
    "PATH",
    "HOME",
    "LANG",
    "DISPLAY",
    "XAUTHORITY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// A call of a program.
pub(crate) struct Call<'a> {
    /// Its path.
    pub(crate) program: &'a Path,
    /// The variables that it gets beside the common ones, if they are set.
    pub(crate) variables: &'a [&'a str],
    /// The most bytes of its output.
    pub(crate) longest: usize,
    /// The error where it ends without success.
    pub(crate) failed: SourceError,
}

impl Call<'_> {
    /// Runs the program and returns what it prints. The stream of errors is dropped: it may name keys and files.
    pub(crate) async fn output(
        &self,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Result<Zeroizing<Vec<u8>>, SourceError> {
        let mut command = Command::new(self.program);
        command.args(arguments).env_clear().current_dir("/");
        for name in VARIABLES.iter().chain(self.variables) {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|_| SourceError::Missing)?;
        let mut out = child.stdout.take().ok_or(SourceError::Missing)?;
        // The room is there from the start, so that no copy of the bytes stays behind.
        let mut plain = Zeroizing::new(Vec::with_capacity(self.longest + 1));
        loop {
            let room = plain.capacity() - plain.len();
            if room == 0 {
                return Err(SourceError::Answer);
            }
            let mut limited = (&mut out).take(u64::try_from(room).unwrap_or(0));
            match limited.read_buf(&mut *plain).await {
                Ok(0) => break,
                Ok(_) => {}
                Err(_) => return Err(SourceError::Answer),
            }
        }
        match child.wait().await {
            Ok(status) if status.success() => Ok(plain),
            _ => Err(self.failed),
        }
    }
}
