//! Why attempts failed: classes told by rules that can be read, what is new and what is a regression, and how long repairs
//! take.
//!
//! [`classify`] looks at one attempt, [`history`] at the turns of an episode. The rules are
//! tables ([`rules`]); what no rule applies to is [`FailureClass::Other`] and shown as "not classified", never left out.
//! `docs/metrics.md`, "Failures", defines all of it in words.

mod class;
mod classify;
pub mod evidence;
pub mod history;
pub mod rules;

pub use class::{FailureClass, Side};
pub use classify::{
    Classified, ClassifiedTest, Context, NO_RULE, NOT_DESCRIBED, classify_attempt, is_failed,
};
