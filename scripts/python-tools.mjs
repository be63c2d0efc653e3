// Makes .cache/python: a Python with what generated servers and test suites need (Flask, pytest, requests).
//
//   node scripts/python-tools.mjs
//
// The tests of the scenario crate hold the generated Flask servers and pytest suites against the native ones with it.
// With STAMINA_PYTHON set, that Python is taken instead and nothing is made.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { inRoot, output, root, runWithTries, stop } from "./lib/process.mjs";
import { setAside } from "./lib/set-aside.mjs";

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
  const earlier = setAside(folder);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
  const asLocked = () => runWithTries(python, [...pip, "--require-hashes", "-r", lock], { tries: 3 });
  const anyThatFit = () => {
    // Another version of Python may need other packages than the lock names.
    process.stdout.write("They could not be installed as scripts/python-tools.lock has them; any that fit are taken.\n");
    return runWithTries(python, [...pip, "-r", inRoot("scripts/python-tools.in")], { tries: 3 });
  };
  const made = runWithTries(base, ["-m", "venv", "--clear", folder]);
  if (made && (asLocked() || anyThatFit())) {
    // Before the stamp: what is left aside is put back one day.
    earlier.remove();
    writeFileSync(stamp, wanted);
    return python;
  }
  if (!earlier.restore() || output(python, ["-c", "import flask, pytest, requests"]) === null) {
    if (!made) stop(`"${base} -m venv --clear ${folder}" failed: without this virtual environment there is no place for Flask, pytest and requests.`);
    stop("Flask, pytest and requests could not be installed. They come from the index that pip is configured for.");
  }
  process.stdout.write(`The ${made ? "Python packages could not be installed" : "virtual environment of Python could not be made"} anew; the packages that are there are used. The next set-up tries again.\n`);
  return python;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.chdir(root);
  process.stdout.write(`${pythonTools()}\n`);
}
