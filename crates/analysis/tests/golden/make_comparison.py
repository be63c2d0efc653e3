#!/usr/bin/env python3
"""Makes comparison.json: what R and scipy say about groups of episodes.

    apt-get install r-cran-survival r-cran-coin
    R -e 'install.packages("survRM2")'            # or SURVRM2=folder with its rmst1.R and rmst2.R
    python3 -m venv /some/venv && /some/venv/bin/pip install lifelines==0.30.3 scipy
    /some/venv/bin/python make_comparison.py      # writes comparison.json beside this file

An episode is [scenario, turns, event]: it passed `turns` turns of the scenario, then failed at turn turns + 1
(event = 1) or was not observed any more (event = 0). Its duration in the packages' terms is turns + event.

- logrank, stratified: survdiff of R's survival, for all groups of a set; strata are scenarios. lifelines'
  multivariate_logrank_test must agree with the first, or the script stops.
- difference, ratio: survRM2's rmst2 of the first group against the second. Time is moved to start at turn 1 (duration
  - 1, without episodes that were never at risk), so that its RMST(tau) is the sum of S over turns 1..tau and its ratio
  that of Stamina Lab's means; it refuses a tau at the last censored turn, which stays below here. A difference without variation has a standard error of 0 there: null here.
- permutation: coin's exact logrank_test, for two small groups.
- paired: per shared scenario the mean of jackknife pseudo-observations of R's restricted mean (survfit, one episode
  left out at a time) over the episodes of the shared scenarios, then R's t.test(paired = TRUE); sign_flip is scipy's exact
  permutation_test of the mean of the differences.
- holm: R's p.adjust.
"""
import csv
import io
import json
import os
import pathlib
import random
import subprocess

import numpy as np
import scipy
from lifelines import __version__ as lifelines_version
from lifelines.statistics import multivariate_logrank_test

HERE = pathlib.Path(__file__).parent

R_SCRIPT = """
suppressMessages({library(survival); library(coin)})
folder <- Sys.getenv("SURVRM2")
if (folder == "") { library(survRM2) } else { for (f in c("rmst1.R", "rmst2.R")) source(file.path(folder, f)) }
d <- read.csv(file("stdin"))
say <- function(...) cat(paste(sapply(list(...), function(x) paste(format(x, digits = 17, trim = TRUE), collapse = " ")), collapse = ","), "\\n", sep = "")
say("version", as.character(packageVersion("survival")), as.character(packageVersion("coin")), R.version.string)
# survfit refuses a horizon before the first time; nobody has failed by then.
theta <- function(x, tau) if (tau + 1 < min(x$duration)) tau else summary(survfit(Surv(duration, event) ~ 1, data = x), rmean = tau + 1)$table[["rmean"]] - 1
pseudo_values <- function(x, tau) {
  n <- nrow(x)
  if (n == 1) return(theta(x, tau))
  sapply(seq_len(n), function(i) n * theta(x, tau) - (n - 1) * theta(x[-i, ], tau))
}
for (s in unique(d$set)) {
  x <- d[d$set == s, ]
  fit <- survdiff(Surv(duration, event) ~ group, data = x)
  df <- sum(fit$exp > 0) - 1
  say("logrank", s, fit$chisq, df, pchisq(fit$chisq, df, lower.tail = FALSE), fit$obs, fit$exp)
  fit <- tryCatch(survdiff(Surv(duration, event) ~ group + strata(scenario), data = x), error = function(e) NULL)
  if (!is.null(fit) && is.matrix(fit$exp) && all(is.finite(fit$chisq))) {
    df <- sum(rowSums(fit$exp) > 0) - 1
    say("stratified", s, fit$chisq, df, pchisq(fit$chisq, df, lower.tail = FALSE), rowSums(fit$obs), rowSums(fit$exp))
  }
  two <- x[x$group < 2 & x$duration > 0, ]
  for (tau in as.integer(strsplit(as.character(x$taus[1]), " ")[[1]])) {
    out <- tryCatch(rmst2(two$duration - 1, two$event, as.integer(two$group == 0), tau = tau)$unadjusted.result,
                    error = function(e) stop("set ", s, ", tau ", tau, ": ", conditionMessage(e)))
    say("difference", s, tau, out[1, ])
    say("ratio", s, tau, out[2, ])
    a <- two[two$group == 0, ]; b <- two[two$group == 1, ]
    shared <- sort(intersect(a$scenario, b$scenario))
    if (length(shared) > 0) {
      a <- a[a$scenario %in% shared, ]; b <- b[b$scenario %in% shared, ]
      pa <- tapply(pseudo_values(a, tau), factor(a$scenario, shared), mean)
      pb <- tapply(pseudo_values(b, tau), factor(b$scenario, shared), mean)
      t <- tryCatch(t.test(pa, pb, paired = TRUE), error = function(e) NULL)
      if (!is.null(t)) say("paired", s, tau, pa, pb, t$estimate, t$conf.int[1], t$conf.int[2], t$p.value)
      else say("pairs", s, tau, pa, pb)
    }
  }
  if (x$exact[1] == 1) {
    p <- pvalue(logrank_test(Surv(duration, event) ~ factor(group), data = x[x$duration > 0, ], distribution = "exact"))
    say("permutation", s, as.numeric(p))
  }
}
for (p in list(c(0.01, 0.04, 0.03), c(0.2, NA, 0.001, 0.9, 0.04, NA, 0.04), c(0.6, 0.7), 0.03, c(1e-12, 0.5, 0.5, 1))) {
  say("holm", ifelse(is.na(p), "NA", format(p, digits = 17, trim = TRUE)), ifelse(is.na(p), "NA", format(p.adjust(p, "holm"), digits = 17, trim = TRUE)))
}
"""


