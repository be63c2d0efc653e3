//! Images and what runs leave in the engine.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sandbox::{BuildNews, BuildSettings, Engine, RECIPES, Recipe, SandboxError, WantedImage};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::errors::sandbox_error;
use super::runtime::runtime;
use crate::Workbench;
use crate::api::{
    ApiError, BuildImages, CleanLeftovers, ImageInfo, ImageList, ImageOutcome, JobKind, JobRef, LeftoverInfo,
    LeftoverList, Nothing, TestImages,
};
use crate::jobs::{CANCELLED, Handle, Outcome};

/// How often it is looked whether a job is to stop.
const LOOK: Duration = Duration::from_millis(200);

/// What is heard of work on images.
pub enum ImageNews<'a> {
    /// Done and to do, in steps.
    Progress(u32, u32),
    /// Something was said.
    Line(&'a str),
    /// One is over.
    Outcome(&'a ImageOutcome),
}

/// Takes news of images.
pub(super) type ImageCallback<'a> = &'a (dyn Fn(ImageNews<'_>) + Send + Sync);

impl Workbench {
    /// The images that agents run in, and whether they are built.
    pub fn list_images(&self, _: Nothing) -> Result<ImageList, ApiError> {
        list()
    }

    /// Builds images in the background.
    pub fn build_images(&self, request: BuildImages) -> Result<JobRef, ApiError> {
        let chosen = chosen(&request.names)?;
        let title = titled("Build", &chosen);
        let ca = request.ca.map(std::path::PathBuf::from);
        let job = self.jobs.start(JobKind::ImageBuild, title, None, None, move |job| {
            build(&chosen, ca, &|news| forward_news(job, &news), job.stop_flag())?;
            Ok(Outcome::Images)
        });
        Ok(JobRef { job })
    }

    /// Tries images in the background.
    pub fn test_images(&self, request: TestImages) -> Result<JobRef, ApiError> {
        let tried = tried(&request.names, request.harness.as_deref())?;
        let job = self.jobs.start(JobKind::ImageTest, "Test images".to_owned(), None, None, move |job| {
            try_all(tried, &|news| forward_news(job, &news), job.stop_flag())?;
            Ok(Outcome::Images)
        });
        Ok(JobRef { job })
    }

    /// Containers, networks and volumes that runs left behind.
    pub fn list_leftovers(&self, _: Nothing) -> Result<LeftoverList, ApiError> {
        leftovers()
    }

    /// Removes what dead runs left behind.
    pub fn clean_leftovers(&self, request: CleanLeftovers) -> Result<LeftoverList, ApiError> {
        clean(request.all)
    }
}

fn forward_news(job: &Handle, news: &ImageNews<'_>) {
    match news {
        ImageNews::Progress(done, total) => job.progress(*done, *total),
        ImageNews::Line(line) => job.add_line(line),
        ImageNews::Outcome(outcome) => job.image((*outcome).clone()),
    }
}

fn titled(action: &str, chosen: &[&Recipe]) -> String {
    match chosen {
        [one] => format!("{action} {}", one.image),
        _ => format!("{action} {} images", chosen.len()),
    }
}

/// The recipes of names; none = all.
fn chosen(names: &[String]) -> Result<Vec<&'static Recipe>, ApiError> {
    if names.is_empty() {
        return Ok(RECIPES.iter().collect());
    }
    names
        .iter()
        .map(|name| {
            let by_harness = harness::find(name).ok().map(harness::Harness::image);
            sandbox::recipe(by_harness.unwrap_or(name)).ok_or_else(|| {
                let known: Vec<&str> = RECIPES.iter().map(|recipe| recipe.name).collect();
                ApiError::new("image.unknown", format!("There is no recipe for an image {name}"))
                    .hint(format!("There are {}", known.join(", ")))
            })
        })
        .collect()
}

async fn connect() -> Result<Engine, ApiError> {
    Engine::connect().await.map_err(|error| sandbox_error(&error))
}

fn described(engine: &Engine) -> String {
    let info = engine.info();
    format!("{} {} on {}", info.kind, info.version, info.socket)
}

/// No engine is an answer here, anything else an error.
fn problem(error: &SandboxError) -> Result<String, ApiError> {
    let api_error = sandbox_error(error);
    if matches!(error, SandboxError::NoEngine { .. }) {
        Ok(format!("{}. {}", api_error.message, api_error.hint.unwrap_or_default()))
    } else {
        Err(api_error)
    }
}

/// The images, and whether they are built.
pub fn list() -> Result<ImageList, ApiError> {
    let info = |recipe: &Recipe| ImageInfo {
        name: recipe.name.to_owned(),
        image: recipe.image.to_owned(),
        harnesses: harness::all()
            .iter()
            .filter(|harness| harness.image() == recipe.image)
            .map(|harness| harness.name().to_owned())
            .collect(),
        ..ImageInfo::default()
    };
    let mut images: Vec<ImageInfo> = RECIPES.iter().map(info).collect();
    runtime()?.block_on(async {
        let engine = match Engine::connect().await {
            Ok(engine) => engine,
            Err(error) => return Ok(ImageList { engine: None, problem: Some(problem(&error)?), images }),
        };
        let names: Vec<&str> = RECIPES.iter().map(|recipe| recipe.image).collect();
        let states = engine.images(&names).await.map_err(|error| sandbox_error(&error))?;
        for (image, state) in images.iter_mut().zip(states) {
            image.built = Some(state.there);
            image.current = state.current;
            image.id = state.id;
            image.size = state.size;
            image.created_at = state.created_at;
        }
        Ok(ImageList { engine: Some(described(&engine)), problem: None, images })
    })
}

/// Builds images one after the other. The first that cannot be built ends it.
pub fn build_named(
    names: &[String],
    ca: Option<std::path::PathBuf>,
    on_news: ImageCallback<'_>,
    stop: &AtomicBool,
) -> Result<(), ApiError> {
    build(&chosen(names)?, ca, on_news, stop)
}

fn build(
    chosen: &[&'static Recipe],
    ca: Option<std::path::PathBuf>,
    on_news: ImageCallback<'_>,
    stop: &AtomicBool,
) -> Result<(), ApiError> {
    let settings = BuildSettings { ca: ca.or_else(sandbox::default_ca), ..BuildSettings::default() };
    runtime()?.block_on(async {
        let engine = connect().await?;
        let total = chosen.len() as u32;
        for (done, recipe) in (0..).zip(chosen) {
            let (news, mut heard) = mpsc::channel(256);
            let token = CancellationToken::new();
            // Hundredths of an image, so that steps of one are seen.
            on_news(ImageNews::Progress(done * 100, total * 100));
            let building = engine.build(recipe.name, &settings, &news, &token);
            let mut building = std::pin::pin!(building);
            let built = loop {
                tokio::select! {
                    built = &mut building => break built,
                    Some(event) = heard.recv() => report_build(&event, done, total, on_news),
                    () = tokio::time::sleep(LOOK) => {}
                }
                if stop.load(Ordering::Relaxed) {
                    token.cancel();
                }
            };
            while let Ok(event) = heard.try_recv() {
                report_build(&event, done, total, on_news);
            }
            if stop.load(Ordering::Relaxed) {
                return Err(ApiError::new(CANCELLED, "It was stopped"));
            }
            let outcome = ImageOutcome {
                name: recipe.name.to_owned(),
                ok: built.is_ok(),
                message: built.as_ref().map_or_else(ToString::to_string, |()| recipe.image.to_owned()),
            };
            on_news(ImageNews::Outcome(&outcome));
            built.map_err(|error| sandbox_error(&error))?;
        }
        on_news(ImageNews::Progress(total * 100, total * 100));
        Ok(())
    })
}

fn report_build(news: &BuildNews, done: u32, total: u32, on_news: ImageCallback<'_>) {
    match news {
        BuildNews::Started { image } => on_news(ImageNews::Line(&format!("building {image}"))),
        BuildNews::Step { step, step_count, text, image } => {
            let part = step.saturating_sub(1) * 100 / (*step_count).max(1);
            on_news(ImageNews::Progress(done * 100 + part.min(99), total * 100));
            on_news(ImageNews::Line(&format!("{image}: step {step} of {step_count}: {text}")));
        }
        BuildNews::Line { text, .. } => on_news(ImageNews::Line(text)),
        BuildNews::Finished { image, seconds } => {
            on_news(ImageNews::Line(&format!("built {image} in {}", super::duration(*seconds))));
        }
    }
}

/// Images that are to be tried, by their names.
struct ImagesToTest {
    images: Vec<(String, WantedImage)>,
    /// All built images of Stamina Lab.
    all: bool,
}

fn tried(names: &[String], harness_name: Option<&str>) -> Result<ImagesToTest, ApiError> {
    if let Some(harness_name) = harness_name {
        return Ok(ImagesToTest { images: own_images(names, harness_name)?, all: false });
    }
    let mut wanted: Vec<(String, WantedImage)> = harness::all()
        .iter()
        .map(|harness| {
            let name = sandbox::recipe(harness.image()).map_or(harness.image(), |recipe| recipe.name);
            let wanted = WantedImage {
                image: harness.image().to_owned(),
                probe: harness.probe(),
                version: Some(harness.version().to_owned()),
            };
            (name.to_owned(), wanted)
        })
        .collect();
    if !names.is_empty() {
        let chosen = chosen(names).map_err(|error| {
            let advice = "an image of your own is tried with --harness NAME, the harness that plays in it";
            let hint =
                error.hint.clone().map_or_else(|| advice.to_owned(), |hint| format!("{hint}; {advice}"));
            error.hint(hint)
        })?;
        wanted.retain(|(_, wanted)| chosen.iter().any(|recipe| recipe.image == wanted.image));
    }
    Ok(ImagesToTest { images: wanted, all: names.is_empty() })
}

/// Images of somebody's own, and a harness or the path of a file that describes one. None named = the one of the harness.
fn own_images(names: &[String], harness_name: &str) -> Result<Vec<(String, WantedImage)>, ApiError> {
    let unknown = |error: harness::HarnessError| {
        ApiError::new("image.harness", error.to_string())
            .hint("`stamina harnesses` lists them; a harness file is named by its path")
    };
    let (image, probe) = match harness::find(harness_name) {
        Ok(harness) => (harness.image().to_owned(), harness.probe()),
        Err(error) if !harness_name.contains(['.', '/']) => return Err(unknown(error)),
        Err(_) => {
            let file_harness =
                harness::load(&files::confined_path::resolved(Path::new(harness_name))).map_err(unknown)?;
            (harness::Harness::image(&file_harness).to_owned(), harness::Harness::probe(&file_harness))
        }
    };
    let images = if names.is_empty() { vec![image] } else { names.to_vec() };
    let wanted = |image: String| (image.clone(), WantedImage { image, probe: probe.clone(), version: None });
    Ok(images.into_iter().map(wanted).collect())
}

/// Tries images: each program says its version, and the server stacks are there. None named = all that are built. With a
/// harness they are somebody's own: its program answers, and something is there to write servers with. An image that does not
/// work is an error at the end.
pub fn test(
    names: &[String],
    harness: Option<&str>,
    on_news: ImageCallback<'_>,
    stop: &AtomicBool,
) -> Result<(), ApiError> {
    try_all(tried(names, harness)?, on_news, stop)
}

fn try_all(tried: ImagesToTest, on_news: ImageCallback<'_>, stop: &AtomicBool) -> Result<(), ApiError> {
    let ImagesToTest { images: mut wanted, all } = tried;
    runtime()?.block_on(async {
        let engine = connect().await?;
        if all {
            let all: Vec<&str> = wanted.iter().map(|(_, wanted)| wanted.image.as_str()).collect();
            let states = engine.images(&all).await.map_err(|error| sandbox_error(&error))?;
            let built: Vec<bool> = states.iter().map(|state| state.there).collect();
            let mut built = built.into_iter();
            wanted.retain(|_| built.next().unwrap_or(false));
            if wanted.is_empty() {
                return Err(ApiError::new("image.none", "No image of Stamina Lab is built")
                    .hint("`stamina images build` builds them"));
            }
        }
        let total = wanted.len() as u32;
        let mut bad = Vec::new();
        for (done, (name, wanted)) in (0..).zip(&wanted) {
            if stop.load(Ordering::Relaxed) {
                return Err(ApiError::new(CANCELLED, "It was stopped"));
            }
            on_news(ImageNews::Progress(done, total));
            let outcome = match engine.try_image(wanted).await {
                Ok(trial) => {
                    for check in &trial.checks {
                        let word = if check.ok { "ok" } else { "does not work" };
                        let mut line = format!("{name}: {}: {word}", check.what);
                        // Programs say more than a line; the log has one for each check.
                        for (n, word) in check.output.split_whitespace().enumerate() {
                            line.push_str(if n == 0 { ": " } else { " " });
                            line.push_str(word);
                        }
                        on_news(ImageNews::Line(&line));
                    }
                    let wrong: Vec<&str> =
                        trial.checks.iter().filter(|c| !c.ok).map(|c| c.what.as_str()).collect();
                    let (program, rest) =
                        trial.checks.split_first().map_or((false, &[][..]), |(p, rest)| (p.ok, rest));
                    let (ok, message) = match &wanted.version {
                        Some(version) if trial.ok() => (true, format!("version {version}")),
                        None if trial.ok() => {
                            (true, "the program and the server stacks are there".to_owned())
                        }
                        // Not all has to be in an image that is somebody's own: the first request says what is there.
                        None if program && rest.iter().any(|check| check.ok) => {
                            (true, format!("the program is there; not there: {}", wrong.join(", ")))
                        }
                        _ => (false, format!("does not work: {}", wrong.join(", "))),
                    };
                    ImageOutcome { name: name.clone(), ok, message }
                }
                Err(error @ (SandboxError::NoEngine { .. } | SandboxError::Engine { .. })) => {
                    return Err(sandbox_error(&error));
                }
                Err(error) => {
                    let reported = sandbox_error(&error);
                    let hint = reported.hint.map_or_else(String::new, |hint| format!(". {hint}"));
                    ImageOutcome {
                        name: name.clone(),
                        ok: false,
                        message: format!("{}{hint}", reported.message),
                    }
                }
            };
            if !outcome.ok {
                bad.push(name.clone());
            }
            on_news(ImageNews::Outcome(&outcome));
        }
        on_news(ImageNews::Progress(total, total));
        if bad.is_empty() {
            Ok(())
        } else {
            Err(ApiError::new("image.bad", format!("These images do not work: {}", bad.join(", ")))
                .hint("`stamina images build NAME` builds one again"))
        }
    })
}

/// What runs left in the engine.
pub fn leftovers() -> Result<LeftoverList, ApiError> {
    runtime()?.block_on(async {
        match Engine::connect().await {
            Ok(engine) => list_engine_leftovers(&engine).await,
            Err(error) => {
                Ok(LeftoverList { engine: None, problem: Some(problem(&error)?), leftovers: Vec::new() })
            }
        }
    })
}

async fn list_engine_leftovers(engine: &Engine) -> Result<LeftoverList, ApiError> {
    let leftovers = engine.leftovers().await.map_err(|error| sandbox_error(&error))?;
    let leftovers = leftovers
        .into_iter()
        // A snapshot from which a resume continues is in use, though no process has it.
        .map(|l| LeftoverInfo { kind: l.kind, name: l.name, run: l.run, in_use: l.in_use || l.is_kept })
        .collect();
    Ok(LeftoverList { engine: Some(described(engine)), problem: None, leftovers })
}

/// At the start of the app: removes what dead runs have left in the engine, in the background. Without an engine nothing
/// is there, and nothing is said.
pub fn sweep_leftovers() {
    let spawned = std::thread::Builder::new().name("sweep".to_owned()).spawn(|| {
        let Ok(runtime) = runtime() else { return };
        let swept = runtime.block_on(async { Engine::connect().await?.sweep().await });
        match swept {
            Ok(removed) if !removed.is_empty() => {
                tracing::info!("{} leftovers of dead runs were removed", removed.len());
            }
            Ok(_) | Err(sandbox::SandboxError::NoEngine { .. }) => {}
            Err(error) => tracing::warn!(%error, "what dead runs have left cannot be removed"),
        }
    });
    if let Err(error) = spawned {
        tracing::warn!(%error, "leftovers of dead runs are not looked for");
    }
}

/// Removes them: those of dead processes, or all.
pub fn clean(all: bool) -> Result<LeftoverList, ApiError> {
    runtime()?.block_on(async {
        let engine = connect().await?;
        let removed = async {
            if all {
                let everything = engine.leftovers().await?;
                engine.remove(&everything).await
            } else {
                engine.sweep().await.map(drop)
            }
        };
        removed.await.map_err(|error| sandbox_error(&error))?;
        list_engine_leftovers(&engine).await
    })
}
