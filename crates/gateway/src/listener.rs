//! A listener that grants every container a bounded number of connections.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use model::lock;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Connections of one container at once. Each takes a file of this process, and agents must not use them up.
const MOST_CONNECTIONS: u32 = 128;

/// Open connections by address.
type ConnectionCounts = Arc<Mutex<HashMap<IpAddr, u32>>>;

/// A listener with a limit of connections by address.
pub(crate) struct Listener {
    listener: TcpListener,
    counts: ConnectionCounts,
}

impl Listener {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self { listener, counts: Arc::default() }
    }
}

impl axum::serve::Listener for Listener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    if let Some(connection) = Connection::admit(stream, from.ip(), &self.counts) {
                        return (connection, from);
                    }
                }
                // An error of this connection: the next one may work.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::ConnectionAborted
                            | io::ErrorKind::ConnectionReset
                            | io::ErrorKind::ConnectionRefused
                    ) => {}
                // An error of this process, such as no file left: wait for one.
                Err(error) => {
                    tracing::warn!(%error, "the gateway cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that is counted while it is open.
pub(crate) struct Connection {
    stream: TcpStream,
    peer: IpAddr,
    counts: ConnectionCounts,
}

impl Connection {
    fn admit(stream: TcpStream, address: IpAddr, counts: &ConnectionCounts) -> Option<Self> {
        {
            let mut counts = lock(counts);
            let count = counts.entry(address).or_default();
            if *count >= MOST_CONNECTIONS {
                return None;
            }
            *count += 1;
        }
        // Pieces of a stream are small, and the agent waits for each of them.
        let _ = stream.set_nodelay(true);
        Some(Self { stream, peer: address, counts: Arc::clone(counts) })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        if let Some(count) = counts.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.peer);
            }
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
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
