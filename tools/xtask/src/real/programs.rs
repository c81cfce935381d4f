//! The programs: installed, set up in folders of their own, served, stopped.

use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use crate::debian::{System, install_packages};
use crate::process::{Failure, Place, install};
use crate::real::{Run, written};
use discovery::on_path;

/// The Debian packages, each with a file by which it is known to be installed.
const PACKAGES: [(&str, &str); 23] = [
    ("wordpress", "/usr/share/wordpress/wp-login.php"),
    ("wordpress-theme-twentytwentythree", "/usr/share/wordpress/wp-content/themes/twentytwentythree"),
    ("mediawiki", "/usr/share/mediawiki/index.php"),
    ("dokuwiki", "/usr/share/dokuwiki/doku.php"),
    ("mariadb-server", "/usr/sbin/mariadbd"),
    ("nginx-light", "/usr/sbin/nginx"),
    ("openssl", "/usr/bin/openssl"),
    ("php-cli", "/usr/bin/php"),
    ("php-mysql", "/usr/share/php8.2-mysql/mysql/mysqli.ini"),
    ("php-sqlite3", "/usr/share/php8.2-sqlite3/sqlite3/sqlite3.ini"),
    ("php-mbstring", "/usr/share/php8.2-mbstring/mbstring/mbstring.ini"),
    ("php-xml", "/usr/share/php8.2-xml/xml/xml.ini"),
    ("php-intl", "/usr/share/php8.2-intl/intl/intl.ini"),
    ("python3-venv", "/usr/share/doc/python3-venv"),
    ("keepassxc", "/usr/bin/keepassxc"),
    ("dbus", "/usr/bin/dbus-daemon"),
    ("gnome-keyring", "/usr/bin/gnome-keyring-daemon"),
    ("libsecret-tools", "/usr/bin/secret-tool"),
    ("libglib2.0-bin", "/usr/bin/gdbus"),
    ("python3-dbusmock", "/usr/lib/python3/dist-packages/dbusmock"),
    ("gpg", "/usr/bin/gpg"),
    ("xvfb", "/usr/bin/Xvfb"),
    ("xdotool", "/usr/bin/xdotool"),
];

/// The packages from PyPI.
const LIBRARIES: [&str; 7] = [
    "django-oscar==4.2.1",
    "sorl-thumbnail==13.4.0",
    "gunicorn==27.0.1",
    "roundup==2.6.0",
    "django-oauth-toolkit==3.4.1",
    "mozilla-django-oidc==5.0.2",
    "django-two-factor-auth==1.18.1",
];

/// One program of the tasks.
pub struct Program {
    /// Its name in `tasks.json`.
    pub name: &'static str,
    /// The folder of its `setup.sh` and `serve.sh`.
    sources: &'static str,
    /// Whether it is the other variant: a shop with oscar's card form, a wiki with one-time codes, a tracker without the person's account.
    variant: bool,
    /// The record and the field of the login that the vault holds for it.
    pub login: Option<(&'static str, &'static str)>,
    /// The program where its users log in, if that is another one.
    pub identity: Option<&'static str>,
    /// The page for logging in, if the person's account asks for one-time codes.
    pub codes: Option<LoginPage>,
}

/// The page where a person logs in by hand. It puts the cursor into its first box.
pub struct LoginPage {
    /// Its path.
    pub path: &'static str,
    /// Words in its title and not in those of other pages, as a regular expression.
    pub title: &'static str,
    /// Words in the titles of all pages.
    pub everywhere: &'static str,
    /// The page for signing out, if that is a button which has the focus there.
    pub sign_out: Option<SignOut>,
}

/// A page for signing out.
pub struct SignOut {
    /// Its path.
    pub path: &'static str,
    /// Words in the title of the page that follows, and of no page before.
    pub title: &'static str,
    /// A command of SQL that counts the logins which the program knows, and the file that it is for.
    pub count: (&'static str, &'static str),
}

