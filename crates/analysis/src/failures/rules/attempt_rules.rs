//! Rules over the end of an attempt.
//!
//! The reason of the source comes first. Only if it is not exact (an error, no verdict, failed tests), rules search the end of
//! the output of the harness for phrases of harnesses that stop; see [`PhraseMeaning`]. If tests ran, only its last lines
//! count, because harnesses continue after minor errors.

use model::EndReason as R;

use super::Rule;
use crate::failures::FailureClass as C;
use crate::failures::evidence::{AttemptEvidence as E, PhraseMeaning};

/// In order: rules over the reason of the source, then rules over exceptions and logs.
pub const ATTEMPT_RULES: &[Rule<E>] = &[
    Rule {
        id: "end.endpoint",
        class: C::Endpoint,
        about: "The end reason is endpoint.",
        applies: |e| e.ended(R::Endpoint),
    },
    Rule {
        id: "end.budget",
        class: C::Budget,
        about: "The end reason is budget.",
        applies: |e| e.ended(R::Budget),
    },
    Rule {
        id: "end.environment",
        class: C::Infrastructure,
        about: "The end reason is environment.",
        applies: |e| e.ended(R::Environment),
    },
    Rule {
        id: "end.context_overflow",
        class: C::ContextOverflow,
        about: "The end reason is context overflow.",
        applies: |e| e.ended(R::ContextOverflow),
    },
    Rule {
        id: "end.tool_call_format",
        class: C::ToolCallFormat,
        about: "The end reason is tool-call format.",
        applies: |e| e.ended(R::ToolCallFormat),
    },
    Rule {
        id: "end.loop_detected",
        class: C::LoopDetection,
        about: "The end reason is loop detected.",
        applies: |e| e.ended(R::LoopDetected),
    },
    Rule {
        id: "end.killed_itself",
        class: C::KilledItself,
        about: "The end reason is killed itself.",
        applies: |e| e.ended(R::KilledItself),
    },
    Rule {
        id: "end.gave_up",
        class: C::GaveUp,
        about: "The end reason is gave up.",
        applies: |e| e.ended(R::GaveUp),
    },
    Rule {
        id: "end.no_change",
        class: C::NoChange,
        about: "The end reason is no change.",
        applies: |e| e.ended(R::NoChange),
    },
    Rule {
        id: "end.agent_timeout",
        class: C::AgentTimeout,
        about: "The end reason is agent timeout.",
        applies: |e| e.ended(R::AgentTimeout),
    },
    Rule {
        id: "end.attempt_budget",
        class: C::AttemptBudget,
        about: "The end reason is attempt budget.",
        applies: |e| e.ended(R::AttemptBudget),
    },
    Rule {
        id: "end.build_failed",
        class: C::DidNotStart,
        about: "The end reason is build failed.",
        applies: |e| e.ended(R::BuildFailed),
    },
    Rule {
        id: "end.server_crashed",
        class: C::Crashed,
        about: "The end reason is server failed, and the exception says that it crashed or ended.",
        applies: |e| {
            e.ended(R::ServerFailed)
                && e.raised(&[
                    "crash",
                    "segmentation fault",
                    "core dumped",
                    "connection reset",
                    "server died",
                ])
        },
    },
    Rule {
        id: "end.server_timed_out",
        class: C::TimedOut,
        about: "The end reason is server failed, and the exception says that it stopped answering in time.",
        applies: |e| e.ended(R::ServerFailed) && e.raised(&["stopped answering", "read timed out", "hung"]),
    },
    Rule {
        id: "end.server_failed",
        class: C::DidNotStart,
        about: "The end reason is server failed, and nothing more is said.",
        applies: |e| e.ended(R::ServerFailed),
    },
    Rule {
        id: "end.verifier_timeout",
        class: C::TimedOut,
        about: "The end reason is verifier timeout.",
        applies: |e| e.ended(R::VerifierTimeout),
    },
    Rule {
        id: "log.context_overflow",
        class: C::ContextOverflow,
        about: "The source says nothing exact; exception or harness output end with a context that was exceeded.",
        applies: |e| e.is_vague() && e.harness_stopped_with(PhraseMeaning::Context),
    },
    Rule {
        id: "log.tool_call_format",
        class: C::ToolCallFormat,
        about: "The source says nothing exact; exception or harness output end with a tool call that could not be read.",
        applies: |e| e.is_vague() && e.harness_stopped_with(PhraseMeaning::Format),
    },
    Rule {
        id: "log.loop_detected",
        class: C::LoopDetection,
        about: "The source says nothing exact; exception or harness output end with a loop that was stopped.",
        applies: |e| e.is_vague() && e.harness_stopped_with(PhraseMeaning::Loop),
    },
    Rule {
        id: "log.endpoint",
        class: C::Endpoint,
        about: "The source says nothing exact; exception or harness output end with an endpoint that failed.",
        applies: |e| e.is_vague() && e.harness_stopped_with(PhraseMeaning::Endpoint),
    },
    Rule {
        id: "log.budget",
        class: C::AttemptBudget,
        about: "The source says nothing exact; exception or harness output end with the harness's limit on steps or cost.",
        applies: |e| e.is_vague() && e.harness_stopped_with(PhraseMeaning::Budget),
    },
    Rule {
        id: "log.agent_timeout",
        class: C::AgentTimeout,
        about: "The source says nothing exact; exception or harness output end with the harness's limit on time.",
        applies: |e| e.is_vague() && e.harness_stopped_with(PhraseMeaning::Time),
    },
    Rule {
        id: "log.infrastructure",
        class: C::Infrastructure,
        about: "There is no verdict; exception or harness output end with a container that was lost.",
        applies: |e| e.is_vague() && !e.tests_ran && e.harness_stopped_with(PhraseMeaning::Lost),
    },
    Rule {
        id: "log.killed_itself",
        class: C::KilledItself,
        about: "There is no verdict; the exception says that the harness was ended by a signal (exit code 137 or 143).",
        applies: |e| {
            e.is_vague()
                && !e.tests_ran
                && e.raised(&[
                    "exit code 137",
                    "exit code: 137",
                    "(exit 137)",
                    "exit code 143",
                    "exit code: 143",
                    "(exit 143)",
                    "sigkill",
                    "sigterm",
                ])
        },
    },
    Rule {
        id: "log.server_port",
        class: C::DidNotStart,
        about: "No test passed, and the server's output ends with a port that was taken or code that could not be loaded.",
        applies: |e| e.none_passed && e.server_printed(PhraseMeaning::NotLoaded),
    },
    Rule {
        id: "attempt.no_calls",
        class: C::NoChange,
        about: "The tests failed, and the agent called no tool in the attempt.",
        applies: |e| e.tests_ran && e.tool_calls == Some(0),
    },
    Rule {
        id: "end.agent_error",
        class: C::HarnessError,
        about: "The end reason is agent error, and nothing more is said.",
        applies: |e| e.ended(R::AgentError),
    },
    Rule {
        id: "end.verifier_error",
        class: C::NoVerdict,
        about: "The end reason is verifier error or no verdict, and nothing more is said.",
        applies: |e| !e.tests_ran && (e.ended(R::VerifierError) || e.ended(R::NoVerdict)),
    },
];
