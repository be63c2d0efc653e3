// The app under WebDriver: a virtual screen, a session bus, tauri-driver with WebKitWebDriver, and of the WebDriver
// protocol just what the tests use.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { findTool } from "../../../scripts/lib/tools.mjs";
import { target } from "../lab";
import { askWindowsToClose } from "./x11";

const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

/** So many ports are each worker's own. They lie below those that the system gives out by itself: one of these could be given to
 *  another program before it is listened on. And above those from which runs without containers take their servers' (20,000 to 29,999). */
const PORTS = 500;
let tried = Math.floor(Math.random() * PORTS);

async function freePort(): Promise<number> {
  for (let n = 0; n < PORTS; n++) {
    tried = (tried + 1) % PORTS;
    const port = 30_000 + PORTS * Number(process.env["TEST_PARALLEL_INDEX"] ?? 0) + tried;
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error("No port is free");
}

function tauriDriver(): string {
  const driver = findTool("tauri-driver");
  if (driver === null) throw new Error("tauri-driver is not there: run `npm run setup`");
  return driver;
}

/** Tries until it succeeds; the last reason stands in the error. */
export async function eventually<T>(label: string, ms: number, look: () => Promise<T>): Promise<T> {
  const until = performance.now() + ms;
  for (;;) {
    try {
      return await look();
    } catch (reason) {
      if (performance.now() > until) throw new Error(`${label}: not within ${String(ms)} ms. ${String(reason)}`, { cause: reason });
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

export class Desktop {
  readonly #children: ChildProcess[] = [];
  #base = "";
  #session = "";
  #log = "";
  #display = "";

  /** Opens the built app with these arguments. */
  static async open(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Desktop> {
    const desktop = new Desktop();
    try {
      await desktop.#start(args, env);
    } catch (reason) {
      await desktop.close();
      throw new Error(`${String(reason)}\n${desktop.#log}`);
    }
    return desktop;
  }

  async #start(args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
    // Xvfb chooses a free display and writes its number to file descriptor 3.
    const screen = this.#spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "1400x900x24", "-nolisten", "tcp"], {}, true);
    // Where it is not there or ends, no line ever comes.
    const ends = once(screen, "close").then(() => Promise.reject(new Error("Xvfb has ended")));
    const [display] = (await Promise.race([once(createInterface({ input: screen.stdio[3] as Readable }), "line"), ends])) as [string];
    this.#display = `:${display}`;
    const [port, native] = [await freePort(), await freePort()];
    this.#base = `http://127.0.0.1:${String(port)}`;
    this.#spawn("dbus-run-session", ["--", tauriDriver(), "--port", String(port), "--native-port", String(native)], {
      ...env,
      DISPLAY: this.#display,
      GDK_BACKEND: "x11",
      NO_AT_BRIDGE: "1",
      LIBGL_ALWAYS_SOFTWARE: "1",
    });
    await eventually("tauri-driver", 60_000, () => this.#call("GET", "/status"));
    const capabilities = { alwaysMatch: { "tauri:options": { application: path.join(target, "stamina-lab"), args } } };
    const { sessionId } = (await this.#call("POST", "/session", { capabilities })) as { sessionId: string };
    this.#session = `/session/${sessionId}`;
  }

  #spawn(command: string, args: readonly string[], env: Readonly<Record<string, string>>, extra = false): ChildProcess {
    // A group of its own, so that the app and its web processes end with it.
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe", ...(extra ? ["pipe" as const] : [])], detached: true });
    child.stdout?.on("data", (chunk: Buffer) => (this.#log += chunk.toString()));
    child.stderr?.on("data", (chunk: Buffer) => (this.#log += chunk.toString()));
    child.on("error", (reason) => (this.#log += `${command}: ${reason.message}\n`));
    this.#children.push(child);
    return child;
  }

  async #call(method: "GET" | "POST" | "DELETE", at: string, body?: unknown): Promise<unknown> {
    const response = await fetch(this.#base + at, {
      method,
      signal: AbortSignal.timeout(90_000),
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { value: unknown };
    if (!response.ok) throw new Error(`${method} ${at}: ${JSON.stringify(value)}`);
    return value;
  }

  /** Runs a script in the window and gives what it returns. */
  run<T>(script: string, ...args: unknown[]): Promise<T> {
    return this.#call("POST", `${this.#session}/execute/sync`, { script, args }) as Promise<T>;
  }

  /** Evaluates an expression in the window and waits for its promise. */
  wait<T>(expression: string, ...args: unknown[]): Promise<T> {
    const script = `const done = arguments[arguments.length - 1]; Promise.resolve(${expression}).then(done, (e) => done(String(e)));`;
    return this.#call("POST", `${this.#session}/execute/async`, { script, args }) as Promise<T>;
  }

  /** Where the app is: `#/run/…`. */
  hash(): Promise<string> {
    return this.run("return location.hash");
  }

  /** Text of the first element that matches. */
  async text(css: string): Promise<string> {
    const text = await this.run<string | null>("const e = document.querySelector(arguments[0]); return e && (e.innerText ?? e.textContent)", css);
    if (text === null) throw new Error(`Nothing matches ${css}`);
    return text.trim();
  }

  /** Text of everything that matches. */
  texts(css: string): Promise<string[]> {
    return this.run("return [...document.querySelectorAll(arguments[0])].map((e) => (e.innerText ?? e.textContent).trim())", css);
  }

  /** Clicks, as a person would: the pointer goes there and presses. */
  async click(xpath: string): Promise<void> {
    const element = (await this.#call("POST", `${this.#session}/element`, { using: "xpath", value: xpath })) as Record<string, string>;
    await this.#call("POST", `${this.#session}/element/${element[ELEMENT] ?? ""}/click`, {});
  }

  /** Presses the pointer at a place of the window; twice for a double click. */
  async pointer(x: number, y: number, times = 1): Promise<void> {
    const press = [{ type: "pointerDown", button: 0 }, { type: "pointerUp", button: 0 }];
    const actions = [{ type: "pointerMove", x: Math.round(x), y: Math.round(y), origin: "viewport" }, ...Array.from({ length: times }, () => press).flat()];
    await this.#call("POST", `${this.#session}/actions`, { actions: [{ type: "pointer", id: "mouse", actions }] });
  }

  /** What lies on the clipboard of the screen, for other programs, as this type. */
  async clipboard(type: string): Promise<Buffer> {
    const reader = spawn("xclip", ["-selection", "clipboard", "-t", type, "-o"], { env: { ...process.env, DISPLAY: this.#display }, stdio: ["ignore", "pipe", "pipe"] });
    const parts: Buffer[] = [];
    let errorText = "";
    reader.stdout.on("data", (part: Buffer) => parts.push(part));
    reader.stderr.on("data", (part: Buffer) => (errorText += part.toString()));
    const [code] = (await once(reader, "close")) as [number | null];
    if (code !== 0) throw new Error(`The clipboard has nothing as ${type}: ${errorText}`);
    return Buffer.concat(parts);
  }

  /** Asks the window to close, as its button in the title bar does; gives how many windows there are. */
  askToClose(): Promise<number> {
    return askWindowsToClose(this.#display);
  }

  /** What the window shows, as PNG. */
  async picture(): Promise<Buffer> {
    return Buffer.from((await this.#call("GET", `${this.#session}/screenshot`)) as string, "base64");
  }

  /** Closes the window and everything around it. */
  async close(): Promise<void> {
    if (this.#session) await this.#call("DELETE", this.#session).catch(() => undefined);
    for (const child of this.#children.reverse()) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, "exit");
      process.kill(-child.pid, "SIGTERM");
      await exited;
    }
  }
}
