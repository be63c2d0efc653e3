//! Parses a response from received bytes: HTTP/1.0 and 1.1, with a length, in chunks, or up to the end of the connection (RFC
//! 9112, sections 6 and 7).

use std::io;

use super::ExchangeError;

/// The largest head of a response in bytes, and the longest line with the size of a chunk.
const HEAD: usize = 64 * 1024;
/// Most headers.
const HEADERS: usize = 100;
/// Most interim responses (status 1xx) before the final one.
const INTERIM: usize = 8;
/// Size of one read.
const PIECE: usize = 16 * 1024;

/// A received response.
#[derive(Debug)]
pub(super) struct ReceivedResponse {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    /// Whether the connection can be used for another request.
    pub(super) keep: bool,
}

/// A source of bytes: some at a time, none at the end.
type Source<'a> = &'a mut dyn FnMut(&mut [u8]) -> io::Result<usize>;

/// Received bytes, and how many are consumed. The buffer is reused for all responses.
#[derive(Debug, Default)]
pub(super) struct ReceivedBytes {
    bytes: Vec<u8>,
    /// The end of the received bytes.
    filled: usize,
    /// The end of the consumed bytes.
    taken: usize,
}

struct Head {
    status: u16,
    length: Length,
    keep: bool,
}

enum Length {
    Known(u64),
    Chunked,
    UntilClosed,
}

fn invalid(reason: impl Into<String>) -> ExchangeError {
    ExchangeError::Other(reason.into())
}

fn incomplete() -> ExchangeError {
    invalid("the answer breaks off")
}

fn too_large(limit: usize) -> ExchangeError {
    invalid(format!("the answer is larger than {limit} bytes"))
}

impl ReceivedBytes {
    /// Reads one response.
    pub(super) fn answer(
        &mut self,
        limit: usize,
        source: Source<'_>,
    ) -> Result<ReceivedResponse, ExchangeError> {
        (self.filled, self.taken) = (0, 0);
        for _ in 0..=INTERIM {
            let Head { status, length, keep } = self.head(source)?;
            if status == 101 {
                return Err(invalid("the server changes to another protocol"));
            }
            if (100..200).contains(&status) {
                continue;
            }
            let (body, closes) = match length {
                _ if matches!(status, 204 | 304) => (Vec::new(), false),
                Length::Known(length) => (self.read_known(length, limit, source)?, false),
                Length::Chunked => (self.chunked(limit, source)?, false),
                Length::UntilClosed => (self.read_until_closed(limit, source)?, true),
            };
            // Bytes after a response belong to no response.
            let keep = keep && !closes && self.taken == self.filled;
            return Ok(ReceivedResponse { status, body, keep });
        }
        Err(invalid("nothing but interim answers came"))
    }

    fn head(&mut self, source: Source<'_>) -> Result<Head, ExchangeError> {
        let mut searched_to = self.taken;
        loop {
            // The head can only end at the end of a line.
            if self.bytes.get(searched_to..self.filled).is_some_and(|new| new.contains(&b'\n')) {
                let mut headers = [httparse::EMPTY_HEADER; HEADERS];
                let mut answer = httparse::Response::new(&mut headers);
                let parsed = answer
                    .parse(self.unread_bytes())
                    .map_err(|error| invalid(format!("no HTTP ({error})")))?;
                if let httparse::Status::Complete(length) = parsed {
                    let head = parse_head(&answer)?;
                    self.taken += length;
                    return Ok(head);
                }
            }
            searched_to = self.filled;
            if self.filled - self.taken > HEAD {
                return Err(invalid("no HTTP (the head has no end)"));
            }
            let nothing = self.filled == 0;
            match self.fill(source) {
                Ok(true) => {}
                Ok(false) if nothing => {
                    return Err(ExchangeError::Closed(
                        "the connection was closed before an answer came".to_owned(),
                    ));
                }
                Err(ExchangeError::Closed(reason)) if nothing => return Err(ExchangeError::Closed(reason)),
                Ok(false) | Err(ExchangeError::Closed(_)) => return Err(incomplete()),
                Err(trouble) => return Err(trouble),
            }
        }
    }

    /// A body of a known length.
    fn read_known(
        &mut self,
        length: u64,
        limit: usize,
        source: Source<'_>,
    ) -> Result<Vec<u8>, ExchangeError> {
        let length = usize::try_from(length).ok().filter(|length| *length <= limit);
        let length = length.ok_or_else(|| too_large(limit))?;
        let mut body = Vec::with_capacity(length.min(PIECE));
        self.move_to(&mut body, length, source)?;
        Ok(body)
    }

