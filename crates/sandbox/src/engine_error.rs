//! What errors of the container engine mean, and what a person can do about them.

use crate::SandboxError;

impl SandboxError {
    /// What a person can do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoEngine { tried } => {
                let denied = tried.iter().any(|(_, reason)| reason.to_lowercase().contains("permission denied"));
                Some(if denied {
                    "A socket is there, but this user may not use it: add the user to the group docker and log in again."
                        .to_owned()
                } else {
                    "Install and start Docker (Debian: apt install docker.io), or set DOCKER_HOST to \
                     unix:///path/of/its/socket. An engine that runs without root cannot play. Without an engine only the \
                     mock agent runs: use_docker=false."
                        .to_owned()
                })
            }
            Self::Unfit { .. } => Some(
                "Use Docker as the system runs it (Debian: apt install docker.io). If it is not the first that answers, set \
                 DOCKER_HOST to its socket: unix:///var/run/docker.sock. Images can be built with this engine, too."
                    .to_owned(),
            ),
            Self::NoImage { image } if image.starts_with("stamina/") => {
                let name = image.trim_start_matches("stamina/").split(':').next().unwrap_or(image);
                Some(format!("Build it with: stamina images build {name}"))
            }
            // Of the image of a task no setting names another.
            Self::NoImage { image } if image.starts_with("stamina-task:") => None,
            Self::NoImage { image } => Some(format!(
                "Pull or build it first (docker pull {image}), or set docker.image_name to one that is there."
            )),
            Self::NoRoom { .. } => Some("Make room on that disk; a run can be resumed then.".to_owned()),
            Self::Engine { is_gone: true, .. } => {
                Some("Start the engine again; the run waits for it, and can be resumed.".to_owned())
            }
            Self::Image { image, reason }
                if ["certificate", "CERT", "SSL", "TLS"].iter().any(|sign| reason.contains(sign)) =>
            {
                Some(if image.starts_with("stamina-task:") {
                    // Its recipe is its own, and takes no bundle of the project.
                    "Behind a proxy that opens TLS, its Dockerfile has to add the bundle of certificates itself. Or name an image that is there \
                     in its task.toml (environment.docker_image)."
                        .to_owned()
                } else {
                    "Behind a proxy that opens TLS, name its bundle of certificates: stamina images build --ca FILE"
                        .to_owned()
                })
            }
            Self::Image { .. } | Self::Engine { .. } | Self::Files { .. } => None,
        }
    }
}

/// An engine's error while `doing`. A 404 that names an image is [`SandboxError::NoImage`] at its own place.
pub(crate) fn failed(doing: &'static str) -> impl FnOnce(bollard::errors::Error) -> SandboxError {
    move |error| {
        let reason = chain(&error);
        if is_full(&reason) {
            return SandboxError::NoRoom { path: "the disk of the container engine".to_owned(), reason };
        }
        SandboxError::Engine { doing, is_gone: is_gone(&error), reason }
    }
}

/// Whether an engine says that its own disk is full, in the words of the system. The kernel says the same of tables of its own,
/// which have room again when other containers end.
fn is_full(message: &str) -> bool {
    let message = message.to_lowercase();
    let mentions_any = |signs: &[&str]| signs.iter().any(|sign| message.contains(sign));
    mentions_any(&["no space left on device", "disk quota exceeded"])
        && !mentions_any(&["keyring", "session key", "cgroup", "inotify", "fanotify"])
}

/// Whether the engine itself is away, as against having refused something.
fn is_gone(error: &bollard::errors::Error) -> bool {
    use bollard::errors::Error;
    match error {
        Error::DockerResponseServerError { status_code, message } => {
            // A daemon that is shutting down, or whose containerd has just died under it.
            *status_code == 503
                || (*status_code == 500
                    && [
                        "shutting down",
                        "connection refused",
                        "transport is closing",
                        "grpc: the client connection is closing",
                        "containerd.sock",
                    ]
                    .iter()
                    .any(|sign| message.contains(sign)))
        }
        Error::JsonDataError { .. }
        | Error::DockerContainerWaitError { .. }
        | Error::DockerStreamError { .. }
        | Error::JsonSerdeError { .. }
        | Error::URLEncodedError { .. }
        | Error::URLParseError { .. } => false,
        _ => true,
    }
}

/// The status code of a refusal.
pub(crate) fn status(error: &bollard::errors::Error) -> Option<u16> {
    match error {
        bollard::errors::Error::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}

/// An error with its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_nothing_for_the_image_of_a_task_is_not_proposed() {
        let error = |image: &str| SandboxError::Image {
            image: image.to_owned(),
            reason: "pip: SSL: CERTIFICATE_VERIFY_FAILED".to_owned(),
        };
        assert!(error("stamina/qwen-code:0.24.4").hint().unwrap().contains("images build --ca"));
        let hint = error("stamina-task:0a1b").hint().unwrap();
        assert!(hint.contains("Dockerfile") && !hint.contains("--ca"), "{hint}");
    }

    #[test]
    fn a_full_disk_is_none_of_the_kernels_tables() {
        assert!(is_full("write /var/lib/docker/overlay2/x: No space left on device"));
        assert!(!is_full("unable to create session key: disk quota exceeded"));
        assert!(!is_full("mkdir /sys/fs/cgroup/memory/docker/x: no space left on device"));
    }
}
