//! `portcullis native-host`: the program that the browser starts for the extension. It passes messages between the
//! extension and the service, and reads only the first of each. A program that starts it in place of the browser gets
//! the same access as the extension.

use std::path::Path;

use clap::Args;
use portcullis::service::ServiceFolder;
use portcullis::service::ServiceFolderError;
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
    /// The origin of the extension, as the browser reports it. The browser's other arguments are ignored.
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
    // A thread that cannot be stopped reads standard input; it has nothing more to do.
    runtime.shutdown_background();
    Ok(())
}

/// Passes messages until either end closes. If the service cannot be reached, the extension gets the reason.
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

/// Connects, and sends the extension's hello with the role and the auth token, which the extension does not know.
async fn connect(folder: &Path, hello: &[u8]) -> Result<UnixStream, Value> {
    let absent = || error("service_absent", "the service is not running; start it with `portcullis serve`");
    let place = ServiceFolder::open(folder).map_err(|problem| refused(&problem, absent))?;
    let word = place.auth_token(Role::Extension).map_err(|problem| refused(&problem, absent))?;
    let mut stream = UnixStream::connect(place.socket()).await.map_err(|_| absent())?;
    let mut hello: Value = serde_json::from_slice(hello).unwrap_or(Value::Null);
    if let Some(hello) = hello.get_mut("hello").and_then(Value::as_object_mut) {
        hello.insert("role".to_owned(), json!(Role::Extension.as_str()));
        hello.insert("word".to_owned(), json!(word.as_str()));
    }
    framing::write(&mut stream, hello.to_string().as_bytes()).await.map_err(|_| absent())?;
    Ok(stream)
}

fn refused(problem: &ServiceFolderError, absent: impl Fn() -> Value) -> Value {
    match problem {
        ServiceFolderError::Folder(folder) if folder.is_missing() => absent(),
        problem => error("folder", &problem.to_string()),
    }
}

/// Passes messages in one direction. Each is buffered whole, in memory that is wiped, and limited in length.
async fn pump(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
) -> Result<(), FramingError> {
    while let Some(message) = framing::read(from).await? {
        framing::write(to, &message).await?;
    }
    Ok(())
}
