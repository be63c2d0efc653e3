//! One request, from the agent to the endpoint and back.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::{Body, HttpBody};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::Instant;

use crate::attempt::{Found, House, Room, room_for, seconds};
use crate::blame::{self, Blamed};
use crate::flight::{Flight, Guard};
use crate::overflow;
use crate::refusal::Refusal;
use crate::request::{self, Ask, Kind};
use crate::retry;
use crate::stream;
use crate::upstream::{Reply, Source};
use crate::usage::{Meter, one_line, short};
use crate::{Over, Route};

/// Longest body of a request.
const LONGEST_BODY: usize = 64 << 20;
/// A plain answer up to here is read whole before the agent gets it, so that one that breaks off can be asked for again.
const WHOLE: usize = 8 << 20;
/// As much of an answer with an error is read.
const LONGEST_ERROR: usize = 256 << 10;

/// Answers one request.
pub(crate) async fn serve(house: Arc<House>, request: Request<Body>) -> Response<Body> {
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    let address = target.strip_prefix("/a/").and_then(|rest| rest.split_at_checked(rest.find('/')?));
    let Some((token, target)) = address else {
        let refusal = Refusal::new(StatusCode::NOT_FOUND, "There is nothing here.");
        return refused_unread(request, &refusal, None).await;
    };
    let target = target.to_owned();
    let path = target.split('?').next().unwrap_or_default();
    let route = Route::of(path);
    let (room, kind) = match admission(&house, token, path, &request) {
        Ok(admitted) => admitted,
        Err(refusal) => return refused_unread(request, &refusal, route).await,
    };
    let closing = Arc::clone(&room);
    tokio::select! {
        biased;
        () = closing.closed() => gone().answer(route),
        answer = admitted(&house, &room, kind, target, request) => {
            answer.unwrap_or_else(|refusal| refusal.answer(route))
        }
    }
}

/// Whose request it is and what it is about, by its head.
fn admission(
    house: &House,
    token: &str,
    path: &str,
    request: &Request<Body>,
) -> Result<(Arc<Room>, Kind), Refusal> {
    let room = match house.find(token) {
        Found::Open(room) => room,
        Found::Closed => return Err(gone()),
        Found::Nothing => {
            return Err(Refusal::new(StatusCode::NOT_FOUND, "There is no attempt with this address."));
        }
    };
    if !given_key(request.headers()).is_some_and(|key| room.is_key(key)) {
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, "This is not the key of this attempt."));
    }
    let kind = Kind::of(request.method(), path).ok_or_else(|| {
        let message = format!("The gateway passes no {} {} on.", request.method(), short(path));
        Refusal::new(StatusCode::NOT_FOUND, message)
    })?;
    if !request::is_plain(request.headers()) {
        let message = "The gateway takes no body with a content-encoding: send it as it is.";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, message));
    }
    refuse_if_over(house, &room, kind)?;
    Ok((room, kind))
}

/// Refuses a request whose body was not read. It is read to its end first, within reason: a client that is still sending
/// when the connection closes sees a broken connection in place of the refusal, and tries again.
async fn refused_unread(request: Request<Body>, refusal: &Refusal, route: Option<Route>) -> Response<Body> {
    let mut pieces = request.into_body().into_data_stream();
    let reading = async {
        let mut read = 0;
        while let Some(Ok(piece)) = pieces.next().await {
            read += piece.len();
            if read > LONGEST_BODY {
                break;
            }
        }
    };
    // Whoever sends more slowly than this has itself to blame.
    let _ = tokio::time::timeout(Duration::from_secs(10), reading).await;
    refusal.answer(route)
}

