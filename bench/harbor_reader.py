#!/usr/bin/env python3
"""Reads Harbor jobs, independently of Stamina Lab, and prints as JSON the runs, their trials and turns; unknown is null.

    harbor_reader.py DIR        a trial, a job, a folder of jobs, or tasks with harbor_jobs/<model>/<job>

Written from Harbor's own files, its documented model and docs/metrics.md, not from crates/ingest, with nothing but the standard
library of Python 3.11. Whose failure an exception was stands in `harbor_exceptions.txt`, which was written off the packages.
`crates/cli/tests/harbor_differential.rs` compares the two on every fixture.
"""
import json, math, os, re, sys, tomllib
from datetime import datetime, timedelta
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path

# Why an exception ended an episode: `harbor_exceptions.txt` explains the letters.
CAUSES = {"f": "failed", "v": "verifier", "p": "provider", "e": "environment", "c": "cancelled", "b": "budget", "n": "unfinished"}
LINES = re.sub(r"\n +", " ", re.sub(r"(?m)^#.*\n|^\n", "", Path(__file__).with_name("harbor_exceptions.txt").read_text("utf-8"))).splitlines()
SAYS = [(line[:3], line[4:].split(": ^")[0].split(), re.compile(line.split(": ^")[1])) for line in LINES if ": ^" in line]
RAISED = [(line[:3], owner, kind) for line in LINES if ": ^" not in line for owner in line[4:].split(": ")[0].split() for kind in line.split(": ")[1].split()]
STATUS = re.compile(r"Error code: (\d{3}) - |(\d{3}) [A-Z_]+\. \{|API error occurred: Status (\d{3})|headers: \{.*\}, status_code: (\d{3}), "
                    r"|An error occurred \((\w+)\) when calling|(?:Client|Server) error '(\d{3}) |(\d{3}) (?:Client|Server) Error: |(\d{3}), message=", re.S)
CALLED = re.compile(r"(/harbor/environments/|/asyncio/subprocess\.py|-packages/(?:docker|kubernetes|daytona\w*|e2b|modal|runloop_api_client)/)"
                    r"|-packages/(?:openai|anthropic|litellm|google/genai|mistralai|cohere)/|/harbor/llms/")
SETUP, AGENT, TESTS, AFTER, SECOND = 0, 1, 2, 3, timedelta(seconds=1)


def letters_of(kind, module, message):
    """What an exception says at each stage: by how its message begins, by the package that raises it, else by its name alone."""
    for letters, types, begin in SAYS:
        if any(fnmatch(kind, pattern) for pattern in types) and begin.match(message):
            return letters
    named = [(letters, owner, pattern) for letters, owner, pattern in RAISED if fnmatch(kind, pattern)]
    if module:
        named = [row for row in named if f"{module}.".startswith(f"{row[1]}.")]
        named.sort(key=lambda row: (row[2] == "*", -len(row[1])))  # the type itself before its package, and the nearest package
    else:
        named = sorted((row for row in named if row[2] != "*"), key=lambda row: row[1] != "?")
    return named[0][0] if named else "e?v"


def cause_of(raised, stage, later=False, took=math.inf):
    """The letter of an exception; `later`: not in the first step; `took`: seconds of its phase."""
    kind, message, trace = (str(raised.get(f"exception_{key}") or "") for key in ("type", "message", "traceback"))
    full = re.findall(rf"^((?:[A-Za-z_]\w*\.)*{re.escape(kind)})(?::|$)", trace, re.M)
    module = full[-1].rpartition(".")[0] or "builtins" if full else None
    letter, lost = letters_of(kind, module, message)[stage], "fv"[stage == TESTS]
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
        return cause_of({"exception_type": inner[0], "exception_message": inner[1], "exception_traceback": block}, stage) if inner[0] != kind else lost
    files = re.findall(r'File "([^"\n]+)"', block)[-1 if letter == "?" else 0:]
    called = [found[1] or "" for found in map(CALLED.search, files) if found][-1:]
    code = next(filter(None, (STATUS.match(message) or STATUS.match("000, message=")).groups()))
    if letter == "r" or code in ("400", "413", "422", "ValidationException") and (letter in "s?" or letter == "i" and called < ["/"]):
        return "p" if "'message': 'Your credit balance is too low" in message else lost
    json_error, engine, by_code = kind == "JSONDecodeError", called > [""], "p" if re.match(r"40[123489]$|429$|5|\D", code) else ""
    http = letter == "j" and not json_error and re.search(r"-packages/(aiohttp|httpx2?|httpcore|requests|urllib3)/", block)
    by_call = "fe"[not json_error] if engine else "p" if stage == AGENT and (called or http) else lost
    return {"h": "f" if later else "e", "s": "p", "i": "e" if engine else "p", "j": by_call, "?": by_code or by_call}.get(letter, letter)


