//! The connections of `stamina serve`: bounded in number and in time, so that a client that opens many, sends half a request,
//! or takes nothing of an answer, keeps nobody else out.

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
const MOST: usize = 512;
/// How long the head of a request may take, and how long a connection may stay without one.
const HEAD: Duration = Duration::from_secs(10);
/// How long a client may take nothing of an answer.
const STALLED: Duration = Duration::from_secs(30);
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
            if let Err(error) =
                builder.serve_connection(TokioIo::new(Written::new(stream, STALLED)), service).await
            {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(permit);
        });
    }
}

/// A connection that fails once its client has taken nothing for a while of what is there for it.
struct Written<S> {
    stream: S,
    most: Duration,
    /// When it fails, while something waits to be written.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> Written<S> {
    fn new(stream: S, most: Duration) -> Self {
        Self { stream, most, end: None }
    }

    /// What a try to write came to; an error instead of waiting beyond the limit.
    fn within_limit<T>(&mut self, cx: &mut Context<'_>, tried: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if tried.is_ready() {
            self.end = None;
            return tried;
        }
        let most = self.most;
        let end = self.end.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + most)));
        ready!(end.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing of its answer")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Written<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Written<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.within_limit(cx, tried)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.within_limit(cx, tried)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let tried = Pin::new(&mut self.stream).poll_flush(cx);
        self.within_limit(cx, tried)
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
        let (ours, theirs) = tokio::io::duplex(16);
        let mut connection = Written::new(ours, Duration::from_millis(50));
        let error = connection.write_all(&[1; 100]).await.expect_err("nobody reads it");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(theirs);
        // One that takes a little each time may take as long as it likes.
        let (ours, mut theirs) = tokio::io::duplex(16);
        let mut connection = Written::new(ours, Duration::from_millis(500));
        let reading = tokio::spawn(async move {
            let (mut taken, mut count) = ([0; 8], 0);
            while let Ok(read @ 1..) = theirs.read(&mut taken).await {
                count += read;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            count
        });
        connection.write_all(&[1; 160]).await.expect("it is taken");
        drop(connection);
        assert_eq!(reading.await.expect("it ends"), 160);
    }
}
