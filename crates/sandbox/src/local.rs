//! Containers that are none: plain processes of this machine, for the mock agent with the simulated model, whose code we wrote
//! ourselves. Limits are the wall time and the kept output; nothing else is limited, nothing is hidden.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::TcpSocket;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agent_container::ContainerOutput;
use crate::container::GRACE;
use crate::output::KeptOutput;
use crate::{
    AgentContainer, ContainerEnd, ContainerExit, SandboxError, ServerAddress, ServerContainer, ServerEnd,
    Volumes,
};

/// Ports that servers get: below those that systems hand out by themselves (from 32768), so that a client that asks for a server
/// which has ended reaches nobody, not even itself.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

/// The schema that the simulated model leaves in the workspace where there are no containers.
const SCHEMA: &str = "schema.yaml";

/// Plain processes. Clones share the servers that run.
#[derive(Clone)]
pub struct Local {
    /// Serves a schema: a program that understands `serve-reference --schema FILE --on-stdin`.
    pub program: PathBuf,
    served: Arc<Mutex<HashMap<String, LocalServer>>>,
}

struct LocalServer {
    group: Group,
    log: Arc<Mutex<KeptOutput>>,
    reader: JoinHandle<()>,
}

impl Local {
    /// `program` understands `serve-reference --schema FILE --on-stdin`: its standard input is a socket that has an address and
    /// does not listen yet (`scenario::reference::serve_on_stdin`).
    pub fn new(program: PathBuf) -> Self {
        Self { program, served: Arc::default() }
    }

    pub(crate) async fn agent(
        &self,
        agent: &AgentContainer,
        stop: CancellationToken,
        live: Option<mpsc::Sender<Bytes>>,
    ) -> Result<ContainerEnd, SandboxError> {
        let (program, arguments) = agent.argv.split_first().ok_or_else(|| SandboxError::Files {
            path: agent.volumes.workspace.display().to_string(),
            reason: "the agent has no command".to_owned(),
        })?;
        let mut command = self.command(program, &agent.volumes);
        command
            .args(arguments)
            // Variables of the configuration are for containers: here they could make this machine load and run other files.
            .envs(agent.env.iter().map(|(name, value)| (name, value)));
        // Dropping the group kills it: so does dropping this future.
        let mut group = Group::start(command, program)?;
        let began = Instant::now();
        let (send, mut pieces) = mpsc::channel::<(bool, Bytes)>(64);
        pass_on(group.child.stdout.take(), false, &send);
        pass_on(group.child.stderr.take(), true, &send);
        drop(send);

        let mut printed = ContainerOutput::new(agent.limits.output, live);
        let mut exit = ContainerExit::default();
        let mut deadline = Box::pin(tokio::time::sleep(Duration::from_secs(agent.limits.seconds)));
        let mut terminated = false;
        let (mut reading, mut stoppable) = (true, true);
        let status = loop {
            tokio::select! {
                piece = pieces.recv(), if reading => match piece {
                    Some((true, piece)) => printed.stderr(piece),
                    Some((false, piece)) => printed.stdout(piece),
                    None => reading = false,
                },
                status = group.child.wait() => break status,
                () = &mut deadline => {
                    let signal = if terminated { Signal::KILL } else { Signal::TERM };
                    exit.timed_out |= !exit.stopped;
                    group.signal(signal);
                    terminated = true;
                    deadline = Box::pin(tokio::time::sleep(Duration::from_secs(GRACE)));
                }
                () = stop.cancelled(), if stoppable => {
                    stoppable = false;
                    exit.stopped = true;
                    group.signal(Signal::TERM);
                    terminated = true;
                    deadline = Box::pin(tokio::time::sleep(Duration::from_secs(3)));
                }
            }
        };
        // Whatever it left running goes too, and with it whoever holds the pipes.
        group.signal(Signal::KILL);
        let rest = async {
            while let Some((error, piece)) = pieces.recv().await {
                if error { printed.stderr(piece) } else { printed.stdout(piece) }
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(2), rest).await;
        exit.code = status.ok().and_then(code);
        Ok(printed.into_end(exit, began.elapsed().as_secs_f64()))
    }

    /// Serves the schema that lies in the workspace by this program itself. `run.sh` is not run: the workspace may have come
    /// with a results folder from somebody else, and here is no container around it.
    pub(crate) fn serve(&self, server: &ServerContainer) -> Result<ServerAddress, SandboxError> {
        let schema = server.volumes.workspace.join(SCHEMA);
        if std::fs::symlink_metadata(&schema).is_ok_and(|found| !found.is_file()) {
            return Err(SandboxError::Files {
                path: schema.display().to_string(),
                reason: "it is not a regular file, and without containers only such a schema is served"
                    .to_owned(),
            });
        }
        let (socket, address) = bound_socket()?;
        let program = self.program.display().to_string();
        let mut command = self.command(&program, &server.volumes);
        command.args(["serve-reference", "--schema", SCHEMA, "--on-stdin"]).stdin(socket);
        let mut group = Group::start(command, &program)?;
        let log = Arc::new(Mutex::new(KeptOutput::new(server.limits.output)));
        let (send, mut pieces) = mpsc::channel::<(bool, Bytes)>(64);
        pass_on(group.child.stdout.take(), false, &send);
        pass_on(group.child.stderr.take(), true, &send);
        let kept = Arc::clone(&log);
        let reader = tokio::spawn(async move {
            while let Some((_, piece)) = pieces.recv().await {
                model::lock(&kept).push(&piece);
            }
        });
        let id = format!("process {}", group.id);
        model::lock(&self.served).insert(id.clone(), LocalServer { group, log, reader });
        Ok(ServerAddress { address: Some(address), id })
    }

    pub(crate) fn runs(&self, server: &ServerAddress) -> bool {
        let mut served = model::lock(&self.served);
        served.get_mut(&server.id).is_some_and(|served| matches!(served.group.child.try_wait(), Ok(None)))
    }

    pub(crate) async fn end(&self, server: ServerAddress) -> Result<ServerEnd, SandboxError> {
        let served = model::lock(&self.served).remove(&server.id);
        let Some(mut served) = served else {
            return Ok(ServerEnd::default());
        };
        let exited = match served.group.child.try_wait() {
            Ok(Some(status)) => Some(ContainerExit { code: code(status), ..ContainerExit::default() }),
            Ok(None) | Err(_) => None,
        };
        served.group.signal(Signal::KILL);
        let _ = served.group.child.wait().await;
        // Its last lines are still in flight.
        let _ = tokio::time::timeout(Duration::from_secs(2), &mut served.reader).await;
        let mut log = model::lock(&served.log);
        Ok(ServerEnd { exited, log: std::mem::replace(&mut *log, KeptOutput::new(0)).into_bytes() })
    }

    /// Dropping them kills them.
    pub(crate) fn clear(&self) {
        model::lock(&self.served).clear();
    }

    /// A command in the workspace with next to no environment, no standard input, in a process group of its own.
    fn command(&self, program: &str, volumes: &Volumes) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&volumes.workspace)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))
            .env("HOME", absolute_path(&volumes.home))
            .env("STAMINA", &self.program)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
    }
}

fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A process and all that it started; killed when dropped.
struct Group {
    child: Child,
    /// The leader's id, which is the group's.
    id: u32,
}

impl Group {
    fn start(mut command: Command, program: &str) -> Result<Self, SandboxError> {
        let child = command.spawn().map_err(|error| {
            let start_error = std::io::Error::new(error.kind(), format!("cannot be started: {error}"));
            SandboxError::from_io_error(program, &start_error)
        })?;
        let id = child.id().unwrap_or(0);
        Ok(Self { child, id })
    }

    /// The group outlives its leader as long as one of its members lives; once the group is empty this does nothing.
    fn signal(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.id).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Reads a pipe to its end on a task of its own.
fn pass_on(
    pipe: Option<impl AsyncRead + Unpin + Send + 'static>,
    error: bool,
    sender: &mpsc::Sender<(bool, Bytes)>,
) {
    let Some(mut pipe) = pipe else { return };
    let sender = sender.clone();
    tokio::spawn(async move {
        let mut buffer = BytesMut::with_capacity(1 << 16);
        while let Ok(1..) = pipe.read_buf(&mut buffer).await {
            if sender.send((error, buffer.split().freeze())).await.is_err() {
                return;
            }
            buffer.reserve(1 << 16);
        }
    });
}

/// As shells tell it: the exit code, or 128 and the signal.
fn code(status: ExitStatus) -> Option<i64> {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).map(i64::from)
}

/// A socket with an address of its own, another one at each call, which a server is given as its standard input. It does not
/// listen: until the server does, connections are refused, and nobody else can take the address. Processes start at different
/// places: those that begin one after the other have ids that lie side by side, so their places lie apart.
fn bound_socket() -> Result<(OwnedFd, SocketAddr), SandboxError> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let failed = |reason: String| SandboxError::Files { path: Ipv4Addr::LOCALHOST.to_string(), reason };
    let count = PORTS.end - PORTS.start;
    let start = (u64::from(std::process::id()) * 97 % u64::from(count)) as u16;
    for _ in 0..count {
        let offset = NEXT.fetch_add(1, Ordering::Relaxed).wrapping_add(start) % count;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, PORTS.start + offset));
        let socket = TcpSocket::new_v4().map_err(|error| failed(error.to_string()))?;
        if socket.bind(address).is_ok() {
            let socket = socket.as_fd().try_clone_to_owned().map_err(|error| failed(error.to_string()))?;
            return Ok((socket, address));
        }
    }
    Err(failed(format!("no port between {} and {} is free", PORTS.start, PORTS.end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_that_cannot_be_started_is_no_full_disk() {
        let room = tempfile::tempdir().unwrap();
        let (group, program) = (|command| Group::start(command, "there-is-none"), "/there/is/none");
        let mut command = Command::new(program);
        command.current_dir(room.path());
        let Err(error) = group(command) else { panic!("{program} was started") };
        assert!(matches!(error, SandboxError::Files { .. }), "{error:?}");
        assert!(error.to_string().starts_with("there-is-none: cannot be started: "), "{error}");
        for kind in [std::io::ErrorKind::StorageFull, std::io::ErrorKind::QuotaExceeded] {
            let full = SandboxError::from_io_error("/w", &kind.into());
            assert!(matches!(full, SandboxError::NoRoom { .. }), "{full:?}");
        }
    }
}
