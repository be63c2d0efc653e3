//! The tests of this crate in one program: what they need is linked once, not once a file. Each test runs in a process of its own.
//! A file that has no line here is not compiled; `scripts/check/check.test.mjs` looks for such files.

mod anew;
mod calls;
mod common;
mod custom_documents;
mod custom_example;
mod custom_file;
mod custom_modes;
mod custom_twins;
mod docker_clis;
#[path = "golden/main.rs"]
mod golden;
mod hostile;
mod invocations;
mod mock_agent;
mod unanswered_calls;
mod untold_usage;