/// All programs. In the second shop and the second tracker the person has no account yet, and in the second wiki and the office a second factor. The identity provider comes before the site
/// that needs it.
pub const ALL: [Program; 11] = [
    Program {
        name: "oscar",
        sources: "oscar",
        variant: false,
        login: Some(("login:shop", "email")),
        identity: None,
        codes: None,
    },
    Program {
        name: "cards",
        sources: "oscar",
        variant: true,
        login: Some(("login:cardshop", "email")),
        identity: None,
        codes: None,
    },
    Program {
        name: "identity",
        sources: "identity",
        variant: false,
        login: Some(("login:identity", "username")),
        identity: None,
        codes: None,
    },
    Program {
        name: "members",
        sources: "members",
        variant: false,
        login: None,
        identity: Some("identity"),
        codes: None,
    },
    Program {
        name: "wordpress",
        sources: "wordpress",
        variant: false,
        login: Some(("login:notes", "username")),
        identity: None,
        codes: None,
    },
    Program {
        name: "mediawiki",
        sources: "mediawiki",
        variant: false,
        login: Some(("login:wiki", "username")),
        identity: None,
        codes: None,
    },
    Program {
        name: "codewiki",
        sources: "mediawiki",
        variant: true,
        login: Some(("login:codewiki", "username")),
        identity: None,
        codes: Some(LoginPage {
            path: "/index.php?title=Special:UserLogin",
            title: "Log in.*House wiki",
            everywhere: "House wiki",
            sign_out: None,
        }),
    },
    Program {
        name: "dokuwiki",
        sources: "dokuwiki",
        variant: false,
        login: Some(("login:doku", "username")),
        identity: None,
        codes: None,
    },
    Program {
        name: "roundup",
        sources: "roundup",
        variant: false,
        login: Some(("login:tracker", "username")),
        identity: None,
        codes: None,
    },
    Program {
        name: "newtracker",
        sources: "roundup",
        variant: true,
        login: Some(("login:newtracker", "username")),
        identity: None,
        codes: None,
    },
    Program {
        name: "office",
        sources: "twofactor",
        variant: false,
        login: Some(("login:office", "username")),
        identity: None,
        codes: Some(LoginPage {
            path: "/account/login/",
            title: "Login.*Kettle office",
            everywhere: "Kettle office",
            sign_out: Some(SignOut {
                path: "/",
                title: "Signed out.*Kettle office",
                count: ("office.sqlite", "select count(*) from django_session"),
            }),
        }),
    },
];

/// A program in its folder, with its two ports.
pub struct SetUp {
    /// The program.
    pub program: &'static Program,
    /// Its data.
    pub folder: PathBuf,
    /// Where it answers, without TLS.
    pub inner: u16,
    /// Where nginx answers for it.
    pub outer: u16,
}

impl SetUp {
    /// The host that a browser opens.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.outer)
    }

    /// The address that a browser opens.
    pub fn address(&self) -> String {
        format!("https://{}", self.host())
    }

    /// The folder's state before the first task.
    fn clean(&self) -> PathBuf {
        self.folder.with_extension("clean")
    }

    /// One of its two scripts.
    fn script(&self, run: &Run, library: &Library, name: &str) -> Result<Command, Failure> {
        let sources = run.sources.join("programs");
        let log = run.folder.join("logs").join(format!("{}.{name}.log", self.program.name));
        let unwritable = |error| Failure::not_set_up(format!("{}: {error}", log.display()));
        let log = File::create(&log).and_then(|file| Ok((file.try_clone()?, file))).map_err(unwritable)?;
        let mut command = Command::new("sh");
        command.arg("-eu").arg(sources.join(self.program.sources).join(name));
        command.env("FILES", &sources).env("FOLDER", &self.folder).env("PYTHON", library.python());
        command
            .env("ROUNDUP", library.folder.join("bin"))
            .env("VARIANT", if self.program.variant { "1" } else { "0" });
        command.env("PORT", self.inner.to_string()).env("ADDRESS", self.address());
        command.env("LOGIN_USER", super::person::USER).env("LOGIN_EMAIL", super::person::EMAIL);
        command.env("LOGIN_SEED", super::person::SEED);
        command.env("LOGIN_PASSWORD", super::person::PASSWORD).env("SHOP_EMAIL", super::person::SHOP_EMAIL);
        command.stdin(Stdio::null()).stdout(log.0).stderr(log.1);
        Ok(command)
    }
}

impl Program {
    /// Sets it up in a folder of the run.
    pub fn set_up(&'static self, run: &Run, library: &Library) -> Result<SetUp, Failure> {
        let folder = run.folder.join(self.name);
        super::fresh(&folder)?;
        let _exists = std::fs::create_dir_all(run.folder.join("logs"));
        let set_up = SetUp { program: self, folder, inner: free_port()?, outer: free_port()? };
        let status = set_up.script(run, library, "setup.sh")?.status();
        if !status.is_ok_and(|status| status.success()) {
            let log = run.folder.join("logs").join(format!("{}.setup.sh.log", self.name));
            let said = std::fs::read_to_string(log).unwrap_or_default();
            return Err(Failure::not_set_up(format!("{} cannot be set up:\n{said}", self.name)));
        }
        copy(&set_up.folder, &set_up.clean())?;
        Ok(set_up)
    }
}

/// The Python environment with what PyPI brings.
pub struct Library {
    folder: PathBuf,
}

