//! The client with the reference, over HTTP, and with hostile servers.

use std::sync::Arc;

use scenario::ir::example;
use scenario::reference::serve;
use scenario::suite::{SUITE_VERSION, Suite};
use serde_json::{Value, json};

use super::*;

/// A suite from a value, by the file that it would be.
fn from_value(mut suite: Value) -> Result<Suite, String> {
    let cases = std::mem::replace(&mut suite["cases"], json!([]));
    let head = suite.to_string();
    let head = head.strip_suffix(",\"cases\":[]}").ok_or("cases stand last")?;
    let lines: Vec<String> = cases.as_array().ok_or("no list")?.iter().map(ToString::to_string).collect();
    Suite::from_json(format!("{head},\n\"cases\":[\n{}\n]}}\n", lines.join(",\n")).as_bytes())
}

/// A handwritten suite of one case.
fn suite_of(case: &Value) -> Suite {
    let mut suite = suite();
    let written = json!({
        "version": SUITE_VERSION, "scenario": 0, "turn": 1, "reset": {"method": "POST", "path": "/reset"},
        "builders": [], "cases": [case],
    });
    suite.cases = from_value(written).expect("a suite").cases;
    suite
}

/// A small handwritten suite: four cases that pass, and four that fail.
fn suite() -> Suite {
    let text = json!({
        "version": SUITE_VERSION,
        "scenario": 0,
        "turn": 1,
        "reset": {"method": "POST", "path": "/reset"},
        "builders": [
            {"entity": "customers", "path": "/api/customers", "status": 201, "bodies": [
                {"full_name": "Ann A", "email": "ann@example.org"},
                {"full_name": "Ben B", "email": "ben@example.org"},
            ]},
            {"entity": "repair_orders", "path": "/api/repair-orders", "status": 201, "bodies": [
                {"customer_id": {"$": "customers_1.id"}, "due_at": "2024-03-01T12:30:00Z"},
            ]},
        ],
        "cases": [
            case("read", json!([
                {"make": "customers", "nth": 1, "as": "customers_1"},
                {"make": "repair_orders", "nth": 1, "as": "order", "with": {"price": 12.5}},
                {"method": "GET", "path": "/api/repair-orders/{order.id}", "status": 200, "as": "read", "expect": [
                    {"is": "has", "at": "", "value": {"price": 12.5, "customer_id": {"$": "customers_1.id"}}},
                    {"is": "id", "at": "/id"},
                    {"is": "absent", "at": "/deleted"},
                ]},
                {"method": "GET", "path": "/api/repair-orders", "query": [["customer_id", "{read.customer_id}"]], "status": 200, "expect": [
                    {"is": "equal", "at": "/total", "value": 1},
                    {"is": "column", "at": "/items", "key": "id", "values": [{"$": "order.id"}]},
                ]},
            ])),
            case("filter.encoded", json!([
                {"make": "customers", "nth": 1, "as": "a", "with": {"full_name": "Änne & Co = 100%?"}},
                {"make": "customers", "nth": 2, "as": "b"},
                {"method": "GET", "path": "/api/customers", "query": [["full_name_contains", "{a.full_name}"]], "status": 200, "expect": [
                    {"is": "rows", "at": "/items", "rows": [{"id": {"$": "a.id"}}]},
                ]},
            ])),
            case("refused", json!([
                {"method": "POST", "path": "/api/customers", "body": {}, "status": 422, "expect": [
                    {"is": "equal", "at": "/error/code", "value": "validation_error"},
                    {"is": "text", "at": "/error/message"},
                ]},
                {"method": "PATCH", "path": "/api/customers/x", "body": {}, "status": 404},
            ])),
            case("deleted", json!([
                {"make": "customers", "nth": 1, "as": "c"},
                {"method": "DELETE", "path": "/api/customers/{c.id}", "status": 204},
                {"method": "GET", "path": "/api/customers/{c.id}", "status": 404},
            ])),
            case("wrong.status", json!([
                {"make": "customers", "nth": 2, "as": "c"},
                {"method": "PUT", "path": "/api/customers/{c.id}", "body": {"x": 1}, "status": 200},
            ])),
            case("wrong.value", json!([
                {"make": "customers", "nth": 1, "as": "c", "with": {"level": "gold"}},
                {"method": "GET", "path": "/api/customers/{c.id}", "status": 200, "expect": [
                    {"is": "has", "at": "", "value": {"level": "silver"}},
                ]},
            ])),
            case("wrong.capture", json!([
                {"method": "GET", "path": "/api/customers/{nobody.id}", "status": 200},
            ])),
            case("wrong.builder", json!([{"make": "customers", "nth": 9, "as": "c"}])),
        ],
    });
    from_value(text).expect("a suite")
}