    fn chunked(&mut self, limit: usize, source: Source<'_>) -> Result<Vec<u8>, ExchangeError> {
        let mut body = Vec::new();
        loop {
            let line = self.line(source)?;
            // The text after a semicolon has extensions, which are ignored.
            let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
            let size = match std::str::from_utf8(digits) {
                Ok(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                    u64::from_str_radix(digits, 16).ok()
                }
                _ => None,
            };
            let Some(size) = size else { return Err(invalid("no HTTP (the size of a chunk is no number)")) };
            if size == 0 {
                break;
            }
            let remaining = limit - body.len();
            let size = usize::try_from(size).ok().filter(|size| *size <= remaining);
            self.move_to(&mut body, size.ok_or_else(|| too_large(limit))?, source)?;
            if !self.line(source)?.is_empty() {
                return Err(invalid("no HTTP (a chunk does not end where it says)"));
            }
        }
        // Trailers are ignored.
        for _ in 0..HEADERS {
            if self.line(source)?.is_empty() {
                return Ok(body);
            }
        }
        Err(invalid("no HTTP (the trailers have no end)"))
    }

    fn read_until_closed(&mut self, limit: usize, source: Source<'_>) -> Result<Vec<u8>, ExchangeError> {
        let mut body = Vec::new();
        loop {
            let new = self.unread_bytes();
            if new.len() > limit - body.len() {
                return Err(too_large(limit));
            }
            body.extend_from_slice(new);
            (self.filled, self.taken) = (0, 0);
            match self.fill(source) {
                Ok(true) => {}
                Ok(false) => return Ok(body),
                Err(ExchangeError::Closed(_)) => return Err(incomplete()),
                Err(trouble) => return Err(trouble),
            }
        }
    }

    /// Moves this number of bytes into a body.
    fn move_to(
        &mut self,
        body: &mut Vec<u8>,
        length: usize,
        source: Source<'_>,
    ) -> Result<(), ExchangeError> {
        let mut left = length;
        loop {
            let new = self.unread_bytes();
            let new = new.get(..left).unwrap_or(new);
            body.extend_from_slice(new);
            left -= new.len();
            self.taken += new.len();
            if left == 0 {
                return Ok(());
            }
            self.read_more(source)?;
        }
    }

    /// A line without its end.
    fn line(&mut self, source: Source<'_>) -> Result<Vec<u8>, ExchangeError> {
        let mut line = Vec::new();
        loop {
            let new = self.unread_bytes();
            let end = new.iter().position(|byte| *byte == b'\n');
            let part = new.get(..end.unwrap_or(new.len())).unwrap_or(new);
            line.extend_from_slice(part);
            self.taken += part.len() + usize::from(end.is_some());
            if end.is_some() {
                line.truncate(line.strip_suffix(b"\r").unwrap_or(&line).len());
                return Ok(line);
            }
            if line.len() > HEAD {
                return Err(invalid("no HTTP (a line has no end)"));
            }
            self.read_more(source)?;
        }
    }

    fn unread_bytes(&self) -> &[u8] {
        self.bytes.get(self.taken..self.filled).unwrap_or_default()
    }

    /// Reads more bytes inside a body, after all received bytes are consumed.
    fn read_more(&mut self, source: Source<'_>) -> Result<(), ExchangeError> {
        (self.filled, self.taken) = (0, 0);
        match self.fill(source) {
            Ok(true) => Ok(()),
            Ok(false) | Err(ExchangeError::Closed(_)) => Err(incomplete()),
            Err(trouble) => Err(trouble),
        }
    }