def load(path):
    """A JSON object; None where there is no file, False where it cannot be read."""
    try:
        return value if isinstance(value := json.loads(path.read_bytes().decode("utf-8-sig", "replace")), dict) else False
    except (OSError, ValueError) as error:
        return None if isinstance(error, OSError) else False


def typed(value, kind=dict):
    return value if isinstance(value, kind) else kind()


def number(value, least=0):
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= least else None


def count(value):
    return int(value) if number(value) is not None and value == int(value) and value <= 10**12 else None


def total(values):
    return sum(known) if (known := [value for value in values if value is not None]) else None


def words(said):  # of a message, or of what a tool gave: a text, or a list of parts
    return " ".join(str(part.get("text", part) if isinstance(part, dict) else part) for part in typed(said, list) or [said or ""]).split()


def moment(value):
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def seconds(phase):
    begin, end = moment(phase.get("started_at")), moment(phase.get("finished_at"))
    return (end - begin).total_seconds() if begin and end and (begin.tzinfo is None) == (end.tzinfo is None) and begin <= end else None


def judge(rewards):
    """Verdict and reward: `reward` decides, or the only one there is; of several others all must pass."""
    rewards = typed(rewards)
    decisive = [number(+r if isinstance(r, bool) else r, -math.inf) for r in ([rewards["reward"]] if "reward" in rewards else rewards.values())]
    verdict = "none" if None in (decisive or [None]) else "passed" if min(decisive) >= 0.999 else "failed"
    return verdict, decisive[0] if len(decisive) == 1 else None


def judge_files(folder):
    try:
        return judge({"reward": float((folder / "reward.txt").read_text())} if (said := load(folder / "reward.json")) is None else said)
    except (OSError, ValueError):
        return "none", None


def transcript(folder):
    """What a trajectory and its continuations say, without what they repeat; None without one."""
    name, seen, own, stated = "trajectory.json", [], [], {}
    while isinstance(name, str) and name not in seen and (whole := load(folder / Path(name).name)):
        entries = whole.get("steps") or []
        if not isinstance(entries, list) or any(not isinstance(e, dict) or not isinstance(e.get("tool_calls") or [], list) for e in entries):
            break  # it cannot be read
        seen, own = [*seen, name], own + [e for e in entries if not e.get("is_copied_context")]
        stated, name = typed(whole.get("final_metrics")) or stated, whole.get("continued_trajectory_ref")
    entries = [(e, typed(e.get("metrics"))) for e in own if e.get("source") == "agent"]

    def is_call(e, metrics):  # of the model; some entries only hold what a tool gave
        given = [typed(r) for r in typed(typed(e.get("observation")).get("results"), list)]
        spoke = e.get("tool_calls") or words(e.get("reasoning_content")) or count(metrics.get("completion_tokens")) or not given
        more = (says := words(e.get("message"))) and says != [word for r in given for word in words(r.get("content"))] and not all(r.get("source_call_id") for r in given)
        return bool(spoke or more) if (called := count(e.get("llm_call_count"))) is None else called > 0
    each = [[count(m.get(k)) for k in ("prompt_tokens", "cached_tokens", "completion_tokens")] for _, m in entries]
    stated_tokens = [count(stated.get(k)) for k in ("total_prompt_tokens", "total_cached_tokens", "total_completion_tokens")]
    whole = stated_tokens if any(stated_tokens) else [total(column) for column in zip(*each)]
    return {
        "calls": sum(is_call(*e) for e in entries), "tools": sum(len(typed(e.get("tool_calls"), list)) for e, _ in entries),
        "tokens": whole if any(whole) else [None] * 3, "cost": number(stated.get("total_cost_usd")) or None,
        "estimated": typed(stated.get("extra")).get("cost_source") == "litellm_estimate",
        "beside": any(None not in (i, c) and c > i for i, c, _ in each), "messages": [(e.get("source"), json.dumps(e.get("message"))) for e in own],
    } if seen else None


