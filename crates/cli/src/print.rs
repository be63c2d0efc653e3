//! What goes to standard output and standard error, and the one question that is asked there.

use std::io::{BufRead as _, Write};

use serde_json::Value;
use workbench::api::ApiError;

/// Writes to standard output. A reader that went away (`| head`) ends the program quietly; any other fault, such as a
/// full disk, is a failure.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        crate::report(&ApiError::new("output.failed", format!("The output can not be written: {error}")));
        std::process::exit(1);
    }
}

/// As JSON, indented.
pub(crate) fn print_json(value: &Value) {
    print(&format!("{}\n", serde_json::to_string_pretty(value).unwrap_or_default()));
}

/// A line for people, on standard error.
pub(crate) fn note(text: &str) {
    drop(writeln!(std::io::stderr(), "{text}"));
}

/// A question at the terminal; no answer is no.
pub(crate) fn confirmed(question: &str) -> bool {
    drop(write!(std::io::stderr(), "{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok_and(|_| answer.trim().eq_ignore_ascii_case("y"))
}
