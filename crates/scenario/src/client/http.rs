//! One connection to a server, which may be hostile: answers are bounded in size and time, and nothing but well-formed
//! HTTP counts as one.
//!
//! The connection is driven by the task that waits for the answer, not by one of its own: that saves two switches
//! between tasks for every request.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Uri, Version};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::UrlError;
use super::execution::{Answer, Body};
use crate::reference::Request;
use crate::suite::Method;

type Driver = Pin<Box<http1::Connection<TokioIo<TcpStream>, Full<Bytes>>>>;

/// A server, and the connection to it while there is one.
pub(super) struct Connection {
    host: String,
    port: u16,
    header: HeaderValue,
    /// Where the name led to: looked up once.
    address: Option<SocketAddr>,
    timeout: Duration,
    body_limit: usize,
    open: Option<Open>,
}

struct Open {
    sender: SendRequest<Full<Bytes>>,
    /// Gone once the connection has ended.
    driver: Option<Driver>,
}

/// Why there is no answer.
enum Trouble {
    /// The connection ended before any part of an answer came.
    Closed(String),
    Other(String),
}

impl Connection {
    pub(super) fn new(base: &str, timeout: Duration, body_limit: usize) -> Result<Self, UrlError> {
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
            header: HeaderValue::from_str(authority.as_str()).map_err(|_| wrong())?,
            address: None,
            timeout,
            body_limit,
            open: None,
        })
    }

    /// Sends a request and waits for its answer. A kept connection that the server has closed in the meantime is opened
    /// again, once.
    pub(super) async fn send(&mut self, request: &Request) -> Result<Answer, String> {
        let timeout = self.timeout;
        match tokio::time::timeout(timeout, self.exchange(request)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(why)) => {
                self.open = None;
                Err(why)
            }
            Err(_) => {
                self.open = None;
                Err(format!("nothing complete came within {} s", timeout.as_secs_f64()))
            }
        }
    }

    async fn exchange(&mut self, request: &Request) -> Result<Answer, String> {
        let (target, body) = (target(request)?, body(request));
        let mut kept = self.open.take();
        loop {
            let reused = kept.is_some();
            let mut open = match kept.take() {
                Some(open) => open,
                None => self.connect().await?,
            };
            let head = self.head(request.method, target.clone(), body.as_ref());
            match open.request(head, self.body_limit).await {
                Ok((answer, keep)) => {
                    self.open = keep.then_some(open);
                    return Ok(answer);
                }
                Err(Trouble::Closed(_)) if reused => {}
                Err(Trouble::Closed(why) | Trouble::Other(why)) => return Err(why),
            }
        }
    }

    async fn connect(&mut self) -> Result<Open, String> {
        let connected = match self.address {
            Some(address) => TcpStream::connect(address).await,
            None => TcpStream::connect((self.host.as_str(), self.port)).await,
        };
        let stream = connected.map_err(|error| format!("no connection ({error})"))?;
        self.address = stream.peer_addr().ok();
        let _ = stream.set_nodelay(true);
        let (sender, driver) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| format!("no connection ({error})"))?;
        Ok(Open { sender, driver: Some(Box::pin(driver)) })
    }

    fn head(&self, method: Method, target: Uri, body: Option<&Bytes>) -> hyper::Request<Full<Bytes>> {
        let mut request = hyper::Request::new(Full::new(body.cloned().unwrap_or_default()));
        *request.method_mut() = match method {
            Method::Get => hyper::Method::GET,
            Method::Post => hyper::Method::POST,
            Method::Put => hyper::Method::PUT,
            Method::Patch => hyper::Method::PATCH,
            Method::Delete => hyper::Method::DELETE,
        };
        *request.uri_mut() = target;
        let headers = request.headers_mut();
        headers.insert(HOST, self.header.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        request
    }
}

