//! The connections of `stamina serve`, bounded in number and in time: a client that opens many, sends half a request, or
//! does not read its answer cannot block other clients.

use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep};

/// Most connections that are open at once; further ones wait until one closes.
const MOST_CONNECTIONS: usize = 512;
/// How long the head of a request may take, and how long a connection may be idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may read nothing of its answer.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause after a connection could not be accepted, for example because this process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Answers every connection; never returns.
pub(crate) async fn serve(listener: TcpListener, app: Router) -> Infallible {
    let open = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&open).acquire_owned().await else { continue };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(app.clone());
        tokio::spawn(async move {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
            if let Err(error) = builder
                .serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT)), service)
                .await
            {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(permit);
        });
    }
}

/// A connection that fails when its client reads nothing of its answer for a while.
struct WriteTimeout<S> {
    stream: S,
    timeout: Duration,
    /// When it fails, while something waits to be written.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    fn new(stream: S, timeout: Duration) -> Self {
        Self { stream, timeout, deadline: None }
    }

    /// The result of a write; an error instead of waiting beyond the deadline.
    fn within_limit<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.deadline = None;
            return result;
        }
        let timeout = self.timeout;
        let deadline =
            self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + timeout)));
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answer")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.within_limit(cx, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.within_limit(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(cx);
        self.within_limit(cx, result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    // docs/security.md: Pages, terminals and files that others open
    async fn a_client_that_takes_nothing_of_its_answer_is_let_go() {
        let (server_end, client_end) = tokio::io::duplex(16);
        let mut connection = WriteTimeout::new(server_end, Duration::from_millis(50));
        let error = connection.write_all(&[1; 100]).await.expect_err("nobody reads it");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(client_end);
        // A client that reads a little each time may take as long as it likes.
        let (server_end, mut client_end) = tokio::io::duplex(16);
        let mut connection = WriteTimeout::new(server_end, Duration::from_millis(500));
        let reading = tokio::spawn(async move {
            let (mut buffer, mut count) = ([0; 8], 0);
            while let Ok(read @ 1..) = client_end.read(&mut buffer).await {
                count += read;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            count
        });
        connection.write_all(&[1; 160]).await.expect("it is read");
        drop(connection);
        assert_eq!(reading.await.expect("it ends"), 160);
    }
}
