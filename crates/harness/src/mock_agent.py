"""Stamina Lab's mock agent: the smallest agent there is. Python's standard library only.

It posts the request to chat completions with one tool, write_file, does what is called for, and stops at a plain answer.
Its messages stay in HOME, so the next call goes on with them. Nothing is tried again. One JSON object a line on standard
output; the last has type "result". Exit codes: 0 done, 1 an error of its own, 2 the endpoint failed, 3 the context is
exceeded, 4 three calls in a row that cannot be read.
"""
import os, sys

if not os.environ.get("STAMINA_BASE_URL", "").lower().startswith("https:"):
    sys.modules["ssl"] = None  # To import it takes as long as all the rest, and http.client goes without.

import http.client, json, stat, urllib.parse

TOOL = {"type": "function", "function": {
    "name": "write_file", "description": "Write a text file in the workspace, making its folders.",
    "parameters": {"type": "object", "required": ["path", "content"],
                   "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}}}


def say(**line):
    print(json.dumps(line), flush=True)


def end(code, status, message=None):
    say(type="result", status=status, message=message)
    sys.exit(code)


def save(path, messages):
    # HOME may come with a folder that somebody else made: what lies there already may be a link, and is not written through.
    new = path + ".new"
    if os.path.lexists(new):
        os.unlink(new)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "w") as file:
        json.dump(messages, file)
    os.replace(new, path)


def load(path):
    if not os.path.lexists(path):
        return []
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("the session is no regular file")
        return json.load(file)


def post(base_url, key, body):
    url = urllib.parse.urlsplit(base_url.rstrip("/") + "/v1/chat/completions")
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(url.hostname, url.port)
        connection.request("POST", url.path, json.dumps(body).encode(),
                           {"Content-Type": "application/json", "Authorization": "Bearer " + key})
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        end(2, "endpoint", f"{type(error).__name__}: {error}")
    if answer.status != 200:
        context = answer.status in (400, 413) and "context" in text
        end(3 if context else 2, "context" if context else "endpoint", f"HTTP {answer.status}: {text[:500]}")
    try:
        answer = json.loads(text)
        return answer["choices"][0]["message"], answer.get("usage")
    except (ValueError, KeyError, IndexError, TypeError) as error:
        end(2, "endpoint", f"the answer cannot be read: {error!r}")


def write_file(workspace, arguments):
    root = os.path.realpath(workspace)
    path = os.path.realpath(os.path.join(root, arguments["path"]))
    if path != root and not path.startswith(root + os.sep):
        raise ValueError(f"{arguments['path']} is outside the workspace")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(arguments["content"])
    return f"wrote {len(arguments['content'])} characters to {arguments['path']}"


def main():
    prompt_file, session_file, workspace = sys.argv[1:4]
    env = os.environ
    messages, malformed = load(session_file), 0
    with open(prompt_file, newline="") as file:
        messages.append({"role": "user", "content": file.read()})
    for _ in range(100):
        save(session_file, messages)
        message, usage = post(env["STAMINA_BASE_URL"], env["STAMINA_KEY"],
                              {"model": env["STAMINA_MODEL"], "messages": messages, "tools": [TOOL]})
        messages.append(message)
        say(**message, usage=usage)
        calls = message.get("tool_calls") or []
        if not calls:
            save(session_file, messages)
            end(0, "done")
        for call in calls:
            try:
                arguments = json.loads(call["function"]["arguments"])
                text, failed, malformed = write_file(workspace, arguments), False, 0
            except (ValueError, KeyError, TypeError) as error:
                text, failed = f"error: {error!r}", True
                malformed += not isinstance(error, ValueError) or isinstance(error, json.JSONDecodeError)
            except OSError as error:
                text, failed = f"error: {error}", True
            messages.append({"role": "tool", "tool_call_id": call.get("id"), "content": text})
            say(**messages[-1], is_error=failed)
        if malformed >= 3:
            save(session_file, messages)
            end(4, "tool_calls", "three tool calls in a row cannot be read")
    end(1, "error", "100 answers and no end")


try:
    main()
except Exception as error:  # Whatever it is: one line, and not a traceback.
    end(1, "error", f"{type(error).__name__}: {error}")
