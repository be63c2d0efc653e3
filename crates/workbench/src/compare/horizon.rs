//! How far all curves of a comparison are known, and who is the reason that it is no further.

use analysis::clusters::{InScenario, observations};
use analysis::difference::{ShortestRuns, common_tau, shortest};
use analysis::survival::{Observation, anyone_at_risk};
use model::counted;

/// The common τ of members.
pub(crate) struct Horizon {
    /// The last turn to which the curves of all members are known. Members of which nobody was ever at risk do not count.
    pub(crate) tau: u32,
    /// The members that hold it down.
    shortest: Option<ShortestRuns>,
}

impl Horizon {
    pub(crate) fn new(episodes: &[Vec<InScenario>], planned: &[Option<u32>]) -> Self {
        let plain: Vec<Vec<Observation>> = episodes.iter().map(|e| observations(e)).collect();
        let played: Vec<usize> = (0..plain.len()).filter(|index| anyone_at_risk(&plain[*index])).collect();
        let curves: Vec<(&[Observation], Option<u32>)> =
            played.iter().map(|index| (plain[*index].as_slice(), planned[*index])).collect();
        let shortest = shortest(&curves).map(|shortest| ShortestRuns {
            runs: shortest.runs.iter().map(|curve| played[*curve]).collect(),
            ..shortest
        });
        Self { tau: common_tau(&curves), shortest }
    }

    /// Why it is no greater. The members have these names, and are all of this kind.
    pub(crate) fn in_words(&self, names: &[&str], noun: &str) -> Option<String> {
        let shortest = self.shortest.as_ref()?;
        let members: Vec<&str> = shortest.runs.iter().filter_map(|run| names.get(*run).copied()).collect();
        let others = OtherCurves {
            number: shortest.others,
            known_to: shortest.otherwise,
            furthest: shortest.furthest,
        };
        Some(held_down(self.tau, &members, noun, &others))
    }
}

/// Which τ can be asked for where curves are known to this turn.
pub(crate) fn hint(known: u32) -> String {
    match known {
        0 => "Ask for none: nobody was at risk".to_owned(),
        1 => "Ask for a τ of 1, or for none to have 1".to_owned(),
        known => format!("Ask for a τ from 1 to {known}, or for none to have {known}"),
    }
}

/// Those that do not hold a τ down.
pub(crate) struct OtherCurves {
    pub(crate) number: u32,
    /// The turn to which every one of them is known.
    pub(crate) known_to: u32,
    /// The last turn to which any of them is known.
    pub(crate) furthest: u32,
}

/// The sentence. More than three members are counted by their noun (`cell`). A curve that has reached 0 is known beyond its
/// last failure, so nothing is said of data.
pub(crate) fn held_down(tau: u32, members: &[&str], noun: &str, others: &OtherCurves) -> String {
    let (subject, verb) = match members {
        [one] => (format!("the curve of {one}"), "is"),
        [first @ .., last] if members.len() <= 3 => {
            (format!("the curves of {} and {last}", first.join(", ")), "are")
        }
        _ => (format!("the curves of {}", counted(members.len() as u64, noun)), "are"),
    };
    let rest = if others.number == 1 { "that of the other" } else { "those of the others" };
    let known_to = others.known_to;
    let or_later = if others.furthest > known_to { " or later" } else { "" };
    format!(
        "Compared over {}: {subject} {verb} known to turn {tau}, {rest} to turn {known_to}{or_later}.",
        counted(tau.into(), "turn")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "5 of them" stood there, and nothing was named before.
    #[test]
    fn many_members_are_counted_by_their_noun() {
        let others = OtherCurves { number: 8, known_to: 9, furthest: 15 };
        let sentence = |members: &[&str], noun| held_down(7, members, noun, &others);
        let rest = "known to turn 7, those of the others to turn 9 or later.";
        assert_eq!(
            sentence(&["a", "b", "c", "d", "e"], "cell"),
            format!("Compared over 7 turns: the curves of 5 cells are {rest}")
        );
        assert_eq!(
            sentence(&["a", "b", "c", "d"], "run"),
            format!("Compared over 7 turns: the curves of 4 runs are {rest}")
        );
        assert_eq!(
            sentence(&["a", "b", "c"], "run"),
            format!("Compared over 7 turns: the curves of a, b and c are {rest}")
        );
        assert_eq!(sentence(&["a"], "run"), format!("Compared over 7 turns: the curve of a is {rest}"));
    }
}
