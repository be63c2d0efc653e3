//! The benchmark itself: an API that changes from turn to turn, with all that a turn needs, from a seed.
//!
//! One way through: [`sample`] draws a first [`ir::Schema`] and then [`change::Change`]s; [`change::apply`] makes the
//! schema of the next turn. From the schemas of a turn and of the one before come [`text`] (the specification and the
//! request), [`suite`] (the tests, as data), [`reference`](mod@reference) (a server that interprets the schema) and
//! [`code`] (a Flask server and a pytest suite, written out). [`pack`] puts scenarios on disk and reads them back,
//! [`client`] runs a suite against any server, [`mutants`] and [`validate`] prove that the suites are worth something.
//!
//! What each part of a schema means is written once, in `docs/scenarios.md`.

pub mod change;
pub mod check;
pub mod client;
pub mod code;
pub mod config;
pub mod draw;
pub mod ir;
pub mod mutants;
pub mod pack;
pub mod reference;
pub mod sample;
pub mod suite;
pub mod text;
pub mod validate;
pub mod vocabulary;

/// Where the random choices of a scenario come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed {
    /// `base_seed` of the pack.
    pub base: u64,
    /// From 0.
    pub scenario: u32,
}

impl Seed {
    /// The choices for a purpose in a turn; turn 0 for what holds over all turns.
    pub fn draw(self, turn: u32, purpose: &str) -> draw::Draw {
        draw::Draw::new(self.base, self.scenario, turn, purpose)
    }
}
