#!/usr/bin/env python3
"""Makes band.json: what R's survival says of the standard error of a survival curve whose scenarios are repeated.

    apt-get install r-cran-survival
    python3 make_band.py                     # writes band.json beside this file

An episode is [scenario, turns, event]; its duration is turns + event. For each turn at which somebody was at risk:
the turn, the curve, and the robust standard error of its logarithm (survfit with cluster(scenario), the infinitesimal
jackknife over scenarios); null where the curve is 0.
"""
import json
import pathlib
import random
import subprocess

from make_clustered import episodes

HERE = pathlib.Path(__file__).parent

R_SCRIPT = """
suppressMessages(library(survival))
d <- read.csv(file("stdin"))
cat("version,", as.character(packageVersion("survival")), ",", R.version.string, "\\n", sep = "")
for (s in unique(d$set)) {
  x <- d[d$set == s, ]
  # A turn before all others, so that every turn is a time of the fit.
  fit <- survfit(Surv(duration, event) ~ 1, data = x, cluster = scenario, robust = TRUE)
  said <- summary(fit, times = 1:max(x$duration), extend = TRUE)
  for (i in seq_along(said$time)) {
    cat(s, said$time[i], format(said$surv[i], digits = 17), format(said$std.err[i] / said$surv[i], digits = 17), sep = ",")
    cat("\\n")
  }
}
"""


def sets():
    draw = random.Random(97)
    scenarios = [(f"s{number}", draw.choice([0.03, 0.1, 0.4])) for number in range(12)]
    yield "three repeats", episodes(draw, scenarios, 3, 0.0, 0.1)
    yield "five scenarios", episodes(draw, scenarios[:5], 4, 0.1, 0.3)
    yield "two scenarios", episodes(draw, scenarios[:2], 6, 0.1, 0.0)
    yield "some repeat", episodes(draw, scenarios[:6], 1, 0.0, 0.0) + episodes(draw, scenarios[4:], 3, 0.2, 0.2)
    yield "one turn", [[name, turns, 1 - turns] for name, turns in ((f"s{n}", n % 3 % 2) for n in range(7)) for _ in range(2)]


def number(text):
    return None if text in ("NaN", "NA", "Inf") else float(text)


def main():
    made = list(sets())
    rows = ["set,scenario,duration,event"]
    for name, group in made:
        # What was censored before it passed a turn was never at risk.
        rows += [f"{name},{scenario},{turns + event},{event}" for scenario, turns, event in group if turns + event > 0]
    said = subprocess.run(["Rscript", "-e", R_SCRIPT], input="\n".join(rows) + "\n", capture_output=True, text=True, check=True)
    version, *lines = said.stdout.strip().split("\n")
    points = {}
    for line in lines:
        name, turn, survival, error = line.split(",")
        points.setdefault(name, []).append([int(turn), float(survival), number(error)])
    sets_of_json = [{"name": name, "episodes": group, "points": points[name]} for name, group in made]
    text = '{"made_by":%s,"sets":[\n%s\n]}' % (
        json.dumps(version.partition(",")[2]),
        ",\n".join(json.dumps(one, separators=(",", ":")) for one in sets_of_json),
    )
    (HERE / "band.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
