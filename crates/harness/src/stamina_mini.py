"""mini-swe-agent that goes on where an earlier call ended: `mini --agent-class stamina_mini.ResumeAgent`.

mini-swe-agent has no session, but each step leaves the whole conversation in a trajectory file. STAMINA_TRAJECTORY names
that of the call before; where there is none, the agent starts afresh. STAMINA_PROMPT names a file with the request, which
may be longer than an argument.
"""
import json
import os
from pathlib import Path

from minisweagent.agents.interactive import InteractiveAgent


def load(path):
    """The messages of a trajectory without its end, every call of a tool answered: endpoints refuse one that is not."""
    if not path or not Path(path).is_file() or not Path(path).stat().st_size:
        return None
    messages = [m for m in json.loads(Path(path).read_text())["messages"] if m.get("role") != "exit"]
    answered = {m.get("tool_call_id") for m in messages if m.get("role") == "tool"}
    history = []
    for message in messages:
        if "extra" in message:  # Whole answers of the endpoint, which nobody needs again.
            message["extra"] = {k: v for k, v in message["extra"].items() if k != "response"}
        history.append(message)
        for call in message.get("tool_calls") or []:
            if call["id"] not in answered:
                history.append({"role": "tool", "tool_call_id": call["id"], "content": "(interrupted: no result)"})
    return history


class ResumeAgent(InteractiveAgent):
    """The ordinary agent; only its first messages may be those of a call before, and its file is always whole."""

    history = None

    def run(self, task="", **kwargs):
        prompt = os.environ.get("STAMINA_PROMPT")
        if prompt:
            with open(prompt, newline="") as file:
                task = file.read()
        self.history = load(os.environ.get("STAMINA_TRAJECTORY"))
        return super().run(task, **kwargs)

    def add_messages(self, *messages):
        if self.history is None:
            return super().add_messages(*messages)
        # In place of instructions and request: the conversation so far, and the request as it stands.
        self.messages, self.history = self.history, None
        added = super().add_messages(self.model.format_message(role="user", content=self.extra_template_vars["task"]))
        self.save(self.config.output_path)
        return added

    def save(self, path, *extra):
        data = super().save(None, *extra)
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".new").write_text(json.dumps(data))
            os.replace(path.with_suffix(".new"), path)
        return data
