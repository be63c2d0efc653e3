//! The files of a run of `tb` and of its trials: their names, and how much of them is read.

use files::file_name;

/// The results of a run, and of a trial.
pub(super) const RESULTS: &str = "results.json";
/// What was run, by whom.
pub(super) const METADATA: &str = "run_metadata.json";
/// How it was run.
pub(super) const LOCK: &str = "tb.lock";
/// Most bytes of the results of a run.
pub(super) const RESULTS_CAP: u64 = 512 << 20;
/// Most bytes of any other file.
pub(super) const FILE_CAP: u64 = 16 << 20;

/// The last part of a path of any system.
pub(super) fn folder_name(path: &str) -> &str {
    file_name(path.trim_end_matches(['/', '\\'])).rsplit('\\').next().unwrap_or(path)
}