def sets():
    """Name, groups, horizons, whether the exact permutation test is asked."""
    rng = random.Random(5)

    def run(scenarios, rate, planned, stopped=0.0, repeats=1, first=0):
        episodes = []
        for scenario in range(first, first + scenarios):
            hardness = 0.5 + (scenario * 7 % 10) / 10
            for _ in range(repeats):
                fails = int(rng.expovariate(rate * hardness))
                stops = rng.randrange(1, planned) if rng.random() < stopped else planned
                episodes.append(["s%02d" % scenario, min(fails, stops), int(fails < stops)])
        return episodes

    def plain(*spec):
        return [["s%02d" % i, turns, event] for i, (turns, event) in enumerate(spec)]

    yield "two runs of 20 with ties", [run(20, 0.15, 15), run(20, 0.3, 15)], [5, 10, 14], 0
    yield "censored early", [run(20, 0.1, 15, 0.4), run(20, 0.2, 15, 0.2)], [4, 8], 0
    yield "three runs of short tasks", [run(26, r, 6) for r in (0.2, 0.4, 0.7)], [3, 5], 0
    yield "eight runs of 20 by 100", [run(20, 0.01 * k, 100, 0.1) for k in range(1, 9)], [20, 60], 0
    yield "all fail at turn 1", [run(12, 0.1, 10), plain(*[(0, 1)] * 12)], [5, 9], 0
    yield "one run never fails", [plain(*[(10, 0)] * 6), plain((3, 1), (3, 1), (10, 0), (6, 1), (0, 1), (9, 1))], [5, 9], 1
    yield ("small, with censoring", [plain((4, 1), (6, 1), (6, 0), (9, 0), (11, 1), (12, 0)),
                                     plain((0, 1), (1, 1), (1, 0), (4, 1), (4, 1), (6, 1), (2, 1))], [4, 6], 1)
    yield "five scenarios four times each", [run(5, 0.1, 12, 0.2, 4), run(5, 0.25, 12, 0.0, 4)], [4, 9], 0
    yield "half of the scenarios are shared", [run(10, 0.15, 12, 0.3), run(10, 0.25, 12, 0.3, first=5)], [3, 6], 0
    yield "one shared scenario", [[["a", 3, 1], ["b", 5, 1], ["c", 2, 1]], [["c", 4, 1], ["d", 4, 1], ["e", 1, 1]]], [4], 1
    yield "some never at risk", [plain((0, 0), (3, 1), (5, 0), (1, 1)), plain((2, 1), (0, 0), (4, 1), (0, 1))], [3], 1


