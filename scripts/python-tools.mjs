// Makes .cache/python: a Python with what generated servers and test suites need (Flask, pytest, requests).
//
//   node scripts/python-tools.mjs
//
// The tests of the scenario crate hold the generated Flask servers and pytest suites against the native ones with it.
// With STAMINA_PYTHON set, that Python is taken instead and nothing is made.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { inRoot, output, root, runOrStop, runWithTries, stop } from "./lib/process.mjs";

/** Makes sure that the Python with these packages is there; returns its path. */
export function pythonTools() {
  if (process.env.STAMINA_PYTHON) return process.env.STAMINA_PYTHON;
  const folder = inRoot(".cache/python");
  const bin = process.platform === "win32" ? "Scripts" : "bin";
  const python = path.join(folder, bin, process.platform === "win32" ? "python.exe" : "python");
  const stamp = path.join(folder, "installed");
  const lock = inRoot("scripts/python-tools.lock");
  const wanted = readFileSync(lock, "utf8");
  if (existsSync(python) && existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return python;
  const base = ["python3", "python"].find((name) => output(name, ["-c", "import venv, ensurepip"]) !== null);
  if (!base) {
    stop("Python 3 with its venv module is not there. On Debian and Ubuntu: sudo apt-get install python3-venv");
  }
  process.stdout.write("Installing Python packages: Flask, pytest, requests\n");
  rmSync(folder, { recursive: true, force: true });
  runOrStop(base, ["-m", "venv", folder]);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
  if (!runWithTries(python, [...pip, "--require-hashes", "-r", lock], { tries: 3 })) {
    // Another version of Python may need other packages than the lock names.
    process.stdout.write("They could not be installed as scripts/python-tools.lock has them; any that fit are taken.\n");
    runOrStop(python, [...pip, "-r", inRoot("scripts/python-tools.in")], { tries: 3, hint: "The packages come from the index that pip is configured for." });
  }
  writeFileSync(stamp, wanted);
  return python;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.chdir(root);
  process.stdout.write(`${pythonTools()}\n`);
}
