//! When a running guard locks its vault: at `portcullis vault lock`, when the user locks the screen, and before the system sleeps; and how it
//! finds the key again.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use portcullis::storage::vault_lock::{FindKey, LockHandle, lock_on_signal};
use portcullis::vault::UnlockKey;

use super::{cache, pinentry};

/// The key of a vault in the system's keyring, or by its passphrase in a window.
pub struct UserKey {
    pub vault: PathBuf,
    pub id: [u8; 16],
    /// How long a key stays in the keyring that is made of a passphrase; none where the user is not asked for one.
    pub keep: Option<Duration>,
    /// True once the user gave none when asked. They are not asked again until they unlocked the vault by themselves.
    pub gave_none: AtomicBool,
}

impl FindKey for UserKey {
    fn find(&self, may_ask: bool) -> Option<UnlockKey> {
        if let Some(key) = cache::find(self.id) {
            self.gave_none.store(false, Ordering::Relaxed);
            return Some(key);
        }
        let keep = self.keep.filter(|_| may_ask && !self.gave_none.load(Ordering::Relaxed))?;
        let key = pinentry::unlock(&self.vault, keep).ok().flatten();
        self.gave_none.store(key.is_none(), Ordering::Relaxed);
        key
    }

    fn forget(&self) {
        // A keyring that does not work has none.
        let _had_none = cache::forget(self.id);
    }
}

/// Locks the vault of a running guard when the user ends its use. It needs a runtime, and ends with it.
pub fn watch(handle: LockHandle, vault: [u8; 16]) {
    if let Err(error) = lock_on_signal(handle.clone()) {
        eprintln!(
            "warning: `portcullis vault lock` will end this program in place of locking its vault: {error}"
        );
    }
    #[cfg(target_os = "linux")]
    tokio::spawn(login_manager::follow(move || {
        // First, since the guard's next action or another program would open the vault by it. A keyring that does not work has none.
        let _had_none = super::cache::forget(vault);
        handle.lock();
    }));
    #[cfg(not(target_os = "linux"))]
    let _no_login_manager = vault;
}

/// The system's login manager (systemd-logind, `org.freedesktop.login1`), which tells of both over D-Bus.
#[cfg(target_os = "linux")]
mod login_manager {
    use futures_util::StreamExt;
    use zbus::message::Type;
    use zbus::zvariant::{OwnedFd, OwnedObjectPath, OwnedValue};
    use zbus::{Connection, MatchRule, Message, MessageStream};

    const SERVICE: &str = "org.freedesktop.login1";
    const MANAGER: &str = "org.freedesktop.login1.Manager";
    const SESSION: &str = "org.freedesktop.login1.Session";
    const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
    const ROOT: &str = "/org/freedesktop/login1";

    /// Calls `lock` before the system sleeps, and when a session of this user is locked. Without a system bus nothing tells of either.
    pub async fn follow(lock: impl Fn() + Send) {
        if let Ok(bus) = Connection::system().await {
            let _bus_gone = follow_on(&bus, rustix::process::getuid().as_raw(), &lock).await;
            eprintln!(
                "warning: the system tells no more when it sleeps or the screen is locked; the vault stays open then"
            );
        }
    }

    pub(super) async fn follow_on(
        bus: &Connection,
        user: u32,
        lock: &(impl Fn() + Send),
    ) -> zbus::Result<()> {
        let mut sleeps = signals(bus, MANAGER, "PrepareForSleep", None).await?;
        let mut locks = signals(bus, SESSION, "Lock", None).await?;
        let mut changes = signals(bus, PROPERTIES, "PropertiesChanged", Some(SESSION)).await?;
        // While it is open, the system waits some seconds before it sleeps.
        let mut delay = inhibit(bus).await;
        loop {
            tokio::select! {
                Some(Ok(signal)) = sleeps.next() => {
                    if signal.body().deserialize::<bool>().unwrap_or(true) {
                        lock();
                        delay = None;
                    } else if delay.is_none() {
                        delay = inhibit(bus).await;
                    }
                }
                Some(Ok(signal)) = locks.next() => {
                    if is_of(bus, &signal, user).await {
                        lock();
                    }
                }
                Some(Ok(signal)) = changes.next() => {
                    if says_locked(&signal) && is_of(bus, &signal, user).await {
                        lock();
                    }
                }
                else => return Ok(()),
            }
        }
    }

    async fn signals(
        bus: &Connection,
        interface: &'static str,
        member: &'static str,
        first: Option<&'static str>,
    ) -> zbus::Result<MessageStream> {
        let rule = MatchRule::builder().msg_type(Type::Signal).sender(SERVICE)?;
        let mut rule = rule.interface(interface)?.member(member)?;
        if let Some(first) = first {
            rule = rule.arg(0, first)?;
        }
        MessageStream::for_match_rule(rule.build(), bus, None).await
    }

