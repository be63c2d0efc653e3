//! What the container engine says before a run: the engine itself, the images, and what dead runs left.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use runner::settings::RunSettings;
use sandbox::{Engine, NetworkAccess, SandboxError};

use crate::api::{Check, CheckState, FixAction};
use crate::runs::errors::sandbox_error;
use crate::runs::{engine, harness_of, planned_checks};

/// What the container engine says.
pub(super) struct EngineChecks {
    pub(super) check: Check,
    pub(super) images: Vec<Check>,
    /// What dead runs left in it.
    pub(super) leftovers: Option<Check>,
    /// Whether containers of servers are kept from services of this machine.
    pub(super) is_guarded: bool,
    /// Bytes of images that were built for other tasks, where tasks are to be played.
    pub(super) task_images: Vec<u64>,
    /// Where it keeps images and containers; `None` = it does not say.
    pub(super) root: Option<PathBuf>,
}

impl EngineChecks {
    fn new(check: Check, images: Vec<Check>) -> Self {
        Self { check, images, leftovers: None, is_guarded: false, task_images: Vec::new(), root: None }
    }
}

/// Asks the engine.
pub(super) async fn containers(settings: &RunSettings) -> EngineChecks {
    const TITLE: &str = "Engine";
    if !settings.use_docker {
        let check = Check::new("engine", TITLE, CheckState::Ok, "not needed: plain processes");
        return EngineChecks::new(check, Vec::new());
    }
    let engine = match Engine::connect().await {
        Ok(engine) => engine,
        Err(error) => {
            let reported = sandbox_error(&error);
            let sentence = format!("{}. {}", reported.message, reported.hint.unwrap_or_default());
            let check = Check::new("engine", TITLE, CheckState::Fail, "none answers").with_sentence(sentence);
            let image = Check::new("image", "Image", CheckState::Unknown, "no engine to ask");
            return EngineChecks::new(check, vec![image]);
        }
    };
    let check = engine::check(engine.info(), settings);
    let is_guarded = engine.is_guarded().await;
    // Images of tasks are built when they are played, or named; a harness comes out of its own.
    let mut images = Vec::new();
    if settings.asks_model() {
        images.push(image(settings, &engine).await);
    }
    images.extend(task_images(settings, &engine).await);
    let task_images = match &settings.tasks {
        // What it does not say is unknown.
        Some(_) => engine.task_image_sizes(settings.asks_model()).await.unwrap_or_default(),
        None => Vec::new(),
    };
    EngineChecks {
        check,
        images,
        leftovers: leftovers(&engine).await,
        is_guarded,
        task_images,
        root: engine.info().root.clone(),
    }
}

/// Whether the images that tasks name are there and can be played with; nothing where they are, or nobody can say.
async fn task_images(settings: &RunSettings, engine: &Engine) -> Option<Check> {
    let tasks = planned_checks::named_images(settings);
    let named = tasks.iter().filter_map(|(_, image)| Some((image.as_deref()?, None)));
    let mut named: BTreeMap<&str, Option<String>> = named.collect();
    for (image, problem) in &mut named {
        *problem = match engine.fits_tasks(image, settings.asks_model()).await {
            Ok(()) => None,
            Err(error @ SandboxError::NoImage { .. }) => Some(format!("{error}: docker pull {image}")),
            Err(error @ SandboxError::Image { .. }) => Some(error.to_string()),
            Err(_) => return None,
        };
    }
    let problem_of = |image: &Option<String>| named.get(image.as_deref()?)?.clone();
    let unfit_text =
        |(task, image): &(String, Option<String>)| Some(format!("{task}: {}", problem_of(image)?));
    let unfit: Vec<String> = tasks.iter().filter_map(unfit_text).collect();
    planned_checks::images(&unfit, tasks.len())
}

async fn image(settings: &RunSettings, engine: &Engine) -> Check {
    let check = image_of_harness(settings, engine).await;
    // Of what is to be mended the harness's own image comes first: it brings the base along.
    if check.state == CheckState::Fail { check } else { relay_image(settings, engine).await.unwrap_or(check) }
}

/// Containers of an image of somebody's own reach the gateway through a container of Stamina Lab, whose image has to be there as well.
async fn relay_image(settings: &RunSettings, engine: &Engine) -> Option<Check> {
    let name = sandbox::images::BASE.image;
    if settings.reach == NetworkAccess::Open || engine.images(&[name]).await.ok()?.first()?.there {
        return None;
    }
    let check = Check::new("image", "Image", CheckState::Fail, "base image not there").with_sentence(format!(
        "There is no image {name}, by which containers reach the gateway. Build it with: stamina images build {}",
        sandbox::images::BASE.name
    ));
    Some(check.fixed_by("Build image", FixAction::BuildImage { name: name.to_owned() }))
}