fn gone() -> Refusal {
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

async fn admitted(
    house: &Arc<House>,
    room: &Arc<Room>,
    kind: Kind,
    target: String,
    request: Request<Body>,
) -> Result<Response<Body>, Refusal> {
    let (parts, body) = request.into_parts();
    let expected = body.size_hint().upper().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let too_long = || {
        Refusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("A request has at most {} MiB.", LONGEST_BODY >> 20),
        )
    };
    if expected.is_some_and(|bytes| bytes > LONGEST_BODY) {
        return Err(too_long());
    }
    let memory = room_for(room, expected.unwrap_or(LONGEST_BODY)).await;
    let mut whole = BytesMut::with_capacity(expected.unwrap_or(0).min(1 << 20));
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "The request broke off."))?;
        if whole.len() + piece.len() > LONGEST_BODY {
            return Err(too_long());
        }
        whole.extend_from_slice(&piece);
    }
    let path = house.scrub(target.split('?').next().unwrap_or_default());
    let label = format!("{} {path}", parts.method);
    let mut guard = room.begin(house, kind, label, whole.len()).ok_or_else(gone)?;
    if let Some(memory) = memory {
        guard.hold(memory);
    }
    if let Ok(slot) = Arc::clone(&room.slots).acquire_owned().await {
        guard.hold(slot);
    }

    let prepared = if parts.method == Method::POST {
        request::prepare(whole.freeze(), kind, house.backend.model(), house.hosted_tools)
    } else {
        Some(Default::default())
    };
    let Some((body, told)) = prepared else {
        let refusal = Refusal::new(StatusCode::BAD_REQUEST, "The body of the request is no JSON object.");
        return Err(settled(&guard, refusal));
    };
    guard.flight.progress().model = told.model.map(|name| short(&house.scrub(&name)));
    if kind.is_paid()
        && let Err(over) = room.hold(house, &guard.flight, guard.flight.most(told.longest)).await
    {
        return Err(settled(&guard, Refusal::over(&over)));
    }
    guard.flight.announce();
    let ask = Ask { method: parts.method, target, headers: request::headers(&parts.headers), body, kind };
    match tried(house, room, &guard.flight, &ask, told.hides_usage).await {
        Ok(ready) => Ok(answer(ready, guard, told.hides_usage)),
        Err(refusal) => Err(settled(&guard, refusal)),
    }
}

/// The end of a request that is refused.
fn settled(guard: &Guard, refusal: Refusal) -> Refusal {
    guard.flight.progress().status = refusal.status.as_u16();
    guard.flight.settle(None);
    refusal
}

fn refuse_if_over(house: &House, room: &Room, kind: Kind) -> Result<(), Refusal> {
    match room.over_by_now(house) {
        Some(over) if kind.is_paid() => Err(Refusal::over(&over)),
        _ => Ok(()),
    }
}

/// An answer that is fit for the agent.
struct Ready {
    status: StatusCode,
    headers: HeaderMap,
    /// What was read of it, without what is not for the agent.
    first: Bytes,
    /// Where the rest comes from.
    rest: Option<Source>,
}

