//! The decision tables that turn what a runner recorded into an end reason, to be listed and moved by a policy.
//!
//! Harbor's exceptions have one ([`crate::readers`]), the failure modes of the first Terminal-Bench another. A row's name is
//! kept with each end that it decided about ([`model::DECIDED_BY`]).

/// One row of a table at one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its name, which a policy moves it by: `NonZeroAgentExitCodeError, agent`.
    pub row: String,
    /// Which exceptions it is about.
    pub exceptions: String,
    /// When they came.
    pub stage: &'static str,
    /// What it gives by default, in words.
    pub rule: String,
}

/// Every row of every table.
pub fn decisions() -> Vec<Decision> {
    let mut all = crate::readers::attribution::decisions();
    all.extend(crate::formats::terminal_bench::decisions());
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
