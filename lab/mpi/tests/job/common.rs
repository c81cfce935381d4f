//! Jobs and texts.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hmm_control::distil::Sequences;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A job that hangs is ended after this; the longest takes a tenth of it.
const LIMIT: Duration = Duration::from_secs(600);

pub const VOCABULARY: u32 = 60;
/// The end token.
pub const END: u32 = 59;

/// Texts in which the next token depends on the last, each with the end token; some tokens do not occur.
pub fn texts(count: usize, seed: u64) -> Sequences {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Sequences::new();
    for _ in 0..count {
        let mut token = rng.next_u32() % 50;
        let mut text = Vec::new();
        for _ in 0..4 + rng.next_u32() % 20 {
            text.push(token);
            token = (token * 3 + 1 + rng.next_u32() % 4) % 50;
        }
        text.push(END);
        all.push(&text);
    }
    all
}

/// `mpirun` with this many processes of the command, in a folder.
pub fn job(folder: &Path, ranks: usize, arguments: &[&str]) -> Command {
    let mut job = mpirun();
    job.current_dir(folder)
        .args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_portcullis-mpi")])
        .args(arguments);
    job
}

/// `mpirun` on one machine, with more processes than processors, and as root too.
pub fn mpirun() -> Command {
    let mut job = Command::new("mpirun");
    job.args(["--oversubscribe", "--allow-run-as-root"]).stdin(Stdio::null());
    job.stdout(Stdio::piped()).stderr(Stdio::piped());
    job
}

pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn expect_success(self) -> Ended {
        assert!(self.status.success(), "{}: {}{}", self.status, self.stdout, self.stderr);
        self
    }
}

fn reader(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut all = Vec::new();
        from.read_to_end(&mut all).unwrap();
        String::from_utf8_lossy(&all).into_owned()
    })
}

/// Runs a job to its end.
pub fn run(mut job: Command) -> Ended {
    let mut child = job.spawn().unwrap();
    let (stdout, stderr) = (reader(child.stdout.take().unwrap()), reader(child.stderr.take().unwrap()));
    let status = wait(&mut child);
    Ended { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

pub fn wait(child: &mut Child) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if began.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("the job hangs");
        }
        thread::sleep(Duration::from_millis(20));
    }
}
