//! What a measure of members is called, with its unit. Of runs of one turn, a turn and an episode are a trial.

use crate::api::Measure;

/// The name of a measure and its unit.
pub(super) const fn name_and_unit(
    measure: Measure,
    is_single_turn: bool,
) -> (&'static str, Option<&'static str>) {
    match (measure, is_single_turn) {
        (Measure::Stamina, _) => ("Mean stamina", Some("turns")),
        (Measure::PassRate, _) => ("Pass rate", Some("%")),
        (Measure::Score, _) => ("Score", None),
        (Measure::Tokens, false) => ("Tokens per turn", None),
        (Measure::Tokens, true) => ("Tokens per trial", None),
        (Measure::Cost, false) => ("Cost per episode", Some("US$")),
        (Measure::Cost, true) => ("Cost per trial", Some("US$")),
        (Measure::Time, false) => ("Agent time per turn", Some("s")),
        (Measure::Time, true) => ("Agent time per trial", Some("s")),
        (Measure::Steps, false) => ("Steps per turn", None),
        (Measure::Steps, true) => ("Steps per trial", None),
        (Measure::StepsSurvived, _) => ("Steps survived", None),
        (Measure::ToolCalls, false) => ("Tool calls per turn", None),
        (Measure::ToolCalls, true) => ("Tool calls per trial", None),
        (Measure::CostPerSurvivedTurn, false) => ("Cost per survived turn", Some("US$")),
        (Measure::CostPerSurvivedTurn, true) => ("Cost per passed trial", Some("US$")),
    }
}
