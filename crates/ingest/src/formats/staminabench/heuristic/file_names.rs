//! What the names of files say: the turn and the attempt, and the kind of a file in a folder of a turn.
//!
//! The README names the folders and not the files in them, so any name is taken that carries a turn and an attempt
//! number: `turn_3_attempt_2.txt`, `attempt2-turn3.log`, `t03/a02.txt`, `turn_3/attempt_2/…`, `3_2.txt`.

use model::ArtifactKind;

/// Where a file belongs, as its name counts; [`Base`] decides whether that is from 0 or from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FilePlace {
    /// The turn.
    pub(super) turn: Option<u32>,
    /// The attempt, `None` for what belongs to the turn or to its final attempt.
    pub(super) attempt: Option<u32>,
    /// Number of a `step_N`, which counts calls of the agent over the whole scenario.
    pub(super) step: Option<u32>,
    /// Whether the attempt is given as a retry: the first retry is the second attempt.
    pub(super) retry: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Meaning {
    Turn,
    Attempt,
    Retry,
    Step,
    Nothing,
}

fn meaning(word: &str) -> Option<Meaning> {
    Some(match word {
        "turn" | "turns" | "t" | "round" | "rounds" | "iteration" | "iterations" | "iter" | "it" => {
            Meaning::Turn
        }
        "attempt" | "attempts" | "att" | "a" | "try" | "trial" => Meaning::Attempt,
        "retry" | "retries" => Meaning::Retry,
        "step" | "steps" => Meaning::Step,
        "scenario" | "episode" | "seed" | "port" | "gw" | "pid" | "v" | "version" | "rev" | "python"
        | "py" | "utf" => Meaning::Nothing,
        _ => return None,
    })
}

/// Reads turn and attempt out of a path below a folder of known kind.
pub(super) fn file_place(path: &str) -> FilePlace {
    let mut place = FilePlace::default();
    let mut bare = Vec::new();
    let parts: Vec<&str> = path.split('/').collect();
    for (index, part) in parts.iter().enumerate() {
        let part = if index + 1 == parts.len() { without_extension(part) } else { part };
        let mut word = String::new();
        for token in tokens(part) {
            if !token.as_bytes()[0].is_ascii_digit() {
                word = token.to_ascii_lowercase();
                continue;
            }
            // A date, a time, a hash: not a turn.
            let Some(number) = token.parse::<u32>().ok().filter(|n| *n < 100_000) else {
                word.clear();
                continue;
            };
            match meaning(&word) {
                Some(Meaning::Turn) if place.turn.is_none() => {
                    place.turn = Some(number);
                    // What stood before it was a date or the like.
                    bare.clear();
                }
                Some(Meaning::Attempt) if place.attempt.is_none() => place.attempt = Some(number),
                Some(Meaning::Retry) if place.attempt.is_none() => {
                    place.attempt = Some(number);
                    place.retry = true;
                }
                Some(Meaning::Step) if place.step.is_none() => place.step = Some(number),
                Some(Meaning::Nothing) => {}
                _ => bare.push(number),
            }
            word.clear();
        }
    }
    // Numbers without a word: first the turn, then the attempt.
    let mut bare = bare.into_iter();
    if place.step.is_none() {
        if place.turn.is_none() {
            place.turn = bare.next();
        }
        if place.attempt.is_none() && place.turn.is_some() {
            place.attempt = bare.next().filter(|n| *n < 1000);
        }
    }
    place
}

