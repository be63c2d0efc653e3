//! The terms of the field as types. No I/O, no clock, no randomness.
//!
//! - A **run** is one harness with one model and its settings over some scenarios.
//! - An **episode** is one scenario in that run.
//! - A **turn** is one change request, counted from 1. Turn 1 builds the first server.
//! - An **attempt** is one call of the agent for one turn. It ends in a verdict of the tests.
//! - A **step** is one action of the agent inside an attempt.
//! - **Stamina** is the number of consecutive turns passed before the first turn not passed.
//!
//! Unknown is a value: whatever a source may omit is an `Option`. `None` is shown as "unknown", never as 0.

mod ansi;
mod attempt;
mod bounded;
mod cached_input;
pub mod case_lines;
mod display;
mod end_reason;
mod episode;
mod grader_place;
mod lock;
mod median;
mod missing_value;
mod money;
mod pass_rate;
mod round_scores;
mod run;
mod session;
mod shell;
mod spreadsheet;
mod stamina;
mod test_identity;
pub mod thrift;
pub mod timestamp;
mod transcript;
mod verdict;
mod warning;
mod warning_codes;
mod zip_name;

pub use ansi::strip_ansi;
pub use attempt::{
    Artifact, ArtifactKind, Attempt, Counting, Extra, STATED_FAILING, TestOutcome, TestResult, Timing, Tokens,
};
pub use bounded::bounded;
pub use cached_input::CachedInput;
pub use display::{
    by_sentence, counted, escape_controls, is_display_control, log_line, one_line, plain_line, push_escaped,
    runs_in_words, without_controls,
};
pub use end_reason::{
    CAUSE, CensoringPolicy, DECIDED_AS, DECIDED_BY, EndReason, Ending, NOT_RECOGNIZED, note_decision,
};
pub use episode::{Episode, Request, Turn};
pub use grader_place::GraderPlace;
pub use lock::lock;
pub use median::Median;
pub use missing_value::is_missing_value;
pub use money::{amount_in_dollars, cost_in_words, dollars};
pub use pass_rate::{PassRate, RateInterval};
pub use round_scores::RoundScores;
pub use run::{Baseline, Benchmark, LOCOBENCH_AGENT, Reported, Run, TaskTotals, UNTESTED_BENCHMARKS};
pub use session::{
    COMPREHENSION_METRICS, CorrectedFigures, ImportedFigures, LOCOBENCH_METRICS, LcbaPair, SessionFigures,
};
pub use shell::{shell_word, shell_words};
pub use spreadsheet::{with_guard, without_guard};
pub use stamina::Stamina;
pub use test_identity::{description_of_test, is_numeric_id, without_turn};
pub use transcript::{Step, StepKind, ToolCall, Transcript};
pub use verdict::{PASS_REWARD, TurnState, Verdict};
pub use warning::{Treatment, Warning};
pub use warning_codes::{Severity, WarningCounts};
pub use zip_name::zipped_name;
