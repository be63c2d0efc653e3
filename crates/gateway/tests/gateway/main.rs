//! The gateway over real sockets, between an agent's client and a scripted endpoint.
#![allow(clippy::unwrap_used, reason = "a scripted endpoint that does not do as it is told is a failure")]

mod attribution;
mod preflight;
mod budgets;
mod endpoint;
mod faults;
mod lives;
mod passing;
