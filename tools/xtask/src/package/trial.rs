//! The packages tried as a new user does: in a root file system with Debian, Chromium and nothing of ours.

use super::release::Release;
use super::{PLATFORM, folder, fresh, unusable};
use crate::debian::{System, install_packages};
use crate::process::{Failure, Place, install, run};
use discovery::on_path;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The release of Debian.
const DEBIAN: &str = "bookworm";

/// A way to install, to start and to remove. `OUT` is the folder of the packages, `VERSION` their version, and `REGISTRY` the address of a
/// registry of npm's that has these packages alone.
struct Way {
    name: &'static str,
    /// The packages of Debian that such a user has already.
    needs: &'static [&'static str],
    install: &'static str,
    /// The command that starts the program; one that ends with `-c` takes what follows as one word for a shell.
    start: &'static str,
    remove: &'static str,
}

/// All ways. npm runs no script, and is asked for the package alone, which brings that of the platform from the folder beside.
const WAYS: [Way; 6] = [
    Way {
        name: "npx",
        needs: &["npm"],
        install: "npm_config_registry=REGISTRY npx --yes --ignore-scripts portcullis-guard --version",
        // npx hands three descriptors down, so its shell opens the one with the passphrase.
        start: "env npm_config_registry=REGISTRY npx --yes --package portcullis-guard -c",
        remove: "rm -rf /root/.npm",
    },
    Way {
        name: "uvx",
        needs: &["pipx"],
        install: "pipx install uv && /root/.local/bin/uvx --no-index --find-links OUT --from portcullis-guard portcullis --version",
        start: "/root/.local/bin/uvx --no-index --find-links OUT --from portcullis-guard portcullis",
        remove: "rm -rf /root/.local /root/.cache /root/.config/uv",
    },
    Way {
        name: "npm",
        needs: &["npm"],
        install: "npm install --global --ignore-scripts --no-audit --no-fund OUT/portcullis-guard-linux-x64-VERSION.tgz OUT/portcullis-guard-VERSION.tgz",
        start: "portcullis",
        remove: "npm uninstall --global portcullis-guard portcullis-guard-linux-x64 && rm -rf /root/.npm",
    },
    Way {
        name: "wheel",
        needs: &["pipx"],
        install: "pipx install OUT/portcullis_guard-VERSION-*.whl",
        start: "/root/.local/bin/portcullis",
        remove: "pipx uninstall portcullis-guard && rm -rf /root/.local /root/.cache",
    },
    Way {
        name: "deb",
        needs: &[],
        install: "apt-get install --quiet --yes --no-install-recommends OUT/portcullis_VERSION_amd64.deb",
        start: "portcullis",
        remove: "apt-get purge --quiet --yes portcullis",
    },
    Way {
        name: "tarball",
        needs: &[],
        install: "tar -C /usr/local --strip-components=1 -xzf OUT/portcullis-VERSION-PLATFORM.tar.gz",
        start: "/usr/local/bin/portcullis",
        remove: "tar -tzf OUT/portcullis-VERSION-PLATFORM.tar.gz | sed 's,^[^/]*/,/usr/local/,' | grep -v '/$' | xargs rm",
    },
];

/// The name of the last trial, in which the guard of Debian's package stands before the shop of the laboratory's tarball.
const LABORATORY: &str = "laboratory";

/// Installs both, has the laboratory start the scripted client for a hostile page of its shop and for the benign one, and removes both. The
/// laboratory judges at its servers; the card goes into the shop's form by the policy `wire`.
const ORDER_IN_THE_LABORATORY: &str = "cd /tmp
apt-get install --quiet --yes --no-install-recommends OUT/portcullis_VERSION_amd64.deb
tar -C /opt -xzf OUT/portcullis-lab-VERSION-PLATFORM.tar.gz
/opt/portcullis-lab-*/bin/portcullis-lab attack --browser own --kinds review \
    --agent 'python3 -B OUT/order_in_the_lab.py portcullis OUT/wire.policy'
rm -rf /opt/portcullis-lab-*
apt-get purge --quiet --yes portcullis";

/// The certificate authorities, below the root.
const AUTHORITIES: &str = "etc/ssl/certs/ca-certificates.crt";

