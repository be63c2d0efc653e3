//! What the turn took away: old names are gone, old rules do not hold any more.

use super::Case;
use super::plan::Plan;

pub(super) fn cases(_plan: &Plan<'_>, _cases: &mut Vec<Case>) {}
