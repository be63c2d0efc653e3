//! The benchmark: scenarios, generated from a seed. A scenario is an API that changes from turn to turn, with everything
//! that a turn needs.
//!
//! - [`sample`] draws a first [`ir::Schema`], and then [`change::Change`]s.
//! - [`change::apply`] makes the schema of the next turn.
//! - [`text`] writes the specification and the request of a turn, from its schema and the schema of the turn before.
//! - [`suite`] makes the tests, as data.
//! - [`reference`](mod@reference) is a server that interprets the schema.
//! - [`code`] writes a Flask server and a pytest suite.
//! - [`pack`] writes scenarios to disk and reads them.
//!
//! `docs/scenarios.md` defines each part of a schema. What runs suites against servers, and so validates packs, is in
//! `validation`, which uses this crate.

pub mod change;
pub mod check;
pub mod code;
pub mod config;
pub mod draw;
pub mod ir;
pub mod pack;
pub mod reference;
pub mod sample;
pub mod suite;
pub mod text;
pub mod vocabulary;

/// The source of the random choices of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed {
    /// `base_seed` of the pack.
    pub base: u64,
    /// From 0.
    pub scenario: u32,
}

impl Seed {
    /// The choices for a purpose in a turn. Turn 0 is for choices that hold over all turns.
    pub fn draw(self, turn: u32, purpose: &str) -> draw::Draw {
        draw::Draw::new(self.base, self.scenario, turn, purpose)
    }
}
