#!/usr/bin/env python3
"""Reads Harbor jobs, independently of Stamina Lab, and prints as JSON what it finds: runs, their trials, their steps.

    harbor_reader.py DIR        a trial, a job, a folder of jobs, or tasks with harbor_jobs/<model>/<job>

Written from Harbor's own documented files and from docs/metrics.md, not from the reader in crates/ingest, with nothing but
the standard library of Python 3.11. `crates/cli/tests/harbor_differential.rs` compares the two. What is unknown is null.
"""
import json, math, os, re, sys, tomllib
from datetime import datetime, timedelta
from pathlib import Path

# Why an exception ended an episode. A row has a letter each for set-up, the agent's work and the tests; names of types, with
# their module where the traceback has it (* is any name); and behind ^ how the message begins. The first row that fits counts.
CAUSES = {"f": "failed", "p": "provider", "e": "environment", "c": "cancelled", "b": "budget", "n": "unfinished"}
# Looked at further: s HTTP status, else provider; i who was called, then status, else provider; j who was called; r refused
# requests; w what is wrapped; h only before the first step the environment; ? status, then who was called.
TABLE = r"""
ccc CancelledError KeyboardInterrupt UserCancelledError OperationCancelled UserInterruption
fff AgentTimeoutError VerifierTimeoutError RewardFileNotFoundError RewardFileEmptyError VerifierOutputParseError OutputTokenExceededError
    OutputLengthExceededError ContextWindowExceededError ContextLengthExceededError ParseError AgentSafetyRefusalError FunctionCall*Error
    LengthFinishReasonError ContentFilterFinishReasonError ContentPolicyViolationError JSONSchemaValidationError LLMContextWindowExceedError
    LLMMalformedActionError LLMNoActionError LLMResponseError FormatError NoCondensationAvailableException LLMContentPolicyViolationError
hee HealthcheckError
efe SandboxLikelyOutOfMemoryError MemoryLimitExceededError ContentTooLargeError
eee harbor.environments.*
epe ApiError ^Command failed \(exit\b
ese ApiError NotImplementedError ClientError EventStreamError Timeout ^headers: \{|An error occurred \(|litellm\.Timeout:
eee * ^\d{3} (Client|Server) Error for http\+docker://|UnixHTTPConnectionPool\(|Error while fetching server API version:
eee AgentSetupTimeoutError EnvironmentStartTimeoutError EnvironmentBuildTimeoutError AddTestsDirError DownloadVerifierDirError SandboxBuildFailedError
    GKEExecStreamClosedError GKEPodNotFoundError SSHAccessError InfrastructureTimeout CreateOutcomeUnknown RequestThrottled EndpointCredentialExpired
    SbxCommandError ImageMirrorError ImageRegistryUnavailableError TransferError DspyImportError UnsupportedDockerfileError RuntimeRequestError
    ServiceOperationsUnsupportedError VercelScopeError MissingExtraError RegradeError NotAuthenticatedError ApiKeyRejectedError
    RefreshTokenExpiredError LeaderboardAPIError HostedQuotaExceededError ApiError MemoryError ImageNotFound BuildError ImageLoadError DockerException
    ContainerError TLSParameterError StoreError CredentialsNotFound ApiException Daytona*Error Sandbox*Error RateLimitException CommandExitException
    SmolError PollingTimeout WebSocketConnectionError harbor.auth.* harbor.hosted.* harbor.hub.* harbor.upload.* harbor.viewer.* harbor.server.*
    docker.* daytona.* daytona_sdk.* e2b.* modal.* runloop_api_client.* kubernetes.*
epe ApiRateLimitError ApiUsageLimitError ApiInternalServerError ApiOverloadedError ApiConnectionClosedError ApiResponseStalledError ApiConnectionError
    UnknownApiError AgentAuthenticationError NetworkConnectionError LLMRateLimitError LLMTimeoutError LLMServiceUnavailableError
    LLMAuthenticationError LLMNoResponseError
ppp ApiProviderResourceNotFoundError ModelNotFoundError UnsupportedModelParametersError MissingModelCredentialError RejectedRequestError
    GuardrailRaisedException UnsupportedParamsError LiteLLMUnknownProvider ModelNotMappedError UnsupportedEndpointError LLMContextWindowTooSmallError
    ProfileNotFound
bbb BudgetExceededError LimitsExceeded TimeExceeded
ere BadRequestError UnprocessableEntityError HTTPValidationError LLMBadRequestError LLMMalformedConversationHistoryError
ewf ConversationRunError ExceptionGroup BaseExceptionGroup tenacity.*
ewf RetryError ^RetryError\[<Future
eff InvalidURL UnsupportedProtocol LocalProtocolError StreamError ResponseNotRead LocationParseError NonZeroAgentExitCodeError TimeoutError
ese openai.* anthropic.* litellm.* mistralai.* cohere.* google.genai.* minisweagent.models.* RateLimitError InternalServerError APIConnectionError
    APITimeoutError APIStatusError APIError ConflictError OverloadedError ServiceUnavailableError GatewayTimeoutError RequestTimeoutError
    PaymentRequiredError AuthenticationError PermissionDeniedError NotFoundError OAuthError CredentialsError WorkloadIdentityError BadGatewayError
    APIResponseValidationError MidStreamFallbackError RouterRateLimitError UnknownApiResponseError ServerError SDKError ResponseValidationError
    NoResponseError TooManyRequestsError UnauthorizedError ForbiddenError InvalidTokenError OpenRouter*Error Requesty*Error
eie ClientError RetryError Timeout httpx.* httpx2.* httpcore.* aiohttp.* requests.* urllib3.* urllib.* botocore.* ConnectError ReadError WriteError CloseError NetworkError
    TransportError RemoteProtocolError ProxyError ConnectTimeout ReadTimeout WriteTimeout PoolTimeout HTTPStatusError HTTPError ClientConnectorError
    ServerDisconnectedError ClientPayloadError ClientOSError ClientResponseError ServerTimeoutError SocketTimeoutError ConnectionTimeoutError
    ChunkedEncodingError MaxRetryError ProtocolError NewConnectionError NameResolutionError ReadTimeoutError ConnectTimeoutError IncompleteRead
    EndpointConnectionError ConnectionClosedError HTTPClientError NoCredentialsError ConnectionError ConnectionResetError ConnectionRefusedError
    ConnectionAbortedError BrokenPipeError SSLError SSLCertVerificationError gaierror
eef FileNotFoundError CalledProcessError ^\[Errno 2\] No such file or directory: 'docker'|Command '\['(docker|podman|kubectl)'
eef ImportError ModuleNotFoundError
ejf JSONDecodeError
hee RuntimeError ^Step '[^']*' setup\.sh exited with code
eee RuntimeError OSError ^\[Errno (5|12|23|24|28|30)\]|Docker compose command failed for environment|Container did not become ready for exec
    |Egress control sidecar did not become|Docker SSH access has not been started|Task declares \[environment\]\.os =|Failed to build the Podman egress|docker compose (build|up|cp) failed:
    |download_dir: docker compose cp|docker compose stop|Docker daemon not ready after|Main container not running after|Sandbox not found\. Please
    |Sandbox is not running|Client manager not initialized\.|Failed to remove verifier reward files \(|Failed to start tmux session\. Error:
    |Agent install failed:|Agent setup failed with exit code|[^:]+: failed to send [^']*stderr='(Error response from daemon|service "main" is not)
eff RuntimeError OSError FileNotFoundError PermissionError CalledProcessError UnicodeDecodeError UnicodeEncodeError ValueError KeyError TypeError
    IndexError AttributeError AssertionError NotImplementedError Exception
e?f *"""
ROWS = []
for row in re.split(r"\n(?=\S)", TABLE.strip()):
    types, _, begin = row[4:].partition("^")
    names = "|".join(re.escape(name).replace(r"\*", r"[\w.]*") for name in types.split())
    ROWS.append((row[:3], re.compile(names), re.compile(re.sub(r"\n *", "", begin).rstrip("|"))))
