// Records what a real model server sends, byte for byte as its socket delivers it: the fixtures of the gateway's tests.
//
// The server is llama.cpp's, with one slot and a context of 1,024 tokens. Each exchange is a request and the pieces of the raw answer
// with the milliseconds at which they came, head and chunk sizes included.
import { connect } from "node:net";
import { StringDecoder } from "node:string_decoder";

/** An answer that does not end in this time is an error. */
const HANGS_MS = 180_000;
/** The name under which the model is served. */
export const MODEL = "smollm2-135m";
const CHAT = "/v1/chat/completions";
const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather in a city",
    parameters: { type: "object", properties: { city: { type: "string", maxLength: 12 } }, required: ["city"] },
  },
};
const ANSWER = {
  type: "json_schema",
  json_schema: {
    name: "answer",
    strict: true,
    schema: { type: "object", properties: { answer: { enum: ["yes", "no"] } }, required: ["answer"], additionalProperties: false },
  },
};

/**
 * What came on a socket, in pieces `{ ms, text }`. A character that the socket cuts in two stands whole in the later piece, so that all
 * texts together are the bytes of the server; one that never comes whole is left out.
 */
export class Pieces extends Array {
  #decoder = new StringDecoder("utf8");

  static get [Symbol.species]() {
    return Array;
  }

  /** Adds bytes that came after `ms` milliseconds. */
  addBytes(bytes, ms) {
    const text = this.#decoder.write(bytes);
    if (text) this.push({ ms, text });
  }
}

/** A connection to a server, and what has come on it since the last request. */
class Connection {
  constructor(url) {
    const { hostname, port } = new URL(url);
    this.host = `${hostname}:${port}`;
    this.socket = connect(Number(port), hostname);
    this.begin();
    this.isOver = false;
    this.socket.on("data", (bytes) => {
      this.pieces.addBytes(bytes, Math.round(performance.now() - this.begun));
      this.wake?.();
    });
    const over = () => {
      this.isOver = true;
      this.wake?.();
    };
    this.socket.on("close", over);
    this.socket.on("error", over);
  }

  begin() {
    this.begun = performance.now();
    this.pieces = new Pieces();
  }

  /** Sends a request as an agent does; the host's name stays out of the record. */
  send(method, path, body, more = []) {
    this.begin();
    const bytes = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
    const head = [`${method} ${path} HTTP/1.1`, `Host: ${this.host}`, "Accept: */*", ...more];
    if (bytes) head.push("Content-Type: application/json", `Content-Length: ${String(Buffer.byteLength(bytes))}`);
    this.socket.write(`${head.join("\r\n")}\r\n\r\n${bytes}`);
  }

  get text() {
    return this.pieces.map((piece) => piece.text).join("");
  }

  /** Waits until something holds of what came, or the connection is over. */
  async until(holds) {
    const late = setTimeout(() => this.socket.destroy(new Error("late")), HANGS_MS);
    while (!holds(this.text) && !this.isOver) await new Promise((resolve) => (this.wake = resolve));
    clearTimeout(late);
    if (performance.now() - this.begun >= HANGS_MS) throw new Error(`The server took more than ${String(HANGS_MS / 1000)} s: ${this.text.slice(-300)}`);
  }

  close() {
    this.socket.destroy();
  }
}

/** Functions that ask a server and keep what it sends in `exchanges`. */
function recorder(url, exchanges) {
  const keep = (name, method, path, body, connection, end) => exchanges.push({ name, method, path, body: body ?? null, pieces: connection.pieces, end });
  const whole = async (name, method, path, body, connection = new Connection(url)) => {
    connection.send(method, path, body);
    await connection.until(isWhole);
    keep(name, method, path, body, connection, isWhole(connection.text) ? "whole" : "server");
    return connection;
  };
  const post = async (name, body, path = CHAT, connection = undefined) => (await whole(name, "POST", path, body, connection)).close();
  return { keep, whole, post };
}

/** A request of chat completions with one message. */
const chat = (text, more = {}) => ({ model: MODEL, max_tokens: 16, temperature: 0, seed: 1, messages: [{ role: "user", content: text }], ...more });
const streamed = { stream: true, stream_options: { include_usage: true } };

/** Whether an answer is whole: by its length, or by its last chunk. */
function isWhole(text) {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = /^content-length: (\d+)/im.exec(text.slice(0, end));
  if (length) return Buffer.byteLength(text.slice(end + 4)) >= Number(length[1]);
  return text.slice(end + 2).endsWith("\r\n0\r\n\r\n");
}

/** How many events with content have come. */
const contents = (text) => text.split('"content":"').length - 1;

/**
 * Records a session with a server. `kill` kills the server; nothing is asked of it afterwards. `isIdle` resolves to whether its slot is free.
 * Returns the exchanges, each `{ name, method, path, body, pieces, end }`, where `end` says who ended it: `whole`, `agent` or `server`.
 */
