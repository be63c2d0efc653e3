"""Lets mini-swe-agent go on where an earlier call stopped.

mini-swe-agent always begins afresh: a system message, a first message made from its template, then its loop. This class
puts the messages of an earlier trajectory in their place and adds the new request as a plain message of the user;
the loop itself, and all it does about errors and limits, stays mini-swe-agent's own.

    mini --agent-class stamina_mini.ResumeAgent -o second.json -t "the next request"

with this file's folder on PYTHONPATH and RESUME_TRAJ naming the earlier trajectory. Without RESUME_TRAJ nothing changes.
A trajectory that can not be read is an error: beginning again without saying so would look like a forgetful model.
"""

import json
import os

from minisweagent.agents.interactive import InteractiveAgent

UNANSWERED = "The command was interrupted; nothing is known of its result."


def history(path):
    """The messages of a trajectory as a model may see them again: no exit mark, no tool call without an answer."""
    with open(path, encoding="utf-8") as file:
        messages = json.load(file)["messages"]
    told = []
    waiting = []
    for message in messages:
        role = message.get("role")
        if role == "exit":
            continue
        if role == "tool":
            waiting = [call for call in waiting if call != message.get("tool_call_id")]
        else:
            told += answers(waiting)
            waiting = [call["id"] for call in message.get("tool_calls") or []]
        told.append(message)
    told += answers(waiting)
    if not told:
        raise ValueError(f"{path} holds no messages to go on from")
    return told


def answers(calls):
    """What stands in for the answers to calls that have none."""
    return [{"role": "tool", "tool_call_id": call, "content": UNANSWERED} for call in calls]


class ResumeAgent(InteractiveAgent):
    """The usual agent, with a memory."""

    earlier = None
    request = ""

    def run(self, task="", **kwargs):
        path = os.environ.get("RESUME_TRAJ")
        if path:
            self.earlier = history(path)
            self.request = task
        return super().run(task, **kwargs)

    def add_messages(self, *messages):
        # The first messages of a run are the system's and the first request: the earlier ones take their place.
        if self.earlier is not None:
            self.messages.extend(self.earlier)
            self.earlier = None
            messages = (self.model.format_message(role="user", content=self.request),)
        return super().add_messages(*messages)