/// Tries all ways, or those that are named, and prints a table.
pub fn of(place: &Place, release: &Release, names: &[String]) -> Result<(), Failure> {
    let known: Vec<&str> = WAYS.iter().map(|way| way.name).chain([LABORATORY]).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::input(format!(
            "`{unknown}` is no way to install; there are {}",
            known.join(", ")
        )));
    }
    if !folder(place, release).is_dir() {
        return Err(Failure::not_set_up("there are no packages yet: run `cargo xtask package`".to_owned()));
    }
    let root = Root::set_up(place, release)?;
    let registry = Registry::start(place, &folder(place, release))?;
    let fill = |script: &str| {
        let script = script.replace("OUT", "/packages").replace("VERSION", &release.version);
        script.replace("PLATFORM", PLATFORM).replace("REGISTRY", &registry.address)
    };
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let mut rows = Vec::new();
    for way in WAYS.iter().filter(|way| is_wanted(way.name)) {
        let row = root.try_way(place, way, fill)?;
        println!("{row}");
        rows.push(row);
    }
    if is_wanted(LABORATORY) {
        root.try_laboratory(place, fill)?;
    }
    if rows.is_empty() {
        return Ok(());
    }
    println!(
        "\n| way | installed in | first guarded page after | order | left behind |\n|---|---|---|---|---|"
    );
    rows.iter().for_each(|row| println!("{row}"));
    Ok(())
}

/// The root file system.
struct Root(PathBuf);

impl Root {
    /// Makes it with `debootstrap`, and puts Chromium into it. It stays for the next trial; what a trial installs is removed.
    fn set_up(place: &Place, release: &Release) -> Result<Root, Failure> {
        if !System::here().can_install() {
            return Err(Failure::not_set_up("a trial of the packages needs root on Debian".to_owned()));
        }
        if on_path("debootstrap").is_none() {
            install_packages(&["debootstrap"])?;
        }
        let root = Root(place.target.join("package-root"));
        let done = root.0.join("var/complete");
        if !done.is_file() {
            fresh(&root.0)?;
            install(Command::new("debootstrap").args(["--variant=minbase", DEBIAN]).arg(&root.0))?;
            let more = format!("deb http://deb.debian.org/debian-security {DEBIAN}-security main");
            root.sh(&format!("echo '{more}' >> /etc/apt/sources.list && apt-get update --quiet"))?;
            root.sh("apt-get install --quiet --yes --no-install-recommends chromium ca-certificates")?;
            super::written(&done, "")?;
        }
        // The registries of this machine's network may have a certificate authority of their own.
        for file in ["etc/resolv.conf", AUTHORITIES] {
            super::copied(&Path::new("/").join(file), &root.0.join(file))?;
        }
        let packages = root.0.join("packages");
        fresh(&packages)?;
        for package in super::entries(&folder(place, release))? {
            super::copied(&package, &packages.join(package.file_name().unwrap_or_default()))?;
        }
        Ok(root)
    }

