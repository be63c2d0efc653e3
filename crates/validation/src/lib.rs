//! Suites against servers: what a server passes, and whether a pack is worth running.
//!
//! - [`client`] runs a suite against any server, over HTTP or in this process.
//! - [`mutants`] makes servers that are wrong in one way.
//! - [`validate`] says whether a pack is valid: sound, stated, not vacuous, sensitive to mutants.
//!
//! What scenarios are, and how they are generated, is in `scenario`, which does not use this crate.

pub mod client;
pub mod mutants;
#[cfg(test)]
mod tests;
pub mod validate;
