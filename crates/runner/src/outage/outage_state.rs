//! Whether the endpoint has failed: what all episodes of a run share.

use std::sync::atomic::{AtomicU32, Ordering};

use model::EndReason;

use crate::settings::EndpointSettings;

/// Whether the endpoint has failed and has not answered since.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    /// Episodes that were given up since its last answer.
    pub(super) given_up: AtomicU32,
    /// Held while a probe waits: one at a time is enough.
    pub(super) asking: tokio::sync::Mutex<()>,
}

impl Outage {
    /// Counts the end of an episode.
    pub(crate) fn count_episode_end(&self, reason: EndReason, endpoint: &EndpointSettings) {
        if reason == EndReason::Endpoint {
            self.given_up.fetch_add(1, Ordering::Relaxed);
        } else if *endpoint == EndpointSettings::Direct {
            // In direct mode another end shows that the endpoint answers. Behind a gateway only a probe does: this episode may
            // have had its last answer before the outage.
            self.given_up.store(0, Ordering::Relaxed);
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.given_up.load(Ordering::Relaxed) == 0
    }
}
