//! `stamina test-server`: a suite against a server.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use validation::client::{CaseResult, CaseStatus};
use workbench::api::ApiError;

use crate::numbers::rounded_seconds;
use crate::pack_files::{open, pack_error};
use crate::print::{print, print_json};
use crate::progress_throttle::ProgressThrottle;

/// Longest time for a suite against a server.
const SUITE_TIME: Duration = Duration::from_mins(30);

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
        throttle.report(|| format!("ran {} of {}", results.len(), model::counted(total as u64, "case")));
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
        let cases = model::counted(total as u64, "case");
        text.push_str(&format!("{passed} of {cases} passed in {seconds:.2} s\n"));
        print(&text);
    }
    Ok(ExitCode::from(u8::from(passed != total)))
}

/// Whether `wanted` names a case: by its id, or by the start of its id up to a dot.
fn is_of(id: &str, wanted: &str) -> bool {
    id.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