    /// Reads some bytes. False at the end of the connection.
    fn fill(&mut self, source: Source<'_>) -> Result<bool, ExchangeError> {
        if self.bytes.len() < self.filled + PIECE {
            self.bytes.resize(self.filled + PIECE, 0);
        }
        loop {
            match source(self.bytes.get_mut(self.filled..).unwrap_or_default()) {
                Ok(read) => {
                    self.filled += read;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The framing of the body and the state of the connection, from a head.
fn parse_head(answer: &httparse::Response<'_, '_>) -> Result<Head, ExchangeError> {
    let mut keep = answer.version == Some(1);
    let (mut known, mut coding) = (None, None);
    for header in answer.headers.iter() {
        let value = header.value.trim_ascii();
        if header.name.eq_ignore_ascii_case("content-length") {
            let digits =
                std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
            let length: Option<u64> = digits.and_then(|digits| digits.parse().ok());
            if length.is_none() || (known.is_some() && known != length) {
                return Err(invalid("no HTTP (the length of the body is no number)"));
            }
            known = length;
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            coding = Some(value);
        } else if header.name.eq_ignore_ascii_case("connection") {
            for word in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                if word.eq_ignore_ascii_case(b"close") {
                    keep = false;
                } else if word.eq_ignore_ascii_case(b"keep-alive") {
                    keep = true;
                }
            }
        }
    }
    let length = match (coding, known) {
        (Some(coding), known) => {
            if !coding.eq_ignore_ascii_case(b"chunked") {
                return Err(invalid("the answer is coded in a way that was not asked for"));
            }
            // With both lengths, the chunks count, and the connection ends after them.
            keep &= known.is_none();
            Length::Chunked
        }
        (None, Some(known)) => Length::Known(known),
        (None, None) => Length::UntilClosed,
    };
    Ok(Head { status: answer.code.unwrap_or(0), length, keep })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a response from bytes in pieces of this size, and then the end.
    fn read(bytes: &[u8], piece: usize, limit: usize) -> Result<(u16, String, bool), String> {
        let mut rest = bytes;
        let answer = ReceivedBytes::default().answer(limit, &mut |buffer| {
            let length = piece.min(rest.len()).min(buffer.len());
            let (now, later) = rest.split_at(length);
            buffer[..length].copy_from_slice(now);
            rest = later;
            Ok(length)
        });
        match answer {
            Ok(read) => Ok((read.status, String::from_utf8(read.body).expect("a text"), read.keep)),
            Err(ExchangeError::Closed(reason)) => Err(format!("closed: {reason}")),
            Err(ExchangeError::Other(reason)) => Err(reason),
            Err(ExchangeError::TimedOut) => Err("timed out".to_owned()),
        }
    }

    #[test]
    fn answers_are_read_in_pieces_of_any_size() {
        let chunks =
            "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n0A\r\n0123456789\r\n0\r\n";
        let chunked = format!("{chunks}\r\n");
        let trailed = format!("{chunks}x: y\r\n\r\n");
        let long = format!("HTTP/1.1 200 OK\r\ncontent-length: 40000\r\n\r\n{}", "z".repeat(40_000));
        for (bytes, status, body, keep) in [
            ("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}", 201, "{}", true),
            ("HTTP/1.1 200\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}", 200, "{}", true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nConnection: x, Close\r\n\r\n{}", 200, "{}", false),
            ("HTTP/1.1 200 OK\ncontent-length: 2\n\n{}", 200, "{}", true),
            ("HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}", 200, "{}", false),
            ("HTTP/1.0 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\n{}", 200, "{}", true),
            ("HTTP/1.1 204 No Content\r\n\r\n", 204, "", true),
            ("HTTP/1.1 204 No Content\r\ncontent-length: 7\r\n\r\n", 204, "", true),
            ("HTTP/1.1 200 OK\r\n\r\n{}", 200, "{}", false),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", 200, "", true),
            (&chunked, 200, "abc0123456789", true),
            (&trailed, 200, "abc0123456789", true),
            (&long, 200, &long[long.len() - 40_000..], true),
        ] {
            for piece in [1, 2, 3, 7, 100_000] {
                let expected = Ok((status, body.to_owned(), keep));
                assert_eq!(read(bytes.as_bytes(), piece, 100_000), expected, "{piece}: {bytes:.200}");
            }
        }
    }

    #[test]
    fn bytes_after_an_answer_end_the_connection() {
        let bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}{}";
        assert_eq!(read(bytes, 1000, 1000), Ok((200, "{}".to_owned(), false)));
        let bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
        assert_eq!(read(bytes, 1000, 1000), Ok((200, String::new(), false)));
    }

    #[test]
    fn an_incomplete_answer_is_an_error() {
        let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        for (bytes, reason) in [
            (String::new(), "closed: "),
            ("H".to_owned(), "the answer breaks off"),
            ("HTTP/1.1 200 OK\r\n".to_owned(), "the answer breaks off"),
            ("SSH-2.0-x\r\n\r\n".to_owned(), "no HTTP"),
            ("HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\n{}".to_owned(), "no HTTP"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\n{}".to_owned(), "no HTTP"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}".to_owned(), "no HTTP"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n{}".to_owned(), "no HTTP"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}".to_owned(), "the answer breaks off"),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n{}".to_owned(),
                "the answer is larger than 1000",
            ),
            (format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(1001)), "the answer is larger than 1000"),
            (format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(2 * HEAD)), "no HTTP (the head has no end)"),
            (format!("HTTP/1.1 200 OK\r\n{}", "x:\r\n".repeat(200)), "no HTTP"),
            ("HTTP/1.1 100 Continue\r\n\r\n".repeat(20), "nothing but interim answers"),
            ("HTTP/1.1 100 Continue\r\n\r\n".to_owned(), "the answer breaks off"),
            ("HTTP/1.1 101 Switching\r\n\r\n".to_owned(), "the server changes"),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n{}".to_owned(), "the answer is coded"),
            (format!("{chunked}-1\r\n"), "no HTTP (the size"),
            (format!("{chunked}\r\n"), "no HTTP (the size"),
            (format!("{chunked}ffffffffffffffffff\r\n"), "no HTTP (the size"),
            (format!("{chunked}ffffffffffffffff\r\n"), "the answer is larger"),
            (format!("{chunked}2\r\nabc\r\n0\r\n\r\n"), "no HTTP (a chunk"),
            (format!("{chunked}2\r\nab\r\n0\r\n"), "the answer breaks off"),
            (format!("{chunked}2\r\nab"), "the answer breaks off"),
            (format!("{chunked}1{}", "0".repeat(2 * HEAD)), "no HTTP (a line"),
            (format!("{chunked}0\r\n{}", "x: y\r\n".repeat(200)), "no HTTP (the trailers"),
        ] {
            for piece in [1, 7, 100_000] {
                let error = read(bytes.as_bytes(), piece, 1000).expect_err(&bytes[..bytes.len().min(80)]);
                assert!(error.starts_with(reason), "{piece}: {error:?} for {bytes:.80?}");
            }
        }
    }
}
