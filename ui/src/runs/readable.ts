// Agents' programs write their logs as lines of JSON, each in its own words. A line as a person reads it: who speaks, and
// what is called or said. Lines are cut where they are long, so they are looked through rather than parsed; what is not
// understood stays as it is. Pure.
import type { LogLine } from "../host/bindings/LogLine";

const text = String.raw`"((?:[^"\\]|\\.)*)`;
const role = new RegExp(String.raw`"(?:role|type)"\s*:\s*"([a-z_.]+)"`);
const calls = /"(?:tool_calls|tool_use|function_call|command_execution|functionCall)"/;
const called = new RegExp(String.raw`"(?:name|tool|tool_name)"\s*:\s*"([\w.-]{1,60})"`);
/** What is called with; arguments are often JSON inside a string of JSON. */
const withWhat = /\\?"(?:command|cmd|path|file_path|filePath|absolute_path)\\?"\s*:\s*\\?"((?:[^"\\]|\\[^"]|\\\\")*)/;
const content = new RegExp(String.raw`"(?:content|text|message|result|aggregated_output|output|error)"\s*:\s*${text}`, "g");

/** A piece of a JSON string as it reads, in one line. */
function plain(piece: string): string {
  return piece
    .replace(/\\{1,3}u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\{1,3}[nrt]/g, " ")
    .replace(/\\+(["\\/])/g, "$1")
    .replace(/\\+$/, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** A line of a log as a person reads it; as it is where it is not understood. */
export function readableLine(line: LogLine): LogLine {
  if (line.kind !== "agent" || !/^\s*\{\s*"/.test(line.text)) return line;
  const speaker = role.exec(line.text)?.[1];
  if (speaker === undefined) return line;
  if (calls.test(line.text)) {
    const name = called.exec(line.text)?.[1];
    const argument = plain(withWhat.exec(line.text)?.[1] ?? "");
    if (name !== undefined || argument !== "")
      return { ...line, kind: "tool", text: [name, argument].filter((part) => part !== undefined && part !== "").join("  ") };
  }
  const words = [...line.text.matchAll(content)].map((match) => plain(match[1] ?? "")).find((piece) => piece !== "");
  if (words === undefined) return line;
  return { ...line, kind: speaker === "tool" || speaker.includes("result") ? "result" : "agent", text: words };
}
