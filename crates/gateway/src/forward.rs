//! One request, from the agent to the endpoint and back: who may send it, what is sent, and what the agent receives.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Method, Request, Response, StatusCode};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use tokio::sync::OwnedSemaphorePermit;

use crate::attempt_state::AttemptState;
use crate::in_flight::{RequestGuard, begin_request};
use crate::refusal::Refusal;
use crate::request::{self, OutgoingRequest, RequestKind};
use crate::route::Route;
use crate::send::{Answer, refuse_if_stopped, send_with_retries};
use crate::state::{GatewayState, Lookup};
use crate::stream;
use crate::text::one_line;

/// Longest body of a request.
const LONGEST_BODY: usize = 64 << 20;
/// How long the body of a refused request is read.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// Answers one request.
pub(crate) async fn serve(gateway: Arc<GatewayState>, request: Request<Body>) -> Response<Body> {
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    let address = target.strip_prefix("/a/").and_then(|rest| rest.split_at_checked(rest.find('/')?));
    let Some((token, target)) = address else {
        let refusal = Refusal::new(StatusCode::NOT_FOUND, "There is nothing at this address.");
        return refuse_unread(request, &refusal, None).await;
    };
    let target = target.to_owned();
    let path = target.split('?').next().unwrap_or_default();
    let route = Route::from_path(path);
    let (attempt, kind) = match admit(&gateway, token, path, &request) {
        Ok(admitted) => admitted,
        Err(refusal) => return refuse_unread(request, &refusal, route).await,
    };
    let closing = Arc::clone(&attempt);
    tokio::select! {
        biased;
        () = closing.closed() => attempt_closed().response(route),
        answer = forward(&gateway, &attempt, kind, target, request) => {
            answer.unwrap_or_else(|refusal| refusal.response(route))
        }
    }
}

/// The attempt that sends a request, and what the request is about. Only its head is read.
fn admit(
    gateway: &GatewayState,
    token: &str,
    path: &str,
    request: &Request<Body>,
) -> Result<(Arc<AttemptState>, RequestKind), Refusal> {
    let attempt = match gateway.attempts.find(token) {
        Lookup::Open(attempt) => attempt,
        Lookup::Closed => return Err(attempt_closed()),
        Lookup::Unknown => {
            return Err(Refusal::new(StatusCode::NOT_FOUND, "There is no attempt with this address."));
        }
    };
    if !given_key(request.headers()).is_some_and(|key| attempt.is_key(key)) {
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, "This is not the key of this attempt."));
    }
    let kind = RequestKind::from_parts(request.method(), path).ok_or_else(|| {
        let message = format!("The gateway does not forward {} {}.", request.method(), one_line(path));
        Refusal::new(StatusCode::NOT_FOUND, message)
    })?;
    if !request::is_plain(request.headers()) {
        let message = "The gateway accepts no body with a content-encoding. Send it unencoded.";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, message));
    }
    refuse_if_stopped(gateway, &attempt, kind)?;
    Ok((attempt, kind))
}

/// Refuses a request whose body was not read. The body is read first, within limits: a client that is still sending when the
/// connection closes sees a broken connection instead of the refusal, and retries.
async fn refuse_unread(request: Request<Body>, refusal: &Refusal, route: Option<Route>) -> Response<Body> {
    let mut pieces = request.into_body().into_data_stream();
    let draining = async {
        let mut bytes = 0;
        while let Some(Ok(piece)) = pieces.next().await {
            bytes += piece.len();
            if bytes > LONGEST_BODY {
                break;
            }
        }
    };
    // A slower client may miss the refusal.
    let _ = tokio::time::timeout(DRAIN_TIME, draining).await;
    refusal.response(route)
}

fn attempt_closed() -> Refusal {
    Refusal::new(StatusCode::GONE, "This attempt has ended.")
}

/// The key that the agent sends, in either of the two ways.
fn given_key(headers: &HeaderMap) -> Option<&str> {
    let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
    });
    bearer.or_else(|| headers.get("x-api-key")?.to_str().ok())
}

async fn forward(
    gateway: &Arc<GatewayState>,
    attempt: &Arc<AttemptState>,
    kind: RequestKind,
    target: String,
    request: Request<Body>,
) -> Result<Response<Body>, Refusal> {
    let (parts, body) = request.into_parts();
    let (body, memory) = read_body(attempt, body).await?;
    let path = gateway.scrub(target.split('?').next().unwrap_or_default());
    let label = format!("{} {path}", parts.method);
    let mut guard = begin_request(gateway, attempt, kind, label, body.len()).ok_or_else(attempt_closed)?;
    guard.keep(memory);
    guard.keep(attempt.acquire_slot().await);

    let prepared = if parts.method == Method::POST {
        request::prepare(body, kind, gateway.backend.model(), gateway.hosted_tools)
    } else {
        Some(Default::default())
    };
    let Some((body, fields)) = prepared else {
        let refusal = Refusal::new(StatusCode::BAD_REQUEST, "The body of the request is not a JSON object.");
        return Err(finish_refused(&guard, refusal));
    };
    guard.request.progress().model = fields.model.map(|name| one_line(&gateway.scrub(&name)));
    if kind.is_paid()
        && let Err(reason) = guard.request.reserve(fields.longest_answer).await
    {
        return Err(finish_refused(&guard, Refusal::stopped(&reason)));
    }
    guard.request.log_begin();
    let outgoing = OutgoingRequest {
        method: parts.method,
        target,
        headers: request::headers(&parts.headers),
        body,
        kind,
    };
    match send_with_retries(&guard.request, &outgoing, fields.hides_usage).await {
        Ok(answer) => Ok(respond(answer, guard, fields.hides_usage)),
        Err(refusal) => Err(finish_refused(&guard, refusal)),
    }
}

/// Reads a body, with a permit for its memory.
async fn read_body(
    attempt: &AttemptState,
    body: Body,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Refusal> {
    let expected = body.size_hint().upper().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let too_long = || {
        let message = format!("A request may have at most {} MiB.", LONGEST_BODY >> 20);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    };
    if expected.is_some_and(|bytes| bytes > LONGEST_BODY) {
        return Err(too_long());
    }
    let memory = attempt.acquire_memory(expected.unwrap_or(LONGEST_BODY)).await;
    let mut bytes = BytesMut::with_capacity(expected.unwrap_or(0).min(1 << 20));
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "The request broke off."))?;
        if bytes.len() + piece.len() > LONGEST_BODY {
            return Err(too_long());
        }
        bytes.extend_from_slice(&piece);
    }
    Ok((bytes.freeze(), memory))
}

/// Finishes a request that is refused.
fn finish_refused(guard: &RequestGuard, refusal: Refusal) -> Refusal {
    guard.request.progress().status = refusal.status.as_u16();
    guard.request.finish(None);
    refusal
}

/// Passes an answer on to the agent.
fn respond(answer: Answer, guard: RequestGuard, hides_usage: bool) -> Response<Body> {
    let silence = guard.request.gateway.longest_silence();
    let body = match answer.rest {
        Some(source) => stream::body(answer.first, source, guard, silence, hides_usage),
        None => {
            guard.request.finish(None);
            Body::from(answer.first)
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = answer.status;
    *response.headers_mut() = request::answer_headers(&answer.headers);
    response
}
