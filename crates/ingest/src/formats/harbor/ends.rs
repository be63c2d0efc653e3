//! From exception types to end reasons.
//!
//! | exception | end reason |
//! |---|---|
//! | `AgentTimeoutError` | agent timeout |
//! | `VerifierTimeoutError` | verifier timeout |
//! | `RewardFileNotFoundError`, `RewardFileEmptyError`, `VerifierOutputParseError`, `AddTestsDirError`, `DownloadVerifierDirError` | verifier error |
//! | `CancelledError`, `KeyboardInterrupt` | cancelled |
//! | `ContextLengthExceededError`, `ContextWindowExceededError` | context overflow |
//! | `AgentSafetyRefusalError` | gave up |
//! | names with `Budget` or `CostLimit` | budget |
//! | `ApiUsageLimitError`, `HostedQuotaExceededError`, `ApiRateLimitError`, `ApiOverloadedError`, other `Api…Error`, `AgentAuthenticationError`, `ModelNotFoundError`, `NetworkConnectionError`, litellm's `RateLimitError`, `InternalServerError`, `APIConnectionError`, … | endpoint |
//! | `AgentSetupTimeoutError`, `EnvironmentStartTimeoutError`, `HealthcheckError`, `Sandbox…Error`, `GKE…Error`, … | environment |
//! | `OutputLengthExceededError`, `OutputTokenExceededError`, `NonZeroAgentExitCodeError`, `MemoryLimitExceededError` | agent error |
//! | any other, before the agent began | environment |
//! | any other, while the tests ran | verifier error (environment, if its message is of Docker) |
//! | any other | agent error (environment, if its message is of Docker) |
//!
//! A usage limit is the endpoint's refusal and stays `endpoint`; only a limit that the run itself set is a budget.

use model::EndReason;

/// When an exception came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Before the agent began: image, container, installation of the agent, set-up of the step.
    Setup,
    /// While the agent worked.
    Agent,
    /// While the tests ran.
    Verifier,
}

/// Why the observation ended, told from an exception.
pub(super) fn reason(kind: &str, message: &str, stage: Stage) -> EndReason {
    // Types may be written with their module: `litellm.exceptions.RateLimitError`.
    let name = kind.rsplit('.').next().unwrap_or(kind);
    let has = |words: &[&str]| words.iter().any(|w| name.contains(w));
    match name {
        "AgentTimeoutError" => return EndReason::AgentTimeout,
        "VerifierTimeoutError" => return EndReason::VerifierTimeout,
        "CancelledError" | "KeyboardInterrupt" => return EndReason::Cancelled,
        "AgentSafetyRefusalError" => return EndReason::GaveUp,
        "AddTestsDirError" | "DownloadVerifierDirError" | "VerifierOutputParseError" => {
            return EndReason::VerifierError;
        }
        "NonZeroAgentExitCodeError"
        | "OutputLengthExceededError"
        | "OutputTokenExceededError"
        | "MemoryLimitExceededError" => return EndReason::AgentError,
        _ => {}
    }
    if has(&["RewardFile"]) {
        return EndReason::VerifierError;
    }
    if has(&["ContextLength", "ContextWindow", "ContextOverflow"]) {
        return EndReason::ContextOverflow;
    }
    if has(&["Budget", "CostLimit"]) {
        return EndReason::Budget;
    }
    if stage == Stage::Setup && !has(&["Authentication", "ApiKey", "ModelNotFound"]) {
        // Also a network error: before the agent began, it hit the installation and not the model.
        return EndReason::Environment;
    }
    if has(&[
        "UsageLimit",
        "Quota",
        "RateLimit",
        "Overloaded",
        "Authentication",
        "ApiKey",
        "PermissionDenied",
        "ModelNotFound",
        "NetworkConnection",
        "ApiConnection",
        "APIConnection",
        "ApiInternalServer",
        "InternalServerError",
        "ServiceUnavailable",
        "BadGateway",
        "ApiError",
        "APIError",
        "ApiProvider",
        "ApiResponseStalled",
        "StreamError",
    ]) {
        return EndReason::Endpoint;
    }
    if has(&["AgentSetup", "Environment", "Healthcheck", "Sandbox", "Docker", "GKE", "Pod"]) {
        return EndReason::Environment;
    }
    let of_docker = ["docker", "Docker", "container", "compose"].iter().any(|w| message.contains(w));
    match stage {
        _ if of_docker && has(&["RuntimeError", "OSError", "Timeout"]) => EndReason::Environment,
        Stage::Setup => EndReason::Environment,
        Stage::Agent => EndReason::AgentError,
        Stage::Verifier => EndReason::VerifierError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds() {
        use EndReason as R;
        use Stage::{Agent, Setup, Verifier};
        for (kind, message, stage, want) in [
            ("AgentTimeoutError", "", Agent, R::AgentTimeout),
            ("VerifierTimeoutError", "", Verifier, R::VerifierTimeout),
            ("RewardFileNotFoundError", "", Verifier, R::VerifierError),
            ("VerifierOutputParseError", "", Verifier, R::VerifierError),
            ("NonZeroAgentExitCodeError", "docker exec", Agent, R::AgentError),
            ("CancelledError", "", Agent, R::Cancelled),
            ("ApiUsageLimitError", "", Agent, R::Endpoint),
            ("litellm.exceptions.RateLimitError", "", Agent, R::Endpoint),
            ("AgentAuthenticationError", "", Setup, R::Endpoint),
            ("NetworkConnectionError", "", Agent, R::Endpoint),
            ("NetworkConnectionError", "", Setup, R::Environment),
            ("RuntimeError", "Docker compose command failed", Setup, R::Environment),
            ("RuntimeError", "Docker compose command failed", Agent, R::Environment),
            ("RuntimeError", "list index", Agent, R::AgentError),
            ("ValueError", "", Verifier, R::VerifierError),
            ("ContextWindowExceededError", "", Agent, R::ContextOverflow),
            ("AgentSafetyRefusalError", "", Agent, R::GaveUp),
            ("AgentSetupTimeoutError", "", Setup, R::Environment),
        ] {
            assert_eq!(reason(kind, message, stage), want, "{kind} {message} {stage:?}");
        }
    }
}
