//! Connections that are polled for a moment after each answer, before their task goes to sleep.
//!
//! A suite is a long row of small requests, each sent when the answer before has come. To be put to sleep and woken between
//! two of them takes longer than to answer, on a virtual machine several times; the client does the same
//! (`client/http.rs`). A connection on which nothing comes costs nothing after that moment.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
#[cfg(unix)]
use std::time::{Duration, Instant};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// How long the next request is looked for.
#[cfg(unix)]
const POLL_INTERVAL: Duration = Duration::from_micros(100);

/// Listens for such connections.
pub(super) struct EagerListener(pub(super) TcpListener);

impl Listener for EagerListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        // Answers are small and come one at a time: waiting to fill packets only costs time.
        let _ = stream.set_nodelay(true);
        (Connection { stream, answered: false }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// One connection.
pub(super) struct Connection {
    stream: TcpStream,
    /// Something was written since something came. Only then the other side may be about to send: hyper also looks for the
    /// end of the connection while it works on an answer.
    answered: bool,
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let connection = self.get_mut();
        // Also asks to be woken, so that nothing is missed when nothing comes soon.
        let mut read = Pin::new(&mut connection.stream).poll_read(cx, buf);
        if read.is_pending() && connection.answered {
            connection.answered = false;
            read = read_soon(&connection.stream, buf);
        }
        if read.is_ready() {
            connection.answered = false;
        }
        read
    }
}

/// What comes at once, or nearly.
#[cfg(unix)]
fn read_soon(stream: &TcpStream, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
    use rustix::net::{RecvFlags, recv};
    let begun = Instant::now();
    loop {
        match recv(stream, buf.initialize_unfilled(), RecvFlags::DONTWAIT) {
            Ok((came, _)) => {
                buf.advance(came);
                return Poll::Ready(Ok(()));
            }
            Err(rustix::io::Errno::AGAIN) if begun.elapsed() < POLL_INTERVAL => std::thread::yield_now(),
            // Whatever it is, the next read says it too.
            Err(_) => return Poll::Pending,
        }
    }
}

/// Elsewhere it sleeps at once.
#[cfg(not(unix))]
fn read_soon(_: &TcpStream, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
    Poll::Pending
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let connection = self.get_mut();
        connection.answered = true;
        Pin::new(&mut connection.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let connection = self.get_mut();
        connection.answered = true;
        Pin::new(&mut connection.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
