"""MT@1, Comp, dataset score and perfect tasks of EvoCode-Bench's published results, by their formulas.

Usage: make_evocode_scores.py FOLDER > evocode_scores.json

FOLDER is the site's data at commit f8fcfaa (docs/data: index.json and tasks/*.json, without the one file that is too large).
Nothing of Stamina Lab is used. Each model played each task once, so k is 1.
"""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
index = json.loads((folder / "index.json").read_text())
files = {}
for path in (folder / "tasks").glob("*.json"):
    task = json.loads(path.read_text())
    files[task["task"]] = task

out = {}
for model in index["models"]:
    mt, comp, dataset, perfect = [], [], [], 0
    for entry in index["tasks"]:
        rounds = entry["n_rounds"]
        task = files.get(entry["task"])
        if task is None:
            # Only the share of passed rounds is published.
            passed = round(entry["score"][model] * rounds)
            mt.append(passed / rounds)
            dataset.append(passed / rounds)
            perfect += passed == rounds
            comp.append(0.0 if passed == 0 else 1.0 if passed == rounds else None)
            continue
        cells = task["models"].get(model, {})
        rewards = [(cells.get(str(n)) or {}).get("reward") or 0.0 for n in range(1, rounds + 1)]
        mt.append(sum(rewards) / rounds)
        passes = [reward >= 0.999 for reward in rewards]
        dataset.append(sum(passes) / rounds)
        perfect += all(passes)
        comp.append(1.0 if rewards[-1] >= 1.0 else 0.0)
    tasks = len(index["tasks"])
    out[model] = {
        "mt_at_1": 100 * sum(mt) / tasks,
        "comp": None if None in comp else 100 * sum(comp) / tasks,
        "dataset_score": 100 * sum(dataset) / tasks,
        "perfect": perfect,
    }
json.dump(out, sys.stdout, indent=1)
print()
