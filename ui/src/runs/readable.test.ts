import { expect, test } from "vitest";
import type { LogLine } from "../host/bindings/LogLine";
import { readableLine } from "./readable";

const readText = (text: string, kind = "agent"): string => {
  const line: LogLine = { time: null, kind, text, facts: [] };
  const shown = readableLine(line);
  return shown === line ? "as it is" : `${shown.kind}: ${shown.text}`;
};

test("what is called stands with what it is called with, whatever program wrote it", () => {
  expect(
    readText(
      JSON.stringify({
        role: "assistant",
        content: "I write it.",
        tool_calls: [
          {
            id: "c",
            type: "function",
            function: { name: "write_file", arguments: JSON.stringify({ path: "run.sh", content: "#!/bin/sh\n" }) },
          },
        ],
      }),
    ),
  ).toBe("tool: write_file run.sh".replace("file ", "file  "));
  expect(
    readText(
      JSON.stringify({
        type: "assistant",
        message: { content: [{ type: "tool_use", name: "Bash", input: { command: "python -m pytest -q" } }] },
      }),
    ),
  ).toBe("tool: Bash  python -m pytest -q");
  expect(readText(JSON.stringify({ type: "item.completed", item: { type: "command_execution", command: "sed -n 1,40p a.py" } }))).toBe(
    "tool: sed -n 1,40p a.py",
  );
  // A line that was cut in the middle of its arguments.
  expect(
    readText(
      JSON.stringify({
        role: "assistant",
        tool_calls: [{ function: { name: "write_file", arguments: JSON.stringify({ path: "schema.yaml", content: "x".repeat(4000) }) } }],
      }).slice(0, 2000),
    ),
  ).toBe("tool: write_file  schema.yaml");
});

test("what is said is one line, and everything else stays as it is", () => {
  expect(readText(JSON.stringify({ role: "tool", tool_call_id: "c", content: "wrote 109 characters\nto run.sh" }))).toBe(
    "result: wrote 109 characters to run.sh",
  );
  expect(readText(JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: 'Done: “é” "x"' }] } }))).toBe(
    'agent: Done: “é” "x"',
  );
  expect(readText("12 passed, 1 failed")).toBe("as it is");
  expect(readText('{"type":"result","status":"done","message":null}')).toBe("as it is");
  expect(readText('{"role":"tool","content":"x"}', "server")).toBe("as it is");
  expect(readText('{"a": [1, 2]}')).toBe("as it is");
});