fn answer(ready: Ready, guard: Guard, hides_usage: bool) -> Response<Body> {
    let silence = guard.flight.house.silence();
    let body = match ready.rest {
        Some(source) => stream::body(ready.first, source, guard, silence, hides_usage),
        None => {
            guard.flight.settle(None);
            Body::from(ready.first)
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = ready.status;
    *response.headers_mut() = request::answer_headers(&ready.headers);
    response
}

/// A try that came to nothing.
struct Fault {
    /// 0 = no answer.
    status: u16,
    /// One line.
    message: String,
    /// What the endpoint asks to wait.
    wait: Option<Duration>,
    /// It looks like one for the owner of the key or of the settings: what the agent gets if it is its own.
    owners: Option<Ready>,
    /// The endpoint said nothing for as long as we wait.
    silent: bool,
}

impl Fault {
    fn of(message: String) -> Self {
        Self { status: 0, message, wait: None, owners: None, silent: false }
    }

    /// Nothing came: of a request that takes very long, or of an endpoint that is dead.
    fn silent(message: String) -> Self {
        Self { silent: true, ..Self::of(message) }
    }
}

/// Asks the endpoint until it answers, or until that is of no use.
async fn tried(
    house: &House,
    room: &Room,
    flight: &Flight,
    ask: &Ask,
    hides_usage: bool,
) -> Result<Ready, Refusal> {
    let silence = house.silence();
    let mut tries = 0;
    let mut doubted: Option<Instant> = None;
    loop {
        // Another request may have spent what was left, or found the endpoint dead, while this one waited.
        refuse_if_over(house, room, ask.kind)?;
        tries += 1;
        flight.progress().ask(tries);
        let result = match tokio::time::timeout(silence, house.backend.ask(ask, room.task.as_ref())).await {
            Ok(Ok(reply)) => examined(house, flight, ask.kind, reply, hides_usage).await,
            Ok(Err(why)) => Err(Fault::of(why)),
            Err(_) => Err(Fault::silent(format!("no answer for {}", seconds(silence)))),
        };
        let fault = match result {
            Ok(ready) => {
                flight.answered();
                return Ok(ready);
            }
            Err(fault) => fault,
        };
        let message = house.scrub(&fault.message);
        flight.failed(fault.status);
        if !ask.kind.is_paid() {
            flight.fault(fault.status, &message);
            // A list of models is no reason to end an attempt, nor to keep an agent waiting.
            return Err(Refusal::new(StatusCode::BAD_GATEWAY, message));
        }
        let mut asked_for = fault.wait;
        let mut last = tries >= house.retry.tries;
        let mut blamed = Blamed::Unclear;
        if let Some(ready) = fault.owners {
            let refused = Instant::now();
            // Until it is found out it is the agent's own: it may hang up in the meantime.
            flight.absolve();
            blamed = house.blame.find(house, flight, fault.status, doubted).await;
            match blamed {
                Blamed::Endpoint => {
                    flight.fault(fault.status, &message);
                    return Err(ended(room, message));
                }
                Blamed::Agent if doubted.is_some() => return Ok(told(flight, ready)),
                // Keys and models have been refused by mistake: once more, and then it is the agent's own.
                Blamed::Agent => {
                    doubted = Some(refused);
                    last = false;
                    asked_for = None;
                }
                Blamed::Unclear => {}
            }
        } else if fault.silent {
            // It may have asked for an answer that takes so long.
            blamed = house.blame.find(house, flight, fault.status, None).await;
        }
        if blamed != Blamed::Agent {
            flight.fault(fault.status, &message);
        }
        let Some(wait) = retry::wait(&house.retry, tries, flight.seed(), asked_for) else {
            let message = format!("{message}; it asks to be left alone for more than ten minutes");
            return Err(given_up(house, room, ask.kind, message));
        };
        if last && blamed == Blamed::Agent {
            // We were answered whenever we asked: no attempt is censored for requests that take so long.
            return Err(Refusal::new(StatusCode::GATEWAY_TIMEOUT, format!("{message} ({tries} tries)")));
        }
        if last {
            return Err(given_up(house, room, ask.kind, format!("{message} ({tries} tries)")));
        }
        tracing::debug!(%message, tries, ?wait, "the endpoint is tried again");
        if blamed != Blamed::Agent {
            flight.waits(fault.status, tries + 1);
        }
        tokio::time::sleep(wait).await;
    }
}

/// A request is given up: the end of the attempt, where the harness could not do without it.
fn given_up(house: &House, room: &Room, kind: Kind, message: String) -> Refusal {
    if house.blame.concerns(kind) {
        ended(room, message)
    } else {
        Refusal::new(StatusCode::BAD_GATEWAY, message)
    }
}

fn ended(room: &Room, message: String) -> Refusal {
    let over = Over::Endpoint { message };
    room.end(over.clone());
    Refusal::over(&over)
}

/// An error of the endpoint that the agent gets as it is.
fn told(flight: &Flight, ready: Ready) -> Ready {
    flight.progress().status = ready.status.as_u16();
    ready
}

/// Looks at an answer before the agent gets any of it.
async fn examined(
    house: &House,
    flight: &Flight,
    kind: Kind,
    mut reply: Reply,
    hides_usage: bool,
) -> Result<Ready, Fault> {
    if !reply.status.is_success() {
        flight.progress().hear();
        return refused(house, flight, kind, reply).await;
    }
    let events = reply
        .headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("text/event-stream"));
    let mut meter = Meter::new(kind.route(), events);
    if !request::is_plain(&reply.headers) {
        meter.can_not_read();
    }
    let mut read = BytesMut::new();
    let mut kept = Vec::new();
    let mut rest = None;
    loop {
        match next(house, &mut reply.body).await? {
            Some(bytes) => {
                flight.progress().hear();
                meter.push(&bytes, hides_usage.then_some(&mut kept));
                if !hides_usage {
                    read.extend_from_slice(&bytes);
                }
                if (events && meter.has_events()) || read.len().max(kept.len()) > WHOLE {
                    rest = Some(reply.body);
                    break;
                }
            }
            None => {
                let end = meter.end();
                if hides_usage {
                    kept.extend_from_slice(&end);
                }
                break;
            }
        }
    }
    let first = if hides_usage { Bytes::from(kept) } else { read.freeze() };
    if kind.is_paid() && events && first.is_empty() && rest.is_none() {
        return Err(Fault::of("the endpoint sent an empty stream".to_owned()));
    }
    if rest.is_none() && meter.breaks_off() {
        return Err(Fault::of(stream::BREAKS_OFF.to_owned()));
    }
    let mut overflow = None;
    if let Some(error) = meter.error() {
        if overflow::is_meant(error) {
            overflow = Some(house.scrub(error));
        } else if !meter.is_own_error() && !meter.tally().is_whole() {
            return Err(Fault::of(format!("the endpoint sent an error: {error}")));
        }
    }
    let mut progress = flight.progress();
    progress.status = reply.status.as_u16();
    progress.told = reply.told;
    progress.overflow = overflow;
    progress.meter = kind.is_paid().then_some(meter);
    drop(progress);
    Ok(Ready { status: reply.status, headers: reply.headers, first, rest })
}

/// Looks at an answer with an error: whose it is, and whether to try again.
async fn refused(house: &House, flight: &Flight, kind: Kind, mut reply: Reply) -> Result<Ready, Fault> {
    let mut read = BytesMut::new();
    // Whatever went wrong with the body of an error, its status is known.
    while let Ok(Some(bytes)) = next(house, &mut reply.body).await {
        read.extend_from_slice(&bytes);
        if read.len() > LONGEST_ERROR {
            read.truncate(LONGEST_ERROR);
            break;
        }
    }
    let text = house.backend.scrub(&String::from_utf8_lossy(&read));
    let status = reply.status.as_u16();
    let message = said(&text);
    let means_overflow = matches!(status, 400 | 413 | 422) && overflow::is_meant(&text);
    let ready = |text: String| Ready {
        status: reply.status,
        headers: reply.headers.clone(),
        first: text.into(),
        rest: None,
    };
    let owners = house.blame.concerns(kind) && !means_overflow && blame::is_owners(reply.status, &text);
    let passing = matches!(status, 408 | 409 | 425 | 429 | 500 | 502..=599);
    if owners || (kind.is_paid() && passing) {
        let what = if message.is_empty() {
            reply.status.to_string()
        } else {
            format!("{}: {message}", reply.status)
        };
        let wait = retry::asked(&reply.headers, SystemTime::now());
        return Err(Fault {
            status,
            message: what,
            wait,
            owners: owners.then(|| ready(text)),
            silent: false,
        });
    }
    let mut progress = flight.progress();
    progress.status = status;
    progress.overflow = means_overflow.then(|| house.scrub(&message));
    drop(progress);
    Ok(ready(text))
}

/// What an error's body says, on one line.
pub(crate) fn said(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(body) => match body.get("error").filter(|error| !error.is_null()) {
            Some(error) => one_line(error),
            None => one_line(&body),
        },
        Err(_) if text.trim_start().starts_with('<') => "a web page".to_owned(),
        Err(_) => short(text),
    }
}

async fn next(house: &House, source: &mut Source) -> Result<Option<Bytes>, Fault> {
    let silence = house.silence();
    match tokio::time::timeout(silence, source.next()).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(why)) => Err(Fault::of(why)),
        Err(_) => Err(Fault::silent(format!("nothing came for {}", seconds(silence)))),
    }
}
