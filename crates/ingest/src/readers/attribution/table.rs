//! The decision table: who is meant by which exception, at which stage. The first row that fits decides.
//!
//! Read off the packages themselves: Harbor 0.1 to 0.26, Terminal-Bench 0.2, OpenHands 1.58, mini-swe-agent 2.4 and the
//! clients of models, HTTP and containers that they use. `docs/formats.md` lists it; a test holds the two together.

use model::EndReason;

use EndReason::{
    AgentError, AgentTimeout, Budget, Cancelled, ContextOverflow, Endpoint, Environment, GaveUp,
    ToolCallFormat, VerifierError, VerifierTimeout,
};
use Rule::{Caller, Client, FirstStep, Is, Keys, Refused, Status, TimeLimit, Unclear, Wrapper};

/// How an end follows from an exception.
#[derive(Debug)]
pub(super) enum Rule {
    /// It is this one.
    Is(EndReason),
    /// Nothing proves anybody else: an error of the agent, its cause not recognised.
    Unclear,
    /// This one, but before a later step unclear: the agent may have broken what it needs.
    FirstStep(EndReason),
    /// By the HTTP status at its place; where there is none, by the rule.
    Status(&'static Self),
    /// By why the endpoint refused the request.
    Refused,
    /// The environment, if a container engine was called; else by the rule.
    Caller(&'static Self),
    /// The endpoint, if one of models was called; else by the rule.
    Client(&'static Self),
    /// A phase's time limit, unless another time-out within the phase was taken for it.
    TimeLimit(EndReason),
    /// By what the box's terminal said.
    Keys,
    /// By what it wraps; where nothing says that, by the rule.
    Wrapper(&'static Self),
}

/// Which exceptions are meant, and whose they are.
#[derive(Debug)]
pub(super) struct Row {
    /// Packages of its module; none = any. An exception whose module is unknown fits by its type's name.
    pub(super) packages: &'static [&'static str],
    /// Names of types, with at most one `*`; none = all of the packages.
    pub(super) types: &'static [&'static str],
    /// Beginnings of the message; none = any.
    pub(super) begins: &'static [&'static str],
    /// Before the agent began, and between its work and the tests.
    pub(super) setup: Rule,
    /// While it worked.
    pub(super) agent: Rule,
    /// While the tests ran.
    pub(super) verifier: Rule,
}

type Words = &'static [&'static str];

/// The same at every stage.
const fn always(packages: Words, types: Words, begins: Words, reason: EndReason) -> Row {
    Row { packages, types, begins, setup: Is(reason), agent: Is(reason), verifier: Is(reason) }
}

/// Of a client: outside the agent's work it served the environment.
const fn client(packages: Words, types: Words, begins: Words, agent: Rule) -> Row {
    Row { packages, types, begins, setup: Is(Environment), agent, verifier: Is(Environment) }
}

/// Of whatever ran: the environment's, the agent's, the verifier's.
const fn of_stage(packages: Words, types: Words, begins: Words, agent: Rule) -> Row {
    Row { packages, types, begins, setup: Is(Environment), agent, verifier: Is(VerifierError) }
}

const BUILTIN: Words = &["builtins"];
const MODELS: Words =
    &["openai", "anthropic", "litellm", "google.genai", "mistralai", "cohere", "minisweagent.models"];
const HTTP: Words = &["httpx", "httpx2", "httpcore", "aiohttp", "requests", "urllib3", "urllib"];
const DOCKER: Words = &["docker.errors", "docker.credentials", "docker"];
const SANDBOXES: Words = &[
    "daytona",
    "daytona_sdk",
    "daytona_api_client_async",
    "e2b",
    "modal",
    "kubernetes",
    "kubernetes_asyncio",
    "runloop_api_client",
];
/// What Docker's API answered, as `requests` words it.
const BY_DOCKER: Words = &[
    "### Client Error for http+docker://",
    "### Server Error for http+docker://",
    "UnixHTTPConnectionPool(",
    "Error while fetching server API version: ",
];
const ENDPOINT: Rule = Is(Endpoint);
const BY_STATUS: Rule = Status(&ENDPOINT);

