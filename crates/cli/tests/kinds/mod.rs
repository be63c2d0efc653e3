//! Names that several tests go through.

/// The kinds of figures that `stamina figure` makes.
pub(crate) const FIGURES: [&str; 10] = [
    "survival",
    "first-failures",
    "differences",
    "ratios",
    "paired",
    "bars",
    "pareto",
    "matrix",
    "retries",
    "failures",
];

/// The kinds of tables that `stamina table` makes of runs.
pub(crate) const TABLES: [&str; 21] = [
    "runs",
    "spent",
    "pairs",
    "sensitivity",
    "settings",
    "survival",
    "disagreements",
    "matrix",
    "spread",
    "published",
    "retries",
    "gains",
    "failures",
    "cases",
    "origins",
    "repairs",
    "flips",
    "rules",
    "paired",
    "episodes",
    "turns",
];
