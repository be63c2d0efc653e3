//! Images of tasks: built from a context that came with the task, with the internet as the engine has it; and the same with a
//! harness in them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use bollard::body_full;
use bollard::models::ImageInspect;
use bollard::query_parameters::{BuildImageOptions, ListImagesOptions};
use futures_util::StreamExt;
use sha2::Digest as _;
use tokio_util::sync::CancellationToken;

use super::build::{Lines, proxies};
use crate::engine_error::{failed, status};
use crate::owner::key;
use crate::{Engine, Limits, PackedFiles, SandboxError};

/// Microseconds of which a build gets its part of the CPUs, and the least part that engines take.
const PERIOD: i32 = 100_000;
const LEAST_QUOTA: i32 = 1000;
/// Least and most bytes of memory that a build can be told to have: 0 would be no limit, and there is no place for more.
const LEAST_MEMORY: i32 = 6 << 20;
const MOST_MEMORY: i32 = i32::MAX;
/// Longest time in which a harness is laid into the image of a task: some have half a gigabyte.
const HARNESS_SECONDS: u64 = 900;

/// How the names of images begin that were built for tasks, and what follows in those with a harness in them.
const IMAGES: &str = "stamina-task:";
const WITH_HARNESS: &str = "with-";

/// What a harness needs to start in another image than its own, and where that lies there.
const TREE: &str = include_str!("tree.sh");
/// Where the programs of a harness lie in the image of a task.
pub const HARNESS_PROGRAMS: &str = "/opt/stamina/harness/bin";

/// Whether one of these names is that of an image that was built for a task, with a harness in it or without. Podman names its host
/// before it.
fn is_of_task(names: &[String], has_harness: bool) -> bool {
    names
        .iter()
        .filter_map(|name| name.strip_prefix("localhost/").unwrap_or(name).strip_prefix(IMAGES))
        .any(|tag| tag.starts_with(WITH_HARNESS) == has_harness)
}

/// The recipe of a task's image with a harness in it. Nothing of the task's image is executed or replaced: one that asks for
/// that (`ONBUILD`) is refused before ([`refusal`]). No stage has a name, so that no task's image can be one.
fn with_harness(task: &str, harness: &str) -> String {
    format!(
        "FROM {harness}\nCOPY tree.sh /tree.sh\nRUN [\"/bin/sh\", \"/tree.sh\", \"/tree\"]\nFROM {task}\nCOPY --from=0 /tree/ /\n"
    )
}

/// Whether a name can stand in a recipe: nothing in it ends its line, begins another word, or is an option.
fn is_name(image: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':' | '@');
    !image.starts_with('-') && !image.is_empty() && image.len() <= 255 && image.chars().all(plain)
}

/// Why no task is played with an image; `None` = one can be. `is_extended` = a harness is laid into it.
///
/// Folders that it declares as volumes lie beside the container: neither its disk limit counts them nor a snapshot holds
/// them. What it declares for images on top of it (`ONBUILD`) would be executed by the engine, with its network.
fn refusal(image: &ImageInspect, is_extended: bool) -> Option<String> {
    let config = image.config.as_ref()?;
    let volumes: Vec<&str> = config.volumes.iter().flatten().map(String::as_str).collect();
    if !volumes.is_empty() {
        let folders = model::one_line(&volumes.join(", "), 200);
        return Some(format!(
            "it keeps folders outside its layers (VOLUME {folders}), which neither the disk limit nor a snapshot covers: its task is not played"
        ));
    }
    let is_onbuild = config.on_build.iter().flatten().next().is_some();
    (is_extended && is_onbuild).then(|| {
        "it has commands that every image on top of it executes (ONBUILD), and a harness would be laid into one. So its task is not played by a harness".to_owned()
    })
}

