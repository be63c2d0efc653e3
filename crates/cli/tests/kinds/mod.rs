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
