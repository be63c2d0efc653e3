//! The disk limit, which no engine enforces on a bound folder: looked at while a box runs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use bollard::query_parameters::InspectContainerOptions;

use crate::snapshot::{Size, size_of};
use crate::{Engine, Volumes};

/// How often, as long as looking is cheap.
const OFTEN: Duration = Duration::from_secs(1);
/// How often once more than half of the limit is used.
const CLOSE: Duration = Duration::from_millis(200);
/// The pause is at least this many times as long as looking takes, so that a big tree costs a tenth of a core.
const SHARE: u32 = 10;

/// What a box may still write before the host's own disk is in danger: below this much free space boxes are ended.
pub(crate) const RESERVE: u64 = 256 << 20;

/// Why a box has to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Full {
    /// It went over its own limit.
    Limit,
    /// The disk of the host has next to nothing left, whoever used it.
    Host {
        /// The folder whose disk it is.
        path: String,
        /// Bytes free.
        free: u64,
    },
}

/// Comes back when a box uses more than `limit` bytes; else never.
pub(crate) async fn watch(engine: &Engine, name: &str, volumes: &Volumes, limit: u64) -> Full {
    loop {
        let began = Instant::now();
        let used = match folders(volumes.clone()).await {
            Err(full) => return full,
            Ok(size) if size.too_deep => return Full::Limit,
            Ok(size) => size.bytes.saturating_add(own_layer(engine, name).await),
        };
        if used > limit {
            return Full::Limit;
        }
        let pause = if used > limit / 2 { CLOSE } else { OFTEN };
        tokio::time::sleep(pause.max(began.elapsed() * SHARE)).await;
    }
}

/// Both volumes together; an error is a host without space.
async fn folders(volumes: Volumes) -> Result<Size, Full> {
    let looked = tokio::task::spawn_blocking(move || {
        let mut sum = Size::default();
        for folder in [&volumes.workspace, &volumes.home] {
            let size = size_of(folder).unwrap_or_default();
            sum.bytes = sum.bytes.saturating_add(size.bytes);
            sum.entries += size.entries;
            sum.too_deep |= size.too_deep;
        }
        free(&volumes.workspace).map_or(Ok(sum), |free| {
            if free < RESERVE {
                Err(Full::Host { path: volumes.workspace.display().to_string(), free })
            } else {
                Ok(sum)
            }
        })
    });
    looked.await.unwrap_or_else(|_| Ok(Size::default()))
}

/// Bytes that this user can still write where a folder lies.
fn free(folder: &PathBuf) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// What the box wrote outside its folders and `/tmp`.
async fn own_layer(engine: &Engine, name: &str) -> u64 {
    engine
        .docker
        .inspect_container(name, Some(InspectContainerOptions { size: true }))
        .await
        .ok()
        .and_then(|found| found.size_rw)
        .and_then(|bytes| u64::try_from(bytes).ok())
        .unwrap_or(0)
}
