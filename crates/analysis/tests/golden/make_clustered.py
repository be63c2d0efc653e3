#!/usr/bin/env python3
"""Makes clustered.json: what R's survival says about groups of episodes whose scenarios are repeated.

    apt-get install r-cran-survival
    python3 make_clustered.py                     # writes clustered.json beside this file

An episode is [scenario, turns, event] as in make_comparison.py; its duration is turns + event.

- difference, ratio: of the restricted means (survfit) of the first two groups over tau turns, with the jackknife over
  scenarios: standard error, Student's interval and p; the ratio on the log scale.
- clustered: the robust score test of coxph with cluster(scenario) and Breslow's ties at coefficients of 0, for all
  groups of a set.
"""
import json
import pathlib
import random
import subprocess

HERE = pathlib.Path(__file__).parent

R_SCRIPT = """
suppressMessages(library(survival))
d <- read.csv(file("stdin"))
theta <- function(x, tau) if (tau + 1 < min(x$duration)) tau else summary(survfit(Surv(duration, event) ~ 1, data = x), rmean = tau + 1)$table[["rmean"]] - 1
say <- function(...) cat(paste(sapply(list(...), function(x) format(x, digits = 17, trim = TRUE)), collapse = ","), "\\n", sep = "")
jackknife <- function(x, tau, number) {
  of <- function(x) number(theta(x[x$group == 0, ], tau), theta(x[x$group == 1, ], tau))
  left <- sapply(unique(x$scenario), function(s) of(x[x$scenario != s, ]))
  n <- length(left)
  value <- of(x)
  se <- sqrt((n - 1) / n * sum((left - mean(left))^2))
  half <- qt(0.975, n - 1) * se
  c(value, value - half, value + half, 2 * pt(-abs(value / se), n - 1))
}
cat("version,", as.character(packageVersion("survival")), ",", R.version.string, "\\n", sep = "")
for (s in unique(d$set)) {
  x <- d[d$set == s, ]
  # Only the score at 0 is asked for: the fit may not converge where a group never fails.
  fit <- suppressWarnings(coxph(Surv(duration, event) ~ factor(group) + cluster(scenario), ties = "breslow", data = x))
  df <- length(coef(fit))
  tau <- if (s == "one turn") 1 else 6
  difference <- jackknife(x[x$group < 2, ], tau, function(a, b) a - b)
  ratio <- jackknife(x[x$group < 2, ], tau, function(a, b) log(a / b))
  say(s, fit$rscore, df, pchisq(fit$rscore, df, lower.tail = FALSE), tau, difference[1], difference[2], difference[3], difference[4], exp(ratio[1]), exp(ratio[2]), exp(ratio[3]), ratio[4])
}
"""


def episodes(draw, scenarios, repeats, hard, censored):
    """Episodes of one group: the scenario's own difficulty is in all of its repeats."""
    made = []
    for scenario, difficulty in scenarios:
        for _ in range(repeats):
            turns, event = 0, 1
            while turns < 8 and draw.random() > min(0.95, difficulty + hard):
                turns += 1
            if turns == 8 or draw.random() < censored:
                event = 0
            made.append([scenario, turns, event])
    return made


def sets():
    draw = random.Random(28)
    scenarios = [(f"s{number}", draw.choice([0.03, 0.1, 0.4])) for number in range(12)]
    yield "two, three repeats", [episodes(draw, scenarios, 3, hard, 0.1) for hard in (0.0, 0.15)]
    yield "two, one repeats", [episodes(draw, scenarios, 4, 0.05, 0.0), episodes(draw, scenarios, 1, 0.0, 0.0)]
    yield "two, other scenarios", [episodes(draw, scenarios[:8], 2, 0.0, 0.2), episodes(draw, scenarios[4:], 3, 0.1, 0.2)]
    yield "two, no repeats", [episodes(draw, scenarios, 1, hard, 0.1) for hard in (0.0, 0.2)]
    yield "three", [episodes(draw, scenarios, 2, hard, 0.1) for hard in (0.0, 0.1, 0.2)]
    yield "four, few scenarios", [episodes(draw, scenarios[:6], 3, hard, 0.3) for hard in (0.0, 0.1, 0.1, 0.3)]
    one = [[name, int(draw.random() > difficulty), 0] for name, difficulty in scenarios for _ in range(3)]
    two = [[name, int(draw.random() > 0.5), 0] for name, _ in scenarios for _ in range(3)]
    yield "one turn", [[[name, turns, 1 - turns] for name, turns, _ in group] for group in (one, two)]


def main():
    made = list(sets())
    rows = ["set,group,scenario,duration,event"]
    for name, groups in made:
        for number, group in enumerate(groups):
            rows += [f'"{name}",{number},{scenario},{turns + event},{event}' for scenario, turns, event in group]
    out = subprocess.run(["Rscript", "-e", R_SCRIPT], input="\n".join(rows) + "\n", capture_output=True, text=True, check=True)
    version, *said = out.stdout.strip().splitlines()
    results = {}
    for line in said:
        name, *numbers = line.rsplit(",", 12)
        chi2, df, p, tau, *contrasts = map(float, numbers)
        parts = ["value", "ci_low", "ci_high", "p"]
        results[name] = {
            "clustered": {"chi2": chi2, "df": int(df), "p": p},
            "tau": int(tau),
            "difference": dict(zip(parts, contrasts[:4])),
            "ratio": dict(zip(parts, contrasts[4:])),
        }
    golden = {
        "made_by": version.removeprefix("version,"),
        "sets": [{"name": name, "groups": groups, **results[name]} for name, groups in made],
    }
    text = json.dumps(golden, separators=(",", ":")).replace('{"name"', '\n{"name"')
    (HERE / "clustered.json").write_text(text + "\n")


main()
