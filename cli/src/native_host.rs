//! `portcullis native-host`: what the browser starts for the extension. It carries messages between the two and
//! understands only the first of each; whoever starts it instead of the browser gets what the extension gets.

use std::path::Path;

use clap::Args;
use portcullis::service::ServicePlace;
use portcullis::service::place::PlaceError;
use portcullis::service::protocol::{EXTENSION_ID, Role, error};
use portcullis::signals::extension::framing::{self, FramingError};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;

use crate::failure::Failure;
use crate::serve::{Folder, runtime};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    folder: Folder,
    /// The origin of the extension, as the browser says it. What else the browser says is not looked at.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    said: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let origin = arguments.said.first().map(|origin| origin.trim_end_matches('/'));
    if origin != Some(&format!("chrome-extension://{EXTENSION_ID}")) {
        return Err(Failure::Input(format!(
            "this is started by a browser for the extension {EXTENSION_ID}; `portcullis install-host` tells the \
             browser of it"
        )));
    }
    let folder = arguments.folder.path()?;
    let runtime = runtime()?;
    runtime.block_on(carry(&folder));
    // Standard input is read by a thread that cannot be stopped; there is nothing left for it to read.
    runtime.shutdown_background();
    Ok(())
}

/// Carries messages until either end goes away. Where the service cannot be reached the extension is told why.
async fn carry(folder: &Path) {
    let (mut from_browser, mut to_browser) = (tokio::io::stdin(), tokio::io::stdout());
    let hello = framing::read(&mut from_browser).await;
    let connected = match &hello {
        Ok(Some(hello)) => connect(folder, hello).await,
        _ => return,
    };
    let stream = match connected {
        Ok(stream) => stream,
        Err(problem) => {
            let _gone = framing::write(&mut to_browser, problem.to_string().as_bytes()).await;
            return;
        }
    };
    let (mut from_service, mut to_service) = stream.into_split();
    tokio::select! {
        _ = pump(&mut from_browser, &mut to_service) => {}
        _ = pump(&mut from_service, &mut to_browser) => {}
    }
}

/// Connects, and says the extension's hello with the role and the word of pairing that it does not know.
async fn connect(folder: &Path, hello: &[u8]) -> Result<UnixStream, Value> {
    let absent = || error("service_absent", "the service is not running; start it with `portcullis serve`");
    let place = ServicePlace::open(folder).map_err(|problem| refused(&problem, absent))?;
    let word = place.word(Role::Extension).map_err(|problem| refused(&problem, absent))?;
    let mut stream = UnixStream::connect(place.socket()).await.map_err(|_| absent())?;
    let mut hello: Value = serde_json::from_slice(hello).unwrap_or(Value::Null);
    if let Some(hello) = hello.get_mut("hello").and_then(Value::as_object_mut) {
        hello.insert("role".to_owned(), json!(Role::Extension.as_str()));
        hello.insert("word".to_owned(), json!(word.as_str()));
    }
    framing::write(&mut stream, hello.to_string().as_bytes()).await.map_err(|_| absent())?;
    Ok(stream)
}

fn refused(problem: &PlaceError, absent: impl Fn() -> Value) -> Value {
    match problem {
        PlaceError::Folder(folder) if folder.is_missing() => absent(),
        problem => error("folder", &problem.to_string()),
    }
}

/// Carries messages one way. Each is held whole, in memory that is wiped, and is no longer than any may be.
async fn pump(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
) -> Result<(), FramingError> {
    while let Some(message) = framing::read(from).await? {
        framing::write(to, &message).await?;
    }
    Ok(())
}
