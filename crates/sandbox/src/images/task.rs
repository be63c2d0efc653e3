//! Images of tasks: built from a context that came with the task, with the internet as the engine has it; and the same with a
//! harness in them.

use std::collections::HashMap;
use std::time::Duration;

use bollard::body_full;
use bollard::query_parameters::BuildImageOptions;
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::build::{Lines, proxies};
use crate::engine::{failed, status};
use crate::owner::key;
use crate::volumes::fnv;
use crate::{Engine, Limits, Packed, SandboxError};

/// Microseconds of which a build gets its part of the CPUs, and the least part that engines take.
const PERIOD: i32 = 100_000;
const LEAST_QUOTA: i32 = 1000;
/// Longest time in which a harness is laid into the image of a task: some have half a gigabyte.
const HARNESS_SECONDS: u64 = 900;

/// What a harness needs to start in another image than its own, and where that lies there.
const TREE: &str = include_str!("tree.sh");
/// Where the programs of a harness lie in the image of a task.
pub const HARNESS_PROGRAMS: &str = "/opt/stamina/harness/bin";

/// The recipe of a task's image with a harness in it. Nothing of the task's image is executed or replaced.
fn with_harness(task: &str, harness: &str) -> String {
    format!(
        "FROM {harness} AS harness\nCOPY tree.sh /tree.sh\nRUN [\"/bin/sh\", \"/tree.sh\", \"/tree\"]\nFROM {task}\nCOPY --from=harness /tree/ /\n"
    )
}

/// Whether a name can stand in a recipe: nothing in it ends its line or begins another word.
fn is_name(image: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':' | '@');
    !image.is_empty() && image.len() <= 255 && image.chars().all(plain)
}

impl Engine {
    /// An image that is one of a task with the tree of a harness in it, built unless it is there; its name. Both
    /// images have to be there.
    ///
    /// Errors: those of [`Engine::build_task`], and [`SandboxError::NoImage`].
    pub async fn task_with_harness(
        &self,
        task: &str,
        harness: &str,
        limits: &Limits,
        stop: &CancellationToken,
    ) -> Result<String, SandboxError> {
        if let Some(odd) = [task, harness].into_iter().find(|name| !is_name(name)) {
            let (image, why) = (odd.to_owned(), "no image can have this name".to_owned());
            return Err(SandboxError::Image { image, why });
        }
        let mut ids = String::new();
        for state in self.images(&[task, harness]).await? {
            match state.id {
                Some(id) => ids.push_str(&id),
                None => return Err(SandboxError::NoImage { image: state.image }),
            }
        }
        let recipe = with_harness(task, harness);
        let hash = fnv(format!("{ids} {recipe} {TREE}").as_bytes());
        let name = format!("stamina-task:with-{hash:016x}");
        if self.images(&[&name]).await?.iter().any(|state| state.there) {
            return Ok(name);
        }
        let mut context = Packed::default();
        // Writing to memory does not fail.
        let _ = context.file("Dockerfile", recipe.as_bytes());
        let _ = context.file("tree.sh", TREE.as_bytes());
        self.build_task(&name, context, limits, HARNESS_SECONDS, stop).await?;
        Ok(name)
    }

