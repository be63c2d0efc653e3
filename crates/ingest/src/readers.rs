//! Readers of the files that several formats share: test outputs and transcripts. No format logic, no tree.

pub mod atif;
pub mod clock;
pub(crate) mod ctrf;
pub(crate) mod grader;
pub mod json;
pub(crate) mod kept_tests;
pub(crate) mod outline;
pub mod pytest;
pub(crate) mod text;
pub(crate) mod value;

pub use model::case_lines;
