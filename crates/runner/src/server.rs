//! Starts the agent's server, waits until it listens, tests it, and ends it.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sandbox::{Containers, SandboxError, ServerAddress, ServerContainer, ServerEnd};
use scenario::suite::Suite;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use validation::client::{self, CaseResult, CaseStatus, Verdicts};

/// How long a server may take until it listens.
pub(crate) const READY: Duration = Duration::from_secs(30);
/// How long the whole suite may take.
pub(crate) const SUITE: Duration = Duration::from_mins(15);
/// How long a probe waits for the first byte of an answer.
const FIRST_BYTE: Duration = Duration::from_secs(2);

/// A server that has ended.
pub(crate) struct EndedServer {
    pub(crate) outcome: ServerOutcome,
    pub(crate) end: ServerEnd,
    /// From when its container was started to the end of the tests, in seconds.
    pub(crate) seconds: f64,
}

/// The outcome of a server.
pub(crate) enum ServerOutcome {
    /// The suite ran.
    Tested(Verdicts),
    /// It ended before it listened.
    Exited,
    /// It ran and never listened.
    NeverListened,
    /// The caller stopped it all.
    Stopped,
}

/// Starts a server and runs a suite against it. Its container is removed in every case.
pub(crate) async fn test(
    containers: &Containers,
    server: &ServerContainer,
    suite: Arc<Suite>,
    stop: &CancellationToken,
    on_ready: impl FnOnce(),
) -> Result<EndedServer, SandboxError> {
    let address = containers.serve(server).await?;
    // The time to create and start its container does not count.
    let started = Instant::now();
    let outcome = listen_and_test(containers, &address, suite, stop, on_ready).await;
    let seconds = started.elapsed().as_secs_f64();
    let end = containers.end(address).await?;
    // Something outside ended it, so it is unknown what it would have answered.
    if end.exited.is_some_and(|exit| exit.code.is_none()) {
        return Err(SandboxError::Engine {
            doing: "keep the server's container",
            reason: "somebody ended it while it was tested".to_owned(),
            is_gone: false,
        });
    }
    Ok(EndedServer { outcome: outcome?, end, seconds })
}

async fn listen_and_test(
    containers: &Containers,
    server_address: &ServerAddress,
    suite: Arc<Suite>,
    stop: &CancellationToken,
    on_ready: impl FnOnce(),
) -> Result<ServerOutcome, SandboxError> {
    let Some(address) = server_address.address else { return Ok(ServerOutcome::Exited) };
    tokio::select! {
        () = stop.cancelled() => return Ok(ServerOutcome::Stopped),
        ready = ready(containers, server_address, address) => match ready? {
            Readiness::Yes => {}
            Readiness::Exited => return Ok(ServerOutcome::Exited),
            Readiness::Never => return Ok(ServerOutcome::NeverListened),
        },
    }
    on_ready();
    let stopped = Arc::new(AtomicBool::new(false));
    let flag = stopped.clone();
    let base = format!("http://{address}");
    let mut tests = tokio::task::spawn_blocking(move || run(&base, &suite, &flag));
    let verdicts = tokio::select! {
        verdicts = &mut tests => verdicts,
        () = stop.cancelled() => {
            stopped.store(true, Ordering::Relaxed);
            tests.await
        }
    };
    if stop.is_cancelled() {
        return Ok(ServerOutcome::Stopped);
    }
    match verdicts {
        Ok(Some(verdicts)) => Ok(ServerOutcome::Tested(verdicts)),
        // Cannot happen: the address is valid and the client does not panic. If it did, the agent would not be the cause.
        Ok(None) | Err(_) => Err(SandboxError::Engine {
            doing: "run the tests",
            reason: "the client that runs them ended without a verdict".to_owned(),
            is_gone: false,
        }),
    }
}

fn run(base: &str, suite: &Suite, stopped: &AtomicBool) -> Option<Verdicts> {
    let started = Instant::now();
    let options = client::Options { total: Some(SUITE), ..client::Options::default() };
    let mut cases: Vec<CaseResult> = Vec::with_capacity(suite.cases.len());
    let ran = client::run_http(base, suite, &options, &mut |_, result| {
        cases.push(result.clone());
        if stopped.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    ran.ok()?;
    let passed = cases.iter().filter(|case| case.status == CaseStatus::Passed).count();
    Some(Verdicts { passed, total: cases.len(), cases, seconds: started.elapsed().as_secs_f64() })
}

enum Readiness {
    Yes,
    Exited,
    Never,
}

/// Waits until the server answers, or has accepted a connection for long enough.
async fn ready(
    containers: &Containers,
    server_address: &ServerAddress,
    address: SocketAddr,
) -> Result<Readiness, SandboxError> {
    let deadline = Instant::now() + READY;
    let mut wait = Duration::from_millis(10);
    let mut taken = false;
    loop {
        match probe(address).await {
            Probe::Answered => return Ok(Readiness::Yes),
            // It listens and is slow, or never answers: the tests decide.
            Probe::Taken if taken => return Ok(Readiness::Yes),
            Probe::Taken => taken = true,
            Probe::Refused => {}
        }
        if !containers.runs(server_address).await? {
            return Ok(Readiness::Exited);
        }
        if Instant::now() >= deadline {
            return Ok(Readiness::Never);
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_millis(200));
    }
}

enum Probe {
    Answered,
    Taken,
    Refused,
}

async fn probe(address: SocketAddr) -> Probe {
    let Ok(Ok(mut stream)) = tokio::time::timeout(FIRST_BYTE, TcpStream::connect(address)).await else {
        return Probe::Refused;
    };
    let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    if stream.write_all(request.as_bytes()).await.is_err() {
        return Probe::Refused;
    }
    let mut byte = [0];
    match tokio::time::timeout(FIRST_BYTE, stream.read(&mut byte)).await {
        Ok(Ok(1..)) => Probe::Answered,
        // Closed without a byte: something in between accepted the connection for a server that does not listen yet.
        Ok(_) => Probe::Refused,
        Err(_) => Probe::Taken,
    }
}

/// Whether its time limit ended the suite.
pub(crate) fn out_of_time(verdicts: &Verdicts) -> bool {
    verdicts.seconds >= SUITE.as_secs_f64()
}

/// Whether the server answered nothing.
pub(crate) fn nothing_answered(verdicts: &Verdicts) -> bool {
    !verdicts.cases.is_empty() && verdicts.cases.iter().all(|case| case.status == CaseStatus::Error)
}
