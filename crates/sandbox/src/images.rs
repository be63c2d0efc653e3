//! Images: which are there, building ours from their recipes, and trying whether one works.
//!
//! Ours are built by the engine itself from a context made in memory; every other image (`docker.image_name`) is listed and
//! tried just the same, but not built.

mod build;
mod image_check;
mod recipes;
mod task;

use bollard::models::ImageInspect;
use serde::{Deserialize, Serialize};

use crate::engine_error::{failed, status};
use crate::owner::key;
use crate::{Engine, SandboxError};

pub use build::{BuildNews, BuildSettings, default_ca};
pub use image_check::{Check, Stacks, Trial};
pub use recipes::{BASE, RECIPES, Recipe, recipe};
pub use task::HARNESS_PROGRAMS;

/// An image that the caller knows something of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedImage {
    /// Its name: `stamina/qwen-code:0.24.4`.
    pub image: String,
    /// A command that prints the version of what it is there for.
    pub probe: Vec<String>,
    /// What the probe's output has to contain; `None` = whatever it says, in an image that is not ours.
    pub version: Option<String>,
}

/// An image as the engine has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageState {
    /// Its name.
    pub image: String,
    /// Whether it is there.
    pub there: bool,
    /// Whether we have a recipe for it.
    pub ours: bool,
    /// Whether it was built from the recipe as it is now; `None` = it is not there, or not ours.
    pub current: Option<bool>,
    /// Bytes, with all that it shares with others.
    pub size: Option<u64>,
    /// Its id.
    pub id: Option<String>,
    /// When it was made, RFC 3339.
    pub created_at: Option<String>,
}

impl Engine {
    /// How these images stand.
    pub async fn images(&self, names: &[&str]) -> Result<Vec<ImageState>, SandboxError> {
        let mut states = Vec::with_capacity(names.len());
        for name in names {
            states.push(state(name, self.inspect_image(name).await?.as_ref()));
        }
        Ok(states)
    }

    async fn inspect_image(&self, name: &str) -> Result<Option<ImageInspect>, SandboxError> {
        match self.docker.inspect_image(name).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if status(&error) == Some(404) => Ok(None),
            Err(error) => Err(failed("look for an image")(error)),
        }
    }
}

fn state(name: &str, found: Option<&ImageInspect>) -> ImageState {
    let recipe = recipe(name);
    let print = found.and_then(|found| {
        let labels = found.config.as_ref()?.labels.as_ref()?;
        labels.get(&key("recipe"))
    });
    ImageState {
        image: name.to_owned(),
        there: found.is_some(),
        ours: recipe.is_some(),
        current: found.and(recipe).map(|recipe| print.is_some_and(|print| *print == recipe.fingerprint())),
        size: found.and_then(|found| found.size).and_then(|size| u64::try_from(size).ok()),
        id: found.and_then(|found| found.id.clone()),
        created_at: found.and_then(|found| found.created.as_ref().map(ToString::to_string)),
    }
}