STATUS = re.compile(r"Error code: (\d{3}) - |(\d{3}) [A-Z_]+\. \{|API error occurred: Status (\d{3})|headers: \{.*\}, status_code: (\d{3}), "
                    r"|An error occurred \((\w+)\) when calling|(?:Client|Server) error '(\d{3}) |(\d{3}) (?:Client|Server) Error: |(\d{3}), message=", re.S)
CALLED = re.compile(r"(/harbor/environments/|/asyncio/subprocess\.py|-packages/(?:docker|kubernetes|daytona\w*|e2b|modal|runloop_api_client)/)"
                    r"|-packages/(?:openai|anthropic|litellm|google/genai|mistralai|cohere)/|/harbor/llms/")
SETUP, AGENT, TESTS, AFTER = range(4)


def cause_of(raised, stage, later=False, took=math.inf):
    """The letter of an exception; `later`: not in the first step; `took`: seconds of its phase."""
    kind, message, trace = (str(raised.get(f"exception_{key}") or "") for key in ("type", "message", "traceback"))
    full = re.findall(rf"^((?:[A-Za-z_]\w*\.)*{re.escape(kind)})(?::|$)", trace, re.M)
    letter = next(row[0][stage] for row in ROWS if any(row[1].fullmatch(n) for n in (*full[-1:], kind)) and row[2].match(message))
    block = re.split(r"\n\n(?:The above exception was|During handling of the above)", trace)[0]
    first = ([("", "")] + re.findall(r"^(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)(?:: ?(.*))?$", block, re.M))[-1]
    if stage and kind in ("AgentTimeoutError", "VerifierTimeoutError"):  # made of any time-out within the phase
        limit = re.search(r"timed out after ([\d.]+) seconds", message)
        if first[0] == "TimeoutError" or stage == AGENT and first[0] == "CancelledError" and limit and took < 0.98 * float(limit[1]) - 2:
            letter = "j"  # whom it waited for
        elif first[0] not in ("CancelledError", kind, ""):
            letter = "w"
    if letter == "w":
        named = re.search(r"raised (\w+)>|^[ |]*\| (?:\w+\.)*(\w*(?:Error|Exception|Timeout))(?::|$)", f"{message}\n{trace}", re.M)
        inner = (named[1] or named[2], "") if named else first
        return cause_of({"exception_type": inner[0], "exception_message": inner[1], "exception_traceback": block}, stage) if inner[0] != kind else "f"
    files = re.findall(r'File "([^"\n]+)"', block)
    called = [found[1] or "" for found in map(CALLED.search, files[-1:] if letter == "?" else files) if found][-1:]
    code = next(filter(None, (STATUS.match(message) or STATUS.match("000, message=")).groups()))
    if letter == "r" or code in ("400", "413", "422", "ValidationException") and (letter in "s?" or letter == "i" and called < ["/"]):
        return "p" if "'message': 'Your credit balance is too low" in message else "f"
    http = kind != "JSONDecodeError" and re.search(r"-packages/(aiohttp|httpx2?|httpcore|requests|urllib3)/", block)
    by_code, engine = "p" if re.match(r"40[123489]$|429$|5|\D", code) else "", called > [""]
    by_call = ("f" if kind == "JSONDecodeError" else "e") if engine else "p" if stage == AGENT and (called or letter == "j" and http) else "f"
    return {"h": "f" if later else "e", "s": "p", "i": "e" if engine else "p", "j": by_call, "?": by_code or by_call}.get(letter, letter)