async fn image_of_harness(settings: &RunSettings, engine: &Engine) -> Check {
    const TITLE: &str = "Image";
    let name = match image_of(settings) {
        Ok(name) => name,
        Err(reason) => {
            return Check::new("image", TITLE, CheckState::Fail, "no harness").with_sentence(reason);
        }
    };
    match engine.images(&[&name]).await {
        Ok(found) => match found.first() {
            Some(image) if image.current == Some(false) => {
                Check::new("image", TITLE, CheckState::Warn, name.clone())
                    .with_sentence("It was built from an older recipe of Stamina Lab.")
                    .fixed_by("Build image", FixAction::BuildImage { name })
            }
            Some(image) if image.id.is_some() => {
                let id = image.id.clone().unwrap_or_default();
                let check =
                    |state| Check::new("image", TITLE, state, id.chars().take(19).collect::<String>());
                match runs_its_harness(settings, engine, &name, &id).await {
                    ProgramAnswer::Well => check(CheckState::Ok),
                    ProgramAnswer::Oddly(output) => check(CheckState::Warn).with_sentence(format!(
                        "The harness's program does not answer in {name} as it should: {output}"
                    )),
                    ProgramAnswer::NotThere(output) => check(CheckState::Fail)
                        .with_sentence(format!("The harness's command is not there in {name}: {output}")),
                    ProgramAnswer::Unknown(output) => check(CheckState::Unknown).with_sentence(format!(
                        "Whether the harness is in {name} could not be asked: {output}"
                    )),
                }
            }
            _ => {
                let error = SandboxError::NoImage { image: name.clone() };
                let check = Check::new("image", TITLE, CheckState::Fail, "not there")
                    .with_sentence(format!("There is no image {name}. {}", error.hint().unwrap_or_default()));
                if name.starts_with("stamina/") {
                    check.fixed_by("Build image", FixAction::BuildImage { name })
                } else {
                    check
                }
            }
        },
        Err(error) => Check::new("image", TITLE, CheckState::Unknown, name).with_sentence(error.to_string()),
    }
}

/// What the harness's program in an image said when it was asked for its version.
#[derive(Debug, Clone)]
enum ProgramAnswer {
    Well,
    /// It ended with an error.
    Oddly(String),
    /// It could not be started.
    NotThere(String),
    /// The engine made no container to ask it in.
    Unknown(String),
}

/// Whether the harness of a run can be called in an image of somebody's own: asked once for each, because a container has to be
/// made for it.
async fn runs_its_harness(settings: &RunSettings, engine: &Engine, image: &str, id: &str) -> ProgramAnswer {
    static ANSWERS: Mutex<BTreeMap<(String, Vec<String>), ProgramAnswer>> = Mutex::new(BTreeMap::new());
    let Ok(harness) = harness_of(settings) else { return ProgramAnswer::Well };
    if sandbox::recipe(image).is_some() || harness.probe.is_empty() {
        return ProgramAnswer::Well;
    }
    let key = (id.to_owned(), harness.probe.clone());
    if let Some(known) = model::lock(&ANSWERS).get(&key) {
        return known.clone();
    }
    let answered = match engine.try_command(image, &harness.probe).await {
        Ok((Some(0), _)) => ProgramAnswer::Well,
        Ok((None | Some(126 | 127), output)) => ProgramAnswer::NotThere(output),
        Ok((_, output)) => ProgramAnswer::Oddly(output),
        Err(error) => return ProgramAnswer::Unknown(error.to_string()),
    };
    model::lock(&ANSWERS).insert(key, answered.clone());
    answered
}

/// The image that a run's containers are made of.
fn image_of(settings: &RunSettings) -> Result<String, String> {
    match &settings.image {
        Some(image) => Ok(image.clone()),
        None => harness_of(settings).map(|harness| harness.image),
    }
}

async fn leftovers(engine: &Engine) -> Option<Check> {
    let is_dead = |leftover: &&sandbox::Leftover| !leftover.in_use && !leftover.is_kept;
    let dead = engine.leftovers().await.ok()?.iter().filter(is_dead).count();
    (dead > 0).then(|| {
        Check::new("leftovers", "Leftovers", CheckState::Ok, format!("{dead} of dead runs"))
            .with_sentence("They are removed when the run begins.")
            .fixed_by("Remove now", FixAction::Clean)
    })
}