def stage_of(raised, work, tests, verdict):
    at, (begin, end, test, done) = moment(raised.get("occurred_at")), (moment(p.get(k)) for p in (work, tests) for k in ("started_at", "finished_at"))
    if not at or len({t.tzinfo is None for t in (at, begin, end, test, done) if t}) > 1:
        return TESTS if test and verdict == "none" else AGENT if begin else SETUP
    if not begin or at < begin:
        return SETUP
    if test and at > test:
        return AFTER if done and at > done + SECOND else TESTS  # the record follows the stamp
    return AGENT if not end or at <= end + SECOND else SETUP


def read_step(name, said, folder, result, at, of, harness):
    """A step, `said` in the trial's result; without one (None), or an unreadable one (False), its folder has the verdict."""
    rewards = typed(said.get("verifier_result")).get("rewards")
    verdict, reward = judge(rewards) if result else judge_files(folder / "verifier")
    work, tests, context = (typed(said.get(key)) for key in ("agent_execution", "verifier", "agent_result"))
    raised, script = typed(said.get("exception_info")) or typed(at == of and (result or {}).get("exception_info")), transcript(folder / "agent")
    stage = stage_of(raised, work, tests, verdict) if raised else AFTER
    says_why = stage == AGENT or stage != AFTER and verdict == "none"
    cause = cause_of(raised, stage, at > 1 and not work, seconds(work) or math.inf) if says_why else "n" if result is None and verdict == "none" else "vf"[verdict == "failed"]
    if cause == "f" and verdict == "none" and stage == AGENT and moment(tests.get("finished_at")) and cause_of(raised, TESTS) != "f":
        cause = "v"  # nothing proves whose it was, and tests that ran do not need the agent to end well
    tokens, cost = [count(context.get(k)) for k in ("n_input_tokens", "n_cache_tokens", "n_output_tokens")], number(context.get("cost_usd"))
    if script and (tokens == [None] * 3 or not any(tokens) and script["calls"]):
        tokens, cost = script["tokens"], script["cost"] if cost is None else cost
    tokens = [None, *tokens[1:]] if tokens[0] == 0 and tokens[2] or harness == "goose" and tokens[2] is None else [None] * 3 if not any(tokens) and (not script or script["calls"]) else tokens  # not counted; a sum of input and output; nobody uses none
    cost = None if cost == 0 and harness in ("swe-agent", "mini-swe-agent", "cline-cli", "openhands-sdk") else cost  # no price known
    beside = bool(script and script["beside"]) or None not in tokens[:2] and tokens[1] > tokens[0]
    return {"step": name, "verdict": verdict, "reward": reward, "cause": cause, "tokens": tokens, "cost_usd": cost,
            "agent_seconds": seconds(work), "test_seconds": seconds(tests), "steps": script and script["calls"], "tool_calls": script and script["tools"],
            "script": script, "beside": beside, "all_pass": bool(typed(rewards)) and all((number(+r if isinstance(r, bool) else r) or 0) >= 0.999 for r in rewards.values())}


