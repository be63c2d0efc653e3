//! What people and their tools do to results folders on the way changes no number: other names, files that do not belong,
//! line ends, byte order marks, fields that no other parser takes, zips, copies of trials and of runs, another order of files.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod changes;
mod one_source;
mod two_sources;
