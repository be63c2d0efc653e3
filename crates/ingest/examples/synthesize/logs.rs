//! What pytest and the agent's server print.

use std::fmt::Write as _;

use crate::chance::Chance;
use crate::course::Outcome;
use crate::scenario::{Test, Turn};

/// Tests passed, and tests in all.
pub(crate) fn counts(outcome: &Outcome, turn: &Turn) -> Option<(usize, usize)> {
    let total = turn.tests.len();
    match outcome {
        Outcome::Passed => Some((total, total)),
        Outcome::Failed(failing) | Outcome::TimedOut(failing) => Some((total - failing.len(), total)),
        Outcome::Down => Some((0, total)),
        Outcome::Error(..) => None,
    }
}

fn failing(outcome: &Outcome) -> &[usize] {
    match outcome {
        Outcome::Failed(failing) | Outcome::TimedOut(failing) => failing,
        _ => &[],
    }
}

/// One letter a test.
pub(crate) fn letters(outcome: &Outcome, turn: &Turn) -> String {
    let is_down = *outcome == Outcome::Down;
    let failing = failing(outcome);
    (0..turn.tests.len())
        .map(|index| {
            if is_down {
                'E'
            } else if failing.contains(&index) {
                'F'
            } else {
                '.'
            }
        })
        .collect()
}

/// What the server answered in place of what was expected.
pub(crate) fn actual_status(test: &Test) -> u16 {
    match test.expected {
        200 => 404,
        201 => 500,
        _ => 200,
    }
}

/// A line of fill characters to 80 columns around a title, as pytest writes it.
fn around(out: &mut String, title: &str, fill: char) {
    let room = 78_usize.saturating_sub(title.len()).max(2);
    let (left, right) = (room / 2, room - room / 2);
    out.extend(std::iter::repeat_n(fill, left));
    let _ = write!(out, " {title} ");
    out.extend(std::iter::repeat_n(fill, right));
    out.push('\n');
}

/// The verbose log of a suite.
pub(crate) fn pytest(out: &mut String, chance: &mut Chance, outcome: &Outcome, turn: &Turn) {
    let total = turn.tests.len();
    let is_down = *outcome == Outcome::Down;
    let failing = failing(outcome);
    around(out, "test session starts", '=');
    let _ = write!(
        out,
        "platform linux -- Python 3.11.7, pytest-9.2.0, pluggy-1.7.0 -- /usr/bin/python3\nrootdir: /home/bench/suite\nplugins: xdist-3.8.0, timeout-2.4.0\ncollecting ... collected {total} items\n\n"
    );
    for (index, test) in turn.tests.iter().enumerate() {
        let word = if is_down {
            "ERROR"
        } else if failing.contains(&index) {
            "FAILED"
        } else {
            "PASSED"
        };
        let start = out.len();
        let _ = write!(out, "test_turn.py::{} {word}", test.name);
        let spaces = 74_usize.saturating_sub(out.len() - start).max(1);
        out.extend(std::iter::repeat_n(' ', spaces));
        let _ = writeln!(out, "[{:>3}%]", (index + 1) * 100 / total);
    }
    out.push('\n');
    let seconds = 0.4 + chance.share() * 4.0;
    if is_down {
        around(out, "ERRORS", '=');
        for test in &turn.tests {
            around(out, &format!("ERROR at setup of {}", test.name), '_');
            out.push_str(REFUSED);
        }
        around(out, "short test summary info", '=');
        for test in &turn.tests {
            summary(out, "ERROR", &test.name, "ConnectionRefusedError: [Errno 111] Connection refused");
        }
        around(out, &format!("{total} errors in {seconds:.2}s"), '=');
    } else if failing.is_empty() {
        around(out, &format!("{total} passed in {seconds:.2}s"), '=');
    } else {
        around(out, "FAILURES", '=');
        for index in failing {
            failure(out, &turn.tests[*index], index * 7 + 31);
        }
        around(out, "short test summary info", '=');
        for index in failing {
            let test = &turn.tests[*index];
            summary(
                out,
                "FAILED",
                &test.name,
                &format!(
                    "AssertionError: {}: expected {}, got {}",
                    test.route,
                    test.expected,
                    actual_status(test)
                ),
            );
        }
        around(
            out,
            &format!("{} failed, {} passed in {seconds:.2}s", failing.len(), total - failing.len()),
            '=',
        );
    }
}

