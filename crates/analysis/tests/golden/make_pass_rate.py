#!/usr/bin/env python3
"""Makes pass_rate.json: what statsmodels, scipy and counting say about trials of tasks that take one turn.

    python3 -m venv /some/venv && /some/venv/bin/pip install statsmodels==0.15.0 scipy==1.17.1
    /some/venv/bin/python make_pass_rate.py       # writes pass_rate.json beside this file

A task is a list of its trials: 1 passed, 0 failed, null not scored.

- pass@k, pass^k: every choice of k of a task's scored trials is looked at (itertools.combinations), the share of choices
  in which one passed, or all did, taken as a fraction, and the mean over tasks taken as a fraction, too.
- interval, one trial a task: statsmodels' proportion_confint, method "wilson".
- interval, several: statsmodels' OLS of the outcomes on a constant with cov_type "cluster" gives the variance of the mean
  (its correction is J/(J - 1)); p (1 - p) / variance · (1.96/t)² trials, no more than there are, J of them where all or
  none passed, go into proportion_confint.
- interval of pass@k and pass^k: scipy's sem of the tasks' values, squared, in place of that variance, and no more trials
  than there are groups of k of a task's trials that have none in common.
- difference: statsmodels' confint_proportions_2indep, method "newcomb", of two sets with one trial a task.
"""
import itertools
import json
import pathlib
import random
from fractions import Fraction

import numpy as np
import scipy
import scipy.stats
import statsmodels
import statsmodels.api as sm
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

HERE = pathlib.Path(__file__).parent


def sets():
    rng = random.Random(20261125)

    def drawn(tasks, least, most, unscored=0.0):
        out = []
        for _ in range(tasks):
            rate = rng.betavariate(0.8, 1.2)
            out.append([None if rng.random() < unscored else int(rng.random() < rate) for _ in range(rng.randint(least, most))])
        return out

    yield "one trial a task", drawn(89, 1, 1)
    yield "one trial a task, some not scored", drawn(40, 1, 1, 0.2)
    yield "none passed", [[0]] * 12
    yield "all passed", [[1]] * 7
    yield "five trials of every task", drawn(20, 5, 5)
    yield "two to six trials, some not scored", drawn(30, 2, 6, 0.1)
    yield "three to eight trials", drawn(15, 3, 8)
    yield "one task is repeated", [[1], [0], [1, 1, 0], [0], [1]]
    yield "one task", [[1, 0, 1, 1]]
    yield "none passed, repeated", [[0, 0], [0, 0, 0], [0]]
    yield "all passed, repeated", [[1, 1], [1, 1, 1]]
    yield "every task alike", [[1, 0], [0, 1], [1, 0]]
    yield "two tasks", [[1, 1, 1, 0], [0, 0, 0]]
    yield "nothing scored", [[None], [None, None]]


def of_k(tasks, k, good):
    values = []
    for trials in tasks:
        choices = list(itertools.combinations(trials, k))
        values.append(Fraction(sum(good(c) for c in choices), len(choices)))
    return float(sum(values) / len(values))


def interval_of_k(tasks, k, good):
    j = len(tasks)
    if j < 2:
        return None
    values = [float(np.mean([good(c) for c in itertools.combinations(trials, k)])) for trials in tasks]
    p = float(np.mean(values))
    effective = j
    if max(map(len, tasks)) > 1 and 1e-12 < p < 1 - 1e-12:
        variance = float(scipy.stats.sem(values)) ** 2
        groups = sum(len(trials) // k for trials in tasks)
        ratio = scipy.stats.norm.ppf(0.975) / scipy.stats.t.ppf(0.975, j - 1)
        effective = min(groups, p * (1 - p) / variance * ratio**2) if variance > 1e-15 else groups
    return list(map(float, proportion_confint(p * effective, effective, method="wilson")))


def golden(name, tasks):
    scored = [[t for t in trials if t is not None] for trials in tasks]
    unscored = sum(len(trials) for trials in tasks) - sum(map(len, scored))
    scored = [trials for trials in scored if trials]
    outcomes = [t for trials in scored for t in trials]
    n, j, passed = len(outcomes), len(scored), sum(outcomes)
    interval = None
    if n == j and n > 0:
        interval = proportion_confint(passed, n, method="wilson")
    elif j > 1:
        if passed in (0, n):
            effective = j
        else:
            groups = [i for i, trials in enumerate(scored) for _ in trials]
            fit = sm.OLS(np.array(outcomes, float), np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": groups})
            variance = float(fit.cov_params()[0, 0])
            p = passed / n
            ratio = scipy.stats.norm.ppf(0.975) / scipy.stats.t.ppf(0.975, j - 1)
            effective = min(n, p * (1 - p) / variance * ratio**2) if variance > 1e-15 else n
        interval = proportion_confint(passed / n * effective, effective, method="wilson")
    most = min(map(len, scored), default=0)
    return {
        "name": name, "tasks": tasks, "value": passed / n if n else None, "trials": n, "passed": passed, "scored_tasks": j,
        "unscored": unscored, "interval": list(map(float, interval)) if interval else None,
        "pass_at_k": [of_k(scored, k, any) for k in range(1, most + 1)],
        "pass_hat_k": [of_k(scored, k, all) for k in range(1, most + 1)],
        "pass_at_k_ci": [interval_of_k(scored, k, any) for k in range(1, most + 1)],
        "pass_hat_k_ci": [interval_of_k(scored, k, all) for k in range(1, most + 1)],
    }


def difference(a, b):
    count = lambda tasks: (sum(t[0] for t in tasks if t[0] is not None), sum(t[0] is not None for t in tasks))
    (c1, n1), (c2, n2) = count(a), count(b)
    low, high = confint_proportions_2indep(c1, n1, c2, n2, method="newcomb", compare="diff")
    return {"value": c1 / n1 - c2 / n2, "ci_low": float(low), "ci_high": float(high)}


made = list(sets())
by_name = dict(made)
pairs = itertools.combinations(["one trial a task", "one trial a task, some not scored", "none passed", "all passed"], 2)
lines = lambda rows: ",\n".join(json.dumps(row) for row in rows)
(HERE / "pass_rate.json").write_text(
    f'{{"made_by": "make_pass_rate.py, statsmodels {statsmodels.__version__}, scipy {scipy.__version__}",\n'
    f'"sets": [\n{lines(golden(*one) for one in made)}],\n'
    f'"differences": [\n{lines({"a": a, "b": b, **difference(by_name[a], by_name[b])} for a, b in pairs)}]}}\n'
)
