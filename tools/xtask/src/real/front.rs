//! TLS before the programs: an authority for one run, and nginx.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::Failure;
use crate::real::programs::{Server, SetUp, answers};
use crate::real::{Run, fresh, written};
use crate::setup::Tools;

/// nginx, until this is dropped.
pub struct Front {
    _server: Server,
}

impl Front {
    /// Makes the authority, lets the browsers of the run's home folder trust it, and starts nginx.
    pub fn start(run: &Run, tools: &Tools, programs: &[SetUp]) -> Result<Front, Failure> {
        let folder = run.folder.join("tls");
        fresh(&folder)?;
        certificates(&folder)?;
        trust(run, tools, &folder)?;
        let settings = folder.join("nginx.conf");
        written(&settings, &configuration(&folder, programs))?;
        let mut nginx = Command::new("/usr/sbin/nginx");
        nginx.arg("-p").arg(&folder).arg("-c").arg(&settings).env("FOLDER", &folder);
        nginx.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Server::start(&run.folder, "nginx", nginx)?;
        for program in programs {
            answers(program.outer, "nginx")?;
        }
        Ok(Front { _server: server })
    }
}

/// An authority, and a certificate of it for 127.0.0.1, as files.
fn certificates(folder: &Path) -> Result<(), Failure> {
    let names = folder.join("names");
    written(&names, "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")?;
    let key = ["-newkey", "rsa:2048", "-nodes"];
    let mut authority =
        openssl(folder, &["req", "-x509", "-days", "2", "-subj", "/CN=tasks on real software"]);
    quietly(authority.args(key).args(["-keyout", "authority.key", "-out", "authority.pem"]))?;
    let mut asked = openssl(folder, &["req", "-subj", "/CN=127.0.0.1"]);
    quietly(asked.args(key).args(["-keyout", "site.key", "-out", "site.csr"]))?;
    let mut signed = openssl(folder, &["x509", "-req", "-days", "2", "-in", "site.csr", "-out", "site.pem"]);
    quietly(signed.args([
        "-CA",
        "authority.pem",
        "-CAkey",
        "authority.key",
        "-CAcreateserial",
        "-extfile",
        "names",
    ]))
}

fn openssl(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("/usr/bin/openssl");
    command.current_dir(folder).args(arguments);
    command
}

/// The NSS database of the home folder of the run's browsers.
fn trust(run: &Run, tools: &Tools, folder: &Path) -> Result<(), Failure> {
    let certutil = tools.environment().into_iter().find(|(name, _)| *name == "PORTCULLIS_CERTUTIL");
    let (_, certutil) = certutil.ok_or_else(|| Failure::not_set_up("certutil is not found".to_owned()))?;
    let database = run.folder.join("home/.pki/nssdb");
    fresh(&database)?;
    let named = format!("sql:{}", database.display());
    quietly(Command::new(&certutil).args(["-N", "--empty-password", "-d", &named]))?;
    let add = ["-A", "-d", &named, "-n", "tasks", "-t", "C,,", "-i"];
    quietly(Command::new(&certutil).args(add).arg(folder.join("authority.pem")))
}

fn quietly(command: &mut Command) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|error| Failure::not_set_up(format!("`{name}` does not start: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Failure::not_set_up(format!("`{name}` failed: {said}")))
}

fn configuration(folder: &Path, programs: &[SetUp]) -> String {
    let folder = folder.display();
    let mut text = format!(
        "daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;\n\
         events {{}}\nhttp {{\n access_log off; ssl_certificate {folder}/site.pem; ssl_certificate_key {folder}/site.key;\n"
    );
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        let _written = writeln!(text, " {kind}_temp_path {folder}/{kind};");
    }
    for program in programs {
        let _written = writeln!(
            text,
            " server {{ listen 127.0.0.1:{} ssl; location / {{ proxy_pass http://127.0.0.1:{};\n  \
             proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Host $http_host;\n  \
             proxy_set_header X-Forwarded-Proto https; }} }}",
            program.outer, program.inner
        );
    }
    text + "}\n"
}