impl Library {
    /// Makes it in the target folder, where it stays.
    pub fn fetch(place: &Place) -> Result<Library, Failure> {
        let folder = place.target.join("real-python");
        let (library, done) = (Library { folder: folder.clone() }, folder.join("complete"));
        if std::fs::read_to_string(&done).is_ok_and(|have| have == LIBRARIES.join("\n")) {
            return Ok(library);
        }
        let system =
            on_path("python3").ok_or_else(|| Failure::not_set_up("python3 is not found".to_owned()))?;
        eprintln!("fetching {} with pip", LIBRARIES.join(", "));
        install(Command::new(system).args(["-m", "venv", "--clear"]).arg(&folder))?;
        install(Command::new(library.python()).args(["-m", "pip", "install", "--quiet"]).args(LIBRARIES))?;
        written(&done, &LIBRARIES.join("\n"))?;
        Ok(library)
    }

    /// Its Python.
    pub fn python(&self) -> PathBuf {
        self.folder.join("bin").join("python")
    }
}

/// Installs Debian's packages that are missing.
fn install_missing(missing: &[&str]) -> Result<(), Failure> {
    let system = System::here();
    if system.can_install() {
        return install_packages(missing);
    }
    let command = system.install_command(missing);
    Err(Failure::not_set_up(format!("programs of the tasks are missing: as root on Debian, run `{command}`")))
}

/// Installs what the programs need.
pub fn packages() -> Result<(), Failure> {
    let missing = PACKAGES.iter().filter(|(_, file)| !Path::new(file).exists());
    let missing: Vec<&str> = missing.map(|(package, _)| *package).collect();
    if missing.is_empty() { Ok(()) } else { install_missing(&missing) }
}

/// Programs that answer; they are stopped when this is dropped.
pub struct Running {
    servers: Vec<Server>,
}

impl Running {
    /// Puts each folder in its first state and starts the programs.
    pub fn start(run: &Run, library: &Library, set_up: &[SetUp]) -> Result<Running, Failure> {
        let mut running = Running { servers: Vec::new() };
        for one in set_up {
            let _was_not_there = std::fs::remove_dir_all(&one.folder);
            copy(&one.clean(), &one.folder)?;
            let server = Server::start(&run.folder, one.program.name, one.script(run, library, "serve.sh")?)?;
            running.servers.push(server);
        }
        for (one, server) in set_up.iter().zip(&mut running.servers) {
            answers(one.inner, one.program.name)?;
            // Something else may answer at its port.
            if server.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return Err(Failure::not_set_up(format!("{} has ended: see its log", one.program.name)));
            }
        }
        Ok(running)
    }
}

/// A server with all processes that it started, which are a group.
pub struct Server {
    child: Child,
    note: PathBuf,
}

impl Server {
    /// Starts it, and notes its process in the run's folder for a later run.
    pub fn start(folder: &Path, name: &str, mut command: Command) -> Result<Server, Failure> {
        let child = command.process_group(0).spawn();
        let child = child.map_err(|error| Failure::not_set_up(format!("{name} does not start: {error}")))?;
        let note = folder.join(format!("{name}.process"));
        let server = Server { note, child };
        written(&server.note, &server.child.id().to_string())?;
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end_group(&self.child.id().to_string());
        let _ended = self.child.wait();
        let _gone = std::fs::remove_file(&self.note);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.servers.clear();
    }
}

fn end_group(process: &str) {
    let _gone_already =
        Command::new("kill").args(["--", &format!("-{process}")]).stderr(Stdio::null()).status();
}

/// Stops the servers of a run that was killed. A process that is not of this folder by now is left alone.
pub fn stop_left_over(folder: &Path) {
    for note in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if note.path().extension().is_none_or(|extension| extension != "process") {
            continue;
        }
        let process = std::fs::read_to_string(note.path()).unwrap_or_default();
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environment).contains(&*folder.to_string_lossy()) {
            end_group(&process);
        }
    }
}

/// The time that a server has until it answers.
const LONGEST_START: Duration = Duration::from_secs(60);

/// Waits until a server answers at a port of this machine.
pub fn answers(port: u16, name: &str) -> Result<(), Failure> {
    let began = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if began.elapsed() > LONGEST_START {
            return Err(Failure::not_set_up(format!("{name} does not answer on port {port}")));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// The ports of programs. The system gives out higher ones to connections, so none of these is taken by one meanwhile.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// The next port to try. Each is given out once: two programs would answer in each other's place.
static NEXT_PORT: AtomicU16 = AtomicU16::new(PORTS.start);

/// A port that is free, and that no other program of this run gets.
fn free_port() -> Result<u16, Failure> {
    let mut tried = std::iter::repeat_with(|| NEXT_PORT.fetch_add(1, Ordering::Relaxed))
        .take_while(|port| PORTS.contains(port));
    let free = tried.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.ok_or_else(|| Failure::not_set_up("no port is free".to_owned()))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    install(Command::new("cp").arg("-a").arg(from).arg(to))
}