const REFUSED: &str = "
    @pytest.fixture
    def client():
>       return Client(os.environ[\"PORT\"])
               ^^^^^^^^^^^^^^^^^^^^^^^^^^

test_turn.py:24: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def __init__(self, port):
>       self.socket.connect((\"127.0.0.1\", int(port)))
E       ConnectionRefusedError: [Errno 111] Connection refused

test_turn.py:15: ConnectionRefusedError
";

fn failure(out: &mut String, test: &Test, line: usize) {
    let (method, path) = test.route.split_once(' ').unwrap_or(("GET", "/"));
    let method = method.to_lowercase();
    let (route, expected, status) = (&test.route, test.expected, actual_status(test));
    around(out, &test.name, '_');
    let _ = write!(
        out,
        "
client = <test_turn.Client object at 0x7f0000000000>

    def {name}(client):
        first = client.post(\"/{entity}\", {{\"name\": \"first\", \"status\": \"open\"}})
        assert first.status_code == 201, first.text
        response = client.{method}(\"{path}\", {{\"name\": \"second\", \"quantity\": 3}})
>       assert response.status_code == {expected}, f\"{route}: expected {expected}, got {{response.status_code}}\"
E       AssertionError: {route}: expected {expected}, got {status}
E       assert {status} == {expected}
E        +  where {status} = <test_turn.Response object at 0x7f0000000000>.status_code

test_turn.py:{line}: AssertionError
----------------------------- Captured stdout call -----------------------------
> {route}
< {status} application/json
",
        name = test.name,
        entity = path.trim_start_matches('/').split('/').next().unwrap_or(""),
    );
}

/// A line of the short summary, cut to 80 columns as pytest cuts it.
fn summary(out: &mut String, word: &str, test: &str, message: &str) {
    let head = format!("{word} test_turn.py::{test}");
    let room = 80_usize.saturating_sub(head.len() + 3);
    if room >= message.len() {
        let _ = writeln!(out, "{head} - {message}");
    } else if room > 3 {
        let _ = writeln!(out, "{head} - {}...", &message[..room - 3]);
    } else {
        let _ = writeln!(out, "{head}");
    }
}

/// The log of the agent's server while a suite ran.
pub(crate) fn server(out: &mut String, chance: &mut Chance, outcome: &Outcome, turn: &Turn, time: &str) {
    if *outcome == Outcome::Down {
        out.push_str(
            "Traceback (most recent call last):\n  File \"/workspace/server.py\", line 3, in <module>\n    from service import add, all_of, app, found, jsonify, request, rule, summary\n  File \"/workspace/service.py\", line 41\n    def rule(entity, **what:\n            ^\nSyntaxError: '(' was never closed\n",
        );
        return;
    }
    out.push_str(" * Serving Flask app 'server'\n * Debug mode: off\n * Running on http://127.0.0.1:5000\n");
    let failing = failing(outcome);
    for (index, test) in turn.tests.iter().enumerate() {
        let failed = failing.contains(&index);
        let status = if failed { actual_status(test) } else { test.expected };
        let (method, path) = test.route.split_once(' ').unwrap_or(("GET", "/"));
        if failed && status == 500 {
            let _ = write!(
                out,
                "[{time}] ERROR in app: Exception on {path} [{method}]\nTraceback (most recent call last):\n  File \"/workspace/service.py\", line {}, in add\n    row[\"id\"] = next(ids[entity])\nKeyError: '{}'\n",
                chance.between(20, 90),
                path.trim_start_matches('/'),
            );
        }
        let _ = writeln!(out, "127.0.0.1 - - [{time}] \"{method} {path} HTTP/1.1\" {status} -");
    }
}
