//! `stamina serve`: the app in a browser on the same machine.
//!
//! Loopback only. Every command requires the token, and a `Host` that is the loopback address, so that no page of another
//! site reaches it by name (DNS rebinding). A request of another site's page names that site in `Origin` and is refused.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path as Segment, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use tokio::sync::Semaphore;
use tower_http::set_header::SetResponseHeaderLayer;
use workbench::Workbench;
use workbench::api::ApiError;
use workbench::runs::InFlight;

use crate::connections;
use crate::print::{note, print};
use crate::signals::StopSignals;
use crate::web_ui::WebUi;

/// Pages may load only what this server serves.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const TOKEN: HeaderName = HeaderName::from_static("x-stamina-token");
/// Most bytes of a request, and the time in which they must arrive.
const LARGEST_BODY: usize = 1 << 20;
const BODY_TIME: Duration = Duration::from_secs(30);
/// The command that waits for changes, and how many calls of it wait at once. Each takes a connection and a thread, and
/// other commands need threads too. Further calls wait shortly for a place and are then answered with the present state.
const LONG_POLL: &str = "wait_for_changes";
const LONG_POLLS: usize = 64;
const WAIT_FOR_PLACE: Duration = Duration::from_secs(1);

#[derive(Clone)]
struct Host {
    workbench: Arc<Workbench>,
    token: Arc<str>,
    port: u16,
    long_polls: Arc<Semaphore>,
}

/// Serves until the process is asked to end. Prints the link once the port is open.
pub(crate) async fn serve(
    workbench: Arc<Workbench>,
    port: u16,
    token: Option<String>,
    ui: Option<PathBuf>,
    json: bool,
) -> Result<(), ApiError> {
    let ui = WebUi::find(ui)?;
    // An empty token would admit every page.
    let token = match token.filter(|token| !token.is_empty()) {
        Some(token) => token,
        None => random_token()?,
    };
    let listener =
        tokio::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.map_err(|e| {
            ApiError::new("serve.port", format!("Port {port} cannot be opened: {e}"))
                .hint("Choose another with --port, or 0 for a free one")
        })?;
    let port = listener.local_addr().map_err(|e| ApiError::new("serve.port", e.to_string()))?.port();
    workbench::runs::sweep_leftovers();
    workbench::runs::remove_old_smoke_tests();
    // Signals are handled before a run can begin that a signal has to stop.
    let mut signals = StopSignals::new();
    let host = Host {
        workbench: workbench.clone(),
        token: token.as_str().into(),
        port,
        long_polls: Arc::new(Semaphore::new(LONG_POLLS)),
    };
    let app = ui
        .serve(axum::Router::new().route("/rpc/{name}", post(rpc)))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(host.clone(), check_host))
        .layer(set(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY))
        .layer(set(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(set(header::REFERRER_POLICY, "no-referrer"))
        .with_state(host);
    let link = format!("http://127.0.0.1:{port}/?token={token}");
    print(&if json {
        format!("{}\n", serde_json::json!({ "url": link, "port": port, "token": token }))
    } else {
        format!("Stamina Lab is at {link}\nPress Ctrl C to stop.\n")
    });
    let mut serving = std::pin::pin!(connections::serve(listener, app));
    // Requests that wait for changes would delay a graceful shutdown, so the server itself ends at once.
    tokio::select! {
        never = &mut serving => match never {},
        () = next(&mut signals) => {}
    }
    let looked = workbench.clone();
    let in_flight = tokio::task::spawn_blocking(move || looked.in_flight()).await.unwrap_or_default();
    let Some(in_flight) = in_flight else {
        let left = tokio::task::spawn_blocking(move || workbench.note_orderly_end());
        left.await.unwrap_or_default();
        return Ok(());
    };
    note(&stopping(in_flight));
    // Meanwhile pages still show the runs.
    let stopped = tokio::task::spawn_blocking(move || {
        workbench.stop_own_runs();
        workbench.note_orderly_end();
    });
    tokio::select! {
        never = &mut serving => match never {},
        _ = stopped => Ok(()),
        () = next(&mut signals) => std::process::exit(i32::from(super::run::STOPPED)),
    }
}

/// The message when this process ends while it has runs.
fn stopping(InFlight { runs, attempts }: InFlight) -> String {
    let counted = |n: u32, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    format!(
        "stopping {} with {} in flight: what was finished is kept, `stamina resume` continues it; a second signal exits at once",
        counted(runs, "run"),
        counted(attempts, "attempt")
    )
}

/// Waits for the next signal; forever where the system does not let this process handle signals.
async fn next(signals: &mut std::io::Result<StopSignals>) {
    match signals {
        Ok(signals) => signals.next().await,
        Err(_) => std::future::pending().await,
    }
}

fn set(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}

async fn check_host(State(host): State<Host>, request: Request, next: Next) -> Response {
    match refusal(request.uri(), request.headers(), host.port) {
        Some(reason) => (StatusCode::FORBIDDEN, reason).into_response(),
        None => next.run(request).await,
    }
}

/// Why a request is refused, by its `Host` and `Origin`, and by the host that its address may name instead (RFC 9112, 3.2.2).
/// A second one of either counts, too.
fn refusal(uri: &Uri, headers: &HeaderMap, port: u16) -> Option<&'static str> {
    let given =
        |name: HeaderName| headers.get_all(name).into_iter().map(|value| value.to_str().unwrap_or_default());
    let is_ours = |name: &str| {
        name.strip_suffix(&format!(":{port}")).is_some_and(|host| matches!(host, "127.0.0.1" | "localhost"))
    };
    let mut hosts = given(header::HOST).chain(uri.authority().map(Authority::as_str));
    if given(header::HOST).next().is_none() || !hosts.all(is_ours) {
        return Some("Only reachable as 127.0.0.1 or localhost");
    }
    // Programs other than browsers send none.
    let is_foreign = |origin: &str| !origin.strip_prefix("http://").is_some_and(is_ours);
    given(header::ORIGIN).any(is_foreign).then_some("Pages of other sites have no access")
}