export async function recordSession(url, { kill, isIdle }) {
  const exchanges = [];
  const { keep, whole, post } = recorder(url, exchanges);

  (await whole("models", "GET", "/v1/models")).close();
  (await whole("props", "GET", "/props")).close();
  stripFolder(exchanges.at(-1));
  await post("plain", chat("Name three colors."));
  await post("stream_with_usage", chat("Name three colors.", streamed));
  await post("stream_without_usage", chat("Name three colors.", { stream: true }));
  // The chat template of this model knows no tools: it gets none, and calls none.
  await post("tool_not_called", chat("What is the weather in Oslo?", { tools: [WEATHER] }));
  await post("json_schema", chat("Is the sky blue?", { response_format: ANSWER }));
  await post("json_schema_stream", chat("Is the sky blue?", { response_format: ANSWER, ...streamed }));
  await post("probabilities_stream", chat("Name three colors.", { max_tokens: 3, logprobs: true, top_logprobs: 20, ...streamed }));
  await post("responses_stream", { model: MODEL, max_output_tokens: 12, temperature: 0, input: "Name three colors.", stream: true }, "/v1/responses");
  await post("messages_stream", chat("Name three colors.", { max_tokens: 12, stream: true }), "/v1/messages");

  // Two requests on one connection.
  const kept = await whole("kept_alive_first", "POST", CHAT, chat("Say yes.", { max_tokens: 4 }));
  await post("kept_alive_second", chat("Say yes.", { max_tokens: 4, ...streamed }), CHAT, kept);

  const words = (count, word) => Array.from({ length: count }, (_, n) => `${word}${String(n % 10)}`).join(" ");
  await post("overflow", chat(words(700, "far ")));
  await post("overflow_stream", chat(words(700, "far "), streamed));
  // It fits, and its answer does not.
  await post("filled_while_writing", chat(`${words(318, "far ")} Go on counting.`, { max_tokens: 4096, ignore_eos: true, ...streamed }));
  await post("bad_body", '{"messages": ', CHAT);
  await post("no_messages", { model: MODEL, max_tokens: 4 });

  // Nothing but signs of life until the prompt is read.
  await post("slow_first_token", chat(words(300, "near "), { max_tokens: 4, sse_ping_interval: 1, ...streamed }));

  // The only slot is taken: the second answer begins when the first one has ended.
  const first = new Connection(url);
  const long = chat("Count to one hundred.", { max_tokens: 40, ignore_eos: true, ...streamed });
  first.send("POST", CHAT, long);
  await first.until((text) => contents(text) > 0);
  const second = new Connection(url);
  const short = chat("Say yes.", { max_tokens: 4, ...streamed });
  second.send("POST", CHAT, short);
  await Promise.all([first.until(isWhole), second.until(isWhole)]);
  keep("slot_taken", "POST", CHAT, long, first, "whole");
  keep("slot_waited_for", "POST", CHAT, short, second, "whole");
  exchanges.at(-1).waited_ms = Math.round(first.begun + first.pieces.at(-1).ms - second.begun);
  first.close();
  second.close();

  // The agent goes away in the middle: the server stops working.
  const leaving = new Connection(url);
  const endless = chat("Count to one million.", { max_tokens: 4096, ignore_eos: true, ...streamed });
  leaving.send("POST", CHAT, endless);
  await leaving.until((text) => contents(text) >= 6);
  leaving.close();
  const left = performance.now();
  keep("stopped_in_the_middle", "POST", CHAT, endless, leaving, "agent");
  while (!(await isIdle())) await new Promise((resolve) => setTimeout(resolve, 50));
  exchanges.at(-1).idle_after_ms = Math.round(performance.now() - left);

  // The server dies in the middle.
  const orphan = new Connection(url);
  orphan.send("POST", CHAT, endless);
  await orphan.until((text) => contents(text) >= 6);
  kill();
  await orphan.until(() => false);
  keep("killed_in_the_middle", "POST", CHAT, endless, orphan, "server");
  return exchanges;
}

/** Takes the folder of the model out of what the server says of itself: it tells where somebody's files lie. */
function stripFolder(exchange) {
  const [head, body] = exchange.pieces.map((piece) => piece.text).join("").split("\r\n\r\n");
  const without = body.replace(/"model_path":"[^"]*\//, '"model_path":"');
  const text = `${head.replace(/content-length: \d+/i, `Content-Length: ${String(Buffer.byteLength(without))}`)}\r\n\r\n${without}`;
  exchange.pieces = [{ ms: exchange.pieces[0].ms, text }];
}

/** What a server answers while it loads its model; `null` where it was too quick. */
export async function recordLoading(url) {
  for (let n = 0; n < 2000; n += 1) {
    const connection = new Connection(url);
    connection.send("GET", "/v1/models");
    await connection.until(isWhole);
    const { text, pieces } = connection;
    connection.close();
    if (text.startsWith("HTTP/1.1 503")) return { name: "loading", method: "GET", path: "/v1/models", body: null, pieces, end: "whole" };
    if (text.startsWith("HTTP/1.1 200")) return null;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return null;
}
