//! The gateway over real sockets, between an agent's client and a scripted endpoint.

mod asking;
mod budgets;
mod endpoint;
mod faults;
mod lives;
mod passing;
