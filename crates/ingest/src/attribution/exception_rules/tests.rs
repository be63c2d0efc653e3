use super::*;

/// `file` per frame, in the first block of a traceback that ends with `last`.
fn traceback(files: &[&str], last: &str) -> String {
    let frames: Vec<String> =
        files.iter().map(|file| format!("  File \"{file}\", line 1, in f\n    call()\n")).collect();
    format!("Traceback (most recent call last):\n{}{last}\n", frames.concat())
}

fn decision_for(kind: &str, message: &str, traceback: &str, stage: Stage) -> (EndReason, bool) {
    let found = decide(&Evidence { kind, message, traceback, stage, agent_seconds: None });
    (found.reason, found.recognized)
}

const LIB: &str = "/opt/lib/python3.13/site-packages/";

#[test]
fn every_row_decides_about_something() {
    fn words_or(words: &[&'static str], any: &'static str) -> Vec<&'static str> {
        if words.is_empty() { vec![any] } else { words.to_vec() }
    }
    for (index, row) in ROWS.iter().enumerate() {
        let modules: Vec<Option<&str>> =
            row.packages.iter().copied().map(Some).chain(std::iter::once(None)).collect();
        let is_decisive = words_or(row.types, "Anything").iter().any(|kind| {
            words_or(row.begins, "").iter().any(|start| {
                modules.iter().any(|module| {
                    let (name, message) = (kind.replace('*', "X"), start.replace('#', "4").replace('*', "a"));
                    let stage = Stage::Agent;
                    let evidence = Evidence {
                        kind: &name,
                        message: &message,
                        traceback: "",
                        stage,
                        agent_seconds: None,
                    };
                    let case = Case { module: *module, ..Case::from_evidence(&evidence) };
                    ROWS.iter().position(|row| case.matches_row(row)) == Some(index)
                })
            })
        });
        assert!(is_decisive, "rows above hide {row:?}");
    }
}

#[test]
fn every_row_is_documented() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, section) = text.split_once("### Whose failure an exception was").unwrap();
    let section = section.split("\n## ").next().unwrap();
    for word in ROWS.iter().flat_map(|row| row.types.iter().chain(row.begins)) {
        let word = word.trim_end();
        assert!(section.contains(word), "docs/formats.md does not name {word:?}");
    }
}

