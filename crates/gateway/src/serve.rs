//! Listening: a port on each address, or a socket of the file system, and the connections of agents.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::attempt::{House, lock};
use crate::blame::Blame;
use crate::ledger::Books;
use crate::log::Log;
use crate::upstream::Backend;
use crate::{
    Attempt, AttemptKey, GatewayError, Over, Scope, Settings, Spent, Upstream, forward, oracle, socket,
};

/// Connections of one box at once; each costs a file of this process, and agents are not to use them up.
const CONNECTIONS: u32 = 128;

/// A running gateway. Dropping it closes all attempts and ends it.
#[derive(Debug)]
pub struct Gateway {
    house: Arc<House>,
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<bool>,
}

impl Gateway {
    /// Listens on these addresses (port 0 takes a free one) and serves until it is dropped.
    pub async fn start(listen: &[SocketAddr], settings: Settings) -> Result<Self, GatewayError> {
        let books = Books::new(settings.budgets, settings.price, settings.spent, settings.episodes.clone());
        Self::with(listen, settings, (Arc::new(Mutex::new(books)), Arc::default())).await
    }

    /// Starts one that takes the place of this one, and goes on with its accounts: what requests that are still on their way
    /// here come to counts there as well. What `settings` say was spent is not looked at.
    pub async fn successor(&self, listen: &[SocketAddr], settings: Settings) -> Result<Self, GatewayError> {
        let accounts = (Arc::clone(&self.house.books), Arc::clone(&self.house.landed));
        Self::with(listen, settings, accounts).await
    }

    async fn with(
        listen: &[SocketAddr],
        settings: Settings,
        accounts: (Arc<Mutex<Books>>, Arc<Notify>),
    ) -> Result<Self, GatewayError> {
        let watched = [settings.budgets.attempt, settings.budgets.episode, settings.budgets.run];
        let costs = matches!(settings.upstream, Upstream::Http { .. });
        if costs && settings.price.is_none() && watched.iter().any(|budget| budget.usd.is_some()) {
            return Err(GatewayError::Settings {
                what: "budget in US dollars".to_owned(),
                why: "the price of the model is not known, so it can not be watched; give the price, or a budget in tokens"
                    .to_owned(),
            });
        }
        let log = settings.log.as_deref().map(Log::open).transpose()?;
        let backend = Backend::new(settings.upstream)?;
        let house = Arc::new(House::new(
            backend,
            settings.retry,
            Blame::new(settings.routes),
            settings.hosted_tools,
            settings.hidden,
            accounts,
            log,
        ));

        let stop = watch::Sender::new(false);
        let mut gateway = Self { house, addresses: Vec::with_capacity(listen.len()), stop };
        let mut doors = Vec::with_capacity(listen.len());
        for address in listen {
            let wrong =
                |error: io::Error| GatewayError::Listen { at: address.to_string(), why: error.to_string() };
            let listener = TcpListener::bind(address).await.map_err(wrong)?;
            gateway.addresses.push(listener.local_addr().map_err(wrong)?);
            doors.push(Door { listener, guests: Arc::default() });
        }
        for door in doors {
            gateway.serve(door);
        }
        Ok(gateway)
    }

    /// Listens on a socket of the file system as well, in the place of what has this name. Boxes are let to it by a relay, and
    /// see it at `seen`; the relay is trusted to bound their connections.
    pub fn listen_at(&mut self, socket: &Path, seen: SocketAddr) -> Result<(), GatewayError> {
        let listener = socket::bind(socket).map_err(|error| GatewayError::Listen {
            at: socket.display().to_string(),
            why: error.to_string(),
        })?;
        self.serve(listener);
        self.addresses.push(seen);
        Ok(())
    }

    fn serve<L: axum::serve::Listener>(&self, door: L)
    where
        L::Addr: std::fmt::Debug,
    {
        let house = Arc::clone(&self.house);
        let router = Router::new().fallback(move |request: Request<Body>| {
            let house = Arc::clone(&house);
            async move { forward::serve(house, request).await }
        });
        let mut stopped = self.stop.subscribe();
        let serving = axum::serve(door, router).with_graceful_shutdown(async move {
            // Either way it is over: told so, or the gateway is gone.
            let _ = stopped.wait_for(|stop| *stop).await;
        });
        tokio::spawn(async move {
            // It never ends with an error: accepting is tried again.
            let _ = serving.await;
        });
    }

    /// Where boxes see it, in the order of `listen`.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Opens an attempt. `task` is what the oracle solves; other upstreams ignore it.
    pub fn open(&self, key: AttemptKey, task: Option<oracle::Task>) -> Attempt {
        self.open_for(key, task, None)
    }

    /// The same, where budgets of time leave it so long; the scope is that of the first of them to be spent.
    pub fn open_for(
        &self,
        key: AttemptKey,
        task: Option<oracle::Task>,
        left: Option<(Duration, Scope)>,
    ) -> Attempt {
        let room = self.house.open(key, task, left);
        Attempt::new(Arc::clone(&self.house), room, &self.addresses)
    }

    /// What the run has spent, earlier parts included.
    pub fn spent(&self) -> Spent {
        lock(&self.house.books).spent(Instant::now())
    }

    /// What an episode has spent, earlier parts included.
    pub fn spent_of(&self, episode: &str) -> Spent {
        lock(&self.house.books).spent_of(episode, Instant::now())
    }

    /// Whether the budget of the run or of this episode, in tokens or money, leaves nothing for another attempt.
    pub fn over(&self, episode: &str) -> Option<Over> {
        lock(&self.house.books).over(None, episode)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.house.close_all();
        self.stop.send_replace(true);
        // Waits for the last lines.
        let log = lock(&self.house.log).take();
        drop(log);
    }
}

type Guests = Arc<Mutex<HashMap<IpAddr, u32>>>;

/// A listener that lets every box in with a bounded number of connections.
struct Door {
    listener: TcpListener,
    guests: Guests,
}

impl axum::serve::Listener for Door {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    if let Some(guest) = Guest::admit(stream, from.ip(), &self.guests) {
                        return (guest, from);
                    }
                }
                Err(error) => {
                    // Of the connection: the next one may be well. Of this process (no file left): wait for one.
                    if !matches!(
                        error.kind(),
                        io::ErrorKind::ConnectionAborted
                            | io::ErrorKind::ConnectionReset
                            | io::ErrorKind::ConnectionRefused
                    ) {
                        tracing::warn!(%error, "the gateway can not accept a connection");
                        tokio::time::sleep(Duration::from_millis(200)).await;
                    }
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that is counted while it lasts.
struct Guest {
    stream: TcpStream,
    from: IpAddr,
    guests: Guests,
}

impl Guest {
    fn admit(stream: TcpStream, from: IpAddr, guests: &Guests) -> Option<Self> {
        {
            let mut counted = lock(guests);
            let count = counted.entry(from).or_default();
            if *count >= CONNECTIONS {
                return None;
            }
            *count += 1;
        }
        // Pieces of a stream are small and each one is waited for.
        let _ = stream.set_nodelay(true);
        Some(Self { stream, from, guests: Arc::clone(guests) })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut counted = lock(&self.guests);
        if let Some(count) = counted.get_mut(&self.from) {
            *count -= 1;
            if *count == 0 {
                counted.remove(&self.from);
            }
        }
    }
}

impl AsyncRead for Guest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Guest {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
