//! Packs: generated scenarios in a folder or a zip, with a manifest; written, and read lazily in place.
//!
//! The layout is defined in `docs/formats.md`. A pack's bytes depend on its [`Generation`](crate::config::Generation),
//! the sampler and the version of this program, and on nothing else: no times, no paths, no order of threads. Its
//! `sha256` goes over everything but the manifest, and is the same for a folder and a zip.
//!
//! [`TurnMaker`] makes the turns of one scenario in memory, [`generate`] writes a whole pack, [`Pack`] reads one.

mod destination;
mod error;
mod layout;
mod manifest;
mod read;
mod schemas;
mod sink;
mod turn_maker;
mod write;
pub(crate) mod yaml;

#[cfg(test)]
mod tests;

pub use self::destination::Target;
pub use self::error::{Mismatch, PackError};
pub use self::layout::{EARLIER_VERSIONS, MANIFEST, PACK_VERSION, Part, folder, number};
pub use self::manifest::{Generator, Manifest, SampledBy, ScenarioEntry};
pub use self::read::Pack;
pub use self::turn_maker::{CHANGES_VERSION, MadeTurn, RecordedChange, TurnChanges, TurnMaker};
pub use self::write::{GeneratedPack, Options, Progress, generate};

/// Writes something as YAML in the form that packs have: what fits on a line stands on one line.
///
/// Errors: keys of maps that are no texts, numbers that are none.
pub fn to_yaml<T: serde::Serialize>(value: &T) -> Result<String, serde_json::Error> {
    yaml::to_string(value)
}
