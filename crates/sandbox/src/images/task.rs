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
use crate::{Engine, Packed, SandboxError};

impl Engine {
    /// Builds an image from a context with a `Dockerfile` at its top. Dropping the future, or `stop`, ends the build.
    ///
    /// Errors: [`SandboxError::Image`] where the recipe fails, takes longer than `seconds` or is stopped, with its last
    /// lines.
    pub async fn build_task(
        &self,
        image: &str,
        context: Packed,
        seconds: u64,
        stop: &CancellationToken,
    ) -> Result<(), SandboxError> {
        let options = BuildImageOptions {
            dockerfile: "Dockerfile".to_owned(),
            t: Some(image.to_owned()),
            rm: true,
            forcerm: true,
            buildargs: Some(proxies(&|name| std::env::var(name).ok())),
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
