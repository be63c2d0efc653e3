//! What is drawn from the seed and not asked for: the parts of the programmatic sampler, in one place.

use scenario::Seed;
use scenario::change::Change;
use scenario::ir::Schema;
use scenario::sample::{Programmatic, SampleError, Sampler as _};

/// The first schema that the programmatic sampler makes: its topic and conventions hold, its entities are the model's.
pub(crate) fn first(seed: Seed) -> Result<Schema, SampleError> {
    Programmatic.first(seed).map(|sampled| sampled.made)
}

/// A change for the place `number` (from 1) in a turn.
pub(crate) fn change(_: Seed, _: &Schema, _: &[Change], _: u32) -> Result<Change, SampleError> {
    todo!()
}

pub(crate) fn stands_for_itself(_: &Change, _: &[Change]) -> Result<(), String> {
    Ok(())
}

pub(crate) fn note_names(_: &mut Schema) {}
