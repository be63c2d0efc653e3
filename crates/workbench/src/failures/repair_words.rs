//! How long it takes until what failed passes, in sentences: those of the table `repairs`, of reports and of `stamina failures`.

use model::counted;

use crate::api::Repair;

/// Why nobody knows whether a test passed later: only failing tests are named, or tests by numbers that each turn gives anew, or
/// nothing ran later.
const HIDDEN_PASSES: &str = "passed tests are not described, or not followed over turns, or tests ran once";

/// How many turns (of runs of one turn: trials) failed at the first attempt, and how many of these passed later: a sentence.
pub fn turn_repairs(repair: &Repair, of_one_turn: bool) -> String {
    let noun = if of_one_turn { "trial" } else { "turn" };
    let failed_first = format!("{} failed at the first attempt", counted(repair.failed_first.into(), noun));
    // That nothing passed later says nothing where nothing was tried again.
    match (repair.failed_first, repair.tried_again) {
        (0, _) => format!("{failed_first}."),
        (1, 0) => format!("{failed_first}; it was not tried again."),
        (_, 0) => format!("{failed_first}; none was tried again."),
        _ => format!("{failed_first}; {}.", passed_later(repair)),
    }
}

/// What became of turns that failed first and were tried again. Of one there is no median.
fn passed_later(repair: &Repair) -> String {
    match (repair.failed_first, repair.median_attempts.time()) {
        (1, Some(attempts)) => format!("it passed after {} more", counted(attempts.into(), "attempt")),
        (1, None) => "it did not pass at a later one".to_owned(),
        _ => format!(
            "{} of them passed at a later one, the median number of further attempts is {}",
            repair.repaired, repair.median_attempts
        ),
    }
}

/// In how many stretches a test failed, how many of these ended with a pass, and after how many turns: sentences. `of_one_turn`: the
/// runs have one turn, and each pass is in it. `None` = no stretch was followed.
pub fn stretch_ends(repair: &Repair, of_one_turn: bool) -> Option<String> {
    let (stretches, verb) = match repair.stretches {
        0 => return None,
        1 => ("1 stretch".to_owned(), "was"),
        number => (format!("{number} stretches"), "were"),
    };
    let unknown = repair.stretches_unknown;
    let known = repair.stretches.saturating_sub(unknown);
    let time = time_until_pass(repair);
    let others = match unknown {
        1 => format!("How the other one ended is unknown: {HIDDEN_PASSES}"),
        _ => format!("How the other {unknown} ended is unknown: {HIDDEN_PASSES}"),
    };
    let ends = match (repair.stretches_repaired, repair.repaired_in_same_turn) {
        // Where there is one turn, each pass is in the same turn, after 0 turns.
        (Some(repaired), _) if of_one_turn && unknown > 0 => {
            format!("{repaired} of {known} ended with a pass. {others}")
        }
        (Some(repaired), _) if of_one_turn => format!("{repaired} ended with a pass"),
        (Some(repaired), Some(in_same_turn)) if unknown > 0 => format!(
            "{repaired} of {known} ended with a pass, {in_same_turn} of these in the same turn{time}. {others}"
        ),
        (Some(repaired), Some(in_same_turn)) => {
            format!("{repaired} ended with a pass, {in_same_turn} of these in the same turn{time}")
        }
        _ => format!("how many ended with a pass is unknown: {HIDDEN_PASSES}"),
    };
    Some(format!("{stretches} in which a test failed {verb} followed; {ends}."))
}

/// How long stretches of failing tests take until a pass, after how many end so. Of one stretch there is no median: empty where its
/// pass is in the same turn or does not come.
fn time_until_pass(repair: &Repair) -> String {
    let followed = repair.stretches.saturating_sub(repair.stretches_unknown);
    match (followed, repair.median_turns.time()) {
        (1, None | Some(0)) => String::new(),
        (1, Some(turns)) => format!(", after {}", counted(turns.into(), "turn")),
        _ => {
            let stretches = if repair.stretches_unknown > 0 {
                format!("these {followed}")
            } else {
                "all stretches".to_owned()
            };
            format!(". The median number of turns until then, over {stretches}, is {}", repair.median_turns)
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Median;

    use super::*;

    /// "The median number of turns until then, over all stretches, is 1" was said of one stretch, too.
    #[test]
    fn one_stretch_and_one_turn_have_no_median() {
        let time = |stretches, stretches_unknown, median_turns| {
            time_until_pass(&Repair { stretches, stretches_unknown, median_turns, ..Repair::default() })
        };
        assert_eq!(time(1, 0, Median::Reached(1)), ", after 1 turn");
        assert_eq!(time(3, 2, Median::Reached(2)), ", after 2 turns");
        for median in [Median::Reached(0), Median::NotReached] {
            assert_eq!(time(1, 0, median), "");
        }
        let median = ". The median number of turns until then, over";
        assert_eq!(time(5, 0, Median::Reached(1)), format!("{median} all stretches, is 1"));
        assert_eq!(time(5, 2, Median::NotReached), format!("{median} these 3, is not reached"));

        let later = |failed_first, repaired, median_attempts| {
            passed_later(&Repair { failed_first, repaired, median_attempts, ..Repair::default() })
        };
        assert_eq!(later(1, 1, Median::Reached(1)), "it passed after 1 attempt more");
        assert_eq!(later(1, 0, Median::NotReached), "it did not pass at a later one");
        let of_several = "2 of them passed at a later one, the median number of further attempts is 1";
        assert_eq!(later(3, 2, Median::Reached(1)), of_several);
    }

    #[test]
    fn what_did_not_fail_or_was_not_tried_again_has_no_repair() {
        let none = Repair::default();
        assert_eq!(turn_repairs(&none, true), "0 trials failed at the first attempt.");
        assert_eq!(stretch_ends(&none, false), None);
        let once = Repair { failed_first: 2, ..Repair::default() };
        assert_eq!(turn_repairs(&once, false), "2 turns failed at the first attempt; none was tried again.");
        let one = Repair { failed_first: 1, ..Repair::default() };
        assert_eq!(turn_repairs(&one, true), "1 trial failed at the first attempt; it was not tried again.");
    }

    #[test]
    fn stretches_whose_end_is_unknown_are_counted_apart() {
        let repair = Repair {
            stretches: 5,
            stretches_unknown: 2,
            stretches_repaired: Some(1),
            repaired_in_same_turn: Some(1),
            median_turns: Median::NotReached,
            ..Repair::default()
        };
        let end = format!("How the other 2 ended is unknown: {HIDDEN_PASSES}.");
        assert_eq!(
            stretch_ends(&repair, false).unwrap(),
            format!(
                "5 stretches in which a test failed were followed; 1 of 3 ended with a pass, 1 of these in the same turn. \
                 The median number of turns until then, over these 3, is not reached. {end}"
            )
        );
        assert_eq!(
            stretch_ends(&repair, true).unwrap(),
            format!("5 stretches in which a test failed were followed; 1 of 3 ended with a pass. {end}")
        );
        let hidden = Repair { stretches: 1, stretches_unknown: 1, ..Repair::default() };
        assert_eq!(
            stretch_ends(&hidden, false).unwrap(),
            format!(
                "1 stretch in which a test failed was followed; how many ended with a pass is unknown: {HIDDEN_PASSES}."
            )
        );
    }
}
