//! The harness that plays a run.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use harness::{Harness, HarnessFile};

use crate::RunError;
use crate::harbor::player;
use crate::settings::RunSettings;

/// A harness: a built-in one, or one that a user describes in a file.
#[derive(Clone)]
pub(crate) enum HarnessChoice {
    BuiltIn(&'static dyn Harness),
    Described(Arc<HarnessFile>),
}

impl HarnessChoice {
    /// The text of the file that describes it; `None` for a built-in one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::BuiltIn(_) => None,
            Self::Described(harness) => Some(harness.text()),
        }
    }
}

impl Deref for HarnessChoice {
    type Target = dyn Harness;
    fn deref(&self) -> &Self::Target {
        match self {
            Self::BuiltIn(harness) => *harness,
            Self::Described(harness) => &**harness,
        }
    }
}

/// The harness of a file, or the one of the settings' name.
pub(crate) fn load(settings: &RunSettings, file: Option<&Path>) -> Result<HarnessChoice, RunError> {
    Ok(match file {
        Some(file) => HarnessChoice::Described(Arc::new(harness::load(file)?)),
        None => HarnessChoice::BuiltIn(match player::find(&settings.agent) {
            Some(player) => player,
            None => harness::find(&settings.agent)?,
        }),
    })
}
