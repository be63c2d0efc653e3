//! The decision tables that turn what a runner recorded into an end reason, to be listed and moved by a policy.
//!
//! Harbor's exceptions have one, the failure modes of the first Terminal-Bench another (`crates/ingest/src/attribution`). A row's name is
//! kept with each end that it decided about ([`model::DECIDED_BY`]).

pub use crate::attribution::decision::Decision;
use crate::attribution::{exception_decisions, terminal_bench_table};

/// Every row of every table.
pub fn decisions() -> Vec<Decision> {
    let mut all = exception_decisions::decisions();
    all.extend(terminal_bench_table::decisions());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_name_of_its_own() {
        let all = decisions();
        let names: std::collections::BTreeSet<&str> =
            all.iter().map(|decision| decision.row.as_str()).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.contains("NonZeroAgentExitCodeError, agent"), "{names:?}");
        assert!(
            names.contains("any other, agent") && names.contains("tb unknown_agent_error, begun"),
            "{names:?}"
        );
    }
}
