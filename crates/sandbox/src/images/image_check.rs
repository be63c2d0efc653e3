//! Whether an image works: its program answers and the server stacks are there, as a user without rights or network.

use std::collections::HashMap;
use std::time::Duration;

use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig};
use bollard::query_parameters::{AttachContainerOptions, CreateContainerOptions};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use super::{WantedImage, recipe};
use crate::engine_error::{failed, status};
use crate::output::KeptOutput;
use crate::owner::{labels, unique_name};
use crate::volumes::container_user;
use crate::{Engine, SandboxError};

/// No check takes longer, also where a program compiles itself at its first start.
const PATIENCE: Duration = Duration::from_mins(2);

/// What of the server stacks has to work for an agent to learn of them.
const STACKS: [(&str, &[&str]); 3] = [
    ("Python with Flask, FastAPI and uvicorn", &["python3", "-c", "import flask, fastapi, uvicorn"]),
    ("Node with Express", &["node", "-e", "require('express')"]),
    ("timeout", &["timeout", "-k", "1", "5", "true"]),
];

/// What servers can be written in, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stacks {
    /// Python 3 with Flask.
    pub flask: bool,
    /// Python 3 with `FastAPI` and uvicorn.
    pub fastapi: bool,
    /// Node.js with Express.
    pub express: bool,
}

impl Stacks {
    /// What our recipes put into every image; `images test` tries it.
    pub const OF_RECIPES: Self = Self { flask: true, fastapi: true, express: true };
}

/// What a trial came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// Which image.
    pub image: String,
    /// The program first, then the stacks.
    pub checks: Vec<Check>,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What.
    pub what: String,
    /// Whether it works.
    pub ok: bool,
    /// What it printed, cut; or what is wrong.
    pub output: String,
}

impl Check {
    fn new(subject: String, ok: bool, output: String) -> Self {
        Self { what: subject, ok, output }
    }
}

impl Trial {
    /// Whether all of it works.
    pub fn ok(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }
}

impl Engine {
    /// What servers can be written in, in an image: tried, unless the project has a recipe for it.
    pub async fn stacks(&self, image: &str) -> Result<Stacks, SandboxError> {
        if recipe(image).is_some() {
            return Ok(Stacks::OF_RECIPES);
        }
        let works = async |command: [&str; 3]| {
            let command = command.map(str::to_owned);
            Ok::<_, SandboxError>(self.try_command(image, &command).await?.0 == Some(0))
        };
        Ok(Stacks {
            flask: works(["python3", "-c", "import flask"]).await?,
            fastapi: works(["python3", "-c", "import fastapi, uvicorn"]).await?,
            express: works(["node", "-e", "require('express')"]).await?,
        })
    }

    /// Tries an image. Not working is a result; an error is an engine that cannot say.
    pub async fn try_image(&self, wanted: &WantedImage) -> Result<Trial, SandboxError> {
        let (code, output) = self.try_command(&wanted.image, &wanted.probe).await?;
        let (subject, is_expected) = match &wanted.version {
            Some(version) => (format!("version {version}"), output.contains(version)),
            None => ("the program".to_owned(), true),
        };
        let mut checks = vec![Check::new(subject, code == Some(0) && is_expected, output)];
        for (subject, command) in STACKS {
            let command: Vec<String> = command.iter().map(|&part| part.to_owned()).collect();
            let (code, output) = self.try_command(&wanted.image, &command).await?;
            checks.push(Check::new(subject.to_owned(), code == Some(0), output));
        }
        Ok(Trial { image: wanted.image.clone(), checks })
    }

    /// What a command's exit code is in an image, and what it printed. Without a code it could not be started.
    pub async fn try_command(
        &self,
        image: &str,
        command: &[String],
    ) -> Result<(Option<i64>, String), SandboxError> {
        let name = unique_name("images", "trial", "test");
        let tried = tokio::time::timeout(PATIENCE, self.attempt(&name, image, command)).await;
        self.remove_container(&name).await?;
        tried.unwrap_or_else(|_| Ok((None, format!("no end after {} s", PATIENCE.as_secs()))))
    }

    async fn attempt(
        &self,
        name: &str,
        image: &str,
        command: &[String],
    ) -> Result<(Option<i64>, String), SandboxError> {
        let (uid, gid) = container_user();
        let room = |size: &str| format!("rw,exec,nosuid,nodev,mode=1777,size={size}");
        let body = ContainerCreateBody {
            image: Some(image.to_owned()),
            entrypoint: Some(Vec::new()),
            cmd: Some(command.to_vec()),
            user: Some(format!("{uid}:{gid}")),
            env: Some(vec!["HOME=/agent".to_owned()]),
            working_dir: Some("/workspace".to_owned()),
            labels: Some(labels("images", None, "test")),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            host_config: Some(HostConfig {
                init: Some(true),
                network_mode: Some("none".to_owned()),
                memory: Some(2 << 30),
                pids_limit: Some(512),
                cap_drop: Some(vec!["ALL".to_owned()]),
                security_opt: Some(vec!["no-new-privileges".to_owned()]),
                log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
                tmpfs: Some(HashMap::from(
                    ["/agent", "/workspace", "/tmp"].map(|folder| (folder.to_owned(), room("256m"))),
                )),
                ..Default::default()
            }),
            ..Default::default()
        };
        let options = CreateContainerOptions { name: Some(name.to_owned()), ..Default::default() };
        self.docker.create_container(Some(options), body).await.map_err(|error| {
            if status(&error) == Some(404) {
                SandboxError::NoImage { image: image.to_owned() }
            } else {
                failed("make a container")(error)
            }
        })?;
        let attach =
            AttachContainerOptions { stdout: true, stderr: true, stream: true, ..Default::default() };
        let mut output = self
            .docker
            .attach_container(name, Some(attach))
            .await
            .map_err(failed("attach to a container"))?
            .output;
        if let Err(error) = self.docker.start_container(name, None).await {
            // A program that is not there is a result.
            return match status(&error) {
                Some(400 | 404) => Ok((None, error.to_string())),
                _ => Err(failed("start a container")(error)),
            };
        }
        let mut kept = KeptOutput::new(4096);
        while let Some(Ok(piece)) = output.next().await {
            kept.push(piece.as_ref());
        }
        let code = self.ended(name).await?;
        Ok((code, String::from_utf8_lossy(&kept.into_bytes()).trim().to_owned()))
    }
}
