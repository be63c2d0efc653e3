//! The nine metrics of LoCoBench-Agent as its program computes them, and corrected figures.
//!
//! [`compat`] follows the rules of the program (commit 1abacfd, November 2025; stated in `docs/metrics.md`) to rounding: on the
//! sessions and vectors that the original computed, the difference is below 1e-9. Nothing is compiled, run or tested, and no
//! result of a tool enters. [`corrected`] has the figures that calls and their results show. Both are pure functions.
//!
//! The program computes on the text of a session with Python's strings: code points, `str.split`, `re` ([`python`]).

mod corrected;
mod files;
mod means;
mod python;
mod record;
mod word;

pub use corrected::{corrected, plain_function};
pub use means::{MeanOverScenarios, mean_over_scenarios};

/// A call of a tool, in the order of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Call<'a> {
    /// `tool_call.tool_name`.
    pub tool: &'a str,
    /// `tool_call.function_name`.
    pub function: &'a str,
    /// The first of the parameters `path`, `target_file`, `file_path` that is not empty.
    pub path: Option<&'a str>,
    /// What that parameter is, where it is no text. Then `path` is `None`.
    pub other_path: Option<OtherPath>,
    /// Whether its response reports success; `None` = it has no response. Only [`corrected`] uses it.
    pub succeeded: Option<bool>,
}

/// What stands in the place of a path and is no text. It names no modified file, and has its place among the reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherPath {
    /// A number or a truth value.
    Single,
    /// A list or an object, which no set of Python can hold.
    Compound,
}

/// A message of the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Message<'a> {
    /// `system`, `user`, `assistant`, `tool`.
    pub role: &'a str,
    /// Its text. The program reads a missing text as the word `None`, which changes nothing.
    pub content: &'a str,
}

/// The input of the nine metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Session<'a> {
    /// The log of tool calls.
    pub calls: &'a [Call<'a>],
    /// The conversation.
    pub messages: &'a [Message<'a>],
    /// Files that calls of writing functions name, with the text of the last call; `None` = it did not write a text.
    pub files: &'a [(&'a str, Option<&'a str>)],
    /// Errors by turn. The sessions of the program never set it, so it computes with 0.
    pub error_rate: f64,
}

/// The nine metrics in the order of [`model::LOCOBENCH_METRICS`], each 0 to 1.
pub fn compat(session: &Session<'_>) -> [f64; 9] {
    [
        record::execution_success_rate(session.calls),
        record::multi_session_memory_retention(session.messages),
        files::cross_file_consistency(session.files),
        files::dependency_traversal(session.files),
        files::solution_usability(session.files),
        files::runtime_efficiency(session.files, session.error_rate),
        files::memory_efficiency(session.files),
        record::information_coverage(session),
        record::long_range_dependency_resolution(session),
    ]
}

/// Maps a range of raw values to 0.40 to 0.90, as the efficiency metrics do. Values outside of the range are clipped.
fn rescaled(raw: f64, low: f64, high: f64) -> f64 {
    let share = (raw.clamp(low, high) - low) / (high - low);
    (0.4 + share * 0.5).clamp(0.4, 0.9)
}