def resumed(turns, harness):
    """A session that goes on from step to step is told from its begin each time: a step spent the difference to the one before. Over a
    step that does not say a number only the sum is known: then what the whole session spent is given, where its last step says it."""
    told = [at for at, turn in enumerate(turns) if turn["script"]]
    pairs = [(a, b, all(m in rest for rest in [iter(turns[b]["script"]["messages"])] for m in turns[a]["script"]["messages"])) for a, b in zip(told, told[1:])]
    columns = [[turns[at]["tokens"][i] for at in told if turns[at]["tokens"][i] is not None] for i in range(3)]
    grown = bool(pairs) and all(again for *_, again in pairs) and harness != "hermes" and all(column == sorted(column) for column in columns)
    for before, at, _ in reversed([pair for pair in pairs if pair[2]]):
        for key in ("steps", "tool_calls"):
            x, y = turns[before][key], turns[at][key]
            turns[at][key] = y - x if None not in (x, y) and x <= y else y
            turns[at][key] = turns[at][key] if at == before + 1 else None
    priced = grown and (harness != "claude-code" or all(turns[at]["script"]["estimated"] for at in told))
    tokens = [spent([turn["tokens"][i] for turn in turns], told) if grown else None for i in range(3)]
    cost = spent([turn["cost_usd"] for turn in turns], told) if priced else None
    for at, turn in enumerate(turns):
        turn["tokens"] = [each[0][at] if each else turn["tokens"][i] for i, each in enumerate(tokens)]
        turn["cost_usd"] = cost[0][at] if cost else turn["cost_usd"]
    gaps = grown and any(each[2] for each in tokens) and all(each[1] is not None or set(each[0]) == {None} and not each[2] for each in tokens)
    return {"tokens": [each[1] for each in tokens] if gaps else None, "cost_usd": cost[1] if cost and cost[2] else None}


def spent(said, told):
    """What each step spent of a number that is said from the session's begin, what all of them did, and whether a step hides in a sum."""
    each, last, gap, hidden = list(said), None, False, False
    for at in range(told[0] if told else 0, len(said)):
        if said[at] is None:
            gap = True
        elif at in told:
            each[at] = None if gap else said[at] - (last or 0) if (last or 0) <= said[at] else said[at]
            last, gap, hidden = said[at], False, hidden or gap
    whole = told[:1] == [0] and told[-1] == len(said) - 1 and all(at in told or said[at] is None for at in range(len(said)))
    return each, said[-1] if whole else None, hidden


def read_trial(folder, tasks):
    result = load(folder / "result.json")
    said = result or {}
    config = typed(said.get("config")) or load(folder / "config.json") or {}
    task, agent, info = typed(config.get("task")), typed(config.get("agent")), typed(said.get("agent_info"))
    place, harness = Path(str(task.get("path"))).name, agent.get("name") or info.get("name")
    name = said.get("task_name") or task.get("name") or place
    begun = re.findall(r"^Starting step \d+/(\d+): (.*)$", log.read_text("utf-8", "replace") if (log := folder / "trial.log").exists() else "", re.M)
    parts = [(str(step.get("step_name")), step) for step in map(typed, typed(said.get("step_results"), list))]
    if not result:
        left = sorted((len(step.name), step.name) for step in (folder / "steps").glob("*"))  # round-2 before round-10
        parts = [(step, {}) for _, step in begun or left]
    ran = said.get("agent_execution") or said.get("verifier") or any(any((folder / d).glob("*")) for d in ("agent", "verifier"))
    own, single, parts = int(begun[0][0]) if begun else 0, ran and not parts, parts or [(None, said)]  # a trial of one step, or that began none
    turns = [read_step(step, part, folder / "steps" / step if step else folder, result, at, len(parts), harness) for at, (step, part) in enumerate(parts, 1)]
    whole = resumed(turns, harness) if agent.get("resume_trajectory") else {}
    if parts[0][0] and not own and result and turns[-1]["all_pass"] and not typed(said.get("exception_info")):
        own = len(turns)  # a step ends a trial early without a verdict, or with any reward below its `min_reward`, not only the decisive one
    return {"trial": folder.name, "id": tuple(value if isinstance(value, str) else "~" for value in (said.get("id") or config.get("trial_name"), said.get("started_at"))), "task": name, "harness": harness,
            "model": agent.get("model_name") or "", "agent": (agent.get("name") or info.get("name"), info.get("version"), agent.get("model_name")), "turns": turns, "whole": whole,
            "end": {"own": own, "of_task": tasks.get(name) or tasks.get(place), "single": single, "begun": len(turns) if parts[0][0] else 0, "ended": result and True, "raised": typed(said.get("exception_info")) or None}}