    /// The words that call a shell in the root with a script: with the environment of a new login, the network of this machine, and mounts that
    /// end with the shell. Nothing of this machine is mounted where a removed folder would take it along.
    fn shell(&self) -> Vec<String> {
        const MOUNTED: &str =
            "for name in proc dev sys; do mount --rbind /$name \"$0/$name\"; done; exec chroot \"$0\" \"$@\"";
        let root = self.0.display().to_string();
        let mut words: Vec<String> = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", MOUNTED]
            .map(str::to_owned)
            .into();
        let login = ["/usr/bin/env", "-i", "HOME=/root", "DEBIAN_FRONTEND=noninteractive"];
        words.push(root);
        words.extend(login.map(str::to_owned));
        words.push(format!("PIP_CERT=/{AUTHORITIES}"));
        words.push("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned());
        words.extend(["/bin/sh", "-ec"].map(str::to_owned));
        words
    }

    fn command(&self, script: &str) -> Command {
        let shell = self.shell();
        let (program, arguments) =
            shell.split_first().map_or(("sh", &[][..]), |(first, rest)| (first.as_str(), rest));
        let mut command = Command::new(program);
        command.args(arguments).arg(script);
        command
    }

    fn sh(&self, script: &str) -> Result<(), Failure> {
        install(&mut self.command(script))
    }

    /// The files outside of the caches and lists of the package managers.
    fn files(&self) -> Result<BTreeSet<String>, Failure> {
        let script = "find / -xdev \\( -path /proc -o -path /dev -o -path /sys -o -path /tmp -o -path /packages -o -path /var/cache -o -path /var/lib/apt -o -path \
                      /var/lib/dpkg -o -path /var/log -o -name __pycache__ \\) -prune -o -type f -print";
        let output = self.command(script).output().map_err(|error| unusable(&self.0, &error))?;
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    /// Installs, looks with `doctor`, has an order placed, removes, and looks what is left.
    fn try_way(&self, place: &Place, way: &Way, fill: impl Fn(&str) -> String) -> Result<String, Failure> {
        let [install, start, remove] = [way.install, way.start, way.remove].map(fill);
        if !way.needs.is_empty() {
            self.sh(&format!(
                "apt-get install --quiet --yes --no-install-recommends {}",
                way.needs.join(" ")
            ))?;
        }
        const OURS: &str = "rm -rf /root/.portcullis /root/order-vault /root/order-audit";
        // An earlier trial that failed left the package and the vault there.
        self.sh(&format!("({}) >/dev/null 2>&1 || true; {OURS}", remove))?;
        let before = self.files()?;
        let began = Instant::now();
        self.sh(&install)?;
        let installed = began.elapsed();
        println!("== {}: doctor", way.name);
        run(&mut self.command(&format!("cd /tmp && {}", called(&start, "doctor"))))?;
        let first_page = self.order(place, way.name, &start)?;
        self.sh(&format!("{}; {OURS}", remove))?;
        let left: Vec<String> = self.files()?.difference(&before).cloned().collect();
        let left = if left.is_empty() { "nothing".to_owned() } else { left.join(", ") };
        Ok(format!(
            "| {} | {:.1} s | {:.1} s | ordered | {left} |",
            way.name,
            installed.as_secs_f32(),
            first_page.as_secs_f32()
        ))
    }

    /// Orders at the shop of the packaged laboratory, on a hostile page and its benign twin.
    fn try_laboratory(&self, place: &Place, fill: impl Fn(&str) -> String) -> Result<(), Failure> {
        self.sh("apt-get install --quiet --yes --no-install-recommends python3 libnss3-tools")?;
        for file in [
            "tools/xtask/src/package/order_in_the_lab.py",
            "tools/xtask/src/real/agent.py",
            "policies/wire.policy",
        ] {
            let from = place.root.join(file);
            super::copied(&from, &self.0.join("packages").join(from.file_name().unwrap_or_default()))?;
        }
        println!("== {LABORATORY}");
        let mut order = self.command(&fill(ORDER_IN_THE_LABORATORY));
        let output = order.stderr(Stdio::inherit()).output().map_err(|error| unusable(&self.0, &error))?;
        let said = String::from_utf8_lossy(&output.stdout);
        print!("{said}");
        let wanted = ["hostile", "benign"]
            .map(|page| format!("{page}: 1 of 1 orders as wanted, 0 leaked, 0 hijacked"));
        if output.status.success() && wanted.iter().all(|line| said.contains(line)) {
            return Ok(());
        }
        Err(Failure::finding("the laboratory's shop has no order as wanted: the table is above".to_owned()))
    }

    /// A scripted client orders at a shop of this machine: the program starts in the root, with a vault that was made there. Returns the time to
    /// the first guarded page.
    fn order(&self, place: &Place, name: &str, start: &str) -> Result<Duration, Failure> {
        let mut client = Command::new(python()?);
        client.arg("-B").arg(place.root.join("tools/xtask/src/package/order.py")).arg(&self.0).arg(start);
        client.args(self.shell());
        let output = client.stderr(Stdio::inherit()).output();
        let output =
            output.map_err(|error| Failure::not_set_up(format!("Python does not start: {error}")))?;
        let said = String::from_utf8_lossy(&output.stdout);
        print!("{said}");
        let last = said.lines().last().unwrap_or_default();
        match last.split_once('\t') {
            Some(("ordered", seconds)) => {
                Ok(Duration::from_secs_f32(seconds.trim().parse().unwrap_or_default()))
            }
            _ => Err(Failure::finding(format!("{name}: the order fails: {last}"))),
        }
    }
}

/// A registry of npm's, until it is dropped.
struct Registry {
    address: String,
    server: Child,
}

impl Registry {
    fn start(place: &Place, packages: &Path) -> Result<Registry, Failure> {
        let failed =
            |error: std::io::Error| Failure::not_set_up(format!("the registry does not start: {error}"));
        let mut server = Command::new(python()?);
        server.arg("-B").arg(place.root.join("tools/xtask/src/package/npm_registry.py")).arg(packages);
        let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let mut address = String::new();
        if let Some(said) = server.stdout.take() {
            BufReader::new(said).read_line(&mut address).map_err(failed)?;
        }
        Ok(Registry { address: address.trim().to_owned(), server })
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.server.stdin.take());
        let _ended = self.server.wait();
    }
}

/// The program called with these words, by a way's command.
fn called(start: &str, words: &str) -> String {
    if start.ends_with(" -c") { format!("{start} 'portcullis {words}'") } else { format!("{start} {words}") }
}

fn python() -> Result<PathBuf, Failure> {
    on_path("python3").ok_or_else(|| Failure::not_set_up("python3 is not found".to_owned()))
}
