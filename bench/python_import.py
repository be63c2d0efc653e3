#!/usr/bin/env python3
"""Reads a folder of StaminaBench output into SQLite: what a competent person writes in an afternoon.

The yardstick of `npm run bench`. It reads the same files as Stamina Lab's importer (report.json, trajectory.json and the
pytest log of every attempt) with `json`, `re` and `sqlite3` of the standard library, and stores less: no full-text index,
no artifacts, no summaries, no warnings. Inserts go in one transaction per scenario with `executemany`.

    python_import.py FOLDER DATABASE
"""

import json
import re
import sqlite3
import sys
import time
from pathlib import Path

SCHEMA = """
CREATE TABLE run (id INTEGER PRIMARY KEY, name TEXT, harness TEXT, model TEXT, average_score REAL, success_rate REAL);
CREATE TABLE episode (id INTEGER PRIMARY KEY, run INTEGER, scenario TEXT, title TEXT, planned_turns INTEGER, end_reason TEXT, stamina INTEGER);
CREATE TABLE turn (id INTEGER PRIMARY KEY, episode INTEGER, number INTEGER, request TEXT, passed INTEGER);
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY, turn INTEGER, number INTEGER, verdict TEXT, end_reason TEXT, passed INTEGER, total INTEGER,
  input_tokens INTEGER, output_tokens INTEGER, cost_usd REAL, steps INTEGER, started_at TEXT, finished_at TEXT
);
CREATE TABLE failing_test (attempt INTEGER, test TEXT, message TEXT);
CREATE INDEX episode_run ON episode (run);
CREATE INDEX turn_episode ON turn (episode);
CREATE INDEX attempt_turn ON attempt (turn);
CREATE INDEX failing_attempt ON failing_test (attempt);
"""

OUTCOME = re.compile(r"^(\S+::\S+) (PASSED|FAILED|ERROR|SKIPPED)", re.MULTILINE)
BLOCK = re.compile(r"^_{3,} (?:ERROR at \w+ of )?(\S+) _{3,}$(.*?)(?=^_{3,} |^={3,} )", re.MULTILINE | re.DOTALL)
MESSAGE = re.compile(r"^E {3,}(.*)$", re.MULTILINE)
TOTALS = re.compile(r"(\d+) (passed|failed|errors?)\b")


def read_log(path):
    """Counts and failing tests with their messages of a pytest log, or None."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    lines = text.rstrip().splitlines()
    counts = {word.rstrip("s"): int(number) for number, word in TOTALS.findall(lines[-1] if lines else "")}
    passed = counts.get("passed", 0)
    total = passed + counts.get("failed", 0) + counts.get("error", 0)
    if passed == total:
        return passed, total, []
    messages = {}
    for name, block in BLOCK.findall(text):
        messages[name] = "\n".join(MESSAGE.findall(block))
    failing = [(test, messages.get(test.split("::")[-1])) for test, word in OUTCOME.findall(text) if word in ("FAILED", "ERROR")]
    return passed, total, failing


class Importer:
    def __init__(self, database):
        self.db = sqlite3.connect(database)
        self.db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;" + SCHEMA)
        self.ids = dict.fromkeys(("run", "episode", "turn", "attempt"), 0)
        self.counts = dict.fromkeys(("runs", "episodes", "turns", "attempts"), 0)

    def next(self, table):
        self.ids[table] += 1
        return self.ids[table]

    def run(self, folder):
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        run = self.next("run")
        self.db.execute(
            "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?)",
            (run, folder.name, report["agent"], report["run"]["model"], report["average_score"], report["success_rate"]),
        )
        self.counts["runs"] += 1
        for scenario in sorted(folder.glob("scenario_*")):
            if (scenario / "trajectory.json").exists():
                self.episode(run, scenario)
                self.db.commit()

    def episode(self, run, folder):
        trajectory = json.loads((folder / "trajectory.json").read_text(encoding="utf-8"))
        episode = self.next("episode")
        turns, attempts, failing = [], [], []
        stamina, alive = 0, True
        for turn in trajectory["turns"]:
            turn_id = self.next("turn")
            passed = False
            for attempt in turn["attempts"]:
                attempt_id = self.next("attempt")
                passed = attempt["verdict"] == "passed"
                counts = attempt.get("passed"), attempt.get("total")
                log = attempt["files"].get("test_output")
                read = read_log(folder / log) if log else None
                if read:
                    counts = read[:2]
                    passed = read[0] == read[1]
                    failing.extend((attempt_id, test, message) for test, message in read[2])
                tokens = attempt.get("tokens") or {}
                attempts.append(
                    (
                        attempt_id, turn_id, attempt["attempt"], attempt["verdict"], attempt.get("end_reason"), *counts,
                        tokens.get("input"), tokens.get("output"), attempt.get("cost_usd"), len(attempt.get("steps", [])),
                        attempt.get("started_at"), attempt.get("finished_at"),
                    )
                )
            alive = alive and passed
            stamina += alive
            turns.append((turn_id, episode, turn["turn"], turn["request"], passed))
        self.db.execute(
            "INSERT INTO episode VALUES (?, ?, ?, ?, ?, ?, ?)",
            (episode, run, trajectory["scenario"], trajectory["title"], trajectory["planned_turns"], trajectory["end_reason"], stamina),
        )
        self.db.executemany("INSERT INTO turn VALUES (?, ?, ?, ?, ?)", turns)
        self.db.executemany("INSERT INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", attempts)
        self.db.executemany("INSERT INTO failing_test VALUES (?, ?, ?)", failing)
        self.counts["episodes"] += 1
        self.counts["turns"] += len(turns)
        self.counts["attempts"] += len(attempts)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    begin = time.monotonic()
    importer = Importer(sys.argv[2])
    for folder in sorted(Path(sys.argv[1]).iterdir()):
        if (folder / "report.json").exists():
            importer.run(folder)
    importer.db.close()
    print(json.dumps({**importer.counts, "seconds": round(time.monotonic() - begin, 3)}))


if __name__ == "__main__":
    main()
