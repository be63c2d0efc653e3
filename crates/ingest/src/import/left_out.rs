//! What stays left out of a source as a copy without being read again.
//!
//! A copy is left out after its parts are read ([`Store::leave_out_copies`](store::Store::leave_out_copies)). It stays left out as
//! long as neither its place nor that of its original changed: a folder that does not change costs nothing, and changes nothing in
//! the library.

use std::collections::{HashMap, HashSet};

use model::Run;
use store::{CopiesLeftOut, LeftOutRun};

use crate::format_trait::{Part, Survey};

/// Place and key of a run or a part.
type Name = (String, String);

/// What stays left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Exclusions {
    /// Runs that are not written again.
    pub(super) runs: HashSet<Name>,
    /// Parts that are not read again, with their stamps.
    pub(super) parts: HashMap<Name, u64>,
}

/// Says what stays left out, by what the places hold now; `None` = a place could not be surveyed, so that what was read of it
/// before stays. `known` has the stamps of the other parts, `stamp` computes that of a part.
pub(super) fn copies_to_skip(
    left_out: &CopiesLeftOut,
    known: &HashMap<Name, u64>,
    places: &HashMap<&str, Option<&Survey>>,
    stamp: impl Fn(&Part) -> u64,
) -> Exclusions {
    let mut parts_of: HashMap<&str, usize> = HashMap::new();
    for (place, _) in known.keys().chain(left_out.parts.keys()) {
        *parts_of.entry(place).or_default() += 1;
    }
    let has_stamp = |place: &str, part: &Part| {
        let name = (place.to_owned(), part.key.clone());
        known.get(&name).or_else(|| left_out.parts.get(&name)) == Some(&stamp(part))
    };
    let is_unchanged = |place: &str, survey: &Survey| {
        parts_of.get(place).copied().unwrap_or(0) == survey.parts.len()
            && survey.parts.iter().all(|part| has_stamp(place, part))
    };
    let mut unchanged: HashSet<&str> = HashSet::new();
    for (place, survey) in places {
        if survey.is_none_or(|survey| is_unchanged(place, survey)) {
            unchanged.insert(place);
        }
    }
    // Each place of a copy may have as many runs as are left out of it.
    let copy_places: HashSet<&str> =
        left_out.runs.iter().flat_map(|run| [run.place.as_str(), run.original_place.as_str()]).collect();
    let mut runs: HashMap<(&str, &str), &Run> = HashMap::new();
    for (place, survey) in places.iter().filter(|(place, _)| copy_places.contains(**place)) {
        for run in survey.iter().flat_map(|survey| &survey.runs) {
            runs.entry((*place, run.key.as_str())).or_insert(run);
        }
    }
    let run_of = |place: &str, key: &str| -> Option<Option<&Run>> {
        match places.get(place)? {
            Some(_) => runs.get(&(place, key)).map(|run| Some(*run)),
            None => Some(None),
        }
    };
    // The files that name harness and model belong to no part.
    let is_copy = |run: &LeftOutRun| {
        run.has_original
            && unchanged.contains(run.place.as_str())
            && unchanged.contains(run.original_place.as_str())
            && match (run_of(&run.place, &run.key), run_of(&run.original_place, &run.original_key)) {
                (Some(Some(copy)), Some(Some(original))) => {
                    copy.harness.is_none() >= original.harness.is_none()
                        && copy.model.is_none() >= original.model.is_none()
                }
                (Some(_), Some(_)) => true,
                (None, _) | (_, None) => false,
            }
    };
    // A part may hold episodes of several runs, so all that are left out of a place are read again, or none.
    let read_again: HashSet<&str> =
        left_out.runs.iter().filter(|run| !is_copy(run)).map(|run| run.place.as_str()).collect();
    let is_kept = |place: &str| unchanged.contains(place) && !read_again.contains(place);
    Exclusions {
        runs: (left_out.runs.iter().filter(|run| is_kept(&run.place)))
            .map(|run| (run.place.clone(), run.key.clone()))
            .collect(),
        parts: (left_out.parts.iter().filter(|((place, _), _)| is_kept(place)))
            .map(|(name, stamp)| (name.clone(), *stamp))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use model::Benchmark;

    use super::*;

    fn name(place: &str, key: &str) -> Name {
        (place.to_owned(), key.to_owned())
    }

    fn survey(runs: &[&str], parts: &[(&str, u64)]) -> Survey {
        let benchmark = Benchmark { key: "b".into(), name: "B".into() };
        let part = |(key, stamp): &(&str, u64)| Part { key: (*key).to_owned(), stamp: *stamp };
        Survey {
            runs: runs.iter().map(|run| Run::unknown(*run, benchmark.clone())).collect(),
            parts: parts.iter().map(part).collect(),
        }
    }

    #[test]
    fn a_copy_stays_left_out_until_its_place_or_that_of_its_original_changes() {
        let copy = LeftOutRun {
            place: "copy".into(),
            key: "r".into(),
            original_place: "job".into(),
            original_key: "r".into(),
            has_original: true,
        };
        let left_out = CopiesLeftOut { runs: vec![copy], parts: HashMap::from([(name("copy", "p"), 1)]) };
        let known = HashMap::from([(name("job", "p"), 1), (name("other", "p"), 1)]);
        let same = survey(&["r"], &[("p", 1)]);
        let is_kept = |left_out: &CopiesLeftOut, copy: Option<&Survey>, job: Option<&Survey>| {
            let places = HashMap::from([("copy", copy), ("job", job), ("other", None)]);
            copies_to_skip(left_out, &known, &places, |part| part.stamp)
        };
        let all = Exclusions { runs: HashSet::from([name("copy", "r")]), parts: left_out.parts.clone() };
        assert_eq!(is_kept(&left_out, Some(&same), Some(&same)), all);
        assert_eq!(is_kept(&left_out, None, Some(&same)), all, "what was read before stays");
        assert_eq!(is_kept(&left_out, Some(&same), None), all);
        let no_exclusions = Exclusions::default();
        for changed in [
            survey(&["r"], &[("p", 2)]),
            survey(&["r"], &[("p", 1), ("q", 1)]),
            survey(&["r"], &[("q", 1)]),
            survey(&["r"], &[]),
            survey(&["s"], &[("p", 1)]),
        ] {
            assert_eq!(
                is_kept(&left_out, Some(&changed), Some(&same)).runs,
                no_exclusions.runs,
                "{changed:?}"
            );
            assert_eq!(is_kept(&left_out, Some(&same), Some(&changed)), no_exclusions, "{changed:?}");
        }
        let mut named = survey(&["r"], &[("p", 1)]);
        named.runs[0].model = Some("model-a".into());
        assert_eq!(
            is_kept(&left_out, Some(&named), Some(&same)),
            no_exclusions,
            "now it knows more than the original"
        );
        assert_eq!(is_kept(&left_out, Some(&same), Some(&named)), all);
        let withdrawn = CopiesLeftOut {
            runs: left_out.runs.iter().map(|run| LeftOutRun { has_original: false, ..run.clone() }).collect(),
            ..left_out.clone()
        };
        assert_eq!(is_kept(&withdrawn, Some(&same), Some(&same)), no_exclusions);
        let copy_alone = HashMap::from([("copy", Some(&same))]);
        assert_eq!(
            copies_to_skip(&left_out, &known, &copy_alone, |part| part.stamp),
            no_exclusions,
            "the original is gone"
        );
    }

    #[test]
    fn all_copies_of_a_place_are_read_again_or_none() {
        let run = |key: &str, has_original| LeftOutRun {
            place: "copy".into(),
            key: key.into(),
            original_place: "job".into(),
            original_key: key.into(),
            has_original,
        };
        let parts = HashMap::from([(name("copy", "p"), 1)]);
        let known = HashMap::from([(name("job", "p"), 1)]);
        let two_runs = survey(&["r", "s"], &[("p", 1)]);
        let places = HashMap::from([("copy", Some(&two_runs)), ("job", Some(&two_runs))]);
        let is_kept = |has_copies_in_s: bool| {
            let left_out =
                CopiesLeftOut { runs: vec![run("r", true), run("s", has_copies_in_s)], parts: parts.clone() };
            copies_to_skip(&left_out, &known, &places, |part| part.stamp)
        };
        assert_eq!((is_kept(true).runs.len(), is_kept(true).parts.len()), (2, 1));
        assert_eq!(is_kept(false), Exclusions::default());
        // A copy inside one run has no run of its own.
        let parts_only = CopiesLeftOut { runs: Vec::new(), parts: parts.clone() };
        assert_eq!(copies_to_skip(&parts_only, &known, &places, |part| part.stamp).parts, parts);
    }
}
