//! Runs guarded sessions for clients on loopback, four at a time. A client sends one line with its task, such as
//! `https://shop.example address,contact Two kettles, please`, is asked as the user, and gets lines of JSON.

use std::error::Error;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex};

use portcullis::audit::{AuditEvent, AuditLog, SessionId};
use portcullis::consent::{Answer, AnswerFuture, Answerer, ConsentPrompt};
use portcullis::guard::SystemEntropy;
use portcullis::session::UserTask;
use portcullis::signals::playwright::{Browser, BrowserSettings};
use portcullis::signals::{Origin, Verb};
use portcullis::sirl::Kind;
use portcullis::{Action, DEFAULT_POLICY, Guard, Session};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

type Failure = Box<dyn Error + Send + Sync>;

/// A client's record.
#[derive(Default)]
struct ClientLog(Vec<Value>);

impl AuditLog for ClientLog {
    fn append(
        &mut self,
        session: SessionId,
        event: &AuditEvent,
        unix_ms: u64,
        _sync: bool,
    ) -> io::Result<()> {
        self.0.push(json!({ "time": unix_ms, "session": session, "record": event.to_json() }));
        Ok(())
    }
}

/// The person at the other end of the connection.
struct Client {
    lines: Lines<BufReader<OwnedReadHalf>>,
    out: Arc<tokio::sync::Mutex<OwnedWriteHalf>>,
}

impl Answerer for Client {
    fn answer<'a>(&'a mut self, prompt: &'a ConsentPrompt) -> AnswerFuture<'a> {
        Box::pin(async move {
            let choices: Vec<&str> = prompt.choices().map(Answer::as_str).collect();
            if send(&self.out, json!({ "question": prompt.to_string(), "choices": choices })).await.is_err() {
                return Answer::No;
            }
            let line = self.lines.next_line().await.ok().flatten();
            line.and_then(|line| Answer::from_word(line.trim())).unwrap_or(Answer::No)
        })
    }
}

async fn send(out: &tokio::sync::Mutex<OwnedWriteHalf>, message: Value) -> io::Result<()> {
    out.lock().await.write_all(format!("{message}\n").as_bytes()).await
}

/// `SITE,SITE KIND,KIND WORDS`. A client without kinds writes `-`.
fn read_task(line: &str) -> Result<(UserTask, Vec<Origin>, Vec<Kind>), Failure> {
    let mut parts = line.trim().splitn(3, ' ');
    let sites =
        parts.next().unwrap_or_default().split(',').map(Origin::parse).collect::<Result<Vec<_>, _>>()?;
    let kinds = parts.next().unwrap_or("-").split(',').filter(|kind| *kind != "-");
    let kinds = kinds.map(str::parse).collect::<Result<Vec<Kind>, _>>()?;
    let task = UserTask::new(sites.clone(), kinds.clone()).with_words(parts.next().unwrap_or_default());
    Ok((task, sites, kinds))
}

async fn serve(stream: TcpStream, browser: Arc<Browser>) -> Result<(), Failure> {
    let (input, output) = stream.into_split();
    let (mut lines, out) = (BufReader::new(input).lines(), Arc::new(tokio::sync::Mutex::new(output)));
    let line = lines.next_line().await?.ok_or("no task")?;
    let (task, sites, kinds) = match read_task(&line) {
        Ok(task) => task,
        Err(error) => return Ok(send(&out, json!({ "error": error.to_string() })).await?),
    };
    let log = Arc::new(Mutex::new(ClientLog::default()));
    let client = Box::new(Client { lines, out: out.clone() });
    let guard = Guard::new(DEFAULT_POLICY, Box::new(log.clone()), client, Box::new(SystemEntropy))?;
    match Session::begin_task(guard, &browser, task).await {
        Err((error, _guard)) => send(&out, json!({ "error": error.to_string() })).await?,
        Ok(mut session) => {
            // The agent: it opens and reads each site, and asks for each kind once.
            let visits = sites
                .iter()
                .flat_map(|site| [Verb::Open { url: site.to_string() }, Verb::Read])
                .map(Action::Verb);
            let requests = kinds.iter().map(|kind| Action::Request(format!("REQ.{kind}\nREQ.end")));
            for action in visits.chain(requests) {
                let outcome = session.act(action.clone()).await;
                send(&out, json!({ "action": action, "outcome": outcome })).await?;
            }
            let (report, _guard) = session.finish().await;
            send(&out, json!({ "report": report })).await?;
        }
    }
    let records = std::mem::take(&mut log.lock().map_err(|_| "the log is broken")?.0);
    Ok(send(&out, json!({ "log": records })).await?)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(chromium), Some(port)) = (arguments.next(), arguments.next()) else {
        return Err("usage: session-server CHROMIUM PORT [PRIVATE HOST:PORT ...]".into());
    };
    let mut settings = BrowserSettings::new(chromium);
    settings.sandbox = std::fs::metadata("/proc/self")?.uid() != 0;
    settings.private_hosts = arguments.collect();
    let browser = Arc::new(Browser::launch_on_pipe(settings).await?);
    let places = Arc::new(Semaphore::new(4));
    let listener = TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    loop {
        let (stream, peer) = listener.accept().await?;
        let (place, browser) = (places.clone().acquire_owned().await?, browser.clone());
        tokio::spawn(async move {
            if let Err(error) = serve(stream, browser).await {
                eprintln!("{peer}: {error}");
            }
            drop(place);
        });
    }
}
