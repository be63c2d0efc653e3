//! How large a pack may be.

/// The number of scenarios or turns that stands for all of a pack: none has more.
pub const WHOLE_PACK: u32 = 1000;
/// Most scenarios of a pack or run.
pub(crate) const MOST_SCENARIOS: u64 = WHOLE_PACK as u64;
/// Most turns of a scenario.
pub(crate) const MOST_TURNS: u64 = WHOLE_PACK as u64;
/// Most changes from a turn to the next.
pub(crate) const MOST_CHANGES: u64 = 50;
/// Seeds fit into a signed number of 64 bits, so that every YAML and JSON reader keeps them exactly.
pub(crate) const MOST_SEED: u64 = i64::MAX as u64;