def load(path):
    """A JSON object; None where there is no file, False where it cannot be read."""
    try:
        value = json.loads(path.read_bytes().decode("utf-8-sig", "replace"))
        return value if isinstance(value, dict) else False
    except (OSError, ValueError) as error:
        return None if isinstance(error, OSError) else False


def number(value, least=0):
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= least else None


def count(value):
    return int(value) if number(value) is not None and value == int(value) and value <= 10**12 else None


def total(values):
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def moment(value):
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def seconds(phase):
    begin, end = moment(phase.get("started_at")), moment(phase.get("finished_at"))
    usable = begin and end and (begin.tzinfo is None) == (end.tzinfo is None) and begin <= end
    return (end - begin).total_seconds() if usable else None


def judge(rewards):
    """Verdict and reward: `reward` decides, or the only one there is; of several others all must pass."""
    rewards = rewards if isinstance(rewards, dict) else {}
    decisive = [number(+r if isinstance(r, bool) else r, -math.inf) for r in ([rewards["reward"]] if "reward" in rewards else rewards.values())]
    verdict = "none" if not decisive or None in decisive else "passed" if min(decisive) >= 0.999 else "failed"
    return verdict, decisive[0] if len(decisive) == 1 else None


def judge_files(folder):
    try:
        rewards = load(folder / "reward.json")
        return judge({"reward": float((folder / "reward.txt").read_text())} if rewards is None else rewards)
    except (OSError, ValueError):
        return "none", None


