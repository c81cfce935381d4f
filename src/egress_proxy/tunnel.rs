//! `CONNECT`: bytes in both directions, until somebody ends it or the way is cut.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional_with_sizes;

use std::sync::Arc;

use super::connect::connect;
use super::listener::{Permit, Shared, failed};
use super::target::Target;
use super::watched::Watched;

/// Bytes on their way in one direction.
const BUFFER: usize = 16 * 1024;

/// Connects to the target, says so, and then passes bytes on in a task of its own.
pub(super) async fn tunnel(
    shared: &Arc<Shared>,
    target: &Target,
    mut request: Request<Incoming>,
) -> Response {
    let Ok(mut pass) = shared.gate().open(target) else { return failed() };
    let Some(server) = connect(shared, &mut pass, target).await else { return failed() };
    let upgraded = hyper::upgrade::on(&mut request);
    let permit = request.extensions_mut().remove::<Permit>();
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let (mut server, movement) = Watched::new(server);
        let passing = async {
            let Ok(client) = upgraded.await else { return };
            let mut client = TokioIo::new(client);
            let _ended = copy_bidirectional_with_sizes(&mut client, &mut server, BUFFER, BUFFER).await;
        };
        tokio::select! {
            biased;
            () = pass.cut() => {}
            () = shared.closed() => {}
            () = movement.silence(shared.limits().idle) => {}
            () = passing => {}
        }
        // The way is gone only when its connection is.
        drop(server);
        drop(pass);
        drop(permit);
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::OK;
    response
}