#[test]
fn type_and_stage_decide() {
    use EndReason as R;
    use Stage::{Agent, Between, LaterSetup, Setup, Verifier};
    for (kind, message, stage, want) in [
        ("AgentTimeoutError", "Agent execution timed out after 5.0 seconds", Agent, R::AgentTimeout),
        ("VerifierTimeoutError", "", Verifier, R::VerifierTimeout),
        ("RewardFileNotFoundError", "", Verifier, R::VerifierError),
        ("VerifierOutputParseError", "", Verifier, R::VerifierError),
        ("AddTestsDirError", "Failed to add tests directory to environment.", Verifier, R::Environment),
        ("DownloadVerifierDirError", "", Verifier, R::Environment),
        ("CancelledError", "", Setup, R::Cancelled),
        ("CancelledError", "", Agent, R::Cancelled),
        ("CancelledError", "", Verifier, R::Cancelled),
        ("ApiUsageLimitError", "", Agent, R::Endpoint),
        ("litellm.exceptions.RateLimitError", "", Agent, R::Endpoint),
        ("AgentAuthenticationError", "", Setup, R::Environment),
        ("AgentAuthenticationError", "", Agent, R::Endpoint),
        ("NetworkConnectionError", "", Agent, R::Endpoint),
        ("NetworkConnectionError", "", Setup, R::Environment),
        ("ModelNotFoundError", "", Setup, R::Endpoint),
        ("RuntimeError", "Docker compose command failed for environment x. Return", Setup, R::Environment),
        ("RuntimeError", "Docker compose command failed for environment x. Return", Agent, R::Environment),
        ("RuntimeError", "Docker compose command failed for environment x. Return", Verifier, R::Environment),
        ("RuntimeError", "Failed to remove verifier reward files (exit code 1)", Verifier, R::Environment),
        ("RuntimeError", "tests quote: Docker compose command failed for", Verifier, R::VerifierError),
        ("RuntimeError", "anything", Between, R::Environment),
        ("ValueError", "", Verifier, R::VerifierError),
        ("NeverSeen", "", Verifier, R::VerifierError),
        ("NeverSeen", "", Setup, R::Environment),
        ("NeverSeen", "", LaterSetup, R::Environment),
        ("ContextWindowExceededError", "", Agent, R::ContextOverflow),
        ("ContextLengthExceededError", "", Agent, R::ContextOverflow),
        ("AgentSafetyRefusalError", "", Agent, R::GaveUp),
        ("litellm.exceptions.ContentPolicyViolationError", "", Agent, R::GaveUp),
        ("ContentFilterFinishReasonError", "", Agent, R::GaveUp),
        ("BudgetExceededError", "", Agent, R::Budget),
        ("LimitsExceeded", "", Agent, R::Budget),
        ("AgentSetupTimeoutError", "", Setup, R::Environment),
        (
            "EnvironmentStartTimeoutError",
            "Verifier environment start timed out after 5",
            Verifier,
            R::Environment,
        ),
        ("HealthcheckError", "Healthcheck failed after 3", Setup, R::Environment),
        ("APITimeoutError", "Request timed out.", Agent, R::Endpoint),
        ("APIStatusError", "Error code: 402 - {}", Agent, R::Endpoint),
        ("APIStatusError", "Error code: 413 - {}", Agent, R::AgentError),
        ("Timeout", "litellm.Timeout: late", Agent, R::Endpoint),
        ("Timeout", "HTTPConnectionPool(host='x', port=80): Read timed out.", Agent, R::Endpoint),
        ("ReadTimeout", "", Agent, R::Endpoint),
        ("ReadTimeout", "", Setup, R::Environment),
        ("ReadTimeout", "", Verifier, R::Environment),
        (
            "ReadTimeout",
            "UnixHTTPConnectionPool(host='localhost', port=None): Read timed out.",
            Agent,
            R::Environment,
        ),
        ("ConnectError", "All connection attempts failed", Agent, R::Endpoint),
        ("ConnectionError", "", Agent, R::Endpoint),
        ("ConnectionRefusedError", "[Errno 111] Connect call failed", Agent, R::Endpoint),
        ("ConnectionRefusedError", "", Verifier, R::Environment),
        ("ServerError", "503 UNAVAILABLE. {'error': {}}", Agent, R::Endpoint),
        ("ServerDisconnectedError", "Server disconnected", Agent, R::Endpoint),
        ("ClientError", "429 RESOURCE_EXHAUSTED. {'error': {}}", Agent, R::Endpoint),
        (
            "ClientError",
            "An error occurred (ThrottlingException) when calling the Converse operation: slow",
            Agent,
            R::Endpoint,
        ),
        (
            "ThrottlingException",
            "An error occurred (ThrottlingException) when calling the Converse operation: slow",
            Agent,
            R::Endpoint,
        ),
        (
            "EndpointConnectionError",
            "Could not connect to the endpoint URL: \"https://x\"",
            Agent,
            R::Endpoint,
        ),
        ("SDKError", "API error occurred: Status 429. Body: {}", Agent, R::Endpoint),
        ("TooManyRequestsError", "headers: {}, status_code: 429, body: {}", Agent, R::Endpoint),
        ("LLMServiceUnavailableError", "", Agent, R::Endpoint),
        ("APIError", "500 Server Error for http+docker://localhost/v1/x: Internal", Agent, R::Environment),
        ("APIError", "litellm.APIError: broken", Agent, R::Endpoint),
        ("ApiError", "Command failed (exit 1): claude", Agent, R::Endpoint),
        ("ApiError", "headers: {'a': 'b'}, status_code: 500, body: {}", Agent, R::Endpoint),
        ("ApiError", "no such sandbox", Agent, R::Environment),
        ("DockerException", "Error while fetching server API version: x", Agent, R::Environment),
        ("docker.errors.NotFound", "gone", Agent, R::Environment),
        ("anthropic.EnforcedSpendLimitReachedError", "Error code: 429 - {}", Agent, R::Endpoint),
        (
            "BadRequestError",
            "Error code: 400 - {'code': 'context_length_exceeded'}",
            Agent,
            R::ContextOverflow,
        ),
        ("OSError", "[Errno 28] No space left on device", Agent, R::Environment),
        ("MemoryError", "", Agent, R::Environment),
        ("FileNotFoundError", "[Errno 2] No such file or directory: 'docker'", Agent, R::Environment),
        ("CalledProcessError", "Command '['docker', 'ps']' returned non-zero", Agent, R::Environment),
        ("ModuleNotFoundError", "No module named 'x'", Agent, R::Environment),
        ("OutputLengthExceededError", "", Agent, R::AgentError),
        (
            "RetryError",
            "RetryError[<Future at 0x1 state=finished raised RateLimitError>]",
            Agent,
            R::Endpoint,
        ),
    ] {
        assert_eq!(decision_for(kind, message, "", stage), (want, true), "{kind} {message} {stage:?}");
    }
}