impl Open {
    /// One request and its answer, and whether the connection can be used again.
    async fn request(
        &mut self,
        request: hyper::Request<Full<Bytes>>,
        body_limit: usize,
    ) -> Result<(Answer, bool), Trouble> {
        driven(&mut self.driver, self.sender.ready()).await.map_err(|error| trouble(&error))?;
        let response = driven(&mut self.driver, self.sender.send_request(request))
            .await
            .map_err(|error| trouble(&error))?;
        let (parts, mut body) = response.into_parts();
        let mut bytes: Vec<u8> = Vec::new();
        while let Some(frame) = driven(&mut self.driver, body.frame()).await {
            let frame = frame.map_err(|error| Trouble::Other(format!("the answer breaks off ({error})")))?;
            let Some(data) = frame.data_ref() else { continue };
            if bytes.len() + data.len() > body_limit {
                return Err(Trouble::Other(format!("the answer is larger than {body_limit} bytes")));
            }
            bytes.extend_from_slice(data);
        }
        let says = |word: &str| {
            parts
                .headers
                .get(CONNECTION)
                .and_then(|value| value.to_str().ok())
                .is_some_and(|value| value.eq_ignore_ascii_case(word))
        };
        let keep = self.driver.is_some()
            && if parts.version == Version::HTTP_11 { !says("close") } else { says("keep-alive") };
        let body = if bytes.is_empty() {
            Body::Empty
        } else {
            serde_json::from_slice(&bytes).map_or(Body::Other(bytes), Body::Json)
        };
        Ok((Answer { status: parts.status.as_u16(), body }, keep))
    }
}

/// Waits for something that comes over a connection, and moves the connection on meanwhile.
async fn driven<F: Future>(driver: &mut Option<Driver>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| {
        if let Poll::Ready(output) = future.as_mut().poll(context) {
            return Poll::Ready(output);
        }
        if let Some(connection) = driver
            && connection.as_mut().poll(context).is_ready()
        {
            // The end of the connection reaches the future by itself: as an answer that came whole, or as an error.
            *driver = None;
        }
        future.as_mut().poll(context)
    })
    .await
}

fn trouble(error: &hyper::Error) -> Trouble {
    use std::error::Error as _;
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    let why = format!("{error}{cause}");
    let reset =
        error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>()).is_some_and(|cause| {
            use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
            matches!(cause.kind(), BrokenPipe | ConnectionAborted | ConnectionReset)
        });
    if reset || error.is_closed() || error.is_canceled() || error.is_incomplete_message() {
        Trouble::Closed(why)
    } else {
        Trouble::Other(why)
    }
}

fn body(request: &Request) -> Option<Bytes> {
    match request.body.as_ref()? {
        Ok(body) => Some(Bytes::from(body.to_string())),
        Err(()) => Some(Bytes::from_static(b"{")),
    }
}

/// Path and query, percent-encoded.
fn target(request: &Request) -> Result<Uri, String> {
    let mut out = String::with_capacity(request.path.len() + 32);
    if !request.path.starts_with('/') {
        out.push('/');
    }
    encode(&mut out, &request.path, b"/-._~:@!$&'()*+,;=");
    for (at, (key, value)) in request.query.iter().enumerate() {
        out.push(if at == 0 { '?' } else { '&' });
        encode(&mut out, key, b"-._~");
        out.push('=');
        encode(&mut out, value, b"-._~");
    }
    Uri::try_from(out).map_err(|error| format!("the path can not be asked for ({error})"))
}

fn encode(out: &mut String, text: &str, plain: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for digit in [byte >> 4, byte & 15] {
                out.push(DIGITS.get(usize::from(digit)).copied().map_or('0', char::from));
            }
        }
    }
}

/// Waits until a server answers with HTTP, whatever it says; false if it does not in time.
///
/// Errors: the URL is not `http://host:port`.
pub async fn wait_until_up(base: &str, timeout: Duration) -> Result<bool, UrlError> {
    let since = Instant::now();
    let mut pause = Duration::from_millis(10);
    let request = Request { method: Method::Get, path: "/".to_owned(), query: Vec::new(), body: None };
    loop {
        let left = timeout.saturating_sub(since.elapsed());
        // A server that takes connections before it answers gets several chances.
        let mut connection = Connection::new(base, left.min(Duration::from_secs(2)), 64 * 1024)?;
        if connection.send(&request).await.is_ok() {
            return Ok(true);
        }
        let left = timeout.saturating_sub(since.elapsed());
        if left.is_zero() {
            return Ok(false);
        }
        tokio::time::sleep(pause.min(left)).await;
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_are_taken() {
        let new = |base| Connection::new(base, Duration::from_secs(1), 1);
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
        ] {
            assert!(new(base).is_err(), "{base}");
        }
    }

    #[test]
    fn paths_and_queries_are_encoded() {
        let request = Request {
            method: Method::Get,
            path: "/a b/é%?".to_owned(),
            query: vec![("q".to_owned(), "x&y= +".to_owned()), ("due".to_owned(), "10:00".to_owned())],
            body: None,
        };
        let uri = target(&request).expect("a target");
        assert_eq!(uri.to_string(), "/a%20b/%C3%A9%25%3F?q=x%26y%3D%20%2B&due=10%3A00");
    }
}
