//! One connection to a server, which may be hostile: responses are bounded in size and time, and only well-formed HTTP is
//! accepted.
//!
//! Requests are sent one at a time, and the calling thread waits in the system call that reads the response. A suite has many
//! small requests, so its time depends on the overhead per request. An event loop would add two system calls and a task switch
//! to every request.

mod reading;
mod writing;

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use http::Uri;
use scenario::reference::Request;

use self::reading::ReceivedBytes;
use super::UrlError;
use super::execution::{Answer, Body};

/// Longest wait for a response. It is longer than any suite, and adding it to a point in time cannot fail.
const LONGEST_WAIT: Duration = Duration::from_hours(24 * 365);

/// A server, and the connection to it while there is one.
pub(super) struct Connection {
    host: String,
    port: u16,
    /// The value of the header `host`.
    authority: String,
    /// The resolved addresses of the name, looked up once.
    address: Option<SocketAddr>,
    timeout: Duration,
    /// The end of the time for all responses, in addition to `timeout`.
    until: Option<Instant>,
    body_limit: usize,
    open: Option<OpenConnection>,
    /// The buffer of requests, which is reused.
    out: Vec<u8>,
}

struct OpenConnection {
    stream: TcpStream,
    incoming: ReceivedBytes,
    /// The read timeout of the stream.
    read_timeout: Duration,
}

/// Why there is no response.
#[derive(Debug)]
pub(super) enum NoResponse {
    /// The server sent no valid response.
    Because(String),
    /// The time for all responses is over.
    OutOfTime,
}

/// Why an exchange ends without a response.
#[derive(Debug)]
enum ExchangeError {
    /// The connection ended before the first byte of a response.
    Closed(String),
    TimedOut,
    Other(String),
}

impl From<io::Error> for ExchangeError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, WouldBlock};
        match error.kind() {
            WouldBlock | TimedOut => Self::TimedOut,
            BrokenPipe | ConnectionAborted | ConnectionReset => Self::Closed(error.to_string()),
            _ => Self::Other(error.to_string()),
        }
    }
}

/// The deadline of a response.
#[derive(Clone, Copy)]
struct Deadline {
    instant: Instant,
    /// From the start to `instant`.
    whole: Duration,
}

