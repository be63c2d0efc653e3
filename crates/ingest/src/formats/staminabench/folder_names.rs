//! The folders of a run and of a scenario, by their names, which the README of `StaminaBench` gives.

use model::ArtifactKind;

/// The number in the name of a scenario folder: `scenario_3`, `scenario-03`, `Scenario3_billing`.
pub(super) fn scenario_number(name: &str) -> Option<u32> {
    let rest = name.get(..8).filter(|p| p.eq_ignore_ascii_case("scenario")).map(|_| &name[8..])?;
    let digits = rest.trim_start_matches(['_', '-', ' ']);
    digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())].parse().ok()
}

/// What lies in a folder of a scenario.
pub(super) fn folder_kind(name: &str) -> Option<ArtifactKind> {
    Some(match name.to_ascii_lowercase().replace(['-', ' '], "_").as_str() {
        "agent_code" | "code" | "code_snapshots" | "snapshots" | "workspace" | "workspaces" => {
            ArtifactKind::Code
        }
        "ground_truth" | "ground_truths" | "reference" | "references" => ArtifactKind::Reference,
        "test_suites" | "test_suite" | "tests" | "suites" => ArtifactKind::Suite,
        "schemas" | "schema" => ArtifactKind::Schema,
        "server_logs" | "server_log" => ArtifactKind::ServerLog,
        "test_results" | "test_result" | "test_logs" | "test_outputs" | "pytest_logs" => {
            ArtifactKind::TestOutput
        }
        "agent_logs" | "agent_log" => ArtifactKind::AgentLog,
        "changes" | "change_descriptions" | "change_requests" => ArtifactKind::Request,
        _ => return None,
    })
}

/// Whether a folder of this kind exists only once an agent was run.
pub(super) const fn is_result(kind: ArtifactKind) -> bool {
    matches!(
        kind,
        ArtifactKind::Code | ArtifactKind::ServerLog | ArtifactKind::TestOutput | ArtifactKind::AgentLog
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenario_folders() {
        assert_eq!(scenario_number("scenario_0"), Some(0));
        assert_eq!(scenario_number("Scenario-12_billing"), Some(12));
        assert_eq!(scenario_number("scenarios"), None);
        assert_eq!(scenario_number("scenariö_1"), None);
    }
}