/// Runs of letters and runs of digits.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let first = rest.chars().next()?;
        let same = |c: char| c.is_ascii_alphanumeric() && c.is_ascii_digit() == first.is_ascii_digit();
        let end = rest.find(|c| !same(c)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

fn without_extension(name: &str) -> &str {
    let mut name = name;
    while let Some((stem, extension)) = name.rsplit_once('.') {
        let is_extension = (1..=8).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
            && extension.bytes().any(|b| b.is_ascii_alphabetic());
        if stem.is_empty() || !is_extension {
            break;
        }
        name = stem;
    }
    name
}

/// What a file is that lies in a folder of a turn rather than of a kind.
pub(super) fn file_kind(name: &str) -> ArtifactKind {
    let name = name.to_ascii_lowercase();
    if name.contains("server") {
        ArtifactKind::ServerLog
    } else if name.contains("test") {
        if std::path::Path::new(&name).extension().is_some_and(|e| e == "py") {
            ArtifactKind::Suite
        } else {
            ArtifactKind::TestOutput
        }
    } else if name.contains("change")
        || name.contains("spec")
        || name.contains("request")
        || name.contains("prompt")
    {
        ArtifactKind::Request
    } else if name.contains("agent") {
        ArtifactKind::AgentLog
    } else {
        ArtifactKind::Log
    }
}

/// Whether numbers count from 0 or from 1, decided over all groups (folders, the trajectory) of one scenario.
#[derive(Debug, Default)]
pub(super) struct Base {
    groups: Vec<(&'static str, u32, u32)>,
}

impl Base {
    /// Notes the numbers of a group.
    pub(super) fn note(&mut self, group: &'static str, numbers: impl Iterator<Item = u32>) {
        let range = numbers.fold(None, |range: Option<(u32, u32)>, n| {
            Some(range.map_or((n, n), |(low, high)| (low.min(n), high.max(n))))
        });
        if let Some((low, high)) = range {
            self.groups.push((group, low, high));
        }
    }

    /// Whether a group counts from 0.
    ///
    /// A group with a 0 does. One without may still: requests often lack the first turn, which changes nothing. So it
    /// counts from 0 as soon as any group does, unless its highest number is one above those groups' highest.
    pub(super) fn is_from_zero(&self, group: &str) -> bool {
        let Some(highest) =
            self.groups.iter().filter(|(_, low, _)| *low == 0).map(|(_, _, high)| *high).max()
        else {
            return false;
        };
        self.groups
            .iter()
            .find(|(name, _, _)| *name == group)
            .is_some_and(|(_, low, high)| *low == 0 || *high <= highest)
    }

    /// Whether any group counts from 0.
    pub(super) fn any_from_zero(&self) -> bool {
        self.groups.iter().any(|(_, low, _)| *low == 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::formats::staminabench::folder_names::{folder_kind, scenario_number};

    #[test]
    fn any_order_of_naming_that_carries_turn_and_attempt() {
        let place = |path: &str| {
            let p = file_place(path);
            (p.turn, p.attempt)
        };
        for path in [
            "turn_3_attempt_2.txt",
            "attempt2-turn3.log",
            "t03/a02.txt",
            "turn_3/attempt_2/pytest.log",
            "3_2.txt",
            "3-2",
            "T3A2.out",
            "scenario_7_turn_3_attempt_2_results.txt",
            "turn_3/2.txt",
            "pytest_turn3_attempt2_20260601_120000.txt",
            "iteration 3 try 2.txt",
            "turn_3_attempt_2.tar.gz",
            "turn_3_attempt_2_py311.log",
        ] {
            assert_eq!(place(path), (Some(3), Some(2)), "{path}");
        }
        assert_eq!(place("turn_3.md"), (Some(3), None));
        assert_eq!(place("003.yaml"), (Some(3), None));
        assert_eq!(place("initial.yaml"), (None, None));
        assert_eq!(place("2026-06-01/turn_3.txt"), (Some(3), None));
        assert!(file_place("turn_3_retry_1.txt").retry);
        assert_eq!(file_place("step_12.txt"), FilePlace { step: Some(12), ..FilePlace::default() });
    }

    #[test]
    fn counting_from_zero_is_recognized_by_all_groups() {
        let mut base = Base::default();
        base.note("test_results", [0, 1, 2].into_iter());
        base.note("changes", [1, 2].into_iter());
        base.note("schemas", [1, 2, 3].into_iter());
        assert!(
            base.is_from_zero("test_results")
                && base.is_from_zero("changes")
                && !base.is_from_zero("schemas")
        );
        let mut base = Base::default();
        base.note("test_results", [1, 2].into_iter());
        assert!(!base.is_from_zero("test_results") && !base.any_from_zero());
    }

    proptest! {
        #[test]
        fn names_never_panic(name in "\\PC{0,40}") {
            let _ = (file_place(&name), scenario_number(&name), folder_kind(&name), file_kind(&name));
        }
        #[test]
        fn numbers_come_back(turn in 0u32..1000, attempt in 0u32..100, ext in prop_oneof![Just(""), Just(".txt"), Just(".log")]) {
            for path in [format!("turn_{turn}_attempt_{attempt}{ext}"), format!("t{turn:03}/a{attempt:02}{ext}"), format!("attempt{attempt}-turn{turn}{ext}"), format!("{turn}_{attempt}{ext}")] {
                let p = file_place(&path);
                prop_assert_eq!((p.turn, p.attempt), (Some(turn), Some(attempt)), "{}", path);
            }
        }
    }
}