def transcript(folder):
    """What a trajectory and its continuations say, without what they repeat; None without one."""
    name, seen, own, stated = "trajectory.json", [], [], {}
    while isinstance(name, str) and name not in seen and (part := load(folder / Path(name).name)):
        seen.append(name)
        own += [e for e in part.get("steps") or [] if isinstance(e, dict) and not e.get("is_copied_context")]
        stated, name = part.get("final_metrics") or stated, part.get("continued_trajectory_ref")
    if not seen:
        return None
    entries = [(e, e.get("metrics") or {}) for e in own if e.get("source") == "agent"]

    def is_no_call(e, metrics):
        given = (e.get("observation") or {}).get("results") or []
        silent = not e.get("tool_calls") and not e.get("reasoning_content") and not metrics.get("completion_tokens")
        repeats = not e.get("message") or len(given) == 1 and given[0].get("content") == e["message"]
        return e.get("llm_call_count") == 0 or not e.get("llm_call_count") and silent and bool(given) and (repeats or all(r.get("source_call_id") for r in given))

    each = [[count(m.get(k)) for k in ("prompt_tokens", "cached_tokens", "completion_tokens")] for _, m in entries]
    tokens = [count(stated.get(k)) for k in ("total_prompt_tokens", "total_cached_tokens", "total_completion_tokens")]
    whole = tokens if any(tokens) else [total(column) for column in zip(*each)]
    return {"calls": sum(not is_no_call(*e) for e in entries), "tools": sum(len(e.get("tool_calls") or []) for e, _ in entries),
            "tokens": whole if any(whole) else [None] * 3, "cost": number(stated.get("total_cost_usd")) or None,
            "estimated": (stated.get("extra") or {}).get("cost_source") == "litellm_estimate",
            "beside": any(None not in (i, c) and c > i for i, c, _ in each), "messages": [(e.get("source"), json.dumps(e.get("message"))) for e in own]}


def stage_of(raised, work, tests, verdict):
    at, (begin, end, test, done) = moment(raised.get("occurred_at")), (moment(p.get(k)) for p in (work, tests) for k in ("started_at", "finished_at"))
    if not at or len({t.tzinfo is None for t in (at, begin, end, test, done) if t}) > 1:
        return TESTS if test and verdict == "none" else AGENT if begin else SETUP
    second = timedelta(seconds=1)  # the record follows the stamp
    if not begin or at < begin:
        return SETUP
    if test and at > test:
        return AFTER if done and at > done + second else TESTS
    return AGENT if not end or at <= end + second else SETUP


