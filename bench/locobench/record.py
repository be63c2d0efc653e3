"""Records what LoCoBench-Agent itself writes, against a scripted model on this machine.

    python3 bench/locobench/record.py LoCoBench-Agent OUT

Needs the program (commit 1abacfd) and, from PyPI: numpy pandas tiktoken psutil radon lizard click rich openai
anthropic==0.125.0 google-generativeai GitPython tree-sitter aiohttp. The encodings of tiktoken cannot be loaded without a
network, so a tokenizer of four characters stands in for it. Everything else runs as its command line runs it.

Scenarios are named so that the scripted model knows what to do; OUT gets intermediate_agent_results/ and
evaluation_agent_results/. tests/fixtures/locobench/README.md says what of it is a fixture and what was changed by hand.
"""

import asyncio
import http.server
import json
import os
import pathlib
import sys
import threading
import time
import types

READ = ("file_system", "read_file", {"path": "src//main.py"})
LIST = ("file_system", "list_directory", {"path": "."})
WRITE = ("file_system", "write_file", {"path": "src//main.py", "content": "import os\n\n\ndef total_price(items):\n    return sum(items)\n"})
NEW = ("file_system", "write_file", {"path": "src//report.py", "content": "from main import total_price\n\n\ndef print_report(items):\n    print(total_price(items))\n"})
REJECTED = ("file_system", "write_file", {"path": "src//empty.py"})
OUTSIDE = ("file_system", "read_file", {"path": "/etc/hostname"})
ECHO = ("echo", "echo", {"message": "hello"})

# What the model answers, by the begin of a scenario's number: text, calls.
PLAYS = {
    "completed": [("I read the project first.", [READ, LIST]), ("As mentioned, I change it now.", [WRITE, NEW]), ("The analysis is done.", [])],
    "languages": [("Ich lese. 私は読む。 Читаю. \u05e7\u05d5\u05e8\u05d0. أقرأ", [READ]), ("Écrit : naïve façade", [WRITE]), ("Analysis \U0001f600 \u202e done", [])],
    "surrogate": [("half of a character \ud83d stays", [READ]), ("and goes on", [WRITE]), ("analysis", [])],
    "failing": [("I try.", [OUTSIDE, REJECTED]), ("Again.", [REJECTED, ECHO]), ("analysis", [])],
    "slow": [("thinking", [])] * 9,
    "stuck": [("I look once more.", [READ])] * 14,
    "refused": [],
    "unlimited": [],
    "idle": [("", [])] * 9,
    "throttled": [],
}

AGENTS = [("openai", "gpt-4o"), ("anthropic", "claude-3-5-sonnet-20241022"), ("google", "gemini-2.0-flash-exp")]
CATEGORIES = {"completed": "cross_file_refactoring", "languages": "code_comprehension", "surrogate": "bug_investigation", "failing": "security_analysis",
              "slow": "integration_testing", "stuck": "feature_implementation", "refused": "architectural_understanding", "unlimited": "multi_session_development",
              "idle": "code_comprehension", "throttled": "bug_investigation"}


def scenario(number, play):
    difficulty = ["easy", "medium", "hard", "expert"][number % 4]
    language = ["python", "rust", "go", "javascript"][number % 4]
    name = f"{language}_web_{play}_easy_{number:03}_{CATEGORIES[play]}_{difficulty}_01"
    phase = lambda key, title, actions, turns: {
        "phase_id": key, "name": title, "initial_prompt": f"{title}: play {play}.", "expected_actions": actions,
        "success_conditions": ["analysis"], "max_turns_in_phase": turns, "dynamic_prompts": {"stuck": "Go on.", "progress": "Go on."},
    }
    long = play in ("stuck", "slow", "idle")
    phases = [phase("exploration", "Exploration", ["write_file"] if long else ["read_file"], 2),
              phase("implementation", "Feature Implementation", ["write_file"], 12 if long else 2),
              phase("summary", "Summary", [], 2)]
    if play == "throttled":
        # A phase without a prompt ends the session as failed; after limits of the endpoint only, the program calls that `completed_with_throttling`.
        phases[-1]["initial_prompt"] = None
    return {
        "scenario_id": name, "title": f"Scenario {play}", "description": f"play:{play};", "category": "guided_multi_file_refactoring",
        "difficulty": difficulty, "context_files": ["src//main.py"], "working_directory": "project",
        "conversation_phases": phases,
        "available_tools": ["file_system", "echo", "calculator"], "max_turns": 20, "max_duration_minutes": 0.02 if play == "slow" else 30,
        "context_window_tokens": 500000,
        "project_files": [{"path": "src//main.py", "content": "def total(items):\n    return sum(items)\n", "type": "source", "size": 44},
                          {"path": "README.md", "content": "# Example\n", "type": "documentation", "size": 10}],
        "project_spec": {"name": "Example"}, "project_directory": None, "project_name": "example", "original_scenario": {"id": name},
    }


