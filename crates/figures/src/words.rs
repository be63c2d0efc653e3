//! Figures in words: reading lines of the hit map and the text summary.

use analysis::survival::{SurvivalPoint, known_until, median};

use crate::spec::RunData;

/// A share with two decimals. What rounds to 0 or 1 without being it says so.
pub(crate) fn share(value: f64) -> String {
    if value > 0.0 && value < 0.005 {
        "< 0.01".to_owned()
    } else if value < 1.0 && value >= 0.995 {
        "> 0.99".to_owned()
    } else {
        format!("{value:.2}")
    }
}

/// A whole number with thousands apart: `84,000`.
pub(crate) fn count(n: u32) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

fn counted(n: u32, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

fn at_risk(point: &SurvivalPoint) -> String {
    let mut line = format!("at risk {}, failed {}", count(point.at_risk), count(point.events));
    if point.censored > 0 {
        line.push_str(&format!(", censored {}", count(point.censored)));
    }
    line
}

/// What a reader reads at one turn of a survival curve.
pub(crate) fn survival_lines(point: &SurvivalPoint) -> Vec<String> {
    if point.at_risk == 0 {
        let alive = if point.survival <= 0.0 { "alive after: 0" } else { "alive after: unknown" };
        return vec![alive.to_owned(), "nobody at risk".to_owned()];
    }
    let band = match (point.ci_low, point.ci_high) {
        (Some(low), Some(high)) => format!("band {}–{}", share(low), share(high)),
        _ => "band n/a (no variation)".to_owned(),
    };
    vec![format!("alive after: {}", share(point.survival)), band, at_risk(point)]
}

/// What a reader reads at one turn of the first failures.
pub(crate) fn first_failure_lines(point: &SurvivalPoint) -> Vec<String> {
    vec![
        format!("{} of {} at risk failed first here", count(point.events), count(point.at_risk)),
        format!("{} censored after it", count(point.censored)),
    ]
}

fn head(data: &RunData) -> String {
    let s = &data.summary;
    let mut out = counted(s.n, "episode", "episodes");
    out.push_str(&format!(", {} failed, {} censored", count(s.events), count(s.censored)));
    if data.policy != "default" {
        out.push_str(&format!(" (policy: {})", data.policy));
    }
    out.push('.');
    out
}

/// A survival curve in words.
pub(crate) fn survival_summary(data: &RunData, turns: u32) -> String {
    let mut out =
        format!("Survival of {} over {}: {}", data.name, counted(turns, "turn", "turns"), head(data));
    let known = known_until(&data.points).min(turns);
    if known == 0 {
        out.push_str(" No turn was observed.");
        return out;
    }
    let mut shown: Vec<u32> =
        [1, known / 4, known / 2, known * 3 / 4, known].into_iter().filter(|t| *t > 0).collect();
    shown.dedup();
    let shares = data
        .points
        .iter()
        .filter(|p| shown.contains(&p.turn))
        .map(|p| format!("{} after turn {}", share(p.survival), p.turn))
        .collect::<Vec<_>>();
    out.push_str(&format!(" Share alive: {}.", shares.join(", ")));
    match median(&data.points) {
        Some(turn) => out.push_str(&format!(" Half have failed by turn {turn}.")),
        None => out.push_str(" Median not reached."),
    }
    let mean = data.summary.restricted_mean;
    if let Some(value) = mean.mean {
        out.push_str(&format!(" Mean stamina {value:.2} turns (τ = {})", mean.tau));
        match (mean.ci_low, mean.ci_high) {
            (Some(low), Some(high)) => out.push_str(&format!(", 95 % CI {low:.2}–{high:.2}.")),
            _ => out.push_str(", no interval (no variation)."),
        }
    }
    out
}

/// First failures in words.
pub(crate) fn first_failures_summary(data: &RunData, turns: u32) -> String {
    const MOST: usize = 12;
    let mut out =
        format!("First failures of {} over {}: {}", data.name, counted(turns, "turn", "turns"), head(data));
    for (word, of) in [("Failed", (|p| p.events) as fn(&SurvivalPoint) -> u32), ("Censored", |p| p.censored)]
    {
        let turns: Vec<&SurvivalPoint> =
            data.points.iter().filter(|p| p.turn <= turns && of(p) > 0).collect();
        if turns.is_empty() {
            continue;
        }
        let after = if word == "Censored" { "after" } else { "at" };
        let listed: Vec<String> =
            turns.iter().take(MOST).map(|p| format!("turn {} ({})", p.turn, count(of(p)))).collect();
        out.push_str(&format!(" {word} {after} {}", listed.join(", ")));
        if turns.len() > MOST {
            out.push_str(&format!(" and {} more turns", turns.len() - MOST));
        }
        out.push('.');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_never_turns_something_into_nothing() {
        assert_eq!([0.0, 0.004, 0.36, 0.996, 1.0].map(share), ["0.00", "< 0.01", "0.36", "> 0.99", "1.00"]);
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!(
            [0, 7, 999, 1000, 84_000, 1_234_567].map(count),
            ["0", "7", "999", "1,000", "84,000", "1,234,567"]
        );
    }
}