def read_step(name, said, folder, result, at, of, harness):
    """A step, `said` in the trial's result; without one (None), or an unreadable one (False), its folder has the verdict."""
    verdict, reward = judge((said.get("verifier_result") or {}).get("rewards")) if result else judge_files(folder / "verifier")
    work, tests, context = (said.get(key) or {} for key in ("agent_execution", "verifier", "agent_result"))
    raised, script = said.get("exception_info") or at == of and (result or {}).get("exception_info"), transcript(folder / "agent")
    stage = stage_of(raised, work, tests, verdict) if raised else AFTER
    cause = "n" if result is None and verdict == "none" else "f"
    if stage == AGENT or stage != AFTER and verdict == "none":
        cause = cause_of(raised, stage, at > 1 and not work, seconds(work) or math.inf)
    tokens, cost = [count(context.get(k)) for k in ("n_input_tokens", "n_cache_tokens", "n_output_tokens")], number(context.get("cost_usd"))
    if script and (tokens == [None] * 3 or not any(tokens) and script["calls"]):
        tokens, cost = script["tokens"], script["cost"] if cost is None else cost
    if tokens[0] == 0 and tokens[2] or harness == "goose" and tokens[2] is None:  # not counted; a sum of input and output
        tokens = [None, *tokens[1:]]
    if cost == 0 and harness in ("swe-agent", "mini-swe-agent", "cline-cli", "openhands-sdk"):
        cost = None
    beside = bool(script and script["beside"]) or None not in tokens[:2] and tokens[1] > tokens[0]
    return {"step": name, "beside": beside, "verdict": verdict, "reward": reward, "cause": cause, "tokens": tokens, "cost_usd": cost, "script": script,
            "agent_seconds": seconds(work), "test_seconds": seconds(tests), "steps": script and script["calls"], "tool_calls": script and script["tools"]}


def resumed(turns, harness):
    """A session that goes on from step to step is told from its begin each time: a step spent the difference."""
    told = [turn for turn in turns if turn["script"]]
    pairs = [(a, b, all(m in rest for rest in [iter(b["script"]["messages"])] for m in a["script"]["messages"])) for a, b in zip(told, told[1:])]
    grown = all(again and all((x or 0) <= (y or 0) for x, y in zip(a["tokens"], b["tokens"])) for a, b, again in pairs) and harness != "hermes"
    for before, turn, _ in reversed([pair for pair in pairs if pair[2]]):
        for key in ["steps", "tool_calls"] + ["cost_usd"] * (grown and (harness != "claude-code" or turn["script"]["estimated"])):
            turn[key] = turn[key] - before[key] if None not in (before[key], turn[key]) and before[key] <= turn[key] else turn[key]
        turn["tokens"] = [y if None in (x, y) else y - x for x, y in zip(before["tokens"], turn["tokens"])] if grown else turn["tokens"]


def read_trial(folder, tasks):
    result = load(folder / "result.json")
    said = result or {}
    config = said.get("config") or load(folder / "config.json") or {}
    task, agent, info = config.get("task") or {}, config.get("agent") or {}, said.get("agent_info") or {}
    place, harness = Path(str(task.get("path"))).name, agent.get("name") or info.get("name")
    name = said.get("task_name") or task.get("name") or place
    log = (folder / "trial.log").read_text("utf-8", "replace") if (folder / "trial.log").exists() else ""
    begun = re.findall(r"^Starting step \d+/(\d+): (.*)$", log, re.M)
    parts = [(str(s.get("step_name")), s) for s in said.get("step_results") or []] or [(step, {}) for _, step in begun if not result]
    left = sorted((folder / "steps").glob("*"), key=lambda p: [int(n) if n.isdigit() else n for n in re.split(r"(\d+)", p.name)]) if not result else []
    parts = parts or [(step.name, {}) for step in left]
    ran = said.get("agent_execution") or said.get("verifier") or (folder / "verifier").exists()
    declared = tasks.get(name) or tasks.get(place) or (int(begun[0][0]) if begun else 1 if ran and not parts else 0)
    parts = parts or [(None, said)]
    turns = [read_step(s, part, folder / "steps" / s if s else folder, result, i, len(parts), harness) for i, (s, part) in enumerate(parts, 1)]
    if agent.get("resume_trajectory"):
        resumed(turns, harness)
    if not declared and result and turns[-1]["verdict"] == "passed" and not said.get("exception_info"):
        declared = len(turns)  # only a step that was not passed ends a trial early
    return {"trial": folder.name, "id": (said.get("id") or config.get("trial_name"), said.get("started_at") or "~"), "task": name, "harness": harness,
            "model": agent.get("model_name") or "", "declared": declared, "begun": len(turns) if parts[0][0] else 0, "ended": result is not None,
            "turns": turns, "raised": said.get("exception_info")}


