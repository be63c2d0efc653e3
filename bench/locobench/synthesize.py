"""Writes a folder of synthetic LoCoBench-Agent output for the bench, seeded.

    python3 bench/locobench/synthesize.py FOLDER SESSIONS
"""

import json
import pathlib
import random
import sys

METRICS = ["execution_success_rate", "multi_session_memory_retention", "cross_file_consistency", "dependency_traversal", "solution_usability",
           "runtime_efficiency", "memory_efficiency", "information_coverage", "long_range_dependency_resolution"]
CATEGORIES = ["architectural_understanding", "bug_investigation", "code_comprehension", "cross_file_refactoring", "feature_implementation",
              "integration_testing", "multi_session_development", "security_analysis"]
AGENTS = ["openai-gpt-4o", "openai-gpt-4.1", "anthropic-claude-sonnet-4", "google-gemini-2.5-pro"]
LINE = "    total = sum(item.price * item.count for item in items if item.is_valid)\n"


def session(chance, agent, number):
    language = chance.choice(["python", "rust", "go", "c", "javascript"])
    scenario = f"{language}_web_api_easy_{number:03}_{chance.choice(CATEGORIES)}_{chance.choice(['easy', 'medium', 'hard', 'expert'])}_01"
    identity = f"eval_{agent}_{scenario}_{1_700_000_000 + number}"
    messages, log, files = [{"role": "system", "content": "You are an engineer. " * 40, "tool_calls": [], "tool_responses": []}], [], {}
    phases = [{"phase_id": f"phase{n}", "name": f"Phase {n}", "initial_prompt": f"Do part {n} of it."} for n in range(3)]
    for turn in range(chance.randrange(9, 18)):
        phase = min(2, turn // 5)
        messages.append({"role": "user", "content": phases[phase]["initial_prompt"] if turn % 5 == 0 else "Please continue.", "timestamp": f"2025-11-03T09:{turn:02}:00.1"})
        path, writes = f"src//module{chance.randrange(6)}.py", chance.random() < 0.4
        content = "import os\n\n\ndef total(items):\n" + LINE * chance.randrange(5, 60)
        call = {"call_id": f"call_{turn}", "tool_name": "file_system", "function_name": "write_file" if writes else "read_file",
                "parameters": {"path": path, "content": content} if writes else {"path": path}, "timestamp": "2025-11-03T09:00:00"}
        response = {"call_id": f"call_{turn}", "result": content, "success": chance.random() < 0.9, "execution_time": 0.01, "error_message": None}
        messages.append({"role": "assistant", "content": "As mentioned earlier, the module changes. " * 6, "tool_calls": [call], "tool_responses": [response],
                         "timestamp": f"2025-11-03T09:{turn:02}:30.5"})
        messages.append({"role": "tool", "content": content, "tool_call_id": f"call_{turn}"})
        log.append({"turn": turn + 1, "phase": f"phase{phase}", "tool_call": call, "timestamp": "2025-11-03T09:00:00"})
        if writes:
            files[path] = content
    turns = len(log)
    context = {"scenario_id": scenario, "title": "A title", "difficulty": "easy", "initial_context": {"project_files": {f"f{n}": LINE * 40 for n in range(3)}}, "conversation_phases": phases}
    record = {"agent_name": agent, "scenario_id": scenario, "session_id": identity,
              "metric_results": [{"metric_name": name, "score": chance.random(), "max_score": 5.0} for name in METRICS],
              "overall_score": 0.7, "lcba_comprehension": 0.7, "lcba_efficiency": 0.6, "total_turns": turns, "session_duration": 0.0, "conversation_history": messages,
              "tool_usage_log": log, "modified_files": files, "error_log": [], "session_status": "completed", "completed_phases": 3, "total_phases": 3,
              "scenario_context": context, "evaluation_timestamp": "2025-11-03T10:00:00.1"}
    data = {"session_id": identity, "conversation_history": messages, "tool_usage_log": log, "error_log": [], "human_interventions": [],
            "phase_history": [{"phase_id": f"phase{n}", "success": True, "turns_executed": 5, "duration_seconds": 3.5} for n in range(3)],
            "session_metadata": {"status": "completed", "total_turns": turns, "start_time": "2025-11-03T09:00:00.1", "end_time": "2025-11-03T09:59:00.1"}}
    transcript = {"evaluation_info": {"agent_name": agent, "scenario_id": scenario, "session_id": identity}, "scenario_context": context, "conversation_history": messages, "session_data": data}
    return record, transcript


def main():
    folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    inner, finals = folder / "intermediate_agent_results", folder / "evaluation_agent_results"
    inner.mkdir(parents=True)
    finals.mkdir()
    chance, size = random.Random(18), 0
    for agent in AGENTS:
        safe = agent.replace("-", "_").replace(".", "_")
        conversations = inner / f"conversations_{agent}"
        conversations.mkdir()
        final = finals / f"{agent.split('-', 1)[1]}_agent_evaluation_results_20251103_100000.json"
        with open(inner / f"agent_incremental_results_{safe}.jsonl", "w", encoding="utf-8") as lines, open(final, "w", encoding="utf-8") as results:
            results.write(json.dumps({"evaluation_metadata": {"framework": "LoCoBench-Agent"}, "agent_summaries": {agent: {}}})[:-1] + f', "detailed_results": {{"{agent}": [')
            for number in range(count // len(AGENTS)):
                record, transcript = session(chance, agent, number)
                line = json.dumps(record)
                lines.write(line + "\n")
                results.write((", " if number else "") + line)
                text = json.dumps(transcript)
                (conversations / f"{agent}_{record['scenario_id']}_20251103_{number:06}.json").write_text(text, encoding="utf-8")
                size += 2 * len(line) + len(text)
            results.write("]}}")
    (folder / "made.json").write_text(json.dumps({"runs": len(AGENTS), "sessions": count // len(AGENTS) * len(AGENTS), "bytes": size}), encoding="utf-8")


main()
