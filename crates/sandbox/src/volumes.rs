//! Volumes of the engine that are bound to folders of the host: named and labeled, yet the state lies in the run's
//! folder, where it can be copied, kept and resumed without the engine.
//!
//! A volume holds nothing itself. It is made for a container, named after the folder, and goes when the run is cleared.

use std::collections::HashMap;
use std::path::Path;

use bollard::models::VolumeCreateRequest;

use crate::engine_error::{failed, status};
use crate::owner::{Process, labels, plain_name};
use crate::{Engine, Owner, SandboxError};

/// `uid:gid` that containers run as: the user's own, so that files belong to them; a plain one where the user is root,
/// because several harnesses refuse to work as root.
pub fn container_user() -> (u32, u32) {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    if uid == 0 { (1000, 1000) } else { (uid, gid) }
}

impl Engine {
    /// Makes the volume of a folder (or finds it again) and says its name.
    pub(crate) async fn volume(&self, owner: &Owner, folder: &Path) -> Result<String, SandboxError> {
        let folder = std::path::absolute(folder).ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
            SandboxError::Files {
                path: folder.display().to_string(),
                reason: "is not a folder, so no volume can be bound to it".to_owned(),
            }
        })?;
        let Some(device) = folder.to_str() else {
            return Err(SandboxError::Files {
                path: folder.display().to_string(),
                reason: "its name is not UTF-8, which the engine needs".to_owned(),
            });
        };
        // The folder is part of the name: a run folder copied elsewhere must not find the volume of the old place. So is this
        // process: one that sweeps up what a dead process left must not take a volume away that we continue with.
        let name = format!(
            "stamina-{}-{}-{:016x}",
            plain_name(&owner.run),
            plain_name(&owner.episode),
            fnv(format!("{device} {}", Process::current().label()).as_bytes())
        );
        let request = VolumeCreateRequest {
            name: Some(name.clone()),
            driver: Some("local".to_owned()),
            driver_opts: Some(HashMap::from([
                ("type".to_owned(), "none".to_owned()),
                ("o".to_owned(), "bind".to_owned()),
                ("device".to_owned(), device.to_owned()),
            ])),
            labels: Some(labels(&owner.run, Some(&owner.episode), "volume")),
            ..Default::default()
        };
        match self.docker.create_volume(request).await {
            Ok(_) => Ok(name),
            // Podman refuses to make a volume again, also with the same options.
            Err(error)
                if matches!(status(&error), Some(409 | 500))
                    && error.to_string().contains("already exists") =>
            {
                Ok(name)
            }
            Err(error) => Err(failed("make a volume")(error)),
        }
    }
}

/// FNV-1a, 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>): a name that stays the same between builds; nothing
/// secret depends on it.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