    /// Asks for a short delay before each sleep. Without one the system may sleep before the vault is locked, and it is locked afterwards.
    async fn inhibit(bus: &Connection) -> Option<OwnedFd> {
        let what = ("sleep", "Portcullis", "locks the vault", "delay");
        let reply = bus.call_method(Some(SERVICE), ROOT, Some(MANAGER), "Inhibit", &what).await.ok()?;
        reply.body().deserialize().ok()
    }

    /// Returns true if the signal comes from a session of this user.
    async fn is_of(bus: &Connection, signal: &Message, user: u32) -> bool {
        let header = signal.header();
        let Some(session) = header.path() else { return false };
        let asked = (SESSION, "User");
        let reply = bus.call_method(Some(SERVICE), session, Some(PROPERTIES), "Get", &asked).await;
        let value = reply.ok().and_then(|reply| reply.body().deserialize::<OwnedValue>().ok());
        let owner = value.and_then(|value| <(u32, OwnedObjectPath)>::try_from(value).ok());
        owner.is_some_and(|(owner, _)| owner == user)
    }

    /// Returns true if the signal says that the desktop has locked its screen.
    fn says_locked(signal: &Message) -> bool {
        type Changed = (String, std::collections::HashMap<String, OwnedValue>, Vec<String>);
        let body = signal.body();
        let Ok((_, changed, _)) = body.deserialize::<Changed>() else { return false };
        changed.get("LockedHint").and_then(|hint| bool::try_from(hint).ok()) == Some(true)
    }

    #[cfg(test)]
    mod tests {
        #![allow(clippy::unwrap_used, reason = "tests")]
        use std::collections::HashMap;

        use tokio::net::UnixStream;
        use tokio::sync::{mpsc, oneshot};
        use zbus::Guid;
        use zbus::connection::Builder;
        use zbus::zvariant::{ObjectPath, Value};

        use super::*;

        const OWN: &str = "/org/freedesktop/login1/session/_31";
        const OTHER: &str = "/org/freedesktop/login1/session/_32";

        /// A played login manager on the other end of a connection without a bus. It says whose session each is, and that the guard
        /// listens once it asks for a delay.
        async fn answer(manager: Connection, listens: oneshot::Sender<()>) {
            let mut listens = Some(listens);
            let mut calls = MessageStream::from(&manager);
            while let Some(Ok(call)) = calls.next().await {
                if call.message_type() != Type::MethodCall {
                    continue;
                }
                let header = call.header();
                if header.member().is_some_and(|member| member == "Get") {
                    let is_own = header.path().is_some_and(|path| path.as_str() == OWN);
                    let owner = (if is_own { 1000u32 } else { 1001 }, ObjectPath::try_from("/user").unwrap());
                    manager.reply(&header, &Value::from(owner)).await.unwrap();
                } else {
                    manager
                        .reply_error(&header, "org.freedesktop.DBus.Error.NotSupported", &"played")
                        .await
                        .unwrap();
                    let _again = listens.take().map(|listens| listens.send(()));
                }
            }
        }

        #[tokio::test(flavor = "multi_thread")]
        async fn sleep_and_a_locked_screen_of_the_users_own_lock_the_vault() {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let server = Builder::unix_stream(theirs).server(Guid::generate()).unwrap().p2p().build();
            let (bus, manager) = tokio::join!(Builder::unix_stream(ours).p2p().build(), server);
            let (bus, manager) = (bus.unwrap(), manager.unwrap());
            let (listens, is_listening) = oneshot::channel();
            tokio::spawn(answer(manager.clone(), listens));
            let (locked, mut locks) = mpsc::unbounded_channel();
            tokio::spawn(
                async move { follow_on(&bus, 1000, &move || assert!(locked.send(()).is_ok())).await },
            );
            is_listening.await.unwrap();
            let hint = |locked: bool| {
                let changed = HashMap::from([("LockedHint", Value::from(locked))]);
                (SESSION, changed, Vec::<String>::new())
            };
            for _ in 0..2 {
                // Signals of one kind are in order: what comes before one that locks has had no effect when it does.
                manager.emit_signal(None::<()>, ROOT, MANAGER, "PrepareForSleep", &false).await.unwrap();
                manager.emit_signal(None::<()>, ROOT, MANAGER, "PrepareForSleep", &true).await.unwrap();
                locks.recv().await.unwrap();
                manager.emit_signal(None::<()>, OTHER, SESSION, "Lock", &()).await.unwrap();
                manager.emit_signal(None::<()>, OWN, SESSION, "Lock", &()).await.unwrap();
                locks.recv().await.unwrap();
                for (session, is_locked) in [(OTHER, true), (OWN, false), (OWN, true)] {
                    let changed = hint(is_locked);
                    manager
                        .emit_signal(None::<()>, session, PROPERTIES, "PropertiesChanged", &changed)
                        .await
                        .unwrap();
                }
                locks.recv().await.unwrap();
                assert!(locks.try_recv().is_err(), "another one locked too");
            }
        }
    }
}
