//! The benchmarks of the library: pages that pool runs show one of them at a time.

use std::collections::BTreeMap;

use store::RunEntry;

use crate::api::ApiError;

/// Every benchmark that has tests, with its name and number of runs, most runs first.
pub(crate) fn counted(runs: &[RunEntry]) -> Vec<(String, String, u32)> {
    let mut counts: BTreeMap<&str, (&str, u32)> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.benchmark.has_verdicts()) {
        counts.entry(&run.benchmark.key).or_insert((&run.benchmark.name, 0)).1 += 1;
    }
    let mut list: Vec<(String, String, u32)> =
        counts.into_iter().map(|(key, (name, n))| (key.to_owned(), name.to_owned(), n)).collect();
    list.sort_by_key(|(_, _, n)| std::cmp::Reverse(*n));
    list
}

/// The error of a page for which no run is left: none is there, or those that are there are withdrawn. `benchmark` is the
/// key of the one that was named, if any.
pub(crate) fn no_runs(
    code: &str,
    benchmark: Option<&str>,
    are_withdrawn: bool,
    benchmarks: &[(String, String, u32)],
) -> ApiError {
    let message = match (benchmark, are_withdrawn) {
        (None, false) => "There are no runs in the library".to_owned(),
        (None, true) => "All runs that are asked for are withdrawn".to_owned(),
        (Some(key), false) => format!("The benchmark \"{key}\" has no runs"),
        (Some(key), true) => format!("The benchmark \"{key}\" has no runs that are not withdrawn"),
    };
    let hint = if are_withdrawn {
        "Let one count again: `stamina withdraw RUN --undo`, or its page".to_owned()
    } else {
        hint(benchmarks)
    };
    ApiError::new(code, message).hint(hint)
}

/// What to say to who asked for another one.
fn hint(benchmarks: &[(String, String, u32)]) -> String {
    if benchmarks.is_empty() {
        return "Open a folder with results first".to_owned();
    }
    let keys: Vec<&str> = benchmarks.iter().map(|(key, _, _)| key.as_str()).collect();
    format!("There are runs of {}", keys.join(", "))
}
