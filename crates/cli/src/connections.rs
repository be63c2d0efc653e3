//! The connections of `stamina serve`: bounded in number and in time, so that a client that opens many, or sends half a
//! request, keeps nobody else out.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Most connections that are open at once; further ones wait until one closes.
const MOST: usize = 512;
/// How long the head of a request may take, and how long a connection may stay without one.
const HEAD: Duration = Duration::from_secs(10);
/// The pause after a connection could not be taken, as where this process has no descriptor left.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers every connection; never ends.
pub(crate) async fn serve(listener: TcpListener, app: Router) -> Infallible {
    let open = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(permit) = Arc::clone(&open).acquire_owned().await else { continue };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(app.clone());
        tokio::spawn(async move {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
            if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(permit);
        });
    }
}
