//! The call of an agent in the container of a task. The container stays: HOME lies in it, and goes in and out as archives.

use std::collections::BTreeSet;
use std::path::PathBuf;

use bytes::Bytes;
use harness::HomeFile;
use sandbox::images::HARNESS_PROGRAMS;
use sandbox::{
    AgentContainer, ContainerEnd, ContainerFiles, OpenTask, PackedFiles, SandboxError, TaskCommand,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::blocking::blocking;
use crate::disk::{self, Durability};
use crate::{RunError, copy};

/// Bytes of HOME that are taken out after a call, from which the harness's own record is read.
const HOME_BYTES: u64 = 128 << 20;
/// Seconds of what only puts things in order.
const PREPARE_SECONDS: u64 = 60;
/// Writes down which process ends the agent, and becomes the agent: `timeout`, where the image has it.
const BEGIN: &str = "p=$PPID; [ \"$p\" -gt 1 ] 2>/dev/null || p=$$; mkdir -p \"$HOME/.stamina\" && echo \"$p\" > \"$HOME/.stamina/pid\"; exec \"$@\"";
/// Ends the agent that was written down, and what it has started in its process group, also where it has ended before them. What
/// is written there may be the agent's: neither the first process of the container nor the own group is a number of an agent.
const END: &str = "p=$(cat /agent/.stamina/pid 2>/dev/null); case $p in ''|0*|1|*[!0-9]*) exit 0;; esac; kill -TERM \"$p\" 2>/dev/null; \
                   for i in 1 2 3 4 5 6; do kill -0 \"$p\" 2>/dev/null || break; sleep 0.5; done; \
                   kill -KILL -- \"-$p\" 2>/dev/null; kill -KILL \"$p\" 2>/dev/null; exit 0";

/// The variables that every command of a harness has in the container of a task.
pub(crate) fn variables(container: &OpenTask) -> [(String, String); 3] {
    [
        ("HOME".to_owned(), harness::HOME.to_owned()),
        ("PATH".to_owned(), format!("{HARNESS_PROGRAMS}:{}", container.path())),
        // Claude Code asks for it where it works as root, which agents of tasks often do.
        ("IS_SANDBOX".to_owned(), "1".to_owned()),
    ]
}

/// The archive of files in HOME, with the folders that lead to them, which everybody may write to.
fn packed(files: &[HomeFile]) -> PackedFiles {
    let home = harness::HOME.trim_start_matches('/');
    let mut packed = PackedFiles::changed_now();
    // Writing to memory does not fail.
    let _ = packed.folder(home, true);
    let mut folders = BTreeSet::new();
    for file in files {
        let mut folder = home.to_owned();
        let parts: Vec<&str> = file.path.split('/').collect();
        for part in parts.iter().take(parts.len().saturating_sub(1)) {
            folder = files::join(&folder, part);
            if folders.insert(folder.clone()) {
                let _ = packed.folder(&folder, true);
            }
        }
        let _ = packed.file(&files::join(home, &file.path), file.text.as_bytes());
    }
    packed
}

/// Lays files into HOME, whoever the agent is in the container.
pub(super) async fn lay(container: &OpenTask, files: &[HomeFile]) -> Result<(), SandboxError> {
    container.put("/", packed(files)).await?;
    let command = TaskCommand {
        script: format!("chmod -R a+rwX {}", harness::HOME),
        user: Some("root".to_owned()),
        folder: Some("/".to_owned()),
        seconds: PREPARE_SECONDS,
        ..TaskCommand::default()
    };
    container.run(&command, &CancellationToken::new()).await.map(drop)
}

/// Runs the agent to its end. One that is stopped or out of time is ended in the container as well: a verifier may follow.
pub(super) async fn run(
    container: &OpenTask,
    user: Option<&str>,
    workspace: &str,
    agent_container: &AgentContainer,
    stop: &CancellationToken,
    live: mpsc::Sender<Bytes>,
) -> Result<ContainerEnd, SandboxError> {
    let begin = ["/bin/sh", "-c", BEGIN, "sh"].map(str::to_owned);
    let command = TaskCommand {
        argv: begin.into_iter().chain(agent_container.argv.iter().cloned()).collect(),
        env: agent_container.env.iter().cloned().chain(variables(container)).collect(),
        user: user.map(str::to_owned),
        folder: Some(workspace.to_owned()),
        seconds: agent_container.limits.seconds,
        ..TaskCommand::default()
    };
    let end = container.run_agent(&command, stop, live).await?;
    if end.exit.stopped || end.exit.timed_out {
        let end_command = TaskCommand {
            script: END.to_owned(),
            user: Some("root".to_owned()),
            folder: Some("/".to_owned()),
            seconds: PREPARE_SECONDS,
            ..TaskCommand::default()
        };
        container.run(&end_command, &CancellationToken::new()).await?;
    }
    Ok(end)
}

/// Takes HOME out of the container, to be read: what is at `home` is replaced. What cannot be taken out is missing.
pub(super) async fn take_home(container: &OpenTask, home: PathBuf) -> Result<(), RunError> {
    let files = match container.files(harness::HOME, HOME_BYTES).await {
        Ok(files) => files,
        Err(error) => {
            tracing::warn!(%error, "the HOME of an agent could not be taken out of its container");
            None
        }
    };
    blocking(move || write_home(&home, files)).await
}

fn write_home(home: &std::path::Path, found: Option<ContainerFiles>) -> Result<(), RunError> {
    copy::remove(home).map_err(|error| disk::error_at(home, error))?;
    disk::folder(home)?;
    let Some(found) = found else { return Ok(()) };
    if !found.is_whole {
        tracing::warn!("the HOME of an agent is larger than what is read of it");
    }
    for file in found.files {
        let path = home.join(&file.path);
        let written = path
            .parent()
            .map_or(Ok(()), disk::folder)
            .and_then(|()| disk::write(&path, &file.content, Durability::Buffered));
        if let Err(error) = written {
            // A name that this system does not take, for one.
            tracing::warn!("{error}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use sandbox::ContainerFile;

    use super::*;

    #[test]
    fn home_is_what_the_container_has() {
        let call_place = tempfile::tempdir().unwrap();
        let home = call_place.path().join("home");
        std::fs::create_dir_all(home.join("old")).unwrap();
        let file = |path: &str| ContainerFile { path: path.to_owned(), content: path.as_bytes().to_vec() };
        let files = vec![file(".stamina/mini/trajectory.json"), file("a b/c"), file("a b/c/no folder")];
        write_home(&home, Some(ContainerFiles { files, bytes: 1, is_whole: true })).unwrap();
        let read = |path: &str| std::fs::read_to_string(home.join(path)).ok();
        assert_eq!(read(".stamina/mini/trajectory.json").as_deref(), Some(".stamina/mini/trajectory.json"));
        assert_eq!((read("a b/c").as_deref(), home.join("old").exists()), (Some("a b/c"), false));
        write_home(&home, None).unwrap();
        assert_eq!(std::fs::read_dir(&home).unwrap().count(), 0);
    }

    #[test]
    fn the_folders_that_lead_to_a_file_are_made_once() {
        let file = |path: &str| HomeFile { path: path.to_owned(), text: "x".to_owned() };
        let packed = packed(&[file(".stamina/prompt.md"), file(".stamina/mini/a.py"), file("b")]);
        let text = String::from_utf8_lossy(packed.bytes()).into_owned();
        for name in ["agent/.stamina/prompt.md", "agent/.stamina/mini/a.py", "agent/b"] {
            assert!(text.contains(name), "{name}");
        }
        assert_eq!(
            text.matches("agent/.stamina/mini\0").count() + text.matches("agent/.stamina/mini/\0").count(),
            1
        );
    }

    fn lives(pid: u32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }

    /// Starts an agent below `timeout` as a container does, and waits for the child that it writes down.
    fn started(home: &std::path::Path, agent: &str) -> (std::process::Child, u32) {
        let running = Command::new("timeout")
            .args(["-k", "300", "300", "/bin/sh", "-c", BEGIN, "sh", "sh", "-c", agent])
            .env("HOME", home)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let child = (0..100)
            .find_map(|_| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                std::fs::read_to_string(home.join("child")).ok()?.trim().parse::<u32>().ok()
            })
            .unwrap();
        (running, child)
    }

    fn end(home: &std::path::Path) {
        let script = END.replace("/agent", &home.to_string_lossy());
        // In a group of its own, as in a container.
        let mut ending = Command::new("setsid");
        assert!(ending.args(["--wait", "bash", "-c", &script]).status().unwrap().success());
    }

    /// The scripts are those that run in the container; here the agent is a shell that outlives its time.
    #[test]
    fn an_agent_that_is_stopped_ends_with_what_it_has_started() {
        let call_place = tempfile::tempdir().unwrap();
        let agent = "trap '' TERM; sleep 300 & echo $! > \"$HOME/child\"; wait; sleep 300";
        let (mut running, child) = started(call_place.path(), agent);
        end(call_place.path());
        running.wait().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(!lives(child), "{child}");
        // What is written there by an agent is no command.
        std::fs::write(call_place.path().join(".stamina/pid"), "$(touch made)").unwrap();
        end(call_place.path());
    }

    #[test]
    fn what_outlives_an_agent_that_ends_at_once_is_ended_as_well() {
        let call_place = tempfile::tempdir().unwrap();
        // The agent obeys, its child does not.
        let agent = "(trap '' TERM; sleep 300; sleep 300) & echo $! > \"$HOME/child\"; wait";
        let (mut running, child) = started(call_place.path(), agent);
        assert!(lives(child));
        end(call_place.path());
        running.wait().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(!lives(child), "{child}");
    }

    #[test]
    fn a_number_that_an_agent_wrote_ends_neither_the_container_nor_its_own_end() {
        let call_place = tempfile::tempdir().unwrap();
        std::fs::create_dir(call_place.path().join(".stamina")).unwrap();
        for number in ["0", "1", "01", "00", "-1", ""] {
            std::fs::write(call_place.path().join(".stamina/pid"), number).unwrap();
            let script = END.replace("/agent", &call_place.path().to_string_lossy());
            // `kill` says what it would do.
            let script = format!("kill() {{ echo \"kill $*\"; }}; {script}");
            let output = Command::new("bash").args(["-c", &script]).output().unwrap();
            assert!(output.status.success() && output.stdout.is_empty(), "{number}: {output:?}");
        }
    }
}
