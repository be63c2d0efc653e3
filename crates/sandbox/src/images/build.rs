//! Building an image of the project: the base first, if it is missing or from another recipe.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bollard::body_full;
use bollard::query_parameters::BuildImageOptions;
use bytes::Bytes;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::recipes::{BASE, Recipe, recipe};
use crate::engine_error::failed;
use crate::owner::key;
use crate::{Engine, SandboxError};

/// Where the recipe of the base puts the bundle of certificates.
const CA_IN_IMAGE: &str = "/opt/stamina/ca.crt";
/// Build arguments that point tools at it.
const CA_ARGUMENTS: [&str; 2] = ["NODE_EXTRA_CA_CERTS", "PIP_CERT"];
/// No bundle of certificates is larger.
const CA_CAP: u64 = 8 << 20;
/// Build arguments that engines know without declaration and that do not stay in the image.
const PROXY_ARGUMENTS: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];
/// Lines of output that an error shows.
const LAST_LINES: usize = 15;

/// How to build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildSettings {
    /// A bundle of certificates to trust while building, for hosts behind a proxy that opens TLS: see [`default_ca`].
    pub ca: Option<PathBuf>,
    /// Builds every step again.
    pub fresh: bool,
}

/// What is heard of a build.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BuildNews {
    /// An image's build begins.
    Started {
        /// Which.
        image: String,
    },
    /// The next step of its recipe.
    Step {
        /// Which image.
        image: String,
        /// From 1.
        step: u32,
        /// How many steps there are.
        step_count: u32,
        /// The recipe's line.
        text: String,
    },
    /// A line of output.
    Line {
        /// Which image.
        image: String,
        /// Without its end, control characters taken out.
        text: String,
    },
    /// It is there.
    Finished {
        /// Which image.
        image: String,
        /// How long it took.
        seconds: f64,
    },
}

/// The bundle that is meant where none is named: `STAMINA_CA`, else `SSL_CERT_FILE`.
pub fn default_ca() -> Option<PathBuf> {
    ["STAMINA_CA", "SSL_CERT_FILE"]
        .iter()
        .filter_map(std::env::var_os)
        .find(|path| !path.is_empty())
        .map(PathBuf::from)
}

impl Engine {
    /// Builds one of our images, by its name (`stamina/qwen-code:0.24.4`) or its recipe's (`qwen-code`). News is dropped
    /// where nobody takes it fast enough, except steps and results. Dropping the future, or `stop`, ends the build.
    pub async fn build(
        &self,
        name: &str,
        settings: &BuildSettings,
        news: &mpsc::Sender<BuildNews>,
        stop: &CancellationToken,
    ) -> Result<(), SandboxError> {
        let Some(wanted) = recipe(name) else {
            return Err(SandboxError::Image {
                image: name.to_owned(),
                reason: "there is no recipe for it".to_owned(),
            });
        };
        let ca = read_ca(settings.ca.as_deref())?;
        if wanted.name != BASE.name {
            let base = self.images(&[BASE.image]).await?;
            if base.iter().any(|base| base.current != Some(true)) {
                self.build_recipe(BASE, settings, &ca, news, stop).await?;
            }
        }
        self.build_recipe(wanted, settings, &ca, news, stop).await
    }

