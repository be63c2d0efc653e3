//! `stamina serve-reference` (the reference server of a turn) and `stamina test-server` (a suite against a server).

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scenario::ir::{SCHEMA_CAP, Schema};
use serde_json::json;
use validation::client::{CaseResult, CaseStatus};
use workbench::api::ApiError;

use crate::numbers::rounded_seconds;
use crate::pack_files::{is_missing, open, pack_error};
use crate::print::{note, print, print_json};
use crate::progress_throttle::ProgressThrottle;
use crate::signals::stop_signal;

/// Longest time for a suite against a server.
const SUITE_TIME: Duration = Duration::from_mins(30);

/// What `stamina serve-reference` serves.
pub(crate) enum Reference {
    /// A turn of a pack.
    OfPack {
        /// Folder or zip.
        pack: PathBuf,
        /// From 0.
        scenario: u32,
        /// From 1.
        turn: u32,
    },
    /// A schema in a file.
    File(PathBuf),
}

impl Reference {
    fn schema(&self) -> Result<Schema, ApiError> {
        match self {
            Self::OfPack { pack, scenario, turn } => {
                open(pack)?.schema(*scenario, *turn).map_err(|error| pack_error(&error, pack))
            }
            Self::File(path) => {
                let file_error = |code: &str, message: String| {
                    ApiError::new(code, message)
                        .at(path.display().to_string())
                        .hint("--schema takes a schema of a turn, as a pack has it in schemas/turn_N.yaml")
                };
                let unreadable = |error: std::io::Error| {
                    let code = if is_missing(&error) { "schema.missing" } else { "schema.unreadable" };
                    file_error(code, format!("The file cannot be read: {error}"))
                };
                let bytes = files::beneath::read_named_file(path, SCHEMA_CAP).map_err(|error| match error
                    .kind()
                {
                    std::io::ErrorKind::FileTooLarge => file_error("schema.large", error.to_string()),
                    _ => unreadable(error),
                })?;
                let text = String::from_utf8(bytes)
                    .map_err(|_| file_error("schema.form", "The file is not UTF-8 text".to_owned()))?;
                Schema::from_yaml(&text).map_err(|error| file_error("schema.form", error.to_string()))
            }
        }
    }
}

/// `stamina serve-reference`. Without a port it serves on the socket that standard input is.
pub(crate) fn serve_reference(
    from: &Reference,
    port: Option<u16>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let schema = from.schema()?;
    let turn = schema.turn;
    let scenario = match from {
        Reference::OfPack { scenario, .. } => Some(*scenario),
        Reference::File(_) => None,
    };
    runtime()?.block_on(async {
        let world = scenario::reference::World::new(Arc::new(schema));
        let serving = match port {
            Some(port) => {
                let address = (std::net::Ipv4Addr::LOCALHOST, port).into();
                scenario::reference::serve(world, address).await.map_err(|error| {
                    ApiError::new("serve.port", format!("Port {port} cannot be opened: {error}"))
                        .hint("Choose another with --port, or 0 for a free one")
                })
            }
            None => scenario::reference::serve_on_stdin(world).map_err(|error| {
                ApiError::new("serve.stdin", format!("Standard input cannot be listened on: {error}"))
                    .hint("--on-stdin takes a TCP socket that has an address; --port opens one")
            }),
        }?;
        let url = format!("http://{}", serving.address);
        if as_json {
            print_json(&json!({ "url": url, "scenario": scenario, "turn": turn }));
        } else {
            print(&format!("{url}\n"));
        }
        note("Ctrl-C ends it");
        stop_signal().await;
        drop(serving);
        Ok(ExitCode::SUCCESS)
    })
}

/// `stamina test-server`.
pub(crate) fn test_server(
    path: &Path,
    (scenario, turn): (u32, u32),
    url: &str,
    cases: &[String],
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let mut suite = open(path)?.suite(scenario, turn).map_err(|error| pack_error(&error, path))?;
    for wanted in cases {
        if !suite.cases.iter().any(|case| is_of(&case.id, wanted)) {
            return Err(ApiError::new("case.no_such", format!("The suite has no case \"{wanted}\"")).hint(
                "`stamina test-server … --json` lists their ids; the start of ids up to a dot is taken too",
            ));
        }
    }
    if !cases.is_empty() {
        suite.cases.retain(|case| cases.iter().any(|wanted| is_of(&case.id, wanted)));
    }
    let total = suite.cases.len();
    let throttle = ProgressThrottle::new();
    let mut results: Vec<CaseResult> = Vec::with_capacity(total);
    let begun = Instant::now();
    let mut on_case = |_: &scenario::suite::Case, result: &CaseResult| {
        results.push(result.clone());
        throttle.report(|| format!("ran {} of {total} cases", results.len()));
        ControlFlow::Continue(())
    };
    let options =
        validation::client::Options { total: Some(SUITE_TIME), ..validation::client::Options::default() };
    validation::client::run_http(url, &suite, &options, &mut on_case).map_err(|error| {
        ApiError::new("server.url", error.to_string()).hint("For example --url http://127.0.0.1:8000")
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let passed = results.iter().filter(|result| result.status == CaseStatus::Passed).count();
    if as_json {
        print_json(&json!({
            "passed": passed,
            "total": total,
            "cases": results.iter().map(|result| json!({
                "id": result.id,
                "status": result.status,
                "message": result.message,
            })).collect::<Vec<_>>(),
            "seconds": rounded_seconds(seconds),
        }));
    } else {
        let mut text = String::new();
        for result in results.iter().filter(|result| result.status != CaseStatus::Passed) {
            let word = if result.status == CaseStatus::Failed { "failed" } else { "error" };
            text.push_str(&format!("{word}  {}  {}\n", result.id, result.message.as_deref().unwrap_or("")));
        }
        text.push_str(&format!("{passed} of {total} cases passed in {seconds:.2} s\n"));
        print(&text);
    }
    Ok(ExitCode::from(u8::from(passed != total)))
}

/// Whether `wanted` names a case: by its id, or by the start of its id up to a dot.
fn is_of(id: &str, wanted: &str) -> bool {
    id.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// One thread: answers are computed one after the other, and switching threads would take longer than computing them.
fn runtime() -> Result<tokio::runtime::Runtime, ApiError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| ApiError::new("serve.runtime", format!("The network cannot be used: {e}")))
}
