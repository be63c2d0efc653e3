//! How end reasons are counted, as a table that a user can read and edit.

use std::collections::{BTreeSet, HashMap};

use model::{CensoringPolicy, EndReason};

use crate::Workbench;
use crate::api::{ApiError, DecisionRow, DecisionTable, Nothing, PolicyRow, PolicyTable, SetPolicy};

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

    /// How exceptions become end reasons, row by row.
    pub fn get_decisions(&self, _: Nothing) -> Result<DecisionTable, ApiError> {
        let policy = self.store.get_policy()?;
        let counts: HashMap<String, u32> = self.store.decision_counts()?.into_iter().collect();
        let rows = ingest::decisions::decisions().into_iter().map(|decision| DecisionRow {
            moved_to: policy.rows.get(&decision.row).copied(),
            episodes: counts.get(&decision.row).copied().unwrap_or(0),
            row: decision.row,
            exceptions: decision.exceptions,
            stage: decision.stage.to_owned(),
            rule: decision.rule,
        });
        Ok(DecisionTable { rows: rows.collect() })
    }

    /// Changes how end reasons are counted, and which reasons rows of the decision tables give. Reasons counted as the
    /// default does are not kept as overrides.
    ///
    /// # Errors
    /// `policy.row` if no table has such a row, `policy.reason` if a row cannot give the reason.
    pub fn set_policy(&self, request: SetPolicy) -> Result<PolicyTable, ApiError> {
        let mut policy: CensoringPolicy = request.policy;
        let known: BTreeSet<String> =
            ingest::decisions::decisions().into_iter().map(|decision| decision.row).collect();
        if let Some(row) = policy.rows.keys().find(|row| !known.contains(*row)) {
            return Err(ApiError::new("policy.row", format!("No decision table has a row “{row}”"))
                .hint("`stamina rpc get_decisions` lists the rows"));
        }
        if let Some((row, reason)) = policy.rows.iter().find(|(_, reason)| !may_end_so(**reason)) {
            let message =
                format!("The row “{row}” cannot give the reason {}: nothing failed by it", reason.as_str());
            return Err(ApiError::new("policy.reason", message)
                .hint("Choose why an attempt ended without a verdict, such as environment or agent_error"));
        }
        policy
            .overrides
            .retain(|reason, ending| *reason != EndReason::PassedAll && *ending != reason.default_ending());
        self.store.set_policy(&policy)?;
        self.refresh_summaries()?;
        self.changes.add(self.store.sources()?.into_iter().map(|s| s.id), []);
        self.get_policy(Nothing {})
    }
}

/// Whether an exception may be the cause of such an end.
const fn may_end_so(reason: EndReason) -> bool {
    !matches!(reason, EndReason::PassedAll | EndReason::TestsFailed | EndReason::Unfinished)
}
