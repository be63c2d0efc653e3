//! How long an episode takes, and whether it may be stuck.

use super::{LiveEpisode, Phase};
use crate::clock;

/// Silence up to this many seconds is normal.
const LEAST_SILENCE: f64 = 300.0;
/// Silence longer than this many median gaps is not normal.
const MANY_GAPS: f64 = 10.0;

/// At the pace so far: seconds of a decided turn, times the turns that are left.
pub(super) fn eta(episode: &LiveEpisode) -> Option<f64> {
    if episode.phase == Phase::Over {
        return None;
    }
    let decided = episode.cells.len() as f64;
    let left = f64::from(episode.turns) - decided;
    (decided > 0.0).then(|| (episode.seconds / decided * left).max(0.0))
}

/// Why an episode may be stuck. `open_since`: when its oldest open request was sent to the endpoint.
pub(super) fn stuck(
    episode: &LiveEpisode,
    usual_gap: Option<f64>,
    open_since: Option<&str>,
) -> Option<String> {
    if !matches!(episode.phase, Phase::Agent | Phase::Testing | Phase::Preparing | Phase::Waiting) {
        return None;
    }
    let silent = clock::seconds_since(episode.last_event_at.as_deref()?)?;
    let odd = usual_gap.map_or(LEAST_SILENCE * 2.0, |gap| (gap * MANY_GAPS).max(LEAST_SILENCE));
    if silent <= odd {
        return None;
    }
    let open_seconds = open_since.and_then(clock::seconds_since);
    match (episode.phase, open_seconds) {
        (Phase::Waiting, _) => {
            // The status says what it waits for: the endpoint, or the engine.
            let detail = episode.now.as_deref().map_or_else(String::new, |now| format!(": {now}"));
            Some(format!(
                "It has waited for {}{detail}.",
                duration(open_seconds.map_or(silent, |seconds| seconds.max(silent)))
            ))
        }
        (Phase::Agent, Some(seconds)) => {
            Some(format!("The model's endpoint has not answered a request for {}.", duration(seconds)))
        }
        _ => {
            let usually = usual_gap.map_or_else(String::new, |gap| {
                format!("; one usually comes every {}", duration(gap.max(1.0)))
            });
            Some(format!("No sign of life for {}{usually}.", duration(silent)))
        }
    }
}

fn duration(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}
