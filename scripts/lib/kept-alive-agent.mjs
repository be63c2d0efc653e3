// An agent for `npm run real-model` that asks for streams with large chunks: two on one connection, and one after a pause.
import { writeFileSync } from "node:fs";
import path from "node:path";

/** How many streams it asks for. */
export const STREAMS = 3;
/** Longer than llama.cpp keeps a connection on which it hears nothing, in seconds. */
const PAUSE = 8;

/** It ends with an error where a stream lacks the alternatives of a token. */
const AGENT = `import http.client, json, os, time
from urllib.parse import urlsplit

url = urlsplit(os.environ["AGENT_URL"])
connection = http.client.HTTPConnection(url.hostname, url.port, timeout=600)

def ask(text):
    body = {"model": os.environ["AGENT_MODEL"], "max_tokens": 24, "temperature": 0, "seed": 1, "stream": True,
            "logprobs": True, "top_logprobs": 20, "messages": [{"role": "user", "content": text}]}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["AGENT_KEY"]}
    connection.request("POST", url.path + "/v1/chat/completions", json.dumps(body), headers)
    answer = connection.getresponse()
    stream = answer.read().decode()
    events = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
    chosen = [choice.get("logprobs") or {} for event in events for choice in event["choices"]]
    tokens = [token for logprobs in chosen for token in logprobs.get("content") or []]
    assert answer.status == 200 and tokens, stream[:500]
    assert all(len(token["top_logprobs"]) == 20 for token in tokens), stream[:500]

ask("Name three colors.")
ask("Name three animals.")
connection.close()
time.sleep(${String(PAUSE)})
ask("Name three cities.")
print(json.dumps({"type": "result", "status": "done"}))
`;

/** Writes its harness file into a folder; gives its path. */
export function writeHarness(folder) {
  const file = path.join(folder, "kept-alive.toml");
  writeFileSync(
    file,
    `name = "kept_alive"
title = "Streams on kept connections"
version = "1"
image = "stamina/base:1"
api = "chat_completions"
probe = ["python3", "--version"]

[commands]
first = ["python3", "-I", "{home}/own/agent.py", "{prompt}"]
later = ["python3", "-I", "{home}/own/agent.py", "{prompt}"]

[env]
AGENT_URL = "{base_url}"
AGENT_KEY = "{key}"
AGENT_MODEL = "{model}"

[[files]]
path = "own/agent.py"
text = ${JSON.stringify(AGENT)}

[session]
from = "none"

[transcript]
reader = "none"

[success]
exit_code = 0
last_line = { type = "result", status = "done" }
`,
  );
  return file;
}
