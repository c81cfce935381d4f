//! The two networks.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use crate::addresses::{BROWSER_DNS, GUARD_DNS};
use crate::dns::{self, DnsNames};
use crate::error::{NetworkError, failed};
use crate::traffic::Traffic;
use crate::veth;

/// Two connected networks, which exist until the process ends.
pub struct Network {
    internet: File,
    dns: DnsNames,
    traffic: Traffic,
    folder: PathBuf,
}

impl Network {
    /// Makes the network. The process must be alone in its network and mount namespace.
    pub(crate) fn make() -> Result<Network, NetworkError> {
        let internet = thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(failed("a second network namespace"))?;
            File::open("/proc/thread-self/ns/net").map_err(failed("the second network namespace's file"))
        });
        let internet = joined(internet)?;
        veth::connect(&internet)?;
        inside(&internet, veth::accept_all)?;
        let folder = std::env::temp_dir().join(format!("observer-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(failed("a temporary folder"))?;
        let dns = DnsNames::default();
        for server in [GUARD_DNS, BROWSER_DNS] {
            let socket = inside(&internet, move || {
                UdpSocket::bind((server, 53)).map_err(failed("a name server's socket"))
            })?;
            dns::serve(socket, dns.clone());
        }
        let traffic = inside(&internet, Traffic::watch)?;
        let network = Network { internet, dns, traffic, folder };
        mount(&network.file("resolv.conf", &resolver(GUARD_DNS))?, Path::new("/etc/resolv.conf"))?;
        // Other name services could bypass this network, for example through a Unix socket.
        let switch = Path::new("/etc/nsswitch.conf");
        if switch.exists() {
            let only = "passwd: files\ngroup: files\nhosts: files dns\n";
            mount(&network.file("nsswitch.conf", only)?, switch)?;
        }
        Ok(network)
    }

    /// The names that the name servers know; none at first.
    pub fn dns(&self) -> &DnsNames {
        &self.dns
    }

    /// The packets that left the network of the browser and the guard.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Listens in the simulated internet, on an address of [`INTERNET`](crate::addresses::INTERNET) or
    /// [`INTERNET_V6`](crate::addresses::INTERNET_V6). The listener may be used
    /// from any thread.
    ///
    /// # Errors
    /// The address is taken, or not one of the simulated internet.
    pub fn listen(&self, address: SocketAddr) -> Result<TcpListener, NetworkError> {
        inside(&self.internet, move || {
            TcpListener::bind(address).map_err(failed("a listener in the simulated internet"))
        })
    }

    /// Does the same as [`Network::listen`], for datagrams.
    ///
    /// # Errors
    /// Those of [`Network::listen`].
    pub fn receive(&self, address: SocketAddr) -> Result<UdpSocket, NetworkError> {
        inside(&self.internet, move || {
            UdpSocket::bind(address).map_err(failed("a socket in the simulated internet"))
        })
    }

    /// Makes a script that starts this Chromium with a name server of its own. Arguments, environment and open files
    /// are passed on unchanged.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn browser(&self, executable: &Path) -> Result<PathBuf, NetworkError> {
        let own = self.file("browser-resolv.conf", &resolver(BROWSER_DNS))?;
        let (unshare, mount, shell) = (program("unshare"), program("mount"), program("sh"));
        let script = format!(
            "#!{shell}\nexec {unshare} --mount {shell} -c '{mount} --bind {own} /etc/resolv.conf && exec \"$0\" \"$@\"' {executable} \"$@\"\n",
            own = own.display(),
            executable = executable.display(),
        );
        let path = self.file("chromium", &script)?;
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, executable).map_err(failed("the browser's script"))?;
        Ok(path)
    }

    fn file(&self, name: &str, text: &str) -> Result<PathBuf, NetworkError> {
        let path = self.folder.join(name);
        std::fs::write(&path, text).map_err(failed("a temporary file"))?;
        Ok(path)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _temporary = std::fs::remove_dir_all(&self.folder);
    }
}

fn resolver(server: Ipv4Addr) -> String {
    format!("nameserver {server}\noptions timeout:2 attempts:1\n")
}

/// Runs this in the simulated internet.
fn inside<T: Send + 'static>(
    internet: &File,
    run: impl FnOnce() -> Result<T, NetworkError> + Send + 'static,
) -> Result<T, NetworkError> {
    let internet = internet.try_clone().map_err(failed("the second network namespace's file"))?;
    joined(thread::spawn(move || {
        setns(&internet, CloneFlags::CLONE_NEWNET).map_err(failed("the second network namespace"))?;
        run()
    }))
}

fn joined<T>(thread: thread::JoinHandle<Result<T, NetworkError>>) -> Result<T, NetworkError> {
    let ended = thread.join();
    ended.unwrap_or_else(|_| Err(failed("a thread in the second network")(io::Error::other("it panicked"))))
}

/// Mounts a file over another, for this process and those that it starts.
fn mount(from: &Path, to: &Path) -> Result<(), NetworkError> {
    // Of a link, the target is the file that programs read.
    let place = to.canonicalize().map_err(failed("/etc/resolv.conf"))?;
    let status = Command::new("mount").arg("--bind").args([from, &place]).status();
    match status.map_err(failed("`mount` of util-linux"))?.success() {
        true => Ok(()),
        false => Err(NetworkError::Mount(to.to_owned())),
    }
}

/// Finds the full path of a program, because the browser may be started without `PATH`.
fn program(name: &str) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.map_or_else(|| format!("/usr/bin/{name}"), |path| path.display().to_string())
}
