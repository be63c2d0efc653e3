//! The statistics: survival over turns, scores, intervals. Pure functions over the types of `model`, without I/O and clock.
//! Random numbers come only from a given seed, which is part of the result.
//!
//! **Time is the turn.** An episode fails *at* turn T, so its stamina is T − 1, or it is censored *after* the last turn
//! it passed. S(t) = P(T > t) is the share still alive after turn t; S(0) = 1.
//!
//! Unknown is `None`: no interval without variation, no mean without episodes. Every formula names its source, and
//! `docs/metrics.md` explains it. `tests/golden/` has golden values from lifelines and R `survival`, with their scripts.

pub mod band;
pub mod bootstrap;
pub mod clusters;
pub mod compare;
pub mod cost;
pub mod difference;
pub mod failures;
pub mod holm;
pub mod locobench;
pub mod logrank;
pub mod matrix;
pub mod mean_stamina;
pub mod paired;
pub mod pass_rate;
pub mod permutation;
pub mod proportion;
mod random;
pub mod retries;
pub mod rounds;
pub mod score;
pub mod sensitivity;
pub mod survival;
mod tail_probabilities;

/// 97.5 % quantile of the standard normal distribution: half the width of a 95 % interval in standard errors.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// Equal means differ by up to this share of them: 0.8 · 0.75 is not 0.6 in floating point.
const ROUNDING: f64 = 1e-9;
