//! Asking for a vault's passphrase in a window of the system's own program for that, where no terminal is: `pinentry`, which GnuPG uses too.
//!
//! The guard's own page never asks for the passphrase, so that no imitation of it can.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use portcullis::storage::vault_file::VaultFile;
use portcullis::vault::{Meta, Secret, UnlockKey, Vault, VaultError};
use zeroize::Zeroizing;

use super::opened::bad;
use super::{cache, place};
use crate::failure::Failure;

/// How often a wrong passphrase may be typed.
const TRIES: usize = 3;
/// The longest line of the protocol, and more than a passphrase in it.
const LONGEST: usize = 16 * 1024;

/// Asks for the passphrase of a locked vault, and keeps its key in the system's keyring for some time, if it is any and the system has one.
/// None where there is no window to ask in, or the user gives no passphrase.
pub fn unlock(vault: &Path, keep: Duration) -> Result<Option<UnlockKey>, Failure> {
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| discovery::variable(name).is_some());
    let Some(program) = discovery::on_path("pinentry").filter(|_| has_display) else { return Ok(None) };
    let bytes = VaultFile::read_only(vault).map_err(|error| place::unusable(vault, &error))?;
    let id = Meta::read(&bytes).map_err(bad)?.id;
    let Ok(mut window) = Window::open(&program) else { return Ok(None) };
    let name = vault.display().to_string();
    for attempt in 0..TRIES {
        let Some(passphrase) = window.ask(&name, attempt > 0) else { return Ok(None) };
        match Vault::unlock_key(&bytes, &passphrase) {
            Ok(key) => {
                if !keep.is_zero()
                    && let Err(Failure::NotSetUp(why)) = cache::keep(id, &key, keep)
                {
                    eprintln!("{why}");
                }
                return Ok(Some(key));
            }
            Err(VaultError::WrongPassphrase) => {}
            Err(error) => return Err(bad(error)),
        }
    }
    Ok(None)
}

/// A running pinentry. Its protocol is Assuan: a line for a command, and lines until `OK` or `ERR`.
struct Window {
    program: Child,
    to: ChildStdin,
    from: File,
}

impl Drop for Window {
    fn drop(&mut self) {
        let _gone = self.to.write_all(b"BYE\n");
        let _gone = self.program.kill();
        let _reaped = self.program.wait();
    }
}

impl Window {
    fn open(program: &Path) -> std::io::Result<Window> {
        let mut program = Command::new(program)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let missing = || std::io::Error::other("it has no pipe");
        let (to, from) =
            (program.stdin.take().ok_or_else(missing)?, program.stdout.take().ok_or_else(missing)?);
        // Without a buffer of the standard library, which is not wiped.
        let mut window = Window { program, to, from: File::from(OwnedFd::from(from)) };
        window.answer().map(|_| window).ok_or_else(|| std::io::Error::other("it does not greet"))
    }

    /// Asks for the passphrase; none if the user gives none, or the program goes away.
    fn ask(&mut self, vault: &str, again: bool) -> Option<Secret> {
        let description = format!("SETDESC Portcullis needs the passphrase of the vault {}", escaped(vault));
        let mut commands = vec!["SETTITLE Portcullis", &description, "SETPROMPT Passphrase:"];
        if again {
            commands.push("SETERROR The passphrase does not open this vault");
        }
        for command in commands {
            self.say(command)?;
        }
        self.say("GETPIN")?.filter(|passphrase| !passphrase.is_empty())
    }

    /// Sends a command. The outer option is none after an error.
    fn say(&mut self, command: &str) -> Option<Option<Secret>> {
        self.to.write_all(format!("{command}\n").as_bytes()).ok()?;
        self.answer()
    }

    /// Reads lines until the end of an answer, and returns its data.
    fn answer(&mut self) -> Option<Option<Secret>> {
        let mut data = None;
        loop {
            let line = self.line()?;
            match line.split_at_checked(2)? {
                (b"OK", _) => return Some(data),
                (b"D ", text) => data = Some(unescaped(text)),
                // Notices and comments.
                (b"S " | b"# ", _) => {}
                _ => return None,
            }
        }
    }

    fn line(&mut self) -> Option<Zeroizing<Vec<u8>>> {
        let mut line = Zeroizing::new(Vec::with_capacity(LONGEST));
        let mut byte = Zeroizing::new([0]);
        while line.len() < LONGEST && self.from.read(&mut *byte).ok()? == 1 {
            if *byte == *b"\n" {
                return Some(line);
            }
            line.extend_from_slice(&*byte);
        }
        None
    }
}

/// A text as Assuan takes it.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\n', "%0A").replace('\r', "%0D")
}

/// The bytes of a text of Assuan.
fn unescaped(text: &[u8]) -> Secret {
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let byte = digits.and_then(|it| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = after.get(if byte.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    Secret::filled(bytes.len(), |out| out.copy_from_slice(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_is_read_with_its_escapes() {
        for (text, bytes) in [
            ("correct horse", "correct horse"),
            ("100%25 sure", "100% sure"),
            ("%0A%0d", "\n\r"),
            ("%zz%4", "%zz%4"),
            ("", ""),
        ] {
            assert!(unescaped(text.as_bytes()).is_same(&Secret::new(bytes)), "{text}");
        }
        assert_eq!(escaped("/home/50%/a\nb"), "/home/50%25/a%0Ab");
    }
}
