//! Decrypting one file by GnuPG.

use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncReadExt;
use tokio::process::Command;
use vault::sources::SourceError;
use zeroize::Zeroizing;

/// The longest entry, in bytes.
const LONGEST: usize = 64 * 1024;

/// The variables by which GnuPG finds its keys, and its agent the user's window. `GPG_TTY` is none of them: the terminal may be that of
/// the agent's client, which would read the passphrase.
const VARIABLES: [&str; 9] = [
    "PATH",
    "HOME",
    "LANG",
    "GNUPGHOME",
    "DISPLAY",
    "XAUTHORITY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// The content of a file. What GnuPG says about it goes nowhere: it may name keys and files.
pub(super) async fn decrypted(gpg: &Path, file: &Path) -> Result<Zeroizing<Vec<u8>>, SourceError> {
    let mut command = Command::new(gpg);
    command.args(["--batch", "--quiet", "--no-tty", "--decrypt", "--"]).arg(file);
    command.env_clear().current_dir("/");
    for name in VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|_| SourceError::Missing)?;
    let mut out = child.stdout.take().ok_or(SourceError::Missing)?;
    // The room is there from the start, so that no copy of the bytes stays behind.
    let mut plain = Zeroizing::new(Vec::with_capacity(LONGEST + 1));
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
        // Without the key, without a way to unlock it, and after a no, GnuPG fails alike.
        _ => Err(SourceError::NotDecrypted),
    }
}