def play_of(text):
    return text.rsplit("play:", 1)[-1].split(";")[0] if "play:" in text else "completed"


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "badkey" in json.dumps(dict(self.headers)):
            return self.reply(401, {"error": {"message": "Incorrect API key", "type": "invalid_request_error", "code": "invalid_api_key"}})
        history = body["messages"]
        system = body.get("system") or " ".join(str(m["content"]) for m in history if m["role"] == "system")
        is_test = not body.get("tools") and len(history) <= 1
        play = play_of(system if isinstance(system, str) else json.dumps(system))
        if play == "refused" and not is_test:
            return self.reply(400, {"error": {"message": "The request is refused", "type": "invalid_request_error"}, "type": "error"})
        if play == "slow" and not is_test:
            time.sleep(0.8)
        answered = sum(m["role"] == "assistant" for m in history)
        text, calls = ("ok", []) if is_test else PLAYS[play][min(answered, len(PLAYS[play]) - 1)]
        offered = {}
        for tool in body.get("tools", []):
            name = tool.get("name") or tool["function"]["name"]
            for call in calls:
                if name.startswith(call[0]) and name.endswith(call[1]):
                    offered[call[:2]] = name
        if self.path.endswith("/messages"):
            content = ([{"type": "text", "text": text}] if text else []) + [
                {"type": "tool_use", "id": f"toolu_{answered}_{n}", "name": offered.get(c[:2], f"{c[0]}_{c[1]}"), "input": c[2]} for n, c in enumerate(calls)]
            return self.reply(200, {"id": "msg", "type": "message", "role": "assistant", "model": body["model"], "content": content,
                                    "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 5}})
        message = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [{"id": f"call_{answered}_{n}", "type": "function", "function": {"name": offered.get(c[:2], f"{c[0]}_{c[1]}"), "arguments": json.dumps(c[2])}}
                                     for n, c in enumerate(calls)]
        self.reply(200, {"id": "chat", "object": "chat.completion", "created": 1, "model": body["model"],
                         "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})


class Characters:
    """Stands in for tiktoken's encodings."""

    def encode(self, text, **_):
        return list(range(len(text) // 4 + 1))

    def decode(self, tokens):
        return ""


def stand_ins():
    import tiktoken
    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda name: Characters()
    sleep = asyncio.sleep

    async def short(seconds, *rest):
        return await sleep(min(seconds, 0.01), *rest)

    asyncio.sleep = short
    # Google's client speaks gRPC: its one call is answered here, everything around it is the program's.
    from locobench.agents.google_agent import GoogleAgent

    class Part(types.SimpleNamespace):
        pass

    async def connected(self):
        return None

    async def answer(self, message):
        texts = [m.content for m in self.conversation_history]
        play = play_of(" ".join(t for t in texts if "play:" in t) or message)
        answered = sum(m.role.value == "assistant" for m in self.conversation_history)
        if play == "refused":
            raise RuntimeError("400 The request is refused")
        text, calls = PLAYS[play][min(answered, len(PLAYS[play]) - 1)]
        named = {t.name.split("_copy_")[0]: t.name for t in self.available_tools}
        parts = [Part(text=text)] if text else []
        for tool, function, parameters in calls:
            parts.append(Part(text="", function_call=types.SimpleNamespace(name=f"{named.get(tool, tool)}_{function}", args=parameters)))
        for part in parts:
            if part.text:
                continue
        parts = [p if p.text else types.SimpleNamespace(function_call=p.function_call) for p in parts]
        return types.SimpleNamespace(parts=parts)

    GoogleAgent._test_connection = connected
    GoogleAgent._call_google_api = answer
    # The program's own agents hide a limit of the endpoint; this one lets it reach the session, which knows the case.
    from locobench.agents.openai_agent import OpenAIAgent
    plain = OpenAIAgent.process_turn

    async def limited(self, message, *rest, **more):
        limits = ("unlimited", "throttled")
        if any(f"play {play}" in message for play in limits) or any(f"play:{play}" in m.content for m in self.conversation_history for play in limits):
            raise RuntimeError("Error code: 429 - rate limit exceeded")
        return await plain(self, message, *rest, **more)

    OpenAIAgent.process_turn = limited


def evaluate(agent, model, names):
    from locobench.cli import main
    folder = pathlib.Path("data/output/agent_scenarios")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    for number, play in names:
        made = scenario(number, play)
        (folder / f"{made['scenario_id']}.json").write_text(json.dumps(made), encoding="utf-8")
    main.main(["evaluate", "--mode", "agent", "--agent-type", agent, "--model", model, "--scenario-count", str(len(names)), "--disable-semantic-search",
               "--disable-enhanced-summarization"], standalone_mode=False)


def main():
    checkout, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    os.chdir(out)
    sys.path.insert(0, str(checkout))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = f"http://127.0.0.1:{server.server_address[1]}"
    os.environ.update(OPENAI_BASE_URL=f"{at}/v1", ANTHROPIC_BASE_URL=at, OPENAI_API_KEY="key", ANTHROPIC_API_KEY="sk-ant-key", GEMINI_API_KEY="key",
                      NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")
    for name in [name for name in os.environ if name.lower() in ("http_proxy", "https_proxy", "all_proxy")]:
        del os.environ[name]
    stand_ins()
    plays = list(enumerate(PLAYS))
    evaluate("openai", "gpt-4o", plays)
    evaluate("anthropic", "claude-3-5-sonnet-20241022", [p for p in plays if p[1] in ("completed", "failing", "languages")])
    evaluate("google", "gemini-2.0-flash-exp", [p for p in plays if p[1] in ("completed", "failing")])
    os.environ["OPENAI_API_KEY"] = "badkey"
    evaluate("openai", "gpt-4.1", [p for p in plays if p[1] in ("completed", "failing")])


main()
