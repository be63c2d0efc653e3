//! One command in an open container: its output, its time limit, its end.

use std::time::{Duration, Instant};

use bollard::exec::{CreateExecOptions, StartExecResults};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::OpenTask;
use crate::agent_container::ContainerOutput;
use crate::container::{GRACE, WALL};
use crate::disk::{self, FullDisk};
use crate::engine_error::{failed, status};
use crate::{ContainerEnd, ContainerExit, SandboxError};

/// How often it is asked whether the command still runs: first and at most. A process in the background may keep the output
/// of a command open that has ended.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const LONGEST_LOOK: Duration = Duration::from_millis(250);
/// How long the rest of the output of a command that has ended is waited for.
const LAG: Duration = Duration::from_millis(300);
/// After the time limit and its grace: what the command has left to end by itself before it is left to itself.
const BACKSTOP: u64 = GRACE + 5;

/// A command: a script for `bash -c`, or a program with its arguments.
#[derive(Debug, Clone, Default)]
pub struct TaskCommand {
    /// What `bash` runs.
    pub script: String,
    /// Program and arguments, in place of a script where there are any.
    pub argv: Vec<String>,
    /// Environment beside that of the container.
    pub env: Vec<(String, String)>,
    /// Name or id; `None` = the image's.
    pub user: Option<String>,
    /// The folder it runs in; `None` = the image's.
    pub folder: Option<String>,
    /// Wall seconds: SIGTERM to its process group, SIGKILL 15 s later.
    pub seconds: u64,
}

pub(super) async fn run(
    task: &OpenTask,
    command: &TaskCommand,
    stop: &CancellationToken,
    live: Option<mpsc::Sender<Bytes>>,
) -> Result<ContainerEnd, SandboxError> {
    let docker = &task.engine.docker;
    let seconds = command.seconds.max(1);
    let arguments = ["/bin/sh", "-c", WALL].map(str::to_owned).into_iter();
    let program = match command.argv.as_slice() {
        [] => vec!["bash".to_owned(), "-c".to_owned(), command.script.clone()],
        argv => argv.to_vec(),
    };
    let arguments = arguments.chain([seconds.to_string()]).chain(program);
    let options = CreateExecOptions {
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        cmd: Some(arguments.collect()),
        env: Some(command.env.iter().map(|(name, value)| format!("{name}={value}")).collect()),
        user: command.user.clone(),
        working_dir: command.folder.clone(),
        ..Default::default()
    };
    let created = docker.create_exec(&task.name, options).await;
    let id = match created {
        Ok(created) => created.id,
        // The container has ended: whatever runs in it has, too.
        Err(error) if matches!(status(&error), Some(404 | 409)) => return ended_with_container(task),
        Err(error) => return Err(failed("make a command in a container")(error)),
    };
    let started_at = Instant::now();
    let started = docker.start_exec(&id, None).await.map_err(failed("start a command in a container"))?;
    let StartExecResults::Attached { mut output, .. } = started else {
        return Err(SandboxError::Engine {
            doing: "start a command in a container",
            reason: "the engine attached no output".to_owned(),
            is_gone: false,
        });
    };
    let mut printed = ContainerOutput::new(task.limits.output, live);
    let mut exit = ContainerExit::default();
    let mut reading = true;
    let mut look = FIRST_LOOK;
    let backstop = Duration::from_secs(seconds.saturating_add(BACKSTOP));
    // One for the whole loop: output, of which there may be some at any time, does not put off a look.
    let mut due = std::pin::pin!(tokio::time::sleep(look));
    loop {
        tokio::select! {
            piece = output.next(), if reading => match piece {
                Some(Ok(piece)) => printed.take(piece),
                Some(Err(_)) | None => reading = false,
            },
            () = &mut due => {
                match docker.inspect_exec(&id).await {
                    Ok(found) if found.running == Some(false) => {
                        exit.code = found.exit_code;
                        break;
                    }
                    Ok(_) => {}
                    Err(error) if matches!(status(&error), Some(404 | 409)) => break,
                    Err(error) => return Err(failed("look at a command in a container")(error)),
                }
                look = (look * 2).min(LONGEST_LOOK);
                due.as_mut().reset(tokio::time::Instant::now() + look);
            }
            () = stop.cancelled() => {
                exit.stopped = true;
                break;
            }
        }
        if started_at.elapsed() >= backstop {
            exit.timed_out = true;
            break;
        }
    }
    let (elapsed, whole_seconds) = (started_at.elapsed().as_secs_f64(), started_at.elapsed().as_secs());
    let rest = async {
        while let Some(Ok(piece)) = output.next().await {
            printed.take(piece);
        }
    };
    if reading && !exit.stopped && tokio::time::timeout(LAG, rest).await.is_err() {
        tracing::debug!(name = task.name, "a command has ended, its output has not");
    }
    // `timeout` says 124 where SIGTERM was enough and is killed along (137) where it was not.
    exit.timed_out |= matches!(exit.code, Some(124 | 137 | 143)) && whole_seconds >= seconds;
    match task.full_disk() {
        Some(FullDisk::Limit) => exit.disk_full = true,
        Some(FullDisk::Host { path, free }) => return Err(disk::no_room_error(path, free)),
        None => {}
    }
    Ok(printed.into_end(exit, elapsed))
}

/// The end of a command whose container is gone before it.
fn ended_with_container(task: &OpenTask) -> Result<ContainerEnd, SandboxError> {
    match task.full_disk() {
        Some(FullDisk::Limit) => {
            let exit = ContainerExit { disk_full: true, ..ContainerExit::default() };
            Ok(ContainerEnd { exit, ..ContainerEnd::default() })
        }
        Some(FullDisk::Host { path, free }) => Err(disk::no_room_error(path, free)),
        None => Ok(ContainerEnd::default()),
    }
}