#[test]
fn what_nothing_proves_is_the_agents_and_marked() {
    for (kind, message) in [
        ("RuntimeError", "runner failed: File \"/opt/lab/run_in_container.py\""),
        ("RuntimeError", "agent exited 2: unknown option: - Write a compose file"),
        ("RuntimeError", "Command timed out after 60 seconds: docker compose up"),
        ("OSError", "[Errno 7] Argument list too long: 'docker'"),
        ("OSError", "[Errno 2] No such file: 'containers.yaml'"),
        ("FileNotFoundError", "[Errno 2] No such file or directory: 'docker-compose.yaml'"),
        ("NonZeroAgentExitCodeError", "Command failed (exit 1): docker exec: rate limit, connection refused"),
        ("SandboxLikelyOutOfMemoryError", ""),
        ("ValueError", "Error while talking to the container"),
        ("BuildTimeout", "docker build timed out"),
        ("NeverSeen", "429 rate limit"),
        ("mytool.errors.RateLimitError", "a limit of another kind"),
        ("BadRequestError", "Error code: 400 - {'error': {'message': 'tools.0.name: bad'}}"),
        ("InvalidURL", "no scheme"),
    ] {
        assert_eq!(
            decision_for(kind, message, "", Stage::Agent),
            (EndReason::AgentError, false),
            "{kind} {message}"
        );
    }
    for (kind, message) in [
        ("HealthcheckError", "Healthcheck failed after 3"),
        ("RuntimeError", "Step 'b' setup.sh exited with code 1"),
    ] {
        assert_eq!(
            decision_for(kind, message, "", Stage::LaterSetup),
            (EndReason::AgentError, false),
            "{kind}"
        );
        assert_eq!(decision_for(kind, message, "", Stage::Setup), (EndReason::Environment, true), "{kind}");
    }
}

#[test]
fn the_full_name_tells_namesakes_apart() {
    for (kind, last, want) in [
        ("AuthenticationError", "openai.AuthenticationError: Error code: 401 - {}", EndReason::Endpoint),
        ("AuthenticationError", "harbor.auth.errors.AuthenticationError: log in", EndReason::Environment),
        ("APIError", "docker.errors.APIError: 500", EndReason::Environment),
        ("APIError", "litellm.exceptions.APIError: 500", EndReason::Endpoint),
        ("ApiError", "harbor.agents.installed.base.ApiError: x", EndReason::Endpoint),
        ("ApiError", "harbor.environments.sbx.client.ApiError: x", EndReason::Environment),
        ("RateLimitError", "daytona.common.errors.RateLimitError: x", EndReason::Environment),
        ("CamelError", "modal.exception.CamelError: x", EndReason::Environment),
    ] {
        let text = traceback(&["/a.py"], last);
        assert_eq!(decision_for(kind, "x", &text, Stage::Agent), (want, true), "{last}");
    }
    // A name without a module is Python's own only if Python has it: it decides as without a traceback.
    for (kind, message, last, want) in [
        ("RateLimitError", "", "RateLimitError: slow down", (EndReason::Endpoint, true)),
        (
            "APITimeoutError",
            "Request timed out.",
            "APITimeoutError: Request timed out.",
            (EndReason::Endpoint, true),
        ),
        ("ReadTimeout", "", "ReadTimeout", (EndReason::Endpoint, true)),
        (
            "ContextWindowExceededError",
            "",
            "ContextWindowExceededError: x",
            (EndReason::ContextOverflow, true),
        ),
        ("CustomError", "x", "CustomError: x", (EndReason::AgentError, false)),
        ("ValueError", "x", "ValueError: x", (EndReason::AgentError, false)),
        ("MemoryError", "", "MemoryError", (EndReason::Environment, true)),
    ] {
        let text = traceback(&["/a.py"], last);
        assert_eq!(decision_for(kind, message, &text, Stage::Agent), want, "{last}");
        assert_eq!(decision_for(kind, message, "", Stage::Agent), want, "{kind} without a traceback");
    }
    // A line of a message that looks like a type is not the type that was recorded.
    let quoting = traceback(&["/a.py"], "RuntimeError: it said\nopenai.RateLimitError: Error code: 429");
    assert_eq!(
        decision_for("RuntimeError", "it said", &quoting, Stage::Agent),
        (EndReason::AgentError, false)
    );
}

