//! The files of a run of `tb` and of its trials: their names, how much of them is read, and reading one.

use files::{Tree, file_name};
use model::Warning;

use crate::format_trait::Report;
use crate::readers::json::Node;

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

/// A JSON object; what else there is, is said, with what that means for the rest.
pub(super) fn object(
    tree: &Tree,
    path: &str,
    cap: u64,
    consequence: &str,
    report: &mut Report,
) -> Option<Node> {
    match tree.read_json::<Node>(path, cap) {
        Ok(node @ Node::Map(_)) => {
            report.files_read += 1;
            Some(node)
        }
        Ok(_) => {
            let what = format!("It is JSON, but no object. {consequence}");
            report.warn(Warning::skipped(path, "json.wrong_type", what));
            None
        }
        Err(error) => {
            report.unreadable(path, &error, consequence);
            None
        }
    }
}

/// The last part of a path of any system.
pub(super) fn folder_name(path: &str) -> &str {
    file_name(path.trim_end_matches(['/', '\\'])).rsplit('\\').next().unwrap_or(path)
}
