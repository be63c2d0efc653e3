//! The gateway over real sockets, between an agent's client and a scripted endpoint.
#![allow(clippy::unwrap_used, reason = "a scripted endpoint that leaves its script is a failure")]

mod abilities;
mod attribution;
mod budgets;
mod endpoint;
mod endpoint_check;
mod faults;
#[path = "../../../runner/tests/kept/mod.rs"]
mod kept;
mod last_answer;
mod listing;
mod lives;
mod passing;
mod recorded;
mod recorded_server;
