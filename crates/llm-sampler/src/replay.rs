//! Recorded answers instead of a model.

use scenario::sample::{Answer, SampleError};

/// Looks up the answers of a turn (from 1) of a scenario (from 0).
type LookUp = dyn Fn(u32, u32) -> Result<Vec<Answer>, String> + Send + Sync;

/// The recorded answers of a pack. Together with the settings of the pack, they produce the same bytes.
pub struct Replay {
    look_up: Box<LookUp>,
}

impl Replay {
    /// From any source of answers by scenario (from 0) and turn (from 1). An error states why they cannot be read.
    pub fn new(look_up: impl Fn(u32, u32) -> Result<Vec<Answer>, String> + Send + Sync + 'static) -> Self {
        Self { look_up: Box::new(look_up) }
    }

    /// All answers of a turn.
    pub(crate) fn turn(&self, scenario: u32, turn: u32) -> Result<Vec<Answer>, SampleError> {
        (self.look_up)(scenario, turn).map_err(|reason| {
            SampleError::NotRecorded(format!("turn {turn} of scenario {scenario} ({reason})"))
        })
    }
}