def sums(parts):
    tokens = {key: total(part["tokens"][key] for part in parts) for key in ("input", "cached", "output")}
    return {key: total(part[key] for part in parts) for key in ("steps", "tool_calls", "agent_seconds", "test_seconds", "cost_usd")} | {"tokens": tokens}


def read_run(name, trials, version):
    trials.sort(key=lambda trial: trial.pop("id")[1])
    beside = any(turn["beside"] for trial in trials for turn in trial["turns"])
    for at, trial in enumerate(trials):
        harness, model, turns, raised = trial["harness"], trial["model"], trial["turns"], trial.pop("raised")
        trial["repeat"] = 1 + sum(before["task"] == trial["task"] for before in trials[:at])
        of_task = [other for other in trials if other["task"] == trial["task"]]
        declared = max(other["declared"] for other in of_task)
        stamina = next((i for i, turn in enumerate(turns) if turn["verdict"] != "passed"), len(turns))
        cause = turns[stamina]["cause"] if stamina < len(turns) else None
        if len(turns) == stamina and (stamina < declared or not declared and not trial["ended"]):  # it ended between two steps
            cause = cause_of(raised, SETUP, True) if raised else "n"
        trial |= {"planned": declared or max(other["begun"] for other in of_task) or None, "stamina": stamina, "event": cause == "f", "cause": CAUSES.get(cause)}
        add = beside or harness == "junie" or harness == "cline-cli" and version < [0, 13] or harness == "trae-agent" and re.search("anthropic|claude", model)
        for turn in turns:
            read, cached, written = turn["tokens"]
            turn["tokens"] = {"input": read + (cached or 0) if add and read is not None else read, "cached": cached, "output": written}
            del turn["script"], turn["beside"]
        trial |= sums(turns)
        if any(turn["cost_usd"] is None and (turn["tokens"]["input"], turn["tokens"]["output"]) != (0, 0) for turn in turns):
            trial["cost_usd"] = None
    events, known = sum(trial["event"] for trial in trials), sum(trial["cost_usd"] is not None for trial in trials)
    return {"run": name, "n": len(trials), "events": events, "censored": len(trials) - events, "cost_known": known, "trials": trials} | sums(trials)


def main(root):
    tasks, runs = {}, {}
    for path in root.rglob("task.toml"):
        task = tomllib.loads(path.read_text("utf-8"))
        tasks |= dict.fromkeys((path.parent.name, (task.get("task") or {}).get("name")), len(task.get("steps") or []) or 1)
    for at, folders, _ in os.walk(root):
        folder, folders[:] = Path(at), sorted(f for f in folders if not f.startswith("."))
        head, job = [load(folder / name) for name in ("config.json", "result.json")], folder.parent
        if any(h and ("trial_name" in h or "task_name" in h) for h in head) or False in head and re.search(r"__\w{7}$", folder.name):
            folders.clear()
            trial, lock = read_trial(folder, tasks), load(job / "lock.json") or {}
            group = job.parent.name if job.parent.parent.name == "harbor_jobs" else str(job.relative_to(root.parent))
            version = (lock.get("harbor") or {}).get("version") or "99"
            runs.setdefault((group, trial["harness"], trial["model"], version), {}).setdefault(trial["id"], trial)
    found = [read_run(key[0], list(trials.values()), [int(n) for n in key[3].split(".")[:2]]) for key, trials in runs.items()]
    json.dump({"runs": found}, sys.stdout, indent=1)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