async fn rpc(
    State(host): State<Host>,
    Segment(name): Segment<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let given = headers.get(TOKEN).map(HeaderValue::as_bytes).unwrap_or_default();
    if !same(given, host.token.as_bytes()) {
        let error = ApiError::new("serve.token", "The token is missing or wrong")
            .hint("Open the link that `stamina serve` printed");
        return (StatusCode::UNAUTHORIZED, Json(error)).into_response();
    }
    let Ok(read) = tokio::time::timeout(BODY_TIME, axum::body::to_bytes(body, LARGEST_BODY)).await else {
        let error = ApiError::new(
            "request.slow",
            format!("The request did not arrive within {} s", BODY_TIME.as_secs()),
        );
        return (StatusCode::REQUEST_TIMEOUT, Json(error)).into_response();
    };
    let mut request = match read {
        Ok(bytes) if bytes.is_empty() => Ok(serde_json::json!({})),
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let mut place = None;
    if name == LONG_POLL {
        place =
            tokio::time::timeout(WAIT_FOR_PLACE, host.long_polls.acquire()).await.ok().and_then(Result::ok);
        if place.is_none()
            && let Ok(serde_json::Value::Object(request)) = &mut request
        {
            request.insert("timeout_ms".to_owned(), 0.into());
        }
    }
    let answer = match request {
        Ok(request) => workbench::dispatch(&host.workbench, &name, request).await,
        Err(error) => Err(ApiError::new("request.malformed", format!("The request is not JSON: {error}"))),
    };
    drop(place);
    match answer {
        Ok(value) => Json(value).into_response(),
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, Json(error)).into_response(),
    }
}

/// Compares in a time that does not depend on where the values differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    !b.is_empty() && a.len() == b.len() && a.iter().zip(b).fold(0, |d, (x, y)| d | (x ^ y)) == 0
}

fn random_token() -> Result<String, ApiError> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|e| ApiError::new("serve.random", format!("No random numbers: {e}")))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: Pages, terminals and files that others open
    fn only_our_own_pages_have_access() {
        let refused = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().expect("a value"));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().expect("a value"));
            }
            refusal(&Uri::from_static("/"), &headers, 8080).is_some()
        };
        assert!(!refused("127.0.0.1:8080", None));
        assert!(!refused("localhost:8080", Some("http://localhost:8080")));
        assert!(refused("example.com:8080", None) && refused("localhost:80", None));
        for origin in ["http://example.com", "null", "https://localhost:8080", "http://localhost:80808080"] {
            assert!(refused("127.0.0.1:8080", Some(origin)), "{origin}");
        }
        assert!(refusal(&Uri::from_static("/"), &HeaderMap::new(), 8080).is_some());
        // Not the first of several, nor the head beside an address that names another host.
        let local_headers = HeaderMap::from_iter([
            (header::HOST, HeaderValue::from_static("localhost:8080")),
            (header::ORIGIN, HeaderValue::from_static("http://localhost:8080")),
        ]);
        assert!(refusal(&Uri::from_static("http://localhost:8080/"), &local_headers, 8080).is_none());
        assert!(refusal(&Uri::from_static("http://example.com:8080/"), &local_headers, 8080).is_some());
        for (name, value) in [(header::HOST, "example.com:8080"), (header::ORIGIN, "http://example.com")] {
            let mut several = local_headers.clone();
            several.append(name, HeaderValue::from_static(value));
            assert!(refusal(&Uri::from_static("/"), &several, 8080).is_some(), "{value}");
        }
    }
}