    async fn build_recipe(
        &self,
        recipe: &Recipe,
        settings: &BuildSettings,
        ca: &[u8],
        news: &mpsc::Sender<BuildNews>,
        stop: &CancellationToken,
    ) -> Result<(), SandboxError> {
        let began = Instant::now();
        let image = recipe.image.to_owned();
        let _ = news.send(BuildNews::Started { image: image.clone() }).await;
        let options = BuildImageOptions {
            dockerfile: "Dockerfile".to_owned(),
            t: Some(image.clone()),
            rm: true,
            forcerm: true,
            nocache: settings.fresh,
            buildargs: Some(arguments(recipe, !ca.is_empty(), &|name| std::env::var(name).ok())),
            labels: Some(HashMap::from([
                (key("recipe"), recipe.fingerprint()),
                (key("image"), recipe.name.to_owned()),
            ])),
            ..Default::default()
        };
        let context = context(recipe, ca)
            .map_err(|error| SandboxError::Image { image: image.clone(), reason: error.to_string() })?;
        let mut build = std::pin::pin!(self.docker.build_image(options, None, Some(body_full(context))));
        let mut lines = Lines::default();
        loop {
            let message = tokio::select! {
                message = build.next() => message,
                () = stop.cancelled() => {
                    return Err(SandboxError::Image { image, reason: "the build was stopped".to_owned() });
                }
            };
            match message {
                None => break,
                Some(Ok(message)) => {
                    if let Some(error) = message.error_detail.and_then(|error| error.message) {
                        return Err(lines.failed(image, &error));
                    }
                    for line in lines.take(message.stream.as_deref().unwrap_or_default()) {
                        send_line(news, &image, line).await;
                    }
                }
                Some(Err(bollard::errors::Error::DockerStreamError { error })) => {
                    return Err(lines.failed(image, &error));
                }
                Some(Err(error)) => return Err(failed("build an image")(error)),
            }
        }
        // Some engines end the stream of a failed build without a word.
        if self.images(&[recipe.image]).await?.iter().any(|state| state.current != Some(true)) {
            return Err(lines.failed(image, "the engine made no image of that name"));
        }
        let seconds = began.elapsed().as_secs_f64();
        let _ = news.send(BuildNews::Finished { image, seconds }).await;
        Ok(())
    }
}

async fn send_line(news: &mpsc::Sender<BuildNews>, image: &str, line: String) {
    let image = image.to_owned();
    if let Some((step, step_count, text)) = step(&line) {
        let _ = news.send(BuildNews::Step { image, step, step_count, text }).await;
    } else {
        let _ = news.try_send(BuildNews::Line { image, text: line });
    }
}

/// `Step 3/10 : RUN …`; Podman writes `STEP 3/10: RUN …`.
fn step(line: &str) -> Option<(u32, u32, String)> {
    let rest = line.strip_prefix("Step ").or_else(|| line.strip_prefix("STEP "))?;
    let (count, text) = rest.split_once(':')?;
    let (step, total) = count.trim().split_once('/')?;
    Some((step.parse().ok()?, total.parse().ok()?, text.trim().to_owned()))
}

fn read_ca(path: Option<&Path>) -> Result<Vec<u8>, SandboxError> {
    let Some(path) = path else {
        return Ok(Vec::new());
    };
    let wrong = |reason: String| SandboxError::Files { path: path.display().to_string(), reason };
    // A pipe or a device of this name has no end.
    let text =
        files::confined_path::read_named_file(path, CA_CAP).map_err(|error| wrong(error.to_string()))?;
    if !String::from_utf8_lossy(&text).contains("-----BEGIN CERTIFICATE-----") {
        return Err(wrong("holds no certificate in PEM form".to_owned()));
    }
    Ok(text)
}

/// Arguments of a build: the certificates' where the recipe asks for them, and the proxy's of the environment.
fn arguments(recipe: &Recipe, ca: bool, env: &dyn Fn(&str) -> Option<String>) -> HashMap<String, String> {
    let takes_argument =
        |name: &str| recipe.dockerfile().lines().any(|line| line.strip_prefix("ARG ") == Some(name));
    let certificates = CA_ARGUMENTS
        .iter()
        .filter(|name| ca && takes_argument(name))
        .map(|name| ((*name).to_owned(), CA_IN_IMAGE.to_owned()));
    certificates.chain(proxies(env)).collect()
}

/// The proxy's arguments of the environment.
pub(super) fn proxies(env: &dyn Fn(&str) -> Option<String>) -> HashMap<String, String> {
    PROXY_ARGUMENTS
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), env(name).filter(|value| !value.is_empty())?)))
        .collect()
}

