//! The real KeePassXC, headless, with a database of its own.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use credential_sources::keepassxc::socket;
use tempfile::TempDir;

use super::KEY;

pub const MASTER: &str = "master of the fixture";
pub const SEED: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

/// The programs, if the environment names them: `KEEPASSXC` and `KEEPASSXC_CLI`.
pub fn programs() -> Option<(PathBuf, PathBuf)> {
    Some((std::env::var_os("KEEPASSXC")?.into(), std::env::var_os("KEEPASSXC_CLI")?.into()))
}

/// An entry of the fixture: title, addresses (the first is the main one), further attributes, custom data.
#[derive(Clone, Default)]
pub struct Entry {
    pub title: String,
    pub urls: Vec<String>,
    pub fields: Vec<(String, String)>,
    pub custom: Vec<(String, String)>,
}

impl Entry {
    pub fn new(title: &str, urls: &[&str]) -> Entry {
        let urls = urls.iter().map(|url| (*url).to_owned()).collect();
        Entry { title: title.to_owned(), urls, ..Entry::default() }
    }

    pub fn field(mut self, key: &str, value: &str) -> Entry {
        self.fields.push((key.to_owned(), value.to_owned()));
        self
    }

    pub fn custom(mut self, key: &str, value: &str) -> Entry {
        self.custom.push((key.to_owned(), value.to_owned()));
        self
    }

    pub fn password(&self) -> String {
        format!("secret\"of\\{}", self.title)
    }

    fn xml(&self, number: u16) -> String {
        let mut uuid = [0xaa; 16];
        uuid[14..].copy_from_slice(&number.to_be_bytes());
        let mut xml = format!("<Entry><UUID>{}</UUID>", STANDARD.encode(uuid));
        let mut string = |key: &str, value: &str| {
            let value = value.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
            write!(xml, "<String><Key>{key}</Key><Value>{value}</Value></String>").unwrap();
        };
        string("Title", &self.title);
        string("UserName", &format!("user of {}", self.title));
        string("Password", &self.password());
        for (at, url) in self.urls.iter().enumerate() {
            string(&if at == 0 { "URL".to_owned() } else { format!("KP2A_URL_{at}") }, url);
        }
        for (key, value) in &self.fields {
            string(key, value);
        }
        xml.push_str(&custom(&self.custom));
        xml + "</Entry>"
    }
}

fn custom(items: &[(String, String)]) -> String {
    let items: String = items
        .iter()
        .map(|(key, value)| {
            let value = value.replace('&', "&amp;").replace('"', "&quot;");
            format!("<Item><Key>{key}</Key><Value>{value}</Value></Item>")
        })
        .collect();
    format!("<CustomData>{items}</CustomData>")
}

pub struct RealKeePassXc {
    pub home: TempDir,
    process: Child,
}

impl Drop for RealKeePassXc {
    fn drop(&mut self) {
        self.kill();
    }
}

impl RealKeePassXc {
    /// Starts the program with one group of entries. `settings` are lines of the section `[Browser]`.
    pub fn start(entries: &[Entry], settings: &str) -> RealKeePassXc {
        RealKeePassXc::start_with(entries, settings, &[], None)
    }

    pub fn start_with(
        entries: &[Entry],
        settings: &str,
        group: &[(String, String)],
        display: Option<&str>,
    ) -> RealKeePassXc {
        let (program, cli) = programs().unwrap();
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        for folder in ["run", "tmp", ".config/keepassxc", ".cache"] {
            fs::create_dir_all(path(folder)).unwrap();
        }
        fs::set_permissions(path("run"), fs::Permissions::from_mode(0o700)).unwrap();
        let settings = format!(
            "[General]\nConfigVersion=2\nMinimizeAfterUnlock=false\n[GUI]\nCheckForUpdates=false\n[Browser]\nEnabled=true\n{settings}\n"
        );
        fs::write(path(".config/keepassxc/keepassxc.ini"), settings).unwrap();
        let entries: String = (1..).zip(entries).map(|(number, entry)| entry.xml(number)).collect();
        let known = custom(&[("KPXC_BROWSER_guard".to_owned(), KEY.to_owned())]);
        let uuid = STANDARD.encode([9; 16]);
        let xml = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><KeePassFile><Meta><Generator>test</Generator>{known}</Meta>\
             <Root><Group><UUID>{uuid}</UUID><Name>Root</Name>{}{entries}</Group></Root></KeePassFile>",
            custom(group)
        );
        fs::write(path("fixture.xml"), xml).unwrap();
        let mut import = environment(&cli, home.path())
            .args(["import", "-q", "-p", "-t", "100"])
            .args([path("fixture.xml"), path("fixture.kdbx")])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        import.stdin.take().unwrap().write_all(format!("{MASTER}\n{MASTER}\n").as_bytes()).unwrap();
        assert!(import.wait().unwrap().success());
        let mut command = environment(&program, home.path());
        if let Some(display) = display {
            command.env("QT_QPA_PLATFORM", "xcb").env("DISPLAY", display);
        }
        let log = fs::File::create(path("log")).unwrap();
        let mut process = command
            .arg("--pw-stdin")
            .arg(path("fixture.kdbx"))
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        process.stdin.take().unwrap().write_all(format!("{MASTER}\n").as_bytes()).unwrap();
        let real = RealKeePassXc { home, process };
        let started = Instant::now();
        loop {
            if socket::find(&real.runtime()).is_ok()
                && super::plain::Plain::connect(&real.socket()).test_associate()["success"] == "true"
            {
                return real;
            }
            assert!(
                started.elapsed() < Duration::from_secs(30),
                "{:?}",
                fs::read_to_string(real.home.path().join("log"))
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn runtime(&self) -> PathBuf {
        self.home.path().join("run")
    }

    pub fn socket(&self) -> PathBuf {
        socket::find(&self.runtime()).unwrap()
    }

    /// SIGKILL, since KeePassXC stays on SIGTERM.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    pub fn signal(&self, signal: &str) {
        assert!(
            Command::new("kill").args([signal, &self.process.id().to_string()]).status().unwrap().success()
        );
    }

    /// The code of this moment, by the command line program.
    pub fn code(&self, title: &str) -> String {
        let (_, cli) = programs().unwrap();
        let mut show = environment(&cli, self.home.path())
            .args(["show", "-q", "-t"])
            .arg(self.home.path().join("fixture.kdbx"))
            .arg(title)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        show.stdin.take().unwrap().write_all(format!("{MASTER}\n").as_bytes()).unwrap();
        String::from_utf8(show.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
    }
}

fn environment(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8").env("HOME", home);
    command.env("QT_QPA_PLATFORM", "offscreen").env("XDG_RUNTIME_DIR", home.join("run"));
    command.env("TMPDIR", home.join("tmp")).env("XDG_CONFIG_HOME", home.join(".config"));
    command
}
