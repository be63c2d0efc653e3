//! Figures in words: reading lines of the hit map and the text summary.

use analysis::survival::{Median, SurvivalPoint, known_until, median};

use crate::number::{share, thousands};
use crate::spec::RunData;

/// A whole number with separated thousands: `84,000`.
pub(crate) fn count(n: u32) -> String {
    thousands(&n.to_string())
}

/// A number with its noun.
pub(crate) fn counted(n: u32, singular: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { singular } else { many })
}

/// The name of an axis in mid-sentence: `cost per episode (US$)`. A first word with another capital is an abbreviation or a
/// name, and stays as it is: `US$`, `RMST`, `MT@4`, `OpenHands`.
pub(crate) fn in_mid_sentence(name: &str) -> String {
    let mut letters = name.chars();
    let Some(first) = letters.next() else { return String::new() };
    let rest = letters.as_str();
    let first_word = rest.split(char::is_whitespace).next().unwrap_or_default();
    if !first_word.starts_with(char::is_lowercase) || first_word.contains(char::is_uppercase) {
        return name.to_owned();
    }
    first.to_lowercase().chain(rest.chars()).collect()
}

fn at_risk(point: &SurvivalPoint) -> String {
    let line = format!("at risk {}, failed {}", count(point.at_risk), count(point.events));
    if point.censored == 0 { line } else { format!("{line}, censored {}", count(point.censored)) }
}

/// Whether some episodes were alive after a turn and others were not.
fn varies(point: &SurvivalPoint) -> bool {
    point.at_risk > 0 && point.survival > 0.0 && point.survival < 1.0
}

/// Why there is no interval: by scenario there is none of one scenario, nor of scenarios that do not differ.
fn no_interval_reason(episodes_vary: bool) -> &'static str {
    if episodes_vary { "one scenario, or all alike" } else { "no variation" }
}

/// The lines at one turn of a survival curve.
pub(crate) fn survival_lines(point: &SurvivalPoint) -> Vec<String> {
    if point.at_risk == 0 {
        let alive = if point.survival <= 0.0 { "alive after: 0" } else { "alive after: unknown" };
        return vec![alive.to_owned(), "nobody at risk".to_owned()];
    }
    let band = match (point.ci_low, point.ci_high) {
        (Some(low), Some(high)) => format!("band {}–{}", share(low), share(high)),
        _ => format!("band n/a ({})", no_interval_reason(varies(point))),
    };
    vec![format!("alive after: {}", share(point.survival)), band, at_risk(point)]
}

/// The lines at one turn of the first failures.
pub(crate) fn first_failure_lines(point: &SurvivalPoint) -> Vec<String> {
    vec![
        format!("{} of {} at risk failed first here", count(point.events), count(point.at_risk)),
        format!("{} censored after it", count(point.censored)),
    ]
}

/// The content of the figure, its run, and its number of episodes.
fn opening(title: &str, data: &RunData, turns: u32) -> String {
    let s = &data.summary;
    let policy = if data.policy == "default" { String::new() } else { format!(" (policy: {})", data.policy) };
    format!(
        "{title} of {} over {}: {}, {} failed, {} censored{policy}.",
        data.name,
        counted(turns, "turn", "turns"),
        counted(s.n, "episode", "episodes"),
        count(s.events),
        count(s.censored),
    )
}

/// A survival curve in words.
pub(crate) fn survival_summary(data: &RunData, turns: u32) -> String {
    let mut sentences = vec![opening("Survival", data, turns)];
    let known = known_until(&data.points).min(turns);
    if known == 0 {
        sentences.push("No turn was observed.".to_owned());
        return sentences.join(" ");
    }
    let shown = [1, known / 4, known / 2, known - known / 4, known];
    let shares: Vec<String> = data
        .points
        .iter()
        .filter(|p| shown.contains(&p.turn))
        .map(|p| format!("{} after turn {}", share(p.survival), p.turn))
        .collect();
    sentences.push(format!("Share alive: {}.", shares.join(", ")));
    sentences.push(match median(&data.points) {
        Median::Reached(turn) => format!("Half have failed by turn {turn}."),
        median => format!("Median {median}."),
    });
    let mean = data.summary.restricted_mean;
    if let (Some(value), Some(tau)) = (mean.mean, mean.tau) {
        let interval = match (mean.ci_low, mean.ci_high) {
            (Some(low), Some(high)) => format!("95 % CI {low:.2}–{high:.2}"),
            _ if data.summary.n == 1 => "no interval (one episode)".to_owned(),
            _ => {
                let mut within = data.points.iter().filter(|point| point.turn <= tau);
                format!("no interval ({})", no_interval_reason(within.any(varies)))
            }
        };
        sentences.push(format!("Mean stamina {value:.2} turns (τ = {tau}), {interval}."));
    }
    sentences.join(" ")
}

/// First failures in words.
pub(crate) fn first_failures_summary(data: &RunData, turns: u32) -> String {
    const MOST: usize = 12;
    let listed = |measure: fn(&SurvivalPoint) -> u32| {
        let turns: Vec<&SurvivalPoint> =
            data.points.iter().filter(|p| p.turn <= turns && measure(p) > 0).collect();
        let mut words: Vec<String> =
            turns.iter().take(MOST).map(|p| format!("turn {} ({})", p.turn, count(measure(p)))).collect();
        if turns.len() > MOST {
            words.push(counted((turns.len() - MOST) as u32, "more turn", "more turns"));
        }
        words.join(", ")
    };
    let mut sentences = vec![opening("First failures", data, turns)];
    for (label, turns) in [("Failed at", listed(|p| p.events)), ("Censored after", listed(|p| p.censored))] {
        if !turns.is_empty() {
            sentences.push(format!("{label} {turns}."));
        }
    }
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_between_0_and_1_without_a_band_is_not_said_to_lack_variation() {
        let lines = |survival| {
            let point = SurvivalPoint {
                turn: 1,
                at_risk: 3,
                events: 1,
                censored: 0,
                survival,
                ci_low: None,
                ci_high: None,
            };
            survival_lines(&point)[1].clone()
        };
        assert_eq!(lines(2.0 / 3.0), "band n/a (one scenario, or all alike)");
        assert_eq!([lines(1.0), lines(0.0)], ["band n/a (no variation)"; 2]);
    }

    #[test]
    fn a_name_of_an_axis_has_no_capital_in_mid_sentence_unless_it_is_an_abbreviation() {
        let names = ["Cost per episode (US$)", "Harness", "US$", "RMST", "MT@4", "OpenHands", "R", ""];
        let lowered = ["cost per episode (US$)", "harness", "US$", "RMST", "MT@4", "OpenHands", "R", ""];
        assert_eq!(names.map(in_mid_sentence), lowered);
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!(
            [0, 7, 999, 1000, 84_000, 1_234_567].map(count),
            ["0", "7", "999", "1,000", "84,000", "1,234,567"]
        );
    }
}
