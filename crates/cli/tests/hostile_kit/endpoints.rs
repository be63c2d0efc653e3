//! Servers that answer as endpoints of models do, to do harm.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use crate::app::TestHome;
use crate::hostile_kit::bounded_run::run;
use crate::hostile_kit::is_harmless;
use crate::hostile_kit::outside::Outside;

/// What a path answers; others are not found.
type Answers = Vec<(&'static str, String)>;

fn answer(mut connection: TcpStream, answers: &Answers) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    let (mut path, mut length) = (String::new(), 0);
    for line in reader.by_ref().lines() {
        let line = line?.to_ascii_lowercase();
        if path.is_empty() {
            line.split(' ').nth(1).unwrap_or_default().clone_into(&mut path);
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    // What is not read would end the connection before its answer arrives.
    std::io::copy(&mut reader.take(length), &mut std::io::sink())?;
    let found = answers.iter().find(|(known, _)| *known == path);
    let (status, body) = found.map_or(("404 Not Found", "{}"), |(_, body)| ("200 OK", body.as_str()));
    write!(
        connection,
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Answers on a port of its own, as long as the test runs. Its address.
fn stand_in(answers: Answers) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("its port"));
    let answers = Arc::new(answers);
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let answers = Arc::clone(&answers);
            std::thread::spawn(move || drop(answer(connection, &answers)));
        }
    });
    address
}

/// Values between commas, just as many as an answer may be long.
fn full(value: &str) -> String {
    vec![value; ((2 << 20) - 4096) / (value.len() + 1)].join(",")
}

fn models(count: usize) -> String {
    (0..count).map(|number| format!("{{\"id\":\"m{number}\"}}")).collect::<Vec<_>>().join(",")
}

#[test]
// docs/security.md: The hostile kit
fn hostile_endpoints_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let objects = || format!("{{\"x\":[{}]}}", full("{\"\":0}"));
    let list = |entries: &str| format!("{{\"data\":[{entries}]}}");
    let other = vec!["{\"id\":\"other\"}"; 45_000].join(",");
    let studio_model = "{\"state\":\"loaded\",\"max_context_length\":1}";
    let harms: [(&str, Answers); 5] = [
        (
            "a list of empty objects",
            vec![("/v1/models", format!("{{\"data\":[{}],\"x\":[{}]}}", models(9), full("{\"\":0}")))],
        ),
        (
            "details of models that are full of objects",
            vec![
                ("/v1/models", list(&models(40))),
                ("/api/ps", "{\"models\":[]}".to_owned()),
                ("/api/show", objects()),
            ],
        ),
        (
            "other answers that are full of objects",
            vec![
                ("/v1/models", list(&models(1))),
                ("/api/ps", objects()),
                ("/api/v0/models", objects()),
                ("/props", objects()),
            ],
        ),
        (
            "many models beside very many others",
            vec![
                ("/v1/models", list(&models(1000))),
                ("/api/v0/models", list(&format!("{studio_model},{other}"))),
            ],
        ),
        (
            "names that a terminal obeys",
            vec![("/v1/models", list("{\"id\":\"\\u001b]0;x\\u0007a\\u202eb\\u009b31m\"}"))],
        ),
    ];
    for (label, answers) in harms {
        let ran = run(&test_home, &["endpoints", &stand_in(answers)]);
        is_harmless(label, &ran, &outside);
        let is_reported = ran.output.contains("more than 100000 values");
        assert_eq!(is_reported, label == "a list of empty objects", "{label}: {}", ran.output);
    }
}
