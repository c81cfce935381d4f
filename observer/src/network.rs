//! The two sides, the cable between them, and the addresses on it.

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use crate::cable;
use crate::names::{self, Names};
use crate::traffic::Traffic;

/// The world's end of the cable: the way to everywhere.
pub const GATEWAY: Ipv4Addr = Ipv4Addr::new(44, 128, 0, 1);
/// The end of the cable at the browser and the guard.
pub const HERE: Ipv4Addr = Ipv4Addr::new(44, 128, 0, 2);
/// The same ends by IPv6.
pub const GATEWAY_V6: Ipv6Addr = Ipv6Addr::new(0x3ffe, 0x44, 0, 0, 0, 0, 0, 1);
/// See [`GATEWAY_V6`].
pub const HERE_V6: Ipv6Addr = Ipv6Addr::new(0x3ffe, 0x44, 0, 0, 0, 0, 0, 2);
/// Every address of this network is the world's. They look public, and nobody was ever given them: 44.128.0.0/16
/// is the test network of the amateurs' packet radio, and 3ffe::/16 was that of the first IPv6 network.
pub const WORLD: (Ipv4Addr, u8) = (Ipv4Addr::new(44, 128, 64, 0), 18);
/// The same by IPv6.
pub const WORLD_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x3ffe, 0x44, 0x64, 0, 0, 0, 0, 0), 48);
/// The name server that the guard asks.
pub const GUARDS_NAMES: Ipv4Addr = Ipv4Addr::new(44, 128, 64, 1);
/// The name server that the browser asks, if it asks.
pub const BROWSERS_NAMES: Ipv4Addr = Ipv4Addr::new(44, 128, 64, 2);

/// Why there is no network.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// A namespace, a socket or a file.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// The cable.
    #[error("{what}: {error}")]
    Cable {
        /// What was tried.
        what: &'static str,
        /// What the kernel said.
        error: rtnetlink::Error,
    },
    /// A file could not be put in the place of another.
    #[error("`mount --bind` on {0} failed: its message is above")]
    Mount(PathBuf),
}

/// For `map_err`: says what was tried.
pub(crate) fn trying<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> NetworkError {
    move |error| NetworkError::System { what, error: error.into() }
}

/// Two networks and the cable between them. They are gone with the process.
pub struct Network {
    world: File,
    names: Names,
    traffic: Traffic,
    folder: PathBuf,
}

impl Network {
    /// Makes the network. The process must be alone in its network and mount namespace.
    pub(crate) fn make() -> Result<Network, NetworkError> {
        let world = thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(trying("a second network namespace"))?;
            File::open("/proc/thread-self/ns/net").map_err(trying("the second network namespace's file"))
        });
        let world = joined(world)?;
        cable::lay(&world)?;
        inside(&world, cable::answer)?;
        let folder = std::env::temp_dir().join(format!("observer-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(trying("a temporary folder"))?;
        let names = Names::default();
        for server in [GUARDS_NAMES, BROWSERS_NAMES] {
            let socket = inside(&world, move || {
                UdpSocket::bind((server, 53)).map_err(trying("a name server's socket"))
            })?;
            names::serve(socket, names.clone());
        }
        let traffic = inside(&world, Traffic::watch)?;
        let network = Network { world, names, traffic, folder };
        mount(&network.file("resolv.conf", &resolver(GUARDS_NAMES))?, Path::new("/etc/resolv.conf"))?;
        // Other ways to ask than the name server's may lead past this network: through a socket in a folder.
        let switch = Path::new("/etc/nsswitch.conf");
        if switch.exists() {
            let only = "passwd: files\ngroup: files\nhosts: files dns\n";
            mount(&network.file("nsswitch.conf", only)?, switch)?;
        }
        Ok(network)
    }

    /// What the name servers answer; nothing is known at first.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// What has left the side of the browser and the guard.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Listens in the world, on an address of [`WORLD`] or [`WORLD_V6`]. The listener may be used from anywhere.
    ///
    /// # Errors
    /// Where the address is taken, or none of the world's.
    pub fn listen(&self, address: SocketAddr) -> Result<TcpListener, NetworkError> {
        inside(&self.world, move || TcpListener::bind(address).map_err(trying("a listener in the world")))
    }

    /// As [`Network::listen`], for datagrams.
    ///
    /// # Errors
    /// As there.
    pub fn receive(&self, address: SocketAddr) -> Result<UdpSocket, NetworkError> {
        inside(&self.world, move || UdpSocket::bind(address).map_err(trying("a socket in the world")))
    }

    /// A program that is this Chromium, but for the name server that it asks. Everything else is as for the program
    /// itself: arguments, environment, open files.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn browser(&self, executable: &Path) -> Result<PathBuf, NetworkError> {
        let own = self.file("browser-resolv.conf", &resolver(BROWSERS_NAMES))?;
        let (unshare, mount, shell) = (program("unshare"), program("mount"), program("sh"));
        let script = format!(
            "#!{shell}\nexec {unshare} --mount {shell} -c '{mount} --bind {own} /etc/resolv.conf && exec \"$0\" \"$@\"' {executable} \"$@\"\n",
            own = own.display(),
            executable = executable.display(),
        );
        let path = self.file("chromium", &script)?;
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, executable).map_err(trying("the browser's script"))?;
        Ok(path)
    }

    fn file(&self, name: &str, text: &str) -> Result<PathBuf, NetworkError> {
        let path = self.folder.join(name);
        std::fs::write(&path, text).map_err(trying("a temporary file"))?;
        Ok(path)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _temporary = std::fs::remove_dir_all(&self.folder);
    }
}

/// Whether an address is one of the two name servers'.
pub(crate) fn is_name_server(address: IpAddr) -> bool {
    [GUARDS_NAMES, BROWSERS_NAMES].map(IpAddr::from).contains(&address)
}

fn resolver(server: Ipv4Addr) -> String {
    format!("nameserver {server}\noptions timeout:2 attempts:1\n")
}

/// Runs this in the world.
fn inside<T: Send + 'static>(
    world: &File,
    run: impl FnOnce() -> Result<T, NetworkError> + Send + 'static,
) -> Result<T, NetworkError> {
    let world = world.try_clone().map_err(trying("the second network namespace's file"))?;
    joined(thread::spawn(move || {
        setns(&world, CloneFlags::CLONE_NEWNET).map_err(trying("the second network namespace"))?;
        run()
    }))
}

fn joined<T>(thread: thread::JoinHandle<Result<T, NetworkError>>) -> Result<T, NetworkError> {
    let ended = thread.join();
    ended.unwrap_or_else(|_| Err(trying("a thread in the second network")(io::Error::other("it panicked"))))
}

/// Puts a file in the place of another, for this process and those that it starts.
fn mount(from: &Path, to: &Path) -> Result<(), NetworkError> {
    // Where it is a link, it is what the link leads to that programs read.
    let place = to.canonicalize().map_err(trying("/etc/resolv.conf"))?;
    let status = Command::new("mount").arg("--bind").args([from, &place]).status();
    match status.map_err(trying("`mount` of util-linux"))?.success() {
        true => Ok(()),
        false => Err(NetworkError::Mount(to.to_owned())),
    }
}

/// The whole path of a program: the browser is started where there may be no `PATH`.
fn program(name: &str) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.map_or_else(|| format!("/usr/bin/{name}"), |path| path.display().to_string())
}