/// SHA-256 in hexadecimal digits.
fn sha256(text: &str) -> String {
    let mut digits = String::new();
    for byte in sha2::Sha256::digest(text.as_bytes()) {
        // Writing to memory does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

impl Engine {
    /// Whether a task can be played with an image: the error is why not. `is_extended` = a harness is laid into it.
    ///
    /// Errors: [`SandboxError::NoImage`]; [`SandboxError::Image`] where it declares a `VOLUME`, or, to be extended, an `ONBUILD`.
    pub async fn fits_tasks(&self, image: &str, is_extended: bool) -> Result<(), SandboxError> {
        match self.inspect_image(image).await? {
            None => Err(SandboxError::NoImage { image: image.to_owned() }),
            Some(found) => match refusal(&found, is_extended) {
                Some(reason) => Err(SandboxError::Image { image: image.to_owned(), reason }),
                None => Ok(()),
            },
        }
    }

    /// An image that is one of a task with the tree of a harness in it, built unless it is there; its name. Both
    /// images have to be there.
    ///
    /// Errors: those of [`Engine::build_task`] and of [`Engine::fits_tasks`].
    pub async fn task_with_harness(
        &self,
        task: &str,
        harness: &str,
        limits: &Limits,
        stop: &CancellationToken,
    ) -> Result<String, SandboxError> {
        if let Some(odd) = [task, harness].into_iter().find(|name| !is_name(name)) {
            let (image, reason) = (odd.to_owned(), "no image can have this name".to_owned());
            return Err(SandboxError::Image { image, reason });
        }
        self.fits_tasks(task, true).await?;
        let mut ids = String::new();
        for state in self.images(&[task, harness]).await? {
            match state.id {
                Some(id) => ids.push_str(&id),
                None => return Err(SandboxError::NoImage { image: state.image }),
            }
        }
        let recipe = with_harness(task, harness);
        let name = format!("{IMAGES}{WITH_HARNESS}{}", sha256(&format!("{ids} {recipe} {TREE}")));
        if self.images(&[&name]).await?.iter().any(|state| state.there) {
            return Ok(name);
        }
        let mut context = PackedFiles::default();
        // Writing to memory does not fail.
        let _ = context.file("Dockerfile", recipe.as_bytes());
        let _ = context.file("tree.sh", TREE.as_bytes());
        self.build_task(&name, context, limits, HARNESS_SECONDS, stop).await?;
        Ok(name)
    }

    /// Bytes of each image that was built for a task and is there, with all that it shares with others: of those with a harness
    /// in them, or of those without.
    pub async fn task_image_sizes(&self, has_harness: bool) -> Result<Vec<u64>, SandboxError> {
        let all = self.docker.list_images(Some(ListImagesOptions::default())).await;
        let all = all.map_err(failed("list images"))?;
        let task_images = all.iter().filter(|image| is_of_task(&image.repo_tags, has_harness));
        Ok(task_images.filter_map(|image| u64::try_from(image.size).ok()).collect())
    }

    /// Builds an image from a context with a `Dockerfile` at its top, within the CPUs and the memory of the limits, and at most
    /// 2 GiB of memory: an engine cannot be told more. Dropping the future, or `stop`, ends the build.
    ///
    /// Errors: [`SandboxError::Image`] where the recipe fails, takes longer than `seconds` or is stopped, with its last
    /// lines.
    pub async fn build_task(
        &self,
        image: &str,
        context: PackedFiles,
        limits: &Limits,
        seconds: u64,
        stop: &CancellationToken,
    ) -> Result<(), SandboxError> {
        let memory = Some(memory(limits));
        let options = BuildImageOptions {
            dockerfile: "Dockerfile".to_owned(),
            t: Some(image.to_owned()),
            rm: true,
            forcerm: true,
            buildargs: Some(without_secrets(proxies(&|name| std::env::var(name).ok()))),
            memory,
            memswap: memory,
            cpuperiod: Some(PERIOD),
            cpuquota: Some(quota(limits)),
            labels: Some(HashMap::from([(key("kind"), "task".to_owned())])),
            ..Default::default()
        };
        let mut lines = Lines::default();
        let built = async {
            let mut build =
                std::pin::pin!(self.docker.build_image(options, None, Some(body_full(context.into_bytes()))));
            while let Some(news) = build.next().await {
                match news {
                    Ok(news) => {
                        if let Some(error) = news.error_detail.and_then(|error| error.message) {
                            return Err(BuildFailure::Recipe(error));
                        }
                        lines.take(news.stream.as_deref().unwrap_or_default());
                    }
                    Err(bollard::errors::Error::DockerStreamError { error }) => {
                        return Err(BuildFailure::Recipe(error));
                    }
                    // A Dockerfile that cannot be parsed, or a base that is not there.
                    Err(error) if matches!(status(&error), Some(400 | 404)) => {
                        return Err(BuildFailure::Recipe(error.to_string()));
                    }
                    Err(error) => return Err(BuildFailure::Engine(error)),
                }
            }
            Ok(())
        };
        let ended = tokio::select! {
            ended = tokio::time::timeout(Duration::from_secs(seconds), built) => ended,
            () = stop.cancelled() => {
                return Err(SandboxError::Image { image: image.to_owned(), reason: "the build was stopped".to_owned() });
            }
        };
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(BuildFailure::Recipe(error))) => return Err(lines.failed(image.to_owned(), &error)),
            Ok(Err(BuildFailure::Engine(error))) => return Err(failed("build an image")(error)),
            Err(_) => {
                let error = format!("the build took longer than its {seconds} s");
                return Err(lines.failed(image.to_owned(), &error));
            }
        }
        // Some engines end the stream of a failed build without a word.
        if self.images(&[image]).await?.iter().any(|state| !state.there) {
            return Err(lines.failed(image.to_owned(), "the engine made no image of that name"));
        }
        Ok(())
    }
}

enum BuildFailure {
    Recipe(String),
    Engine(bollard::errors::Error),
}

/// The proxies that a stranger's recipe may know: none that holds a name or a password.
fn without_secrets(mut proxies: HashMap<String, String>) -> HashMap<String, String> {
    // Whatever stands before a host: a password may hold what ends a host elsewhere.
    proxies.retain(|_, value| !value.contains('@'));
    proxies
}

