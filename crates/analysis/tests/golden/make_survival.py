#!/usr/bin/env python3
"""Makes survival.json: what lifelines and R's survival package say about small sets of episodes.

    python3 -m venv /some/venv && /some/venv/bin/pip install lifelines==0.30.3
    apt-get install r-cran-survival
    /some/venv/bin/python make_survival.py        # writes survival.json beside this file

An episode is [turns, event]: it passed `turns` turns, then failed at turn turns + 1 (event = 1) or was not observed any
more (event = 0). In the packages' terms its duration is turns + event.

- at risk, events, censored, survival, log-log band, median: lifelines.KaplanMeierFitter. Its default band is the
  exponential Greenwood (log-log) one. Where S is 1 or 0 it has no band (lifelines fills in 1): null here. The table
  ends at the last turn with someone at risk.
- mean: lifelines' restricted mean survival time up to tau + 1, minus 1: the packages integrate S from time 0, Stamina
  Lab sums S over turns 1..tau, which is the same integral from 1 to tau + 1.
- se: se(rmean) of R's survfit, printed up to tau + 1. Where R says 0 there is no variation: null here.
- rmean: R's own restricted mean minus 1; the script stops if it differs from lifelines'.
"""
import csv
import io
import json
import pathlib
import random
import subprocess

import lifelines
import numpy as np
from lifelines import KaplanMeierFitter
from lifelines.utils import restricted_mean_survival_time

HERE = pathlib.Path(__file__).parent

R_SCRIPT = """
suppressMessages(library(survival))
d <- read.csv(file("stdin"))
cat("version", as.character(packageVersion("survival")), "\\n", sep = ",")
for (g in unique(d$set)) {
  x <- d[d$set == g, ]
  for (tau in as.integer(strsplit(as.character(x$taus[1]), " ")[[1]])) {
    fit <- survfit(Surv(x$duration, x$event) ~ 1)
    row <- summary(fit, rmean = tau + 1)$table
    cat(g, tau, format(row[["rmean"]], digits = 17), format(row[["se(rmean)"]], digits = 17), "\\n", sep = ",")
  }
}
"""


def sets():
    """Name, episodes, horizons."""
    rng = random.Random(20261121)
    fixed = lambda spec: [[turns, event] for turns, event, times in spec for _ in range(times)]
    yield ("25 episodes, the long ones censored",
           fixed([(0, 1, 6), (1, 1, 2), (2, 1, 3), (3, 1, 1), (4, 1, 4), (7, 0, 5), (8, 0, 2), (9, 0, 2)]), [5, 9])
    yield ("events and censorings at the same turn", fixed([(2, 1, 3), (3, 0, 4), (3, 1, 2), (4, 0, 3), (5, 1, 1)]), [3, 4, 6])
    yield ("no censoring", [[t, 1] for t in (0, 0, 1, 3, 3, 3, 4, 7, 9, 12, 12, 20)], [1, 4, 10, 21, 30])
    yield ("one event", [[4, 1]], [4, 5, 8])
    yield ("one censored", [[4, 0]], [4])
    yield ("all fail at turn 1", [[0, 1]] * 7, [1, 5])
    yield ("all censored", [[t, 0] for t in (3, 5, 5, 8)], [5, 8])
    yield ("the last at risk fails", [[1, 1], [2, 0], [4, 1], [4, 0], [6, 1]], [4, 7, 9])
    yield ("some censored before turn 1", [[0, 0], [0, 0], [0, 1], [2, 1], [3, 0], [5, 1]], [3, 6])
    long = []
    for _ in range(20):
        fails = int(np.floor(np.log(rng.random()) / np.log(1 - 0.015)))
        stops = rng.choice([100, 100, rng.randrange(5, 100)])
        long.append([min(fails, stops), int(fails < stops)])
    yield ("20 episodes of 100 turns", long, [50, 100])
    many = []
    for _ in range(300):
        fails, stops = int(rng.expovariate(1 / 6)), rng.randrange(1, 25)
        many.append([min(fails, stops), int(fails < stops)])
    yield ("300 episodes with many ties", many, [10, 20])


def ask_r(all_sets):
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["set", "duration", "event", "taus"])
    for number, (_, episodes, taus) in enumerate(all_sets):
        for turns, event in episodes:
            rows.writerow([number, turns + event, event, " ".join(map(str, taus))])
    out = subprocess.run(["Rscript", "-e", R_SCRIPT], input=text.getvalue(), capture_output=True, text=True, check=True)
    lines = [line.rstrip(",").split(",") for line in out.stdout.splitlines()]
    return lines[0][1], {(int(g), int(t)): (float(m) - 1, float(se)) for g, t, m, se in lines[1:]}


def table(episodes):
    durations = np.array([t + e for t, e in episodes])
    events = np.array([e for _, e in episodes])
    last = int(durations.max())
    turns = np.arange(1, last + 1)
    fit = KaplanMeierFitter().fit(durations, events, timeline=np.arange(0, last + 1))
    counts = fit.event_table.reindex(turns, fill_value=0)
    band = fit.confidence_interval_.loc[turns]
    rows = []
    for turn in turns:
        survival = float(fit.survival_function_.loc[turn].iloc[0])
        vary = 0 < survival < 1
        rows.append({
            "turn": int(turn),
            "at_risk": int((durations >= turn).sum()),
            "events": int(counts.loc[turn, "observed"]),
            "censored": int(counts.loc[turn, "censored"]),
            "survival": survival,
            "ci_low": float(band.loc[turn].iloc[0]) if vary else None,
            "ci_high": float(band.loc[turn].iloc[1]) if vary else None,
        })
        at_risk = fit.event_table["at_risk"]
        assert turn not in at_risk.index or at_risk.loc[turn] == rows[-1]["at_risk"]
    median = fit.median_survival_time_
    return fit, rows, None if np.isinf(median) else int(median)


def main():
    all_sets = list(sets())
    r_version, r = ask_r(all_sets)
    out = []
    for number, (name, episodes, taus) in enumerate(all_sets):
        fit, rows, median = table(episodes)
        means = []
        for tau in taus:
            mean = float(restricted_mean_survival_time(fit, t=tau + 1)) - 1
            rmean, se = r[number, tau]
            assert abs(mean - rmean) < 1e-9, (name, tau, mean, rmean)
            means.append({"tau": tau, "mean": mean, "se": se if se > 0 else None})
        out.append({"name": name, "episodes": episodes, "table": rows, "median": median, "restricted": means})
    made_with = {"script": "make_survival.py", "lifelines": lifelines.__version__, "r_survival": r_version}
    lines = ",\n".join(json.dumps(s, ensure_ascii=False) for s in out)
    (HERE / "survival.json").write_text('{"made_with": %s,\n"sets": [\n%s\n]}\n' % (json.dumps(made_with), lines))


main()