/// The recipe's files as a tar archive, the same bytes each time. The base gets the certificates; they may be empty.
fn context(recipe: &Recipe, ca: &[u8]) -> std::io::Result<Bytes> {
    let mut archive = tar::Builder::new(Vec::new());
    let certificates = (recipe.name == BASE.name).then_some(("ca.crt", ca));
    let files = recipe.files.iter().map(|(name, text)| (*name, text.as_bytes()));
    for (name, content) in files.chain(certificates) {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, name, content)?;
    }
    Ok(archive.into_inner()?.into())
}

/// Cuts the engine's pieces of output into lines, and keeps the last few for an error.
#[derive(Default)]
pub(super) struct Lines {
    open: String,
    last: std::collections::VecDeque<String>,
}

impl Lines {
    pub(super) fn take(&mut self, piece: &str) -> Vec<String> {
        self.open.push_str(piece);
        let mut lines = Vec::new();
        // A progress bar writes its line again and again with a carriage return.
        while let Some(end) = self.open.find(['\n', '\r']) {
            let line: String = self.open.drain(..=end).collect();
            let line = model::strip_ansi(&line).trim().to_owned();
            if !line.is_empty() {
                self.last.push_back(line.clone());
                if self.last.len() > LAST_LINES {
                    self.last.pop_front();
                }
                lines.push(line);
            }
        }
        lines
    }

    pub(super) fn failed(self, image: String, error: &str) -> SandboxError {
        let last: Vec<String> = self.last.into();
        SandboxError::Image {
            image,
            reason: format!("{}; its last lines: {}", model::strip_ansi(error).trim(), last.join(" | ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_becomes_lines_and_steps() {
        let mut lines = Lines::default();
        assert_eq!(lines.take("Step 1/3 : FROM deb"), Vec::<String>::new());
        assert_eq!(
            lines.take("ian\n\u{1b}[91mred\u{1b}[0m\n10%\r20%\n"),
            ["Step 1/3 : FROM debian", "red", "10%", "20%"]
        );
        assert_eq!(step("Step 1/3 : FROM debian"), Some((1, 3, "FROM debian".to_owned())));
        assert_eq!(step("STEP 2/3: RUN a : b"), Some((2, 3, "RUN a : b".to_owned())));
        assert_eq!(step("Steps to take: none"), None);
        let error = lines.failed("stamina/x:1".to_owned(), "returned 1").to_string();
        assert!(error.contains("stamina/x:1") && error.contains("red | 10% | 20%"), "{error}");
    }

    #[test]
    fn certificates_are_pointed_at_only_where_there_are_some() {
        let npm = recipe("qwen-code").unwrap();
        let none = |_: &str| None;
        assert!(arguments(npm, false, &none).is_empty());
        assert_eq!(
            arguments(npm, true, &none),
            HashMap::from([("NODE_EXTRA_CA_CERTS".to_owned(), CA_IN_IMAGE.to_owned())])
        );
        let proxied =
            arguments(npm, false, &|name| (name == "https_proxy").then(|| "http://p:3128".to_owned()));
        assert_eq!(proxied.len(), 1);
    }

    #[test]
    fn the_context_is_the_same_each_time_and_holds_the_certificates() {
        let first = context(BASE, b"cert").unwrap();
        assert_eq!(first, context(BASE, b"cert").unwrap());
        let mut names = Vec::new();
        for entry in tar::Archive::new(&first[..]).entries().unwrap() {
            names.push(entry.unwrap().path().unwrap().display().to_string());
        }
        assert_eq!(names, ["Dockerfile", "constraints.txt", "ca.crt"]);
    }

    #[test]
    fn what_is_no_bundle_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("ca.pem");
        std::fs::write(&file, "hello").unwrap();
        assert!(read_ca(Some(&file)).unwrap_err().to_string().contains("PEM"));
        assert!(read_ca(Some(&dir.path().join("none"))).is_err());
        assert!(
            read_ca(Some(Path::new("/dev/zero"))).unwrap_err().to_string().contains("not a regular file")
        );
        assert!(read_ca(None).unwrap().is_empty());
    }
}