/// Bytes of memory, and of memory and swap together, of each step of a build.
fn memory(limits: &Limits) -> i32 {
    i32::try_from(limits.memory).unwrap_or(MOST_MEMORY).max(LEAST_MEMORY)
}

/// Microseconds of CPU time in each [`PERIOD`].
fn quota(limits: &Limits) -> i32 {
    ((limits.cpus * f64::from(PERIOD)) as i32).max(LEAST_QUOTA)
}

#[cfg(test)]
mod tests {
    use bollard::models::ImageConfig;

    use super::*;

    #[test]
    // docs/security.md: Tasks of Harbor
    fn an_image_with_folders_beside_its_container_or_commands_for_others_is_not_played() {
        let configuration = |volumes: &[&str], on_build: &[&str]| {
            let list = |all: &[&str]| Some(all.iter().map(|&text| text.to_owned()).collect());
            let config =
                ImageConfig { volumes: list(volumes), on_build: list(on_build), ..ImageConfig::default() };
            ImageInspect { config: Some(config), ..ImageInspect::default() }
        };
        assert_eq!(
            (refusal(&configuration(&[], &[]), true), refusal(&ImageInspect::default(), true)),
            (None, None)
        );
        for is_extended in [false, true] {
            let reason = refusal(&configuration(&["/big", "/data"], &[]), is_extended).unwrap();
            assert!(reason.contains("VOLUME /big, /data") && reason.contains("disk limit"), "{reason}");
        }
        let commands = configuration(&[], &["RUN touch /was-run"]);
        assert!(refusal(&commands, true).unwrap().contains("ONBUILD"));
        // Nothing is built on top of it for a player.
        assert_eq!(refusal(&commands, false), None);
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn names_of_images_that_are_used_unseen_do_not_collide() {
        assert_eq!(sha256("").len(), 64);
        assert!(sha256("abc").starts_with("ba7816bf8f01cfea"), "{}", sha256("abc"));
    }

    #[test]
    fn images_of_tasks_are_told_from_others_by_their_names() {
        let is_of_task = |name: &str, has_harness| super::is_of_task(&[name.to_owned()], has_harness);
        for name in ["stamina-task:0a1b", "localhost/stamina-task:0a1b"] {
            assert!(is_of_task(name, false) && !is_of_task(name, true), "{name}");
        }
        assert!(is_of_task("stamina-task:with-0a1b", true) && !is_of_task("stamina-task:with-0a1b", false));
        for name in ["stamina-snapshot:0f3a5c77-scenario_0-2", "somebody/stamina-task:1", "debian:trixie", ""]
        {
            assert!(!is_of_task(name, false) && !is_of_task(name, true), "{name}");
        }
        assert!(!super::is_of_task(&[], false), "it has no name");
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn no_name_of_an_image_writes_a_line_of_a_recipe() {
        for name in ["debian:trixie-slim", "ghcr.io/a/b-c_d@sha256:0123", "stamina-task:0a1b2c3d4e5f6071"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "a b", "debian\nRUN id", "a\tAS b", "$(id)", "a\\b", "--platform"] {
            assert!(!is_name(name), "{name}");
        }
        let recipe = with_harness("stamina-task:1", "stamina/mini-swe-agent:2.4.6");
        let lines: Vec<&str> = recipe.lines().collect();
        assert_eq!(lines[0], "FROM stamina/mini-swe-agent:2.4.6");
        assert_eq!(lines[3..], ["FROM stamina-task:1", "COPY --from=0 /tree/ /"]);
        // An image of that name is the image, and no stage of the recipe.
        let recipe = with_harness("harness", "stamina/mini-swe-agent:2.4.6");
        assert!(!recipe.contains(" AS "), "{recipe}");
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn a_recipe_is_told_of_no_proxy_with_a_password() {
        let all = [
            ("HTTP_PROXY", "http://proxy.example:3128"),
            ("HTTPS_PROXY", "http://user:pass@proxy.example:3128"),
            ("https_proxy", "user:pa/ss@proxy.example"),
            ("NO_PROXY", "localhost,.example"),
        ];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let passed_on = without_secrets(HashMap::from(all));
        let mut names: Vec<&str> = passed_on.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["HTTP_PROXY", "NO_PROXY"]);
    }

    #[test]
    // docs/security.md: Tasks of Harbor
    fn a_build_has_the_limits_of_the_run_as_far_as_they_can_be_told() {
        let limits = |memory, cpus| Limits { cpus, memory, ..Limits::default() };
        assert_eq!(memory(&limits(1 << 30, 1.0)), 1 << 30);
        // There is always a limit.
        for more in [2 << 30, Limits::default().memory, u64::MAX] {
            assert_eq!(memory(&limits(more, 1.0)), i32::MAX, "{more}");
        }
        assert_eq!(memory(&limits(0, 1.0)), 6 << 20);
        assert_eq!((quota(&limits(1, 1.5)), quota(&limits(1, 0.0))), (150_000, 1000));
    }
}
