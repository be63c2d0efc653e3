//! The labels and sentences by which trajectories of unknown origin say why an attempt ended, as tables.

use model::EndReason;

/// The reason that a whole text is the label of: ours, or one that others use for it. Only a whole label says that
/// something outside ended an attempt: a sentence may quote anything.
pub(crate) fn label(text: &str) -> Option<EndReason> {
    let word = text.trim().to_lowercase().replace([' ', '-'], "_");
    EndReason::parse(&word).or_else(|| {
        Some(match word.as_str() {
            "rate_limit"
            | "rate_limited"
            | "rate_limit_exceeded"
            | "throttled"
            | "throttling"
            | "too_many_requests"
            | "service_unavailable"
            | "overloaded"
            | "unauthorized"
            | "api_error"
            | "endpoint_error" => EndReason::Endpoint,
            "canceled" | "interrupted" | "interrupted_by_user" | "keyboard_interrupt" => EndReason::Cancelled,
            "environment_error" | "docker_error" | "container_error" | "out_of_disk" | "no_space_left" => {
                EndReason::Environment
            }
            "budget_exceeded"
            | "cost_limit"
            | "cost_limit_exceeded"
            | "limits_exceeded"
            | "limitsexceeded" => EndReason::Budget,
            _ => return None,
        })
    })
}

/// Whether a text is a label of a reason, or begins with one.
pub(crate) fn is_reason(text: &str) -> bool {
    label(text).or_else(|| agent_failure(text)).is_some()
}

/// How a text says that the agent failed: as a whole label, or by how it begins. A word somewhere in it proves nothing.
pub(crate) fn agent_failure(text: &str) -> Option<EndReason> {
    use EndReason::{
        AgentTimeout, ContextOverflow, GaveUp, KilledItself, LoopDetected, ServerFailed, ToolCallFormat,
        VerifierTimeout,
    };
    const LABELS: [(&[&str], EndReason); 8] = [
        (
            &["context_length_exceeded", "context_window_exceeded", "context_length", "context_limit"],
            ContextOverflow,
        ),
        (
            &[
                "tool_call_error",
                "invalid_tool_call",
                "malformed_tool_call",
                "malformed_function_call",
                "format_error",
                "formaterror",
            ],
            ToolCallFormat,
        ),
        (&["loop", "loop_detection", "stuck_in_a_loop", "stuck_in_loop", "repeated_action"], LoopDetected),
        (&["server_start", "server_start_failed", "server_not_ready", "connection_refused"], ServerFailed),
        (&["pytest_timed_out", "tests_timed_out", "test_timeout"], VerifierTimeout),
        (&["timeout", "timed_out", "time_limit", "time_limit_exceeded", "agent_timed_out"], AgentTimeout),
        (&["give_up", "agent_gave_up"], GaveUp),
        (&["sigkill", "exit_code_137"], KilledItself),
    ];
    const BEGINNINGS: [(&[&str], EndReason); 7] = [
        (
            &[
                "input is too long",
                "prompt is too long",
                "this model's maximum context length",
                "maximum context length",
                "context length exceeded",
                "context window exceeded",
            ],
            ContextOverflow,
        ),
        (
            &[
                "invalid tool call",
                "malformed tool call",
                "failed to parse action",
                "invalid json in tool call",
            ],
            ToolCallFormat,
        ),
        (&["loop detected", "stuck in a loop", "agent stuck in a loop"], LoopDetected),
        (
            &["server failed to start", "server did not start", "server not ready", "failed to start server"],
            ServerFailed,
        ),
        (&["agent timed out", "agent timeout", "time limit exceeded", "time limit reached"], AgentTimeout),
        (&["gave up", "agent gave up"], GaveUp),
        (&["killed itself", "agent killed itself", "killed by sigkill"], KilledItself),
    ];
    let text: String = text.trim().chars().take(200).collect::<String>().to_lowercase();
    let word = text.trim_end_matches('.').replace([' ', '-'], "_");
    let sentence = text.strip_prefix("the ").unwrap_or(&text);
    let by_label = LABELS.iter().find(|(labels, _)| labels.contains(&word.as_str()));
    by_label
        .or_else(|| BEGINNINGS.iter().find(|(all, _)| all.iter().any(|start| sentence.starts_with(start))))
        .map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_label_says_that_something_outside_ended_it() {
        assert_eq!(label("Agent-Timeout"), Some(EndReason::AgentTimeout));
        assert_eq!(label("rate limit exceeded"), Some(EndReason::Endpoint));
        assert_eq!(label("the route for rate limits returns 404"), None);
        assert_eq!(agent_failure("Input is too long for requested model"), Some(EndReason::ContextOverflow));
        assert_eq!(agent_failure("the container endpoint returns 404"), None);
        assert_eq!(agent_failure("it went well"), None);
        assert_eq!(agent_failure("Timed out."), Some(EndReason::AgentTimeout));
        assert_eq!(agent_failure("The agent gave up on the docker task"), Some(EndReason::GaveUp));
        for quoting in [
            "Request timed out.",
            "the request asks for a timeout of 30 s",
            "quoted: 'please give up'",
            "tool call to docker",
            "pytest timed out in a quoted log",
            "'server_start'",
        ] {
            assert_eq!(agent_failure(quoting), None, "{quoting}");
        }
    }

    #[test]
    fn a_phrase_never_censors() {
        for phrase in [
            "context length",
            "invalid tool call",
            "loop detected",
            "connection refused",
            "test timeout",
            "gave up",
            "sigkill",
        ] {
            let reason = agent_failure(phrase).unwrap();
            assert_eq!(reason.default_ending(), model::Ending::Event, "{phrase}");
        }
    }
}
