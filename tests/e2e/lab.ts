// A Stamina Lab of its own for a test: a temporary folder, a library in it, the command line, and its HTTP host.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const target = path.resolve(process.env["CARGO_TARGET_DIR"] ?? path.join(root, "target"), process.env["STAMINA_PROFILE"] ?? "debug");
export const fixtures = path.join(root, "tests/fixtures");

/** What a finished command line left. */
export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Served {
  /** Address with its token. */
  readonly url: string;
  /** Runs a command of the workbench. */
  rpc(name: string, request?: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

export class Lab {
  readonly folder = mkdtempSync(path.join(tmpdir(), "stamina-e2e-"));
  readonly db = path.join(this.folder, "library.db");
  /** The home of who uses it: results of runs go there unless a form says otherwise, and tests beside each other would share a folder. */
  readonly home = path.join(this.folder, "home");
  readonly #running = new Set<ChildProcess>();

  /** A path inside the temporary folder. */
  at(...parts: string[]): string {
    return path.join(this.folder, ...parts);
  }

  /** Copies a fixture into the temporary folder, so that a test may change it. */
  copy(fixture: string, name: string): string {
    const to = this.at(name);
    cpSync(path.join(fixtures, fixture), to, { recursive: true });
    return to;
  }

  /** Runs `stamina` on this lab's library. */
  stamina(...args: string[]): Promise<Finished> {
    return new Promise((resolve) => {
      execFile(path.join(target, "stamina"), ["--db", this.db, ...args], { maxBuffer: 1 << 28 }, (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ code, out, err });
      });
    });
  }

  /** Runs `stamina … --json` and reads what it prints. */
  async json<T>(...args: string[]): Promise<T> {
    const { code, out, err } = await this.stamina(...args, "--json");
    if (code !== 0) throw new Error(`stamina ${args.join(" ")} ended with ${String(code)}: ${err}`);
    return JSON.parse(out) as T;
  }

  /** Starts `stamina serve` on a free port; `env` changes its environment. */
  async serve(env: Readonly<Record<string, string>> = {}): Promise<Served> {
    mkdirSync(this.home, { recursive: true });
    const child = spawn(path.join(target, "stamina"), ["--db", this.db, "--json", "serve", "--port", "0", "--ui", path.join(root, "ui/dist")], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, HOME: this.home, ...env },
    });
    this.#running.add(child);
    let complaints = "";
    child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([
      once(lines, "line").then(([line]) => String(line)),
      once(child, "exit").then(() => Promise.reject(new Error(`stamina serve ended: ${complaints}`))),
    ]);
    const { url, token } = JSON.parse(first) as { url: string; token: string };
    const origin = new URL(url).origin;
    return {
      url,
      async rpc(name, request = {}) {
        const response = await fetch(`${origin}/rpc/${name}`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-stamina-token": token },
          body: JSON.stringify(request),
        });
        const answer: unknown = await response.json();
        if (!response.ok) throw new Error(`${name} answered ${String(response.status)}: ${JSON.stringify(answer)}`);
        return answer;
      },
      stop: () => this.#stop(child),
    };
  }

  async #stop(child: ChildProcess): Promise<void> {
    this.#running.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  }

  /** Stops what runs and removes the folder. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.#stop(child)));
    // What an agent that was ended still writes may come in between.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}