#[expect(clippy::needless_pass_by_value, reason = "called with what json! makes")]
fn case(id: &str, steps: Value) -> Value {
    json!({"id": id, "title": id, "aspect": "route", "mark": "new", "says": ["operations"], "steps": steps})
}

fn world() -> World {
    World::new(Arc::new(example()))
}

fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// The verdicts of a server in the same test. The client runs in another thread.
async fn over_http(url: String, suite: Suite, options: Options) -> Verdicts {
    let run = tokio::task::spawn_blocking(move || verdicts(&url, &suite, &options));
    run.await.expect("the client ends").expect("a URL")
}

fn expected() -> Vec<(&'static str, CaseStatus, Option<&'static str>)> {
    use CaseStatus::{Failed, Passed};
    vec![
        ("read", Passed, None),
        ("filter.encoded", Passed, None),
        ("refused", Passed, None),
        ("deleted", Passed, None),
        (
            "wrong.status",
            Failed,
            Some(
                "Step 2: PUT /api/customers/1 {\"x\":1}: expected status 200, got status 422 with {\"error\":{\"code\":\"validation_error\",",
            ),
        ),
        (
            "wrong.value",
            Failed,
            Some("Step 2: GET /api/customers/1: expected /level to be \"silver\", got \"gold\""),
        ),
        (
            "wrong.capture",
            Failed,
            Some("Step 1: the request cannot be made: an earlier answer has no nobody.id"),
        ),
        (
            "wrong.builder",
            Failed,
            Some("Step 1: the request cannot be made: the suite has no record 9 of customers"),
        ),
    ]
}

fn hold(verdicts: &Verdicts) {
    assert_eq!((verdicts.passed, verdicts.total), (4, 8));
    for (result, (id, status, message)) in verdicts.cases.iter().zip(expected()) {
        assert_eq!((result.id.as_str(), result.status), (id, status), "{:?}", result.message);
        match message {
            None => assert_eq!(result.message, None),
            Some(start) => {
                let message = result.message.as_deref().unwrap_or("");
                assert!(message.starts_with(start), "{message}");
            }
        }
    }
    assert_eq!(verdicts.not_passed().count(), 4);
}

#[test]
fn a_suite_runs_in_process() {
    hold(&verdicts_in_process(&mut world(), &suite()));
}

#[test]
fn a_suite_runs_over_http_with_the_same_verdicts() {
    block(async {
        let server = serve(world(), "127.0.0.1:0".parse().expect("an address")).await.expect("a server");
        let outside = over_http(server.url(), suite(), Options::default()).await;
        hold(&outside);
        let in_process = verdicts_in_process(&mut world(), &suite());
        assert_eq!(outside.cases, in_process.cases);
        let url = server.url();
        server.stop().await;
        let options = Options { give_up_after: 2, ..Options::default() };
        let nobody = over_http(url, suite(), options).await;
        assert!(nobody.cases.iter().all(|case| case.status == CaseStatus::Error));
        let messages: Vec<&str> = nobody.cases.iter().filter_map(|case| case.message.as_deref()).collect();
        assert!(messages[1].contains("no connection"), "{messages:?}");
        assert!(messages[2].starts_with("Not asked"), "{messages:?}");
    });
}