def ask_r(all_sets):
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["set", "group", "scenario", "duration", "event", "taus", "exact"])
    for number, (_, groups, taus, exact) in enumerate(all_sets):
        for group, episodes in enumerate(groups):
            for scenario, turns, event in episodes:
                rows.writerow([number, group, scenario, turns + event, event, " ".join(map(str, taus)), exact])
    out = subprocess.run(["Rscript", "-e", R_SCRIPT], input=text.getvalue(), capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(out.stderr)
    return [line.split(",") for line in out.stdout.splitlines()]


def numbers(cell):
    return [None if n in ("NA", "NaN", "Inf", "-Inf") else float(n) for n in cell.split()]


def number(cell):
    return numbers(cell)[0]


def sign_flip(a, b):
    differences = np.array(a) - np.array(b)
    if len(differences) < 2 or len(differences) > 14:
        return None
    test = scipy.stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True, axis=0)
    # scipy doubles the smaller tail; the distribution is symmetric, so that is the two-sided share, at most 1.
    return float(min(1.0, test.pvalue))


def main():
    all_sets = list(sets())
    out = [{"name": name, "groups": groups, "taus": []} for name, groups, _, _ in all_sets]
    holm, versions = [], None
    for kind, *cells in ask_r(all_sets):
        if kind == "version":
            versions = cells
            continue
        if kind == "holm":
            holm.append({"p": numbers(cells[0]), "adjusted": numbers(cells[1])})
            continue
        entry = out[int(cells[0])]
        if kind in ("logrank", "stratified"):
            entry[kind] = {"chi2": number(cells[1]), "df": int(cells[2]), "p": number(cells[3]),
                           "observed": [int(n) for n in numbers(cells[4])], "expected": numbers(cells[5])}
        elif kind == "permutation":
            entry[kind] = number(cells[1])
        else:
            tau = int(cells[1])
            if not entry["taus"] or entry["taus"][-1]["tau"] != tau:
                entry["taus"].append({"tau": tau})
            at = entry["taus"][-1]
            if kind in ("difference", "ratio"):
                value, low, high, p = numbers(cells[2])
                flat = p is None or (low == high and kind == "difference")
                at[kind] = {"value": value, "ci_low": None if flat else low, "ci_high": None if flat else high,
                            "p": None if flat else p}
            else:
                a, b = numbers(cells[2]), numbers(cells[3])
                test = [number(c) for c in cells[4:]] or [float(np.mean(np.array(a) - np.array(b))), None, None, None]
                at["paired"] = {"a": a, "b": b, "mean": test[0], "ci_low": test[1], "ci_high": test[2], "p": test[3],
                                "sign_flip": sign_flip(a, b)}
    for entry in out:
        durations, groups, events = [], [], []
        for g, episodes in enumerate(entry["groups"]):
            for _, turns, event in episodes:
                durations.append(turns + event)
                groups.append(g)
                events.append(event)
        test = multivariate_logrank_test(durations, groups, events)
        assert abs(test.test_statistic - entry["logrank"]["chi2"]) < 1e-6, entry["name"]
    made_with = {"script": "make_comparison.py", "r": versions[2], "r_survival": versions[0], "r_coin": versions[1],
                 "survRM2": "1.0-4", "lifelines": lifelines_version, "scipy": scipy.__version__}
    lines = ",\n".join(json.dumps(s) for s in out)
    text = '{"made_with": %s,\n"holm": %s,\n"sets": [\n%s\n]}\n' % (json.dumps(made_with), json.dumps(holm), lines)
    (HERE / "comparison.json").write_text(text)


if __name__ == "__main__":
    main()
