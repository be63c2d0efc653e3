//! The tests of this crate in one program: what they need is linked once, not once a file. Each test runs in a process of its own.
//! A file that has no line here is not compiled; `scripts/check/check.test.mjs` looks for such files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;
mod docker_containers;
mod docker_hostile;
mod docker_images;
mod docker_leftovers;
mod local;
mod snapshots;