#[test]
fn the_innermost_caller_decides_about_connections() {
    let box_call = [
        &*format!("{LIB}harbor/agents/a.py"),
        &*format!("{LIB}harbor/environments/docker/docker.py"),
        "/usr/lib/python3.13/asyncio/subprocess.py",
    ];
    let model_call = [
        &*format!("{LIB}harbor/llms/lite_llm.py"),
        &*format!("{LIB}openai/_base_client.py"),
        &*format!("{LIB}httpx/_client.py"),
    ];
    for (kind, files, last, want) in [
        ("ConnectionResetError", &box_call, "ConnectionResetError", (EndReason::Environment, true)),
        ("ConnectionResetError", &model_call, "ConnectionResetError", (EndReason::Endpoint, true)),
        ("ReadTimeout", &box_call, "httpx.ReadTimeout", (EndReason::Environment, true)),
        ("ReadTimeout", &model_call, "httpx.ReadTimeout", (EndReason::Endpoint, true)),
        (
            "JSONDecodeError",
            &model_call,
            "json.decoder.JSONDecodeError: Expecting value",
            (EndReason::Endpoint, true),
        ),
        (
            "JSONDecodeError",
            &box_call,
            "json.decoder.JSONDecodeError: Expecting value",
            (EndReason::AgentError, false),
        ),
        ("ValueError", &model_call, "ValueError: bad", (EndReason::AgentError, false)),
    ] {
        let text = traceback(files, last);
        assert_eq!(decision_for(kind, "", &text, Stage::Agent), want, "{last}");
    }
    let user_folder = traceback(&["/home/docker/harbor/environments/run.py"], "ConnectionResetError");
    assert_eq!(
        decision_for("ConnectionResetError", "", &user_folder, Stage::Agent),
        (EndReason::Endpoint, true)
    );
}

#[test]
fn a_time_out_within_the_agents_time_is_not_the_agents_time_out() {
    const CAUSE: &str = "\nThe above exception was the direct cause of the following exception:\n\n";
    let chain = |first: String| {
        format!(
            "{first}{CAUSE}{}{CAUSE}{}",
            traceback(&["/usr/lib/python3.13/asyncio/timeouts.py"], "TimeoutError"),
            traceback(&[&format!("{LIB}harbor/trial/trial.py")], "harbor.trial.errors.AgentTimeoutError: x")
        )
    };
    let decide_after = |traceback: &str, agent_seconds| {
        let message = "Agent execution timed out after 600.0 seconds";
        let evidence = Evidence {
            kind: "AgentTimeoutError",
            message,
            traceback,
            stage: Stage::Agent,
            agent_seconds: Some(agent_seconds),
        };
        let found = decide(&evidence);
        (found.reason, found.recognized)
    };
    let waiting = traceback(
        &[&format!("{LIB}harbor/environments/docker/docker.py")],
        "asyncio.exceptions.CancelledError",
    );
    assert_eq!(decide_after(&chain(waiting), 600.2), (EndReason::AgentTimeout, true));
    let endpoint =
        traceback(&[&format!("{LIB}litellm/main.py"), &format!("{LIB}aiohttp/client.py")], "TimeoutError");
    assert_eq!(decide_after(&chain(endpoint), 31.0), (EndReason::Endpoint, true));
    let socket = traceback(
        &[&format!("{LIB}aiohttp/client.py")],
        "aiohttp.client_exceptions.SocketTimeoutError: Timeout on reading",
    );
    assert_eq!(decide_after(&chain(socket), 31.0), (EndReason::Endpoint, true));
    let container_traceback = traceback(
        &[&format!("{LIB}harbor/environments/daytona.py"), &format!("{LIB}httpx/c.py")],
        "TimeoutError",
    );
    assert_eq!(decide_after(&chain(container_traceback), 31.0), (EndReason::Environment, true));
    assert_eq!(decide_after("", 599.9), (EndReason::AgentTimeout, true));
    assert_eq!(
        decide_after("", 31.0),
        (EndReason::AgentTimeout, false),
        "not the budget's, and nothing says whose"
    );
}

#[test]
fn keys_for_a_terminal_that_is_gone() {
    for (stderr, want) in [
        ("Error response from daemon: No such container: x", (EndReason::Environment, true)),
        ("service \"main\" is not running", (EndReason::Environment, true)),
        ("can't find session: agent, Error response from daemon", (EndReason::AgentError, false)),
    ] {
        let message = format!("agent: failed to send blocking keys: return_code=1 stderr='{stderr}'");
        assert_eq!(decision_for("RuntimeError", &message, "", Stage::Agent), want, "{stderr}");
    }
}

#[test]
fn a_group_is_its_first_exception() {
    let text = "  + Exception Group Traceback (most recent call last):\n  |   File \"/a.py\", line 1, in f\n  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/b.py\", line 2, in g\n    | litellm.exceptions.Timeout: litellm.Timeout: late\n    +------------------------------------\n";
    let message = "unhandled errors in a TaskGroup (1 sub-exception)";
    assert_eq!(decision_for("ExceptionGroup", message, text, Stage::Agent), (EndReason::Endpoint, true));
    assert_eq!(decision_for("ExceptionGroup", message, "", Stage::Agent), (EndReason::AgentError, false));
}
