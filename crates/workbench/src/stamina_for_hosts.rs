//! Mean stamina as hosts get it.

use analysis::bootstrap::BootstrapEstimate;
use analysis::clusters::{InScenario, has_repeats};
use analysis::survival::StaminaSummary;

use crate::api::Stamina;

/// Stamina as the edge has it.
pub(crate) fn stamina(summary: &StaminaSummary) -> Stamina {
    Stamina {
        mean: summary.restricted_mean.mean,
        ci_low: summary.restricted_mean.ci_low,
        ci_high: summary.restricted_mean.ci_high,
        clustered: false,
        tau: summary.restricted_mean.tau,
        n: summary.n,
        events: summary.events,
        censored: summary.censored,
        median: summary.median,
    }
}

/// The same with the interval that fits its episodes: where a scenario has several, that of the bootstrap which draws
/// scenarios.
pub(crate) fn stamina_of(
    summary: &StaminaSummary,
    episodes: &[InScenario],
    bootstrap: impl FnOnce() -> Option<BootstrapEstimate>,
) -> Stamina {
    let plain = stamina(summary);
    if plain.mean.is_none() || !has_repeats(episodes) {
        return plain;
    }
    let ends = bootstrap().and_then(|estimate| estimate.ci_low.zip(estimate.ci_high));
    Stamina { ci_low: ends.map(|ends| ends.0), ci_high: ends.map(|ends| ends.1), clustered: true, ..plain }
}