#[test]
fn a_callback_ends_a_run() {
    let mut call_count = 0;
    run_in_process(&mut world(), &suite(), &mut |_, _| {
        call_count += 1;
        if call_count == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(call_count, 3);
}

#[test]
fn requests_that_double_from_step_to_step_are_not_made() {
    let mechanic = |number: usize, name: Value| {
        json!({"method": "POST", "path": "/api/mechanics", "status": 201, "as": format!("m{number}"),
            "body": {"first_name": name, "last_name": name, "badge": number + 1, "skills": ["brakes"]}})
    };
    let name = |number: usize| json!({"$": format!("m{number}.display_name")});
    let mut steps = vec![mechanic(0, json!("x"))];
    steps.extend((1..64).map(|number| mechanic(number, name(number - 1))));
    let suite = suite_of(&case("doubles", json!(steps)));
    let verdicts = verdicts_in_process(&mut world(), &suite);
    let message = verdicts.cases[0].message.as_deref().unwrap_or_default();
    // A name of 2^19 characters twice is too large for a request.
    assert!(message.starts_with("Step 19: the request cannot be made"), "{message}");
    assert!(message.contains("too large"), "{message}");
}

#[test]
fn a_suite_ends_with_its_time() {
    block(async {
        // Accepts connections and never responds.
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (total, request_timeout) = (Duration::from_secs(1), Duration::from_mins(5));
        let options = Options { total: Some(total), request_timeout, ..Options::default() };
        let found = over_http(url, suite(), options).await;
        assert!(found.seconds < request_timeout.as_secs_f64(), "{}", found.seconds);
        assert!(found.cases.len() > 2 && found.cases.iter().all(|case| case.status == CaseStatus::Error));
        let messages: Vec<&str> = found.cases.iter().filter_map(|case| case.message.as_deref()).collect();
        assert_eq!(messages[0], "Not finished: the time for the whole suite, 1 s, is over");
        assert!(
            messages[1..].iter().all(|message| message.starts_with("Not asked: the time")),
            "{messages:?}"
        );
    });
}

mod hostile {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// The time limit for responses that arrive, also on a busy machine.
    const LONG_TIMEOUT: Duration = Duration::from_mins(1);
    /// The time limit for missing or invalid responses.
    const SHORT_TIMEOUT: Duration = Duration::from_millis(300);

    /// The result of a suite of one case, `GET /x` with an assertion, with a server that runs `serve` for every connection (its
    /// number from 0), and the number of connections. `timeout` is the time limit of responses.
    fn against<F, S>(request_timeout: Duration, serve: S) -> (CaseResult, usize)
    where
        S: Fn(TcpStream, usize) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        block(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let url = format!("http://{}", listener.local_addr().expect("an address"));
            let count = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&count);
            let server = tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, counted.fetch_add(1, Ordering::SeqCst)));
                }
            });
            let suite = suite_of(&case("one", json!([["GET", "/x", 200, {"expect": [["equal", "/a", 1]]}]])));
            let options = Options { request_timeout, body_limit: 64 * 1024, ..Options::default() };
            let mut verdicts = over_http(url, suite, options).await;
            server.abort();
            let result = verdicts.cases.pop().expect("a verdict");
            let message = result.message.as_deref().unwrap_or("");
            assert!(message.chars().count() <= 601 && !message.chars().any(char::is_control), "{message:?}");
            (result, count.load(Ordering::SeqCst))
        })
    }

    /// Reads a request up to the end of its head.
    async fn request(stream: &mut TcpStream) -> bool {
        let mut request_bytes = Vec::new();
        let mut byte = [0; 1];
        while !request_bytes.ends_with(b"\r\n\r\n") {
            match stream.read(&mut byte).await {
                Ok(1) => request_bytes.push(byte[0]),
                _ => return false,
            }
        }
        true
    }

    /// A server that responds to every request with these bytes and keeps the connection open.
    fn always(request_timeout: Duration, bytes: impl Into<Vec<u8>>) -> (CaseResult, usize) {
        let bytes: Arc<[u8]> = bytes.into().into();
        against(request_timeout, move |mut stream, _| {
            let bytes = Arc::clone(&bytes);
            async move {
                while request(&mut stream).await {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
            }
        })
    }

    fn answer(head: &str, body: &[u8]) -> Vec<u8> {
        let mut bytes =
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{head}\r\n", body.len()).into_bytes();
        bytes.extend_from_slice(body);
        bytes
    }

    #[test]
    fn an_honest_server_passes_over_one_connection() {
        let (result, connections) = always(LONG_TIMEOUT, answer("", br#"{"a": 1.0}"#));
        assert_eq!((result.status, result.message, connections), (CaseStatus::Passed, None, 1));
    }

    #[test]
    fn a_server_that_closes_after_every_answer_passes() {
        for head in ["connection: close\r\n", ""] {
            let (result, connections) = against(LONG_TIMEOUT, move |mut stream, _| async move {
                if request(&mut stream).await {
                    let _ = stream.write_all(&answer(head, br#"{"a": 1}"#)).await;
                }
            });
            assert_eq!((result.status, connections), (CaseStatus::Passed, 2), "{:?}", result.message);
        }
        let (result, _) = against(LONG_TIMEOUT, |mut stream, _| async move {
            if request(&mut stream).await {
                let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n{\"a\": 1}").await;
            }
        });
        assert_eq!(result.status, CaseStatus::Passed, "{:?}", result.message);
    }

    #[test]
    fn a_server_that_answers_in_small_pieces_passes() {
        let (result, _) = against(LONG_TIMEOUT, |mut stream, _| async move {
            while request(&mut stream).await {
                for byte in b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n" {
                    let _ = stream.write_all(&[*byte]).await;
                    let _ = stream.flush().await;
                }
            }
        });
        assert_eq!(result.status, CaseStatus::Passed, "{:?}", result.message);
    }

    #[test]
    fn a_body_that_is_not_json_fails_and_is_shown_harmlessly() {
        for body in [
            &b"<html>\x1b[31m\x00</html>"[..],
            b"{\"a\": 1",
            b"{\"a\": 1e999}",
            b"\xff\xfe\xfd",
            "[".repeat(60_000).as_bytes(),
            b"NaN",
        ] {
            let (result, _) = always(LONG_TIMEOUT, answer("", body));
            assert_eq!(result.status, CaseStatus::Failed);
            let message = result.message.unwrap_or_default();
            assert!(message.contains("no JSON"), "{message}");
        }
        let (result, _) = always(LONG_TIMEOUT, answer("", b""));
        assert_eq!(result.message.as_deref(), Some("Step 1: GET /x: expected /a to be 1, got nothing"));
    }

    #[test]
    fn invalid_http_is_no_answer() {
        for bytes in [
            &b"220 ftp ready\r\n\r\n"[..],
            b"\x00\x01\x02\x03\r\n\r\n",
            b"HTTP/1.1 abc OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        ] {
            let (result, _) = always(SHORT_TIMEOUT, bytes);
            assert_eq!(result.status, CaseStatus::Error, "{:?}", result.message);
        }
        let endless_head =
            [&b"HTTP/1.1 200 OK\r\n"[..], &b"x: yyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(50_000)].concat();
        assert_eq!(always(SHORT_TIMEOUT, endless_head).0.status, CaseStatus::Error);
    }

    #[test]
    fn wrong_lengths_and_closed_connections_are_no_answer() {
        let (result, _) = always(SHORT_TIMEOUT, &b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}"[..]);
        assert_eq!(result.status, CaseStatus::Error);
        for bytes in [&b""[..], b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}"] {
            let (result, connections) = against(SHORT_TIMEOUT, move |mut stream, _| async move {
                if request(&mut stream).await {
                    let _ = stream.write_all(bytes).await;
                }
            });
            assert_eq!((result.status, connections), (CaseStatus::Error, 1), "{:?}", result.message);
        }
        // With a length that is too small, the rest of the body is not a response.
        let (result, _) =
            always(SHORT_TIMEOUT, &b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{\"a\": 1}"[..]);
        assert_ne!(result.status, CaseStatus::Passed);
    }

    #[test]
    fn slow_and_silent_servers_are_given_up() {
        let (result, _) = against(SHORT_TIMEOUT, |mut stream, _| async move {
            request(&mut stream).await;
            tokio::time::sleep(Duration::from_mins(1)).await;
        });
        assert_eq!(result.status, CaseStatus::Error);
        let message = result.message.unwrap_or_default();
        assert!(
            message
                .starts_with("Before the case: POST /reset: no answer: nothing complete came within 0.3 s"),
            "{message}"
        );
        let (result, _) = against(SHORT_TIMEOUT, |mut stream, _| async move {
            request(&mut stream).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").await;
            while stream.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        assert_eq!(result.status, CaseStatus::Error);
    }

    #[test]
    fn large_and_endless_bodies_are_not_read() {
        let (result, _) = always(SHORT_TIMEOUT, answer("", &vec![b' '; 70_000]));
        assert_eq!(result.status, CaseStatus::Error);
        let (result, _) = against(LONG_TIMEOUT, |mut stream, _| async move {
            request(&mut stream).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            let block = vec![b' '; 64 * 1024];
            while stream.write_all(&block).await.is_ok() {}
        });
        let message = result.message.unwrap_or_default();
        assert!(message.contains("larger than 65536 bytes"), "{message}");
    }

    #[test]
    fn a_reset_that_fails_fails_the_case() {
        let (result, _) = always(LONG_TIMEOUT, &b"HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n"[..]);
        assert_eq!(result.status, CaseStatus::Failed);
        let message = result.message.unwrap_or_default();
        assert!(
            message.starts_with("Before the case: POST /reset: expected a status below 400"),
            "{message}"
        );
    }
}
