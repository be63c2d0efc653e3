//! What decides about the bytes of a pack. It is declared with the other settings of a run, in the crate `settings`.

pub use settings::{Benchmark, ConfigError, Generation};