    /// Builds an image from a context with a `Dockerfile` at its top, within the CPUs and the memory of the limits; limits of
    /// memory from 2 GiB on cannot be told to the engine, and there are none then. Dropping the future, or `stop`, ends the
    /// build.
    ///
    /// Errors: [`SandboxError::Image`] where the recipe fails, takes longer than `seconds` or is stopped, with its last
    /// lines.
    pub async fn build_task(
        &self,
        image: &str,
        context: Packed,
        limits: &Limits,
        seconds: u64,
        stop: &CancellationToken,
    ) -> Result<(), SandboxError> {
        let memory = memory(limits);
        let options = BuildImageOptions {
            dockerfile: "Dockerfile".to_owned(),
            t: Some(image.to_owned()),
            rm: true,
            forcerm: true,
            buildargs: Some(told(proxies(&|name| std::env::var(name).ok()))),
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
                        if let Some(why) = news.error_detail.and_then(|error| error.message) {
                            return Err(Failed::Recipe(why));
                        }
                        lines.take(news.stream.as_deref().unwrap_or_default());
                    }
                    Err(bollard::errors::Error::DockerStreamError { error }) => {
                        return Err(Failed::Recipe(error));
                    }
                    // A Dockerfile that cannot be parsed, or a base that is not there.
                    Err(error) if matches!(status(&error), Some(400 | 404)) => {
                        return Err(Failed::Recipe(error.to_string()));
                    }
                    Err(error) => return Err(Failed::Engine(error)),
                }
            }
            Ok(())
        };
        let ended = tokio::select! {
            ended = tokio::time::timeout(Duration::from_secs(seconds), built) => ended,
            () = stop.cancelled() => {
                return Err(SandboxError::Image { image: image.to_owned(), why: "the build was stopped".to_owned() });
            }
        };
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(Failed::Recipe(why))) => return Err(lines.failed(image.to_owned(), &why)),
            Ok(Err(Failed::Engine(error))) => return Err(failed("build an image")(error)),
            Err(_) => {
                let why = format!("the build took longer than its {seconds} s");
                return Err(lines.failed(image.to_owned(), &why));
            }
        }
        // Some engines end the stream of a failed build without a word.
        if self.images(&[image]).await?.iter().any(|state| !state.there) {
            return Err(lines.failed(image.to_owned(), "the engine made no image of that name"));
        }
        Ok(())
    }
}

enum Failed {
    Recipe(String),
    Engine(bollard::errors::Error),
}

/// The proxies that a stranger's recipe may know: none that holds a name or a password.
fn told(mut proxies: HashMap<String, String>) -> HashMap<String, String> {
    // Whatever stands before a host: a password may hold what ends a host elsewhere.
    proxies.retain(|_, value| !value.contains('@'));
    proxies
}

/// Bytes of memory, and of memory and swap together, of each step of a build.
fn memory(limits: &Limits) -> Option<i32> {
    i32::try_from(limits.memory).ok().filter(|bytes| *bytes > 0)
}

/// Microseconds of CPU time in each [`PERIOD`].
fn quota(limits: &Limits) -> i32 {
    ((limits.cpus * f64::from(PERIOD)) as i32).max(LEAST_QUOTA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_an_image_writes_a_line_of_a_recipe() {
        for name in ["debian:trixie-slim", "ghcr.io/a/b-c_d@sha256:0123", "stamina-task:0a1b2c3d4e5f6071"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "a b", "debian\nRUN id", "a\tAS b", "$(id)", "a\\b"] {
            assert!(!is_name(name), "{name}");
        }
        let recipe = with_harness("stamina-task:1", "stamina/mini-swe-agent:2.4.6");
        let lines: Vec<&str> = recipe.lines().collect();
        assert_eq!(lines[3..], ["FROM stamina-task:1", "COPY --from=harness /tree/ /"]);
    }

    #[test]
    fn a_recipe_is_told_of_no_proxy_with_a_password() {
        let all = [
            ("HTTP_PROXY", "http://proxy.example:3128"),
            ("HTTPS_PROXY", "http://user:pass@proxy.example:3128"),
            ("https_proxy", "user:pa/ss@proxy.example"),
            ("NO_PROXY", "localhost,.example"),
        ];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let told = told(HashMap::from(all));
        let mut names: Vec<&str> = told.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["HTTP_PROXY", "NO_PROXY"]);
    }

    #[test]
    fn a_build_has_the_limits_of_the_run_as_far_as_they_can_be_told() {
        let limits = |memory, cpus| Limits { cpus, memory, ..Limits::default() };
        assert_eq!(memory(&limits(1 << 30, 1.0)), Some(1 << 30));
        assert_eq!(memory(&limits(2 << 30, 1.0)), None);
        assert_eq!(memory(&limits(0, 1.0)), None);
        assert_eq!((quota(&limits(1, 1.5)), quota(&limits(1, 0.0))), (150_000, 1000));
    }
}
