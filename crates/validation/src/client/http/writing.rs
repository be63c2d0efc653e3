//! Serializes a request.

use std::io::Write as _;

use scenario::reference::Request;
use scenario::suite::Method;

/// Writes a request into a cleared buffer.
pub(super) fn request(out: &mut Vec<u8>, request: &Request, authority: &str) {
    out.clear();
    out.extend_from_slice(request.method.as_str().as_bytes());
    out.push(b' ');
    target(out, request);
    out.extend_from_slice(b" HTTP/1.1\r\nhost: ");
    out.extend_from_slice(authority.as_bytes());
    out.extend_from_slice(b"\r\naccept: application/json\r\n");
    let body = match &request.body {
        None => None,
        Some(Ok(body)) => Some(body.to_string()),
        Some(Err(())) => Some("{".to_owned()),
    };
    match &body {
        Some(body) => {
            let _ = write!(out, "content-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
            out.extend_from_slice(body.as_bytes());
        }
        None if request.method == Method::Get => out.extend_from_slice(b"\r\n"),
        None => out.extend_from_slice(b"content-length: 0\r\n\r\n"),
    }
}

/// Path and query, percent-encoded, so that no capture can end the line.
fn target(out: &mut Vec<u8>, request: &Request) {
    if !request.path.starts_with('/') {
        out.push(b'/');
    }
    encode(out, &request.path, b"/-._~:@!$&'()*+,;=");
    for (index, (key, value)) in request.query.iter().enumerate() {
        out.push(if index == 0 { b'?' } else { b'&' });
        encode(out, key, b"-._~");
        out.push(b'=');
        encode(out, value, b"-._~");
    }
}

fn encode(out: &mut Vec<u8>, text: &str, plain: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            out.push(byte);
        } else {
            out.push(b'%');
            for digit in [byte >> 4, byte & 15] {
                out.push(DIGITS.get(usize::from(digit)).copied().unwrap_or(b'0'));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<serde_json::Value>,
    ) -> String {
        let query = query.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let mut out = b"what was there before".to_vec();
        request(&mut out, &Request { method, path: path.to_owned(), query, body: body.map(Ok) }, "host:1");
        String::from_utf8(out).expect("a text")
    }

    #[test]
    fn a_request_is_written_with_what_it_needs() {
        assert_eq!(
            written(Method::Get, "/a", &[], None),
            "GET /a HTTP/1.1\r\nhost: host:1\r\naccept: application/json\r\n\r\n"
        );
        assert_eq!(
            written(Method::Delete, "/a", &[], None),
            "DELETE /a HTTP/1.1\r\nhost: host:1\r\naccept: application/json\r\ncontent-length: 0\r\n\r\n"
        );
        assert_eq!(
            written(Method::Post, "a", &[], Some(json!({"é": 1}))),
            "POST /a HTTP/1.1\r\nhost: host:1\r\naccept: application/json\r\ncontent-type: application/json\r\n\
             content-length: 8\r\n\r\n{\"é\":1}"
        );
    }

    #[test]
    fn paths_and_queries_are_encoded() {
        let query = [("q", "x&y= +"), ("due", "10:00"), ("\r\n", "\r\nx: y")];
        let text = written(Method::Get, "/a b/é%?\r\n", &query, None);
        let line =
            "GET /a%20b/%C3%A9%25%3F%0D%0A?q=x%26y%3D%20%2B&due=10%3A00&%0D%0A=%0D%0Ax%3A%20y HTTP/1.1\r\n";
        assert!(text.starts_with(line), "{text}");
    }
}
