//! The tests of this crate in one program: what they need is linked once, not once a file. Each test runs in a process of its own.
//! A file that has no line here is not compiled; `scripts/check/check.test.mjs` looks for such files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod budgets;
mod common;
mod control_requests;
mod cut_off;
mod docker_direct;
mod docker_ends;
mod docker_faults;
mod docker_harbor_kills;
mod docker_harbor_retries;
#[path = "docker_harbor_tasks/main.rs"]
mod docker_harbor_tasks;
mod docker_harbor_trials;
mod docker_run;
mod docker_task_harnesses;
mod finished_on_fault;
mod kept;
mod never_answered;
mod outside;
mod restored;
mod spending;
mod tasks_of_harbor;
