// `npm run packs`: makes the packs of data/ anew, after what is generated has changed. A test compares them.
//
// data/sample-pack.zip             2 scenarios × 5 turns, seed 0
// data/programmatic-manifest.json  the manifest of 20 × 100, seed 0; the pack itself (0.7 GB) is written to
//                                  .cache/packs and taken away again
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { inRoot, root, runOrStop, targetDir } from "./lib/process.mjs";

process.chdir(root);
runOrStop("cargo", ["build", "--release", "--workspace", "--locked", "--quiet", "--bin", "stamina"]);
const stamina = path.join(targetDir(), "release/stamina");
const generate = (out, scenarios, turns) =>
  runOrStop(stamina, ["generate", "--force", "--out", out, "--values", ...[`n_scenarios=${scenarios}`, `n_turns=${turns}`, "num_changes_per_turn=5", "base_seed=0"].map((value) => `restful_server_gen_iterative.${value}`)]);

generate(inRoot("data/sample-pack.zip"), 2, 5);
mkdirSync(inRoot(".cache/packs"), { recursive: true });
const full = inRoot(".cache/packs/programmatic");
generate(full, 20, 100);
copyFileSync(path.join(full, "manifest.json"), inRoot("data/programmatic-manifest.json"));
rmSync(full, { recursive: true, force: true });
