//! Why attempts failed: classes from readable rules, new failures and regressions, and times to repair.
//!
//! [`classify`] classifies one attempt, [`history`] follows tests over the turns of an episode. The rules are tables
//! ([`rules`]). A failure without a rule is [`FailureClass::Other`] and shown as "not classified", never left out.
//! `docs/metrics.md`, "Failures", defines all terms.

mod class;
mod classify;
pub mod evidence;
pub mod history;
pub mod rules;

pub use class::{FailureClass, Side};
pub use classify::{
    Classification, ClassifiedTest, Context, NO_RULE, NOT_DESCRIBED, Suites, classify_attempt, is_failed,
};