impl Deadline {
    fn time_left(self) -> io::Result<Duration> {
        let left = self.instant.saturating_duration_since(Instant::now());
        // For the system, a timeout of zero means no limit.
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Connection {
    pub(super) fn new(
        base: &str,
        timeout: Duration,
        until: Option<Instant>,
        body_limit: usize,
    ) -> Result<Self, UrlError> {
        let wrong = || UrlError { url: base.chars().take(200).collect() };
        let uri: Uri = base.trim().parse().map_err(|_| wrong())?;
        let authority = uri.authority().ok_or_else(wrong)?;
        let plain = uri.scheme_str() == Some("http")
            && uri.path_and_query().is_none_or(|path| path.as_str() == "/")
            && !authority.as_str().contains('@')
            && !authority.host().is_empty()
            && (authority.port_u16().is_some() || authority.as_str() == authority.host());
        if !plain {
            return Err(wrong());
        }
        Ok(Self {
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(80),
            authority: authority.as_str().to_owned(),
            address: None,
            timeout: timeout.clamp(Duration::from_millis(1), LONGEST_WAIT),
            until,
            body_limit,
            open: None,
            out: Vec::new(),
        })
    }

    /// Sends a request and waits for its response. A kept-alive connection that the server has closed meanwhile is opened again
    /// once.
    pub(super) fn send(&mut self, request: &Request) -> Result<Answer, NoResponse> {
        let now = Instant::now();
        let left = self.until.map(|until| until.saturating_duration_since(now));
        let whole = left.map_or(self.timeout, |left| left.min(self.timeout));
        let mut out = std::mem::take(&mut self.out);
        writing::request(&mut out, request, &self.authority);
        let answer = self.exchange(&out, Deadline { instant: now + whole, whole });
        self.out = out;
        answer.map_err(|trouble| match trouble {
            ExchangeError::Closed(reason) | ExchangeError::Other(reason) => NoResponse::Because(reason),
            ExchangeError::TimedOut if whole < self.timeout => NoResponse::OutOfTime,
            ExchangeError::TimedOut => {
                NoResponse::Because(format!("nothing complete came within {} s", self.timeout.as_secs_f64()))
            }
        })
    }

    fn exchange(&mut self, out: &[u8], deadline: Deadline) -> Result<Answer, ExchangeError> {
        let mut kept = self.open.take();
        loop {
            let reused = kept.is_some();
            let mut open = match kept.take() {
                Some(open) => open,
                None => self.connect(deadline)?,
            };
            match open.request(out, deadline, self.body_limit) {
                Ok((answer, keep)) => {
                    self.open = keep.then_some(open);
                    return Ok(answer);
                }
                Err(ExchangeError::Closed(_)) if reused => {}
                Err(trouble) => return Err(trouble),
            }
        }
    }

    fn connect(&mut self, deadline: Deadline) -> Result<OpenConnection, ExchangeError> {
        let failed = |error: io::Error| match ExchangeError::from(error) {
            ExchangeError::Closed(reason) | ExchangeError::Other(reason) => {
                ExchangeError::Other(format!("no connection ({reason})"))
            }
            ExchangeError::TimedOut => ExchangeError::TimedOut,
        };
        let addresses: Vec<SocketAddr> = match self.address {
            Some(address) => vec![address],
            None => (self.host.as_str(), self.port).to_socket_addrs().map_err(failed)?.collect(),
        };
        let mut last = io::Error::other("the name leads to no address");
        for address in addresses {
            match TcpStream::connect_timeout(&address, deadline.time_left()?) {
                Ok(stream) => {
                    self.address = Some(address);
                    let read_timeout = deadline.whole;
                    // Requests are small and sent one at a time, so waiting to fill packets only takes time.
                    let _ = stream.set_nodelay(true);
                    stream.set_read_timeout(Some(read_timeout))?;
                    stream.set_write_timeout(Some(read_timeout))?;
                    return Ok(OpenConnection { stream, incoming: ReceivedBytes::default(), read_timeout });
                }
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }
}

impl OpenConnection {
    /// One request and its response, and whether the connection can be used again.
    fn request(
        &mut self,
        out: &[u8],
        deadline: Deadline,
        body_limit: usize,
    ) -> Result<(Answer, bool), ExchangeError> {
        self.write(out, deadline)?;
        let Self { stream, incoming, read_timeout } = self;
        let mut first = true;
        let read = incoming.answer(body_limit, &mut |buffer| {
            // The first wait starts with the request, so it does not need the clock.
            let wait = if first { deadline.whole } else { deadline.time_left()? };
            first = false;
            if let Some(received) = poll(stream, buffer) {
                return received;
            }
            if *read_timeout != wait {
                stream.set_read_timeout(Some(wait))?;
                *read_timeout = wait;
            }
            stream.read(buffer)
        })?;
        let body = if read.body.is_empty() { Body::Empty } else { Body::Unread(read.body) };
        Ok((Answer { status: read.status, body }, read.keep))
    }

    fn write(&mut self, out: &[u8], deadline: Deadline) -> io::Result<()> {
        let mut rest = out;
        while !rest.is_empty() {
            if rest.len() < out.len() {
                self.stream.set_write_timeout(Some(deadline.time_left()?))?;
            }
            match self.stream.write(rest) {
                Ok(0) => return Err(io::ErrorKind::BrokenPipe.into()),
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// How long the thread polls for a response before it sleeps.
#[cfg(unix)]
const POLL_TIME: Duration = Duration::from_micros(150);

/// Polls for bytes for a short time. A server on this machine responds in about ten microseconds. Sleeping and waking on
/// another core takes longer, on a virtual machine several times as long.
#[cfg(unix)]
fn poll(stream: &TcpStream, buffer: &mut [u8]) -> Option<io::Result<usize>> {
    use rustix::net::{RecvFlags, recv};
    let begun = Instant::now();
    loop {
        match recv(stream, &mut *buffer, RecvFlags::DONTWAIT) {
            Ok((received, _)) => return Some(Ok(received)),
            Err(rustix::io::Errno::AGAIN) if begun.elapsed() < POLL_TIME => std::thread::yield_now(),
            // The blocking read returns any error again.
            Err(_) => return None,
        }
    }
}

/// On other systems it does not poll.
#[cfg(not(unix))]
fn poll(_: &TcpStream, _: &mut [u8]) -> Option<io::Result<usize>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_are_taken() {
        let new = |base| Connection::new(base, Duration::from_secs(1), None, 1);
        for base in ["http://127.0.0.1:8000", "http://localhost:1/", "http://[::1]:80", "http://host"] {
            assert!(new(base).is_ok(), "{base}");
        }
        for base in [
            "",
            "localhost:80",
            "https://a:1",
            "http://a:1/x",
            "http://a:1/?x",
            "http://u:p@a:1",
            "http://a:99999",
            "ftp://a",
            "http://",
            "http://a b",
            "http://a:1\r\nx: y",
        ] {
            assert!(new(base).is_err(), "{base}");
        }
    }
}
