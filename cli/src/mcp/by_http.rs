//! `portcullis mcp --port`: the server by HTTP.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use mcp_guard::Gateway;
use mcp_guard::http::listen;
use mcp_guard::http::tokens::Tokens;
use tokio::net::TcpListener;

use crate::failure::Failure;
use crate::serve::stopped;

#[derive(clap::Args)]
pub struct HttpArguments {
    /// Serve by HTTP on this machine, at the path `/mcp` of this port, in the place of the standard streams. 0 takes a free
    /// port. Each client has one session at a time, and you are asked in a window of the guard or on this terminal.
    #[arg(long, value_name = "PORT", requires = "tokens")]
    port: Option<u16>,
    /// The address to serve at: one of this machine alone.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", requires = "port")]
    host: IpAddr,
    /// The clients' tokens: a file that you alone can read, with a line `LABEL TOKEN` for each client. The label is your
    /// name for the client, which questions tell you. A token is 64 hexadecimal digits (`openssl rand -hex 32`) or 43
    /// characters of base64url, and the client sends it as `Authorization: Bearer TOKEN`.
    #[arg(long, value_name = "FILE", requires = "port")]
    tokens: Option<PathBuf>,
}

impl HttpArguments {
    /// Listens, if a port was given.
    pub async fn listen(&self) -> Result<Option<Listening>, Failure> {
        let (Some(port), Some(tokens)) = (self.port, &self.tokens) else { return Ok(None) };
        let tokens = Tokens::read(tokens).map_err(|error| Failure::Input(error.to_string()))?;
        let listener = listen(SocketAddr::new(self.host, port)).await;
        let listener = listener.map_err(|error| Failure::Input(error.to_string()))?;
        Ok(Some(Listening { listener, tokens }))
    }
}

/// A server that listens and does not answer yet.
pub struct Listening {
    listener: TcpListener,
    tokens: Tokens,
}

impl Listening {
    /// Serves until this process gets a signal.
    pub async fn serve(self, gateway: Gateway) -> Result<(), Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::NotSetUp(error.to_string());
        let address = self.listener.local_addr().map_err(|error| failed(&error))?;
        println!("serving at http://{address}/mcp");
        let served = gateway.serve_by_http(self.listener, self.tokens, stopped()).await;
        served.map_err(|error| failed(&error))
    }
}
