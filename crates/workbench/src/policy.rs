//! How end reasons are counted, as a table that a user can read and edit.

use model::{CensoringPolicy, EndReason};

use crate::Workbench;
use crate::api::{ApiError, Nothing, PolicyRow, PolicyTable, SetPolicy};

impl Workbench {
    /// How end reasons are counted.
    pub fn get_policy(&self, _: Nothing) -> Result<PolicyTable, ApiError> {
        let policy = self.store.get_policy()?;
        let counts = self.store.end_reason_counts()?;
        let rows = EndReason::ALL
            .iter()
            .map(|reason| PolicyRow {
                reason: *reason,
                label: reason.label().to_owned(),
                ending: policy.ending(*reason),
                default_ending: reason.default_ending(),
                editable: *reason != EndReason::PassedAll,
                episodes: counts.iter().find(|(r, _)| r == reason).map_or(0, |(_, n)| *n),
            })
            .collect();
        Ok(PolicyTable { name: policy.name().to_owned(), policy, rows })
    }

    /// Changes how end reasons are counted. Reasons counted as the default does are not kept as overrides.
    pub fn set_policy(&self, request: SetPolicy) -> Result<PolicyTable, ApiError> {
        let mut policy: CensoringPolicy = request.policy;
        policy
            .overrides
            .retain(|reason, ending| *reason != EndReason::PassedAll && *ending != reason.default_ending());
        self.store.set_policy(&policy)?;
        self.refresh_summaries()?;
        self.changes.add(self.store.sources()?.into_iter().map(|s| s.id), []);
        self.get_policy(Nothing {})
    }
}