/// In the order in which they are looked at.
pub(super) static ROWS: &[Row] = &[
    always(
        &[],
        &[
            "CancelledError",
            "KeyboardInterrupt",
            "UserCancelledError",
            "OperationCancelled",
            "UserInterruption",
        ],
        &[],
        Cancelled,
    ),
    // Harbor.
    Row {
        packages: &[],
        types: &["AgentTimeoutError"],
        begins: &[],
        setup: Is(AgentTimeout),
        agent: TimeLimit(AgentTimeout),
        verifier: Is(AgentTimeout),
    },
    Row {
        packages: &[],
        types: &["VerifierTimeoutError"],
        begins: &[],
        setup: Is(VerifierTimeout),
        agent: Is(VerifierTimeout),
        verifier: TimeLimit(VerifierTimeout),
    },
    always(
        &[],
        &["AgentSetupTimeoutError", "EnvironmentStartTimeoutError", "EnvironmentBuildTimeoutError"],
        &[],
        Environment,
    ),
    always(
        &[],
        &["RewardFileNotFoundError", "RewardFileEmptyError", "VerifierOutputParseError"],
        &[],
        VerifierError,
    ),
    always(&[], &["AddTestsDirError", "DownloadVerifierDirError"], &[], Environment),
    of_stage(&[], &["NonZeroAgentExitCodeError"], &[], Unclear),
    client(
        &["harbor"],
        &[
            "ApiRateLimitError",
            "ApiUsageLimitError",
            "ApiInternalServerError",
            "ApiOverloadedError",
            "ApiConnectionClosedError",
            "ApiResponseStalledError",
            "ApiConnectionError",
            "UnknownApiError",
            "AgentAuthenticationError",
            "NetworkConnectionError",
        ],
        &[],
        ENDPOINT,
    ),
    client(&["harbor.agents"], &["ApiError"], &["Command failed (exit "], ENDPOINT),
    client(&["cohere"], &["ApiError"], &["headers: {"], BY_STATUS),
    always(&["harbor.environments"], &["ApiError"], &[], Environment),
    client(&["harbor.agents"], &["ApiError"], &[], ENDPOINT),
    always(
        &["harbor"],
        &[
            "ApiProviderResourceNotFoundError",
            "ModelNotFoundError",
            "UnsupportedModelParametersError",
            "MissingModelCredentialError",
        ],
        &[],
        Endpoint,
    ),
    always(
        &["harbor", "terminal_bench"],
        &["OutputTokenExceededError", "OutputLengthExceededError"],
        &[],
        AgentError,
    ),
    always(
        &["harbor", "litellm", "terminal_bench"],
        &["ContextWindowExceededError", "ContextLengthExceededError"],
        &[],
        ContextOverflow,
    ),
    always(&["harbor", "terminal_bench"], &["ParseError"], &[], ToolCallFormat),
    always(&["harbor"], &["AgentSafetyRefusalError"], &[], GaveUp),
    Row {
        packages: &["harbor"],
        types: &["HealthcheckError"],
        begins: &[],
        setup: FirstStep(Environment),
        agent: Is(Environment),
        verifier: Is(Environment),
    },
    // Memory is a part of the task.
    client(&["harbor"], &["SandboxLikelyOutOfMemoryError", "MemoryLimitExceededError"], &[], Unclear),
    always(
        &["harbor"],
        &[
            "SandboxBuildFailedError",
            "GKEExecStreamClosedError",
            "GKEPodNotFoundError",
            "SSHAccessError",
            "InfrastructureTimeout",
            "CreateOutcomeUnknown",
            "RequestThrottled",
            "EndpointCredentialExpired",
            "SbxCommandError",
            "ImageMirrorError",
            "ImageRegistryUnavailableError",
            "TransferError",
            "UnsupportedDockerfileError",
            "RuntimeRequestError",
            "ServiceOperationsUnsupportedError",
            "VercelScopeError",
            "MissingExtraError",
            "DspyImportError",
            "RegradeError",
            "NotAuthenticatedError",
            "ApiKeyRejectedError",
            "RefreshTokenExpiredError",
            "LeaderboardAPIError",
            "HostedQuotaExceededError",
        ],
        &[],
        Environment,
    ),
    // Of Harbor's own service and boxes, whatever they are called.
    always(
        &[
            "harbor.auth",
            "harbor.hosted",
            "harbor.hub",
            "harbor.upload",
            "harbor.viewer",
            "harbor.server",
            "harbor.environments",
        ],
        &[],
        &[],
        Environment,
    ),
    // Container engines and sandboxes.
    always(&[], &["APIError", "NotFound", "*Timeout", "*Error"], BY_DOCKER, Environment),
    always(DOCKER, &[], &[], Environment),
    always(
        DOCKER,
        &[
            "ImageNotFound",
            "BuildError",
            "ImageLoadError",
            "DockerException",
            "ContainerError",
            "TLSParameterError",
            "StoreError",
            "CredentialsNotFound",
        ],
        &[],
        Environment,
    ),
    always(SANDBOXES, &[], &[], Environment),
    always(
        SANDBOXES,
        &[
            "ApiException",
            "Daytona*Error",
            "Sandbox*Error",
            "RateLimitException",
            "CommandExitException",
            "SmolError",
            "PollingTimeout",
        ],
        &[],
        Environment,
    ),
    // Clients of models.
    always(&["openai"], &["LengthFinishReasonError"], &[], AgentError),
    always(&["openai"], &["ContentFilterFinishReasonError"], &[], GaveUp),
    always(&["litellm"], &["BudgetExceededError"], &[], Budget),
    always(&["litellm"], &["ContentPolicyViolationError"], &[], GaveUp),
    always(&["litellm"], &["JSONSchemaValidationError"], &[], AgentError),
    always(
        &["litellm"],
        &[
            "RejectedRequestError",
            "GuardrailRaisedException",
            "UnsupportedParamsError",
            "LiteLLMUnknownProvider",
            "ModelNotMappedError",
            "UnsupportedEndpointError",
        ],
        &[],
        Endpoint,
    ),
    client(
        &["openai", "anthropic", "litellm", "cohere", "mistralai", "openhands"],
        &[
            "BadRequestError",
            "UnprocessableEntityError",
            "HTTPValidationError",
            "LLMBadRequestError",
            "LLMMalformedConversationHistoryError",
        ],
        &[],
        Refused,
    ),
    client(&["botocore"], &["ClientError", "EventStreamError"], &["An error occurred ("], BY_STATUS),
    client(&["cohere"], &["NotImplementedError"], &["headers: {"], BY_STATUS),
    client(
        MODELS,
        &[
            "RateLimitError",
            "InternalServerError",
            "APIConnectionError",
            "APITimeoutError",
            "APIStatusError",
            "APIError",
            "ConflictError",
            "OverloadedError",
            "ServiceUnavailableError",
            "GatewayTimeoutError",
            "RequestTimeoutError",
            "PaymentRequiredError",
            "AuthenticationError",
            "PermissionDeniedError",
            "NotFoundError",
            "OAuthError",
            "CredentialsError",
            "WorkloadIdentityError",
            "BadGatewayError",
            "APIResponseValidationError",
            "MidStreamFallbackError",
            "RouterRateLimitError",
            "UnknownApiResponseError",
            "ServerError",
            "SDKError",
            "ResponseValidationError",
            "NoResponseError",
            "TooManyRequestsError",
            "UnauthorizedError",
            "ForbiddenError",
            "InvalidTokenError",
            "OpenRouter*Error",
            "Requesty*Error",
        ],
        &[],
        BY_STATUS,
    ),
    client(&["litellm"], &["Timeout"], &["litellm.Timeout: "], ENDPOINT),
    client(&["openai", "anthropic"], &["ContentTooLargeError"], &[], Is(AgentError)),
    // A leaf of their families may be called anything: the status decides.
    client(MODELS, &[], &[], BY_STATUS),
    // OpenHands, mini-swe-agent.
    client(
        &["openhands"],
        &[
            "LLMRateLimitError",
            "LLMTimeoutError",
            "LLMServiceUnavailableError",
            "LLMAuthenticationError",
            "LLMNoResponseError",
        ],
        &[],
        ENDPOINT,
    ),
    always(&["openhands"], &["LLMContextWindowTooSmallError", "ProfileNotFound"], &[], Endpoint),
    always(&["openhands"], &["LLMContextWindowExceedError"], &[], ContextOverflow),
    always(
        &["openhands", "minisweagent"],
        &[
            "LLMMalformedActionError",
            "LLMNoActionError",
            "LLMResponseError",
            "FunctionCall*Error",
            "FormatError",
        ],
        &[],
        ToolCallFormat,
    ),
    always(&["openhands"], &["NoCondensationAvailableException"], &[], AgentError),
    always(&["openhands"], &["LLMContentPolicyViolationError"], &[], GaveUp),
    always(&["openhands"], &["WebSocketConnectionError"], &[], Environment),
    always(&["minisweagent"], &["LimitsExceeded", "TimeExceeded"], &[], Budget),
    // Wrappers.
    of_stage(&["openhands"], &["ConversationRunError"], &[], Wrapper(&Unclear)),
    of_stage(&["tenacity"], &["RetryError"], &["RetryError[<Future"], Wrapper(&Unclear)),
    of_stage(BUILTIN, &["ExceptionGroup", "BaseExceptionGroup"], &[], Wrapper(&Unclear)),
    // Clients of HTTP: whom they called decides.
    of_stage(
        &["httpx", "httpx2", "httpcore", "aiohttp", "requests", "urllib3"],
        &[
            "InvalidURL",
            "UnsupportedProtocol",
            "LocalProtocolError",
            "StreamError",
            "ResponseNotRead",
            "LocationParseError",
        ],
        &[],
        Unclear,
    ),
    client(
        &["httpx", "httpx2", "httpcore", "aiohttp", "requests", "urllib3", "urllib", "botocore"],
        &[
            "ConnectError",
            "ReadError",
            "WriteError",
            "CloseError",
            "NetworkError",
            "TransportError",
            "RemoteProtocolError",
            "ProxyError",
            "ConnectTimeout",
            "ReadTimeout",
            "WriteTimeout",
            "PoolTimeout",
            "HTTPStatusError",
            "HTTPError",
            "ClientConnectorError",
            "ServerDisconnectedError",
            "ClientPayloadError",
            "ClientOSError",
            "ClientResponseError",
            "ClientError",
            "ServerTimeoutError",
            "SocketTimeoutError",
            "ConnectionTimeoutError",
            "Timeout",
            "ChunkedEncodingError",
            "RetryError",
            "MaxRetryError",
            "ProtocolError",
            "NewConnectionError",
            "NameResolutionError",
            "ReadTimeoutError",
            "ConnectTimeoutError",
            "IncompleteRead",
            "EndpointConnectionError",
            "ConnectionClosedError",
            "HTTPClientError",
            "NoCredentialsError",
        ],
        &[],
        Caller(&BY_STATUS),
    ),
    client(HTTP, &[], &[], Caller(&BY_STATUS)),
    client(&["botocore"], &[], &[], Caller(&BY_STATUS)),
    // Python's own.
    Row {
        packages: &["builtins", "asyncio", "concurrent.futures"],
        types: &["TimeoutError"],
        begins: &[],
        setup: Is(Environment),
        agent: Is(AgentTimeout),
        verifier: Is(VerifierTimeout),
    },
    client(
        &["builtins", "ssl", "socket"],
        &[
            "ConnectionError",
            "ConnectionResetError",
            "ConnectionRefusedError",
            "ConnectionAbortedError",
            "BrokenPipeError",
            "SSLError",
            "SSLCertVerificationError",
            "gaierror",
        ],
        &[],
        Caller(&ENDPOINT),
    ),
    always(
        BUILTIN,
        &["OSError"],
        &["[Errno 5]", "[Errno 12]", "[Errno 23]", "[Errno 24]", "[Errno 28]", "[Errno 30]"],
        Environment,
    ),
    always(BUILTIN, &["MemoryError"], &[], Environment),
    of_stage(
        BUILTIN,
        &["FileNotFoundError"],
        &["[Errno 2] No such file or directory: 'docker'"],
        Is(Environment),
    ),
    of_stage(
        &["subprocess"],
        &["CalledProcessError"],
        &["Command '['docker'", "Command '['podman'", "Command '['kubectl'"],
        Is(Environment),
    ),
    of_stage(&["json", "simplejson", "requests"], &["JSONDecodeError"], &[], Client(&Unclear)),
    of_stage(BUILTIN, &["ImportError", "ModuleNotFoundError"], &[], Is(Environment)),
    // A container engine's own sentences.
    always(
        BUILTIN,
        &["RuntimeError"],
        &[
            "Docker compose command failed for environment ",
            "Container did not become ready for exec ",
            "Egress control sidecar did not become ready ",
            "Docker SSH access has not been started",
            "Task declares [environment].os = ",
            "Failed to build the Podman egress-control sidecar image. ",
            "docker compose build failed: ",
            "docker compose up failed: ",
            "docker compose cp failed: ",
            "download_dir: docker compose cp failed: ",
            "docker compose stop ",
            "Docker daemon not ready after ",
            "Main container not running after ",
            "Sandbox not found. Please ",
            "Sandbox is not running",
            "Client manager not initialized. ",
            "Failed to remove verifier reward files (exit code ",
            "Failed to start tmux session. Error: ",
            "Agent install failed: ",
            "Agent setup failed with exit code ",
        ],
        Environment,
    ),
    Row {
        packages: BUILTIN,
        types: &["RuntimeError"],
        begins: &["Step '*' setup.sh exited with code "],
        setup: FirstStep(Environment),
        agent: FirstStep(Environment),
        verifier: Is(Environment),
    },
    of_stage(BUILTIN, &["RuntimeError"], &["*: failed to send "], Keys),
    of_stage(
        &["builtins", "subprocess"],
        &[
            "RuntimeError",
            "OSError",
            "FileNotFoundError",
            "PermissionError",
            "CalledProcessError",
            "UnicodeDecodeError",
            "UnicodeEncodeError",
            "ValueError",
            "KeyError",
            "TypeError",
            "IndexError",
            "AttributeError",
            "AssertionError",
            "NotImplementedError",
            "Exception",
        ],
        &[],
        Unclear,
    ),
];
