//! How long a run will take, by the speed of its endpoint and of earlier runs.

/// How fast an endpoint was with a model in earlier runs of any harness, in tokens a second: the median of their medians.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Speed {
    pub(super) runs: usize,
    pub(super) prompt: Option<f64>,
    pub(super) answer: Option<f64>,
}

impl Speed {
    pub(super) fn from_runs(runs: &[(Option<f64>, Option<f64>)]) -> Self {
        let median = |mut speeds: Vec<f64>| {
            speeds.sort_by(f64::total_cmp);
            let (below, above) = (speeds.len().checked_sub(1)? / 2, speeds.len() / 2);
            Some(f64::midpoint(*speeds.get(below)?, *speeds.get(above)?))
        };
        Self {
            runs: runs.len(),
            prompt: median(runs.iter().filter_map(|(prompt, _)| *prompt).collect()),
            answer: median(runs.iter().filter_map(|(_, answer)| *answer).collect()),
        }
    }

    /// Seconds in which it works for so many tokens, of whose input a share is cached. Unknown where one of its speeds is.
    pub(super) fn seconds(self, input: f64, cached: f64, output: f64) -> Option<f64> {
        Some(input * (1.0 - cached) / self.prompt? + output / self.answer?)
    }

    /// `from 3 runs: prompt 148.2 tok/s, answer 21.4 tok/s`; nothing where nothing is known.
    fn words(self) -> Option<String> {
        let part = |name: &str, speed: Option<f64>| speed.map(|speed| format!("{name} {speed:.1} tok/s"));
        let parts: Vec<String> =
            [part("prompt", self.prompt), part("answer", self.answer)].into_iter().flatten().collect();
        (!parts.is_empty())
            .then(|| format!("from {}: {}", model::counted(self.runs as u64, "run"), parts.join(", ")))
    }
}

/// The time of a run, and what it rests on where that is not the runs of the harness.
#[derive(Debug, PartialEq)]
pub(super) struct Time {
    pub(super) seconds: Option<(f64, f64)>,
    pub(super) basis: Option<String>,
}

/// Agent seconds over all turns, one episode at a time. Earlier runs at the same endpoint come first: they hold its speed. Else what
/// the endpoint would take for as many tokens, and last what the harness took elsewhere.
pub(super) fn time(
    at_endpoint: Option<(f64, f64)>,
    worked: Option<(f64, f64)>,
    elsewhere: Option<(f64, f64)>,
    speed: Speed,
) -> Time {
    let speed_text = speed.words();
    match (at_endpoint, worked) {
        (Some(_), _) => Time {
            seconds: at_endpoint,
            basis: speed_text.map(|text| format!(". Speed of this endpoint, {text}")),
        },
        (None, Some(_)) => Time {
            seconds: worked,
            basis: speed_text.map(|text| {
                format!(". Time: by the speed of this endpoint, {text}; what tools take is not in it")
            }),
        },
        (None, None) => Time {
            seconds: elsewhere,
            basis: speed_text.map(|text| format!(". Speed of this endpoint, {text}")),
        },
    }
}

/// US dollars of seconds in which an endpoint works, counted one request at a time. Requests at once share the time of the machine
/// as far as it has slots for them: further ones wait. Where its slots are unknown, from all at once to none.
pub(super) fn by_the_hour((low, high): (f64, f64), at_once: f64, slots: Option<u64>, usd: f64) -> (f64, f64) {
    let usd_of = |seconds: f64, at_once: f64| seconds / at_once / 3600.0 * usd;
    match slots {
        Some(slots) => {
            let at_once = at_once.min(slots.max(1) as f64);
            (usd_of(low, at_once), usd_of(high, at_once))
        }
        None => (usd_of(low, at_once), usd_of(high, 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_share_the_time_of_a_machine_as_far_as_it_has_slots_for_them() {
        let hours = (3600.0, 7200.0);
        assert_eq!(by_the_hour(hours, 4.0, Some(1), 2.0), (2.0, 4.0), "three of four wait");
        assert_eq!(by_the_hour(hours, 4.0, Some(2), 2.0), (1.0, 2.0));
        assert_eq!(by_the_hour(hours, 4.0, Some(8), 2.0), (0.5, 1.0));
        assert_eq!(by_the_hour(hours, 4.0, None, 2.0), (0.5, 4.0), "unknown");
        assert_eq!(by_the_hour(hours, 1.0, None, 2.0), (2.0, 4.0));
    }

    #[test]
    fn the_speed_of_an_endpoint_is_the_median_of_its_runs_and_is_said() {
        let speed = Speed::from_runs(&[(Some(100.0), Some(20.0)), (Some(200.0), None), (None, Some(10.0))]);
        assert_eq!(speed, Speed { runs: 3, prompt: Some(150.0), answer: Some(15.0) });
        assert_eq!(speed.words().unwrap(), "from 3 runs: prompt 150.0 tok/s, answer 15.0 tok/s");
        // 30,000 tokens of which a half is cached, and 150 that are written.
        assert_eq!(speed.seconds(30_000.0, 0.5, 150.0), Some(110.0));
        let half = Speed::from_runs(&[(None, Some(90.0))]);
        assert_eq!(half.words().unwrap(), "from 1 run: answer 90.0 tok/s");
        assert_eq!(half.seconds(1.0, 0.0, 1.0), None, "how long a prompt takes is unknown");
        assert_eq!((Speed::from_runs(&[]).words(), Speed::from_runs(&[]).prompt), (None, None));
    }

    #[test]
    fn runs_at_the_same_endpoint_go_before_its_speed_and_that_before_runs_elsewhere() {
        let speed = Speed { runs: 2, prompt: Some(150.0), answer: Some(90.0) };
        let (at_endpoint, worked, elsewhere) = (Some((1.0, 2.0)), Some((3.0, 4.0)), Some((5.0, 6.0)));
        let chosen = |at_endpoint, worked, speed| {
            let time = time(at_endpoint, worked, elsewhere, speed);
            (time.seconds, time.basis.unwrap_or_default())
        };
        let (seconds, basis) = chosen(at_endpoint, worked, speed);
        assert!(
            seconds == at_endpoint
                && basis == ". Speed of this endpoint, from 2 runs: prompt 150.0 tok/s, answer 90.0 tok/s",
            "{basis}"
        );
        let (seconds, basis) = chosen(None, worked, speed);
        assert!(
            seconds == worked && basis.contains("Time: by the speed") && basis.contains("from 2 runs"),
            "{basis}"
        );
        assert_eq!(chosen(None, None, Speed::default()), (elsewhere, String::new()));
    }
}
