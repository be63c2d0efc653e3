"""Writes data/sample-table.csv: results of a benchmark that does not exist, as a tidy table.

    python3 data/sample-table.py > data/sample-table.csv
"""

import csv
import hashlib
import sys

TURNS = {"booking": 12, "chat": 12, "inventory": 12, "library": 12, "polls": 8, "recipes": 8, "tickets": 8, "weather": 8}
PASS_RATE = {("loopy", "m-large"): 0.82, ("loopy", "m-small"): 0.64, ("planner", "m-large"): 0.76, ("planner", "m-small"): 0.70}
COLUMNS = [
    "run", "harness", "model", "scenario", "turn", "attempt", "passed", "tests_passed", "tests_total", "end_reason",
    "tokens_in", "tokens_cached", "tokens_out", "cost_usd", "agent_seconds", "planned_turns", "benchmark", "benchmark_name",
]


def draw(*what):
    """A number from 0 to 1 that depends on nothing but what it is for."""
    digest = hashlib.sha256("/".join(map(str, what)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def attempts(harness, model, scenario, turns):
    for turn in range(1, turns + 1):
        for attempt in (1, 2):
            of = (harness, model, scenario, turn, attempt)
            if draw("endpoint", *of) < 0.006:
                yield turn, attempt, None, None, "endpoint"
                return
            passed = draw("pass", *of) < PASS_RATE[harness, model] - 0.006 * turn
            total = 6 + 2 * turn
            tests = total if passed else int(total * (0.4 + 0.5 * draw("tests", *of)))
            late = not passed and draw("late", *of) < 0.15
            yield turn, attempt, passed, (tests, total), "" if passed else "agent_timeout" if late else "tests_failed"
            if passed:
                break
        else:
            return


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for harness, model in PASS_RATE:
        for scenario, turns in TURNS.items():
            for turn, attempt, passed, tests, end in attempts(harness, model, scenario, turns):
                of = (harness, model, scenario, turn, attempt)
                used = int(4_000 + 9_000 * turn * draw("tokens", *of)) if passed is not None else ""
                out.writerow([
                    f"{harness}-{model}", harness, model, scenario, turn, attempt,
                    "" if passed is None else str(passed).lower(), *(tests or ("", "")), end,
                    used, int(used * 0.6) if used else "", used // 12 if used else "",
                    f"{used * (2e-6 if model == 'm-large' else 4e-7):.6f}" if used else "",
                    f"{20 + used / 900:.1f}" if used else "", turns, "small-apps", "Small apps (invented)",
                ])


main()
