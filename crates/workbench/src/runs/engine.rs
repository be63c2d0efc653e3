//! Whether runs can be played with the container engine that answers, before one begins.

use runner::settings::{EndpointSettings, RunSettings};
use sandbox::{EngineInfo, NetworkAccess, SandboxError};

use super::errors::sandbox_error;
use super::machine::{self, LEAST_DISK, bytes};
use crate::api::{Check, CheckState};

pub(super) fn check(info: &EngineInfo, settings: &RunSettings) -> Check {
    let check = |state| Check::new("engine", "Engine", state, format!("{} {}", info.kind, info.version));
    if let Some(reason) = info.unfit_reason() {
        let reported = sandbox_error(&SandboxError::Unfit { engine: info.kind.clone(), reason });
        return check(CheckState::Fail).with_sentence(format!(
            "{}. {}",
            reported.message,
            reported.hint.unwrap_or_default()
        ));
    }
    if let Some(message) = room(info) {
        return check(CheckState::Fail).with_sentence(message);
    }
    match limit_of_podman(info, settings) {
        Some((state, message)) => check(state).with_sentence(message),
        None => check(CheckState::Ok),
    }
}

/// Why containers cannot be made for lack of disk: engines often keep them on another than the results.
fn room(info: &EngineInfo) -> Option<String> {
    // The folder of an engine in a virtual machine is not a folder of this machine.
    let root = info.root.as_deref().filter(|root| root.is_dir())?;
    let free = machine::free_disk(root).filter(|free| *free < LEAST_DISK)?;
    Some(format!(
        "Only {} are free in {}, where it keeps images and containers; at least {} are needed. Free some space there.",
        bytes(free),
        root.display(),
        bytes(LEAST_DISK)
    ))
}

/// What runs with Podman cannot do, as far as it is known (tried with 4.3).
fn limit_of_podman(info: &EngineInfo, settings: &RunSettings) -> Option<(CheckState, &'static str)> {
    if info.kind != "Podman" {
        return None;
    }
    // Its networks have no bridge, and the host no address on it, before there is a container.
    if settings.reach == NetworkAccess::Open && settings.endpoint != EndpointSettings::Direct {
        return Some((
            CheckState::Fail,
            "With Podman the gateway cannot be reached from an open network. Choose limits.network=gateway, or use Docker.",
        ));
    }
    (settings.batch_size > 1).then_some((
        CheckState::Warn,
        "With Podman requests to a server under test were lost now and then, while containers of other episodes came and went. \
         That looks like a failed test. Play one episode at a time (batch_size=1), or use Docker.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(values: &[&str]) -> RunSettings {
        let values = ["agent=MOCK", "use_docker=true", "output_dir=x"].iter().chain(values);
        runner::settings::resolve(&[], &values.map(|&value| value.to_owned()).collect::<Vec<_>>()).unwrap()
    }

    fn engine(kind: &str, rootless: bool, root: Option<&str>) -> EngineInfo {
        EngineInfo {
            kind: kind.to_owned(),
            version: "5.4".to_owned(),
            socket: "unix:///run/user/7/podman/podman.sock".to_owned(),
            arch: "amd64".to_owned(),
            rootless,
            elsewhere: false,
            root: root.map(std::path::PathBuf::from),
        }
    }

    #[test]
    fn an_engine_that_cannot_play_is_told_before_anything_begins() {
        let settings = settings(&[]);
        for elsewhere in [None, Some("/a folder of another machine")] {
            assert_eq!(check(&engine("Docker", false, elsewhere), &settings).state, CheckState::Ok);
        }
        // A file system of the kernel's own has no room.
        let full = check(&engine("Docker", false, Some("/proc")), &settings);
        assert_eq!(full.state, CheckState::Fail);
        let text = full.sentence.unwrap();
        assert!(
            text.starts_with("Only 0 kB are free in /proc, where it keeps images and containers"),
            "{text}"
        );
        let rootless = check(&engine("Podman", true, None), &settings);
        assert_eq!((rootless.state, rootless.value.as_str()), (CheckState::Fail, "Podman 5.4"));
        assert!(rootless.sentence.unwrap().contains("runs without root"));
    }

    #[test]
    fn what_podman_cannot_do_is_told() {
        for (kind, values, state) in [
            ("Podman", &["batch_size=1"][..], CheckState::Ok),
            ("Podman", &["batch_size=2"], CheckState::Warn),
            ("Podman", &["limits.network=open"], CheckState::Fail),
            ("Podman", &["agent=MINI_SWE", "endpoint.mode=direct"], CheckState::Ok),
            ("Docker", &["batch_size=2", "limits.network=open"], CheckState::Ok),
        ] {
            assert_eq!(
                check(&engine(kind, false, None), &settings(values)).state,
                state,
                "{kind} {values:?}"
            );
        }
    }
}
