//! A [`World`] behind HTTP.

mod eager;

use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{
    Method as HttpMethod, Request as HttpRequest, Response as HttpResponse, StatusCode, header,
};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use self::eager::EagerListener;
use super::{Request, Response, World};
use crate::suite::Method;

/// The largest body that is read; a larger one counts as no JSON.
const BODY_LIMIT: usize = 1024 * 1024;

/// Most connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// How long a stop waits for requests that are under way.
const STOP_WAIT: Duration = Duration::from_secs(2);

/// A reference server that is listening. It stops when this is dropped.
#[derive(Debug)]
pub struct Serving {
    /// Where it listens.
    pub address: SocketAddr,
    /// Dropped or sent: the signal to stop.
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Serving {
    /// `http://127.0.0.1:8000`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops listening and waits until requests that are under way are answered, but not for long.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        if tokio::time::timeout(STOP_WAIT, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

/// Serves a world on an address (port 0: any free one) until the returned handle is dropped.
pub async fn serve(world: World, address: SocketAddr) -> std::io::Result<Serving> {
    serve_on(world, TcpListener::bind(address).await?)
}

/// Serves a world on the socket that is this process's standard input, until the returned handle is dropped. Whoever started the
/// process has given the socket its address, so nobody else can take that in between; it does not listen before this is called. Called within a
/// runtime.
pub fn serve_on_stdin(world: World) -> std::io::Result<Serving> {
    let socket = std::net::TcpStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    serve_on(world, TcpSocket::from_std_stream(socket).listen(BACKLOG)?)
}

fn serve_on(world: World, listener: TcpListener) -> std::io::Result<Serving> {
    let address = listener.local_addr()?;
    let app = Router::new().fallback(answer).with_state(Arc::new(Mutex::new(world)));
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let served = axum::serve(EagerListener(listener), app).with_graceful_shutdown(async move {
            let _ = stopped.await;
        });
        if let Err(error) = served.await {
            tracing::warn!(%error, "the reference server ended");
        }
    });
    Ok(Serving { address, stop: Some(stop), task })
}

async fn answer(State(world): State<Arc<Mutex<World>>>, request: HttpRequest<Body>) -> HttpResponse<Body> {
    let (parts, body) = request.into_parts();
    let body = match to_bytes(body, BODY_LIMIT).await {
        Ok(bytes) if bytes.is_empty() => None,
        Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(drop)),
        Err(_) => Some(Err(())),
    };
    let method = match parts.method {
        HttpMethod::GET => Some(Method::Get),
        HttpMethod::POST => Some(Method::Post),
        HttpMethod::PUT => Some(Method::Put),
        HttpMethod::PATCH => Some(Method::Patch),
        HttpMethod::DELETE => Some(Method::Delete),
        _ => None,
    };
    let response = {
        let mut world = model::lock(&world);
        match method {
            None => world.unknown_route(),
            Some(method) => world.handle(&Request {
                method,
                path: decoded(parts.uri.path(), false),
                query: query(parts.uri.query().unwrap_or("")),
                body,
            }),
        }
    };
    written(&response)
}

fn written(response: &Response) -> HttpResponse<Body> {
    let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut written = match &response.body {
        None => HttpResponse::new(Body::empty()),
        Some(body) => {
            let mut written = HttpResponse::new(Body::from(body.to_string()));
            let json = header::HeaderValue::from_static("application/json");
            written.headers_mut().insert(header::CONTENT_TYPE, json);
            written
        }
    };
    *written.status_mut() = status;
    written
}

/// The parameters of a query, in order, as forms write them.
fn query(text: &str) -> Vec<(String, String)> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(key, true), decoded(value, true))
        })
        .collect()
}

/// Percent-decoded; what is no UTF-8 becomes U+FFFD, and a `%` without two digits stays.
fn decoded(text: &str, plus_is_space: bool) -> String {
    if !text.contains(['%', '+']) {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while let Some(&byte) = bytes.get(index) {
        let digit = |offset: usize| bytes.get(index + offset).and_then(|b| char::from(*b).to_digit(16));
        match byte {
            b'%' if digit(1).is_some() && digit(2).is_some() => {
                out.push((digit(1).unwrap_or(0) * 16 + digit(2).unwrap_or(0)) as u8);
                index += 2;
            }
            b'+' if plus_is_space => out.push(b' '),
            _ => out.push(byte),
        }
        index += 1;
    }
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_queries_are_decoded() {
        assert_eq!(decoded("/a%20b/%C3%A9", false), "/a b/é");
        assert_eq!(decoded("a+b%", true), "a b%");
        assert_eq!(decoded("a+b%4", false), "a+b%4");
        assert_eq!(decoded("%ff", false), "\u{fffd}");
        let pairs = query("a=1&&b=x%26y&c&d=2=3");
        let expected = [("a", "1"), ("b", "x&y"), ("c", ""), ("d", "2=3")];
        assert_eq!(pairs, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
}