def sums(parts):
    tokens = {key: total(part["tokens"][key] for part in parts) for key in ("input", "cached", "output")}
    return {key: total(part[key] for part in parts) for key in ("steps", "tool_calls", "agent_seconds", "test_seconds", "cost_usd")} | {"tokens": tokens}


def end_of(trial, of_task):
    """How many turns were planned, how many were passed before the first that was not, and why that was the last."""
    turns, end, begun = trial["turns"], trial["end"], max(other["end"]["begun"] for other in of_task)  # at least so many
    declared = end["own"] or end["of_task"] or max(other["end"]["own"] for other in of_task) or int(not begun and any(other["end"]["single"] for other in of_task))
    stamina = next((at for at, turn in enumerate(turns) if turn["verdict"] != "passed"), len(turns))
    cause = turns[stamina]["cause"] if stamina < len(turns) else None
    if stamina == len(turns) and (stamina < declared or not declared and not end["ended"]):  # it ended between two steps
        cause = cause_of(end["raised"], SETUP, True) if end["raised"] else "n" if end["ended"] is None else "v"  # by a `min_reward`: the next step has no verdict
    return {"planned": declared or (begun if end["ended"] or stamina < begun else 0) or None, "stamina": stamina, "event": cause in ("f", "v"), "cause": CAUSES.get(cause)}


def read_run(name, trials, version, proofs):
    trials.sort(key=lambda trial: trial.pop("id")[1])
    beside = any(trial["agent"] in proofs for trial in trials)
    for at, trial in enumerate(trials):
        harness, model = trial["harness"], trial["model"]
        add = beside or harness == "junie" or harness == "cline-cli" and version < (0, 13) or harness == "trae-agent" and re.search("anthropic|claude", model)
        trial["repeat"] = 1 + sum(before["task"] == trial["task"] for before in trials[:at])
        trial |= end_of(trial, [other for other in trials if other["task"] == trial["task"]])
        whole = {key: value for key, value in trial.pop("whole").items() if value is not None}
        for part in [*trial["turns"], *[whole] * ("tokens" in whole)]:
            read, cached, written = part["tokens"]
            part["tokens"] = {"input": read + (cached or 0) if add and read is not None else read, "cached": None if read is None else cached, "output": written}
        for turn in trial["turns"]:
            del turn["script"], turn["beside"], turn["all_pass"]
        trial |= sums(trial["turns"])
        unpriced = [turn["tokens"] for turn in trial["turns"] if turn["cost_usd"] is None]  # what asked no model needs no price
        trial["cost_usd"] = None if any((t["input"], t["output"]) != (0, 0) for t in unpriced) else trial["cost_usd"] or 0
        trial |= whole
    counts = {"n": len(trials), "events": sum(t["event"] for t in trials), "censored": sum(not t["event"] for t in trials)}
    return {"run": name, **counts, "cost_known": sum(t["cost_usd"] is not None for t in trials), "trials": trials} | sums(trials)


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
            version = tuple(int(n) for n in re.findall(r"\d+", (lock.get("harbor") or {}).get("version") or "99"))
            runs.setdefault((group, trial["harness"], trial["model"], version), {}).setdefault(trial["id"], trial)
    proofs = {trial["agent"] for trials in runs.values() for trial in trials.values() if any(turn["beside"] for turn in trial["turns"])}
    json.dump({"runs": [read_run(key[0], list(trials.values()), key[3], proofs) for key, trials in runs.items()]}, sys.stdout, indent=1)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
