//! Images of tasks: built from a context that came with the task, with the internet as the engine has it.

use std::collections::HashMap;
use std::time::Duration;

use bollard::body_full;
use bollard::query_parameters::BuildImageOptions;
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::build::{Lines, proxies};
use crate::engine::{failed, status};
use crate::owner::key;
use crate::{Engine, Limits, Packed, SandboxError};

/// Microseconds of which a build gets its part of the CPUs, and the least part that engines take.
const PERIOD: i32 = 100_000;
const LEAST_QUOTA: i32 = 1000;

impl Engine {
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
