//! The censoring policy of the library.

use model::{CensoringPolicy, EndReason};

use crate::{Result, Store};

impl Store {
    /// The policy; the default one until another is set.
    pub fn get_policy(&self) -> Result<CensoringPolicy> {
        todo!()
    }

    /// Sets the policy. Every summary is stale afterwards.
    pub fn set_policy(&self, policy: &CensoringPolicy) -> Result<()> {
        todo!()
    }

    /// How many episodes of open sources ended for each reason; reasons without episodes are left out.
    pub fn end_reason_counts(&self) -> Result<Vec<(EndReason, u32)>> {
        todo!()
    }
}
